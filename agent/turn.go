package agent

import "time"

// TurnState is where a turn stands.
type TurnState string

// The states of a turn.
const (
	// TurnThinking: a model request is out (or about to be).
	TurnThinking TurnState = "thinking"
	// TurnActing: calls run, or their previews are fetched.
	TurnActing TurnState = "acting"
	// TurnPaused: something waits for a person, and nothing runs.
	TurnPaused TurnState = "paused"
	// TurnStalled: the model or a limit stopped it; the records stand.
	TurnStalled TurnState = "stalled"
	// TurnCompleted: the assistant gave its final answer.
	TurnCompleted TurnState = "completed"
	// TurnAborted: a person ended it.
	TurnAborted TurnState = "aborted"
)

// Open reports whether the turn has not ended.
func (s TurnState) Open() bool { return s != TurnCompleted && s != TurnAborted && s != "" }

// Turn is everything between a dispatcher's message and the assistant's final
// answer to it. While the turn is open its state stands in the conversation's
// head; here it is written when the turn ends.
type Turn struct {
	Version      int            `json:"v"`
	ID           TurnID         `json:"id"`
	Conversation ConversationID `json:"conversation"`
	// User is who sent the message.
	User User `json:"user"`
	// SentAt is the time in the prompt, in the desk's zone.
	SentAt time.Time `json:"sentAt"`
	// FirstMessage is the number of the dispatcher's message.
	FirstMessage int `json:"firstMessage"`
	// LastMessage is the number of the final answer; 0 while there is none.
	LastMessage int `json:"lastMessage,omitempty"`
	// End is how the turn ended; empty while it is open.
	End TurnState `json:"end,omitempty"`
	// Ledger is the line under the answer, made from the records when the turn
	// ended; empty if nothing of the turn was gated.
	Ledger string `json:"ledger,omitempty"`
	Usage  Usage  `json:"usage,omitzero"`
}

// Head is a conversation's hot record: whatever changes while a turn goes on
// changes here too, in the same transaction, so nobody has to scan to know who
// continues.
type Head struct {
	Version      int            `json:"v"`
	Conversation ConversationID `json:"conversation"`
	// Number is the conversation's place on the desk, from 1.
	Number  int       `json:"number"`
	Title   string    `json:"title"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// NextMessage and NextAudit are the numbers that come next, from 1.
	NextMessage int `json:"nextMessage"`
	NextAudit   int `json:"nextAudit"`
	// LastTurn is the newest turn, open or ended.
	LastTurn TurnID `json:"lastTurn,omitempty"`
	// Open is the open turn, or nil.
	Open *OpenTurn `json:"open,omitempty"`
	// Queue holds messages that wait behind the open turn, oldest first.
	Queue []QueuedMessage `json:"queue,omitempty"`
}

// OpenTurn is the part of a head that belongs to the open turn.
type OpenTurn struct {
	Turn  TurnID    `json:"turn"`
	State TurnState `json:"state"`
	// Owner drives the turn while it is thinking or acting.
	Owner OwnerID `json:"owner,omitempty"`
	// Steps counts the model's replies.
	Steps int `json:"steps"`
	// Batch are the calls of the newest reply, in the model's order.
	Batch []BatchCall `json:"batch,omitempty"`
	// Stall says why the turn is stalled, in a sentence; empty otherwise.
	Stall string `json:"stall,omitempty"`
	// Interrupted marks a stall that came from a dead owner, not from a model
	// or a limit: the next start may continue it.
	Interrupted bool `json:"interrupted,omitempty"`
	// Revived says that a person asked to go on after the newest reply.
	Revived bool `json:"revived,omitempty"`
	// Usage sums the tokens of the turn's replies.
	Usage Usage `json:"usage,omitzero"`
}

// BatchCall is a call as the head knows it.
type BatchCall struct {
	ID    CallID    `json:"id"`
	State CallState `json:"state"`
	// Free is set for a call that runs without a decision.
	Free bool `json:"free,omitempty"`
}

// QueuedMessage waits behind an open turn.
type QueuedMessage struct {
	Text string    `json:"text"`
	User User      `json:"user"`
	At   time.Time `json:"at"`
	// Behind is the turn that the message waits for. Where that turn was
	// aborted, the message is not sent by itself any more.
	Behind TurnID `json:"behind,omitempty"`
}

// takeQueued takes the next message that waits behind a turn that has ended out
// of the queue; the others that waited for it wait for the turn that the message
// begins.
func (h *Head) takeQueued(ended, next TurnID) (QueuedMessage, bool) {
	for i, q := range h.Queue {
		if q.Behind != "" && q.Behind != ended { // older records do not say
			continue
		}
		rest := append(append([]QueuedMessage(nil), h.Queue[:i]...), h.Queue[i+1:]...)
		for j := range rest {
			if rest[j].Behind == "" || rest[j].Behind == ended {
				rest[j].Behind = next
			}
		}
		h.Queue = rest
		return q, true
	}
	return QueuedMessage{}, false
}

// Note writes a call's new state into the batch, works out what the turn is now,
// and reports whether the call is one of the open turn: others move nothing. A
// turn whose last call has settled is thinking, owned by owner.
func (h *Head) Note(c Call, owner OwnerID) bool {
	o := h.Open
	if o == nil || o.Turn != c.Turn {
		return false
	}
	for i := range o.Batch {
		if o.Batch[i].ID == c.ID {
			o.Batch[i] = BatchCall{ID: c.ID, State: c.State, Free: c.Free()}
		}
	}
	o.State, o.Owner = batchState(o.Batch), ""
	o.Stall, o.Interrupted = "", false
	if o.State == TurnThinking || o.State == TurnActing {
		o.Owner = owner
	}
	return true
}

// batchState is what a turn is, given the calls of its newest reply: acting
// while anything runs or may run by itself, paused while a person is needed,
// thinking when all have settled.
func batchState(batch []BatchCall) TurnState {
	state := TurnThinking
	for _, c := range batch {
		switch {
		case c.State.Settled():
		case c.State == CallProposed, c.State == CallRunning, c.State == CallApproved && c.Free:
			return TurnActing
		default:
			state = TurnPaused
		}
	}
	return state
}
