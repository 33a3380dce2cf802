package agent

import (
	"encoding/json"
	"time"
)

// CallState is where a call stands. The words are those that people read.
type CallState string

// The states of a call. See transitions for how one becomes another.
const (
	// CallProposed: the model asked for it; nothing was decided yet.
	CallProposed CallState = "proposed"
	// CallWaiting: an approval is open.
	CallWaiting CallState = "waiting"
	// CallApproved: policy or a person said yes; it has not been sent.
	CallApproved CallState = "approved"
	// CallRunning: it may have been sent; no answer is stored yet.
	CallRunning CallState = "running"
	// CallUnknown: it may have happened; nobody knows.
	CallUnknown CallState = "unknown"
	// CallDone: the server answered that it worked.
	CallDone CallState = "done"
	// CallFailed: the server answered that it did not work.
	CallFailed CallState = "failed"
	// CallDenied: a person said no.
	CallDenied CallState = "denied"
	// CallExpired: nobody decided in time.
	CallExpired CallState = "expired"
	// CallCancelled: its turn was aborted before it was sent.
	CallCancelled CallState = "cancelled"
	// CallRefused: policy, its arguments or its preview ruled it out.
	CallRefused CallState = "refused"
)

// Settled reports whether the call has its final result for the model.
func (s CallState) Settled() bool {
	switch s {
	case CallDone, CallFailed, CallDenied, CallExpired, CallCancelled, CallRefused:
		return true
	}
	return false
}

// Event is what happens to a call.
type Event string

// The events of the table below.
const (
	EventRun     Event = "run"     // policy lets it run unasked
	EventAsk     Event = "ask"     // a person has to decide
	EventRefuse  Event = "refuse"  // policy, arguments, tool or preview rule it out
	EventApprove Event = "approve" // a person said yes
	EventDeny    Event = "deny"    // a person said no
	EventExpire  Event = "expire"  // the approval's time ran out
	EventAbort   Event = "abort"   // the turn was aborted
	EventRevise  Event = "revise"  // edit, changed terms or changed tool: a new approval
	EventSend    Event = "send"    // dispatch, first or repeated
	EventDone    Event = "done"    // the server's answer, good
	EventFail    Event = "fail"    // the server's answer, bad
	EventNotSent Event = "notSent" // proof that nothing was sent
	EventLose    Event = "lose"    // no answer, owner gone
	EventReread  Event = "reread"  // a read-only call of a dead owner runs again
)

// transitions is the one table of a call's life. What it does not list cannot
// happen.
var transitions = map[CallState]map[Event]CallState{
	CallProposed: {
		EventRun:    CallApproved,
		EventAsk:    CallWaiting,
		EventRefuse: CallRefused,
		EventAbort:  CallCancelled,
	},
	CallWaiting: {
		EventApprove: CallApproved,
		EventDeny:    CallDenied,
		EventExpire:  CallExpired,
		EventAbort:   CallCancelled,
		EventRevise:  CallWaiting,
		EventRefuse:  CallRefused,
	},
	CallApproved: {
		EventSend:   CallRunning,
		EventRevise: CallWaiting,
		EventAsk:    CallWaiting,
		EventRefuse: CallRefused,
		EventDeny:   CallDenied,
		EventAbort:  CallCancelled,
	},
	CallRunning: {
		EventDone:    CallDone,
		EventFail:    CallFailed,
		EventNotSent: CallApproved,
		EventLose:    CallUnknown,
		EventReread:  CallApproved,
	},
	CallUnknown: {
		EventDone:   CallDone,
		EventFail:   CallFailed,
		EventSend:   CallRunning,
		EventReread: CallApproved,
		EventAbort:  CallUnknown,
	},
}

// Next gives the state that event leads to from s, or a [*TransitionError].
func (s CallState) Next(event Event) (CallState, error) {
	if next, ok := transitions[s][event]; ok {
		return next, nil
	}
	return s, &TransitionError{State: s, Event: event}
}

// Call is one tool call that the model asked for, from proposal to result. It
// holds data only; what is needed to run it is found again from its names.
type Call struct {
	Version      int            `json:"v"`
	ID           CallID         `json:"id"`
	Conversation ConversationID `json:"conversation"`
	Turn         TurnID         `json:"turn"`
	// Position is the call's place in its reply, from 0.
	Position int `json:"position"`
	// ModelID is the id that the model gave, as it came; it may be empty.
	ModelID string `json:"modelId"`
	// WireID is the id under which call and result go back to the model: the
	// model's own where it is usable, else ours.
	WireID string `json:"wireId"`
	// Alias is the name that the model used.
	Alias string `json:"alias"`
	// Tool is the qualified name, "server/tool"; empty if no tool has the alias.
	Tool QualifiedName `json:"tool"`
	// ServerIdentity says which server the call was meant for.
	ServerIdentity string `json:"serverIdentity,omitempty"`
	// Definition is the hash of the tool's definition at proposal.
	Definition string `json:"definition,omitempty"`
	// Proposed are the arguments exactly as the model sent them.
	Proposed json.RawMessage `json:"proposed"`
	// Requested are the canonical arguments without those that the engine
	// fills: what two equal calls have in common.
	Requested json.RawMessage `json:"requested,omitempty"`
	// Arguments are the canonical bytes that are (or would be) sent.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Key is the idempotency key, made at proposal and kept for ever.
	Key string `json:"key"`
	// Keyed says that the tool names a key argument, so its server keeps keys.
	Keyed bool `json:"keyed,omitempty"`
	// ReadOnly is what our own policy says of the tool, not its annotations.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Kind is the tool's kind for the ledger line, e.g. "order".
	Kind string `json:"kind,omitempty"`
	// NotInRequest marks a write that no dispatcher's line asked for.
	NotInRequest bool `json:"notInRequest,omitempty"`
	// Before is what a person did earlier about the same thing; see
	// [Engine.before]. Empty if nothing.
	Before string `json:"before,omitempty"`
	// NotTaken is set on the last call of a reply that held too many: so many
	// behind it were not taken, which the model is told.
	NotTaken int `json:"notTaken,omitempty"`
	// Verdict is what policy said at proposal. It is stored, never asked again.
	Verdict Verdict `json:"verdict"`
	// Approval is the newest approval of the call, if it ever had one.
	Approval ApprovalID `json:"approval,omitempty"`

	State CallState `json:"state"`
	// Owner is the engine that proposed the call, then the one that sent it.
	Owner OwnerID `json:"owner,omitempty"`
	// Attempt, SentAt and Deadline belong to the newest dispatch.
	Attempt  int       `json:"attempt,omitempty"`
	SentAt   time.Time `json:"sentAt,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
	// By is the desk user in whose name the call is sent.
	By UserID `json:"by,omitempty"`
	// EditedBy is who changed the arguments before approving; nil if nobody did.
	EditedBy *User `json:"editedBy,omitempty"`
	// NotSent says why an approved call could not be sent; empty otherwise.
	NotSent string `json:"notSent,omitempty"`
	// Lost says why the outcome is unknown, also while the call is sent again;
	// empty otherwise.
	Lost string `json:"lost,omitempty"`
	// Settlement says how an unknown call was settled, and by whom.
	Settlement *Settlement `json:"settlement,omitempty"`
	// Result is what the model hears; set when the state is settled.
	Result *Result `json:"result,omitempty"`
}

// Settlement records what a person said an unknown call really did.
type Settlement struct {
	// Happened is the person's statement.
	Happened bool      `json:"happened"`
	By       UserID    `json:"by"`
	At       time.Time `json:"at"`
	Note     string    `json:"note,omitempty"`
}

// Apply moves the call along the table; it changes nothing on error.
func (c *Call) Apply(event Event) error {
	next, err := c.State.Next(event)
	if err != nil {
		return err
	}
	c.State = next
	return nil
}

// Free reports whether the call runs without a person's decision.
func (c *Call) Free() bool { return c.Verdict.Decision == DecisionRun }

// Gated reports whether the call ever needed a person's decision.
func (c *Call) Gated() bool { return c.Approval != "" }

// because is why the call asks, in a sentence for its card.
func (c *Call) because() string {
	if c.Verdict.Because == "" || c.Before == "" {
		return c.Verdict.Because + c.Before
	}
	return c.Verdict.Because + "; " + c.Before
}

// Held reports whether the call was approved by a person and not sent: it goes
// out only when a person asks for it again.
func (c *Call) Held() bool { return c.State == CallApproved && !c.Free() }

// Name is how people address the call: by its approval where it had one, else
// by its own id.
func (c *Call) Name() string {
	if c.Approval != "" {
		return string(c.Approval)
	}
	return string(c.ID)
}
