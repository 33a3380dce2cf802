package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Model answers requests. It may be called from several goroutines at once.
type Model interface {
	// Name is for people: "built-in", "openai:NAME".
	Name() string
	// Respond gives one reply. It calls emit, from the same goroutine, as text
	// arrives; the reply holds the whole text again. An error means that no
	// usable reply came; the request has had no effect.
	Respond(ctx context.Context, request ModelRequest, emit func(text string)) (ModelReply, error)
}

// ModelRequest is all that a model gets to see.
type ModelRequest struct {
	// System is the standing instruction, with the date, time and zone of the
	// turn's message in it.
	System string
	// Now is that same time, in the desk's zone; it stays the same for every
	// request of a turn.
	Now time.Time
	// Messages are in order; each call of an assistant's message is answered by
	// exactly one tool message with the same id, in the model's order.
	Messages []ModelMessage
	// Tools are in deterministic order.
	Tools []ModelTool
	// Waiting, if set, is told when the model's server has to be asked again. It
	// is called from the goroutine of Respond, before any text.
	Waiting func(ModelWait) `json:"-"`
}

// ModelWait says that a request got nothing back and is made again.
type ModelWait struct {
	// Reason is a sentence for a person.
	Reason string
	// Pause is how long it takes until then.
	Pause time.Duration
}

// ModelMessage is one message of a request.
type ModelMessage struct {
	Role Role
	// Text is what a user or the assistant said.
	Text string
	// Calls are those of an assistant's message.
	Calls []ModelCall
	// CallID, Name and Result belong to RoleTool.
	CallID string
	Name   string
	Result *Result
	// State is how the call of a RoleTool message ended.
	State CallState
	// Note is the desk's own word on a RoleTool message, e.g. that a person
	// changed the arguments; it goes before the result, which stays as it was.
	Note string
	// Opaque is provider data that came with the message.
	Opaque json.RawMessage
}

// ModelTool is a tool as the model sees it, under its alias.
type ModelTool struct {
	Name        string
	Description string
	// InputSchema is a JSON schema of type object; arguments that the engine
	// fills itself are not in it.
	InputSchema json.RawMessage
}

// ModelCall is a call as the model writes it.
type ModelCall struct {
	ID string
	// Name is an alias.
	Name string
	// Arguments is what the model sent, which need not be valid JSON.
	Arguments json.RawMessage
}

// ModelReply is one answer of a model: text, calls, or both.
type ModelReply struct {
	Text   string
	Calls  []ModelCall
	Usage  Usage
	Opaque json.RawMessage
}

// Source offers tools: an MCP server, or anything like it. Its methods may be
// called from several goroutines at once, and connect on demand: making a
// Source costs nothing.
type Source interface {
	// Name is the namespace: the name that the configuration gives the server.
	Name() string
	// Tools gives the server's tools as they are now, in deterministic order.
	// An error means that the server cannot be reached, and why.
	Tools(ctx context.Context) (ToolList, error)
	// Call runs one tool. Every error is a [*CallError], which says whether the
	// call was sent; a tool's own failure is a Result with IsError.
	Call(ctx context.Context, request CallRequest) (Result, error)
}

// ToolList is what a source offers at one moment.
type ToolList struct {
	// Identity says which server this is: its URL without query, its command
	// and arguments, or the id of its book.
	Identity string
	Tools    []Tool
}

// Tool is a tool's definition: what a decision is bound to.
type Tool struct {
	// Name is the server's own, without namespace.
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	// Desk are the deskhand/... entries of the tool's _meta; nothing else of
	// _meta counts.
	Desk DeskMeta `json:"desk,omitzero"`
}

// DeskMeta is what a tool says to the desk in its _meta.
type DeskMeta struct {
	// Spends says that the tool spends money ("deskhand/spends").
	Spends bool `json:"spends,omitempty"`
	// Kind chooses the words of card and ledger line ("deskhand/kind"): order,
	// book_visit, move_visit, cancel_visit, cancel_order, note; others read
	// plainly.
	Kind string `json:"kind,omitempty"`
	// Fill maps arguments to "key" or to a JSON pointer into the preview
	// ("deskhand/fill"). The model neither sees nor sets them.
	Fill map[string]string `json:"fill,omitempty"`
	// Terms are the JSON pointers into the preview that a person consents to
	// ("deskhand/terms").
	Terms []string `json:"terms,omitempty"`
}

// CallRequest is one call on its way to a source.
type CallRequest struct {
	// Tool is the server's own name for it.
	Tool string
	// Arguments are sent byte for byte.
	Arguments json.RawMessage
	// Call, Approval and User travel in _meta. Approval is empty for a call
	// that needed none, Call for a preview.
	Call     CallID
	Approval ApprovalID
	User     UserID
	// Progress, if set, is told of preliminary results, in order.
	Progress func(Progress)
}

// Progress is a preliminary word of a running call.
type Progress struct {
	Done, Total float64
	Message     string
}

// Store keeps the desk. Every read is one consistent moment.
type Store interface {
	// Update runs fn in one transaction, durable when it returns nil. It may
	// run fn again, so ids and times are made outside. An error of fn, or a
	// failed write, leaves everything as it was.
	Update(ctx context.Context, fn func(Tx) error) error

	// Snapshot reads a conversation's head with its open turn, the calls of the
	// newest reply and their newest approvals. It gives [ErrNotFound] for a
	// conversation that does not exist.
	Snapshot(ctx context.Context, id ConversationID) (Snapshot, error)
	// Messages gives at most limit messages with numbers below before (0: from
	// the newest), oldest first.
	Messages(ctx context.Context, id ConversationID, before, limit int) ([]Message, error)
	// Calls gives the named calls, in that order; a call whose record is
	// missing or damaged is left out.
	Calls(ctx context.Context, ids []CallID) ([]Call, error)
	// Approvals gives the named approvals, likewise.
	Approvals(ctx context.Context, ids []ApprovalID) ([]Approval, error)
	// Turns gives the named turns, likewise.
	Turns(ctx context.Context, ids []TurnID) ([]Turn, error)
	// OpenTurns gives the heads with an open turn, in the order of their
	// conversations.
	OpenTurns(ctx context.Context) ([]Head, error)
	// OpenCalls gives the calls that a person may have to act on (waiting,
	// approved and not sent, unknown) or that run, oldest first.
	OpenCalls(ctx context.Context) ([]Call, error)
	// Unusable gives what is open and cannot be acted on, because of its records.
	// Whatever is well is not among it, so it is empty on a healthy desk.
	Unusable(ctx context.Context) ([]Unusable, error)
	// Conversations gives at most limit heads, newest conversation first, with
	// numbers below before (0: from the newest).
	Conversations(ctx context.Context, before, limit int) ([]Head, error)
	// Audit gives a conversation's audit lines in order.
	Audit(ctx context.Context, id ConversationID) ([]AuditLine, error)
	// Definition gives a tool definition by its hash, or [ErrNotFound].
	Definition(ctx context.Context, hash string) (Tool, error)
	// Setting reads a small value of the desk into v, or gives [ErrNotFound].
	Setting(ctx context.Context, name string, v any) error
	// Prune removes a conversation with everything that belongs to it. One with
	// an open turn gives a [*BusyError] and stays. It may be cut short at any
	// moment: the conversation is gone at once, and FinishPruning removes the
	// rest.
	Prune(ctx context.Context, id ConversationID) error
	FinishPruning(ctx context.Context) error
	// Sweep removes the parts of large values that nothing names any more, e.g.
	// after Prune, and gives the number of those values.
	Sweep(ctx context.Context) (int, error)
	// Watch signals, coalesced, that something changed; what, is read from the
	// store. The channel is closed when ctx ends.
	Watch(ctx context.Context) <-chan struct{}
}

// Tx is one transaction of a Store. Indexes follow from the records and are
// kept by the store.
type Tx interface {
	Head(id ConversationID) (Head, error)
	PutHead(Head) error
	PutMessage(Message) error
	Turn(id TurnID) (Turn, error)
	PutTurn(Turn) error
	Call(id CallID) (Call, error)
	PutCall(Call) error
	// LeaveCall takes a call out of those that are open without touching its
	// record, which cannot be used.
	LeaveCall(id CallID) error
	Approval(id ApprovalID) (Approval, error)
	PutApproval(Approval) error
	// NextApproval and NextConversation count, never giving a number twice.
	NextApproval() (int, error)
	NextConversation() (int, error)
	// PutAudit appends lines under the number of the first.
	PutAudit(id ConversationID, number int, lines []AuditLine) error
	// PutDefinition keeps a definition under its hash.
	PutDefinition(hash string, tool Tool) error
	// Setting reads a small value of the desk into v, or gives [ErrNotFound].
	Setting(name string, v any) error
	// PutSetting writes a small value of the desk; nil deletes it.
	PutSetting(name string, v any) error
}

// Unusable is something open that a person would have to act on and cannot,
// because of the one record named.
type Unusable struct {
	// Conversation is empty for a call of a conversation that is not known.
	Conversation ConversationID
	// Unreadable: it is the conversation's head that cannot be used, so that
	// nothing can be done in it.
	Unreadable bool
	// Call is empty where it is the turn, or the conversation, that cannot be used.
	Call CallID
	// Approval is the open one of Call, if there is one.
	Approval ApprovalID
	Record   *RecordError
}

// Name is what a person knows it by.
func (u Unusable) Name() string {
	switch {
	case u.Approval != "":
		return string(u.Approval)
	case u.Call != "":
		return "the call " + string(u.Call)
	}
	return "the request in conversation " + string(u.Conversation)
}

// Snapshot is a turn as it lies in the store.
type Snapshot struct {
	Head Head
	// Turn is the open turn; zero if there is none.
	Turn Turn
	// Calls are those of the newest reply, in the model's order.
	Calls []Call
	// Approvals are the newest approvals of Calls, by id.
	Approvals map[ApprovalID]Approval
}
