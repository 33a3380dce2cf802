package agent

import "strconv"

// Identifiers are opaque to everybody but the package that makes them. Nothing
// is ordered by them: messages, calls and audit lines have numbers.
type (
	// ConversationID names one thread of messages.
	ConversationID string
	// TurnID names one turn.
	TurnID string
	// CallID is our own id of a call; the model's id is kept beside it.
	CallID string
	// OwnerID names one start of one engine.
	OwnerID string
	// UserID names a desk user, e.g. "U-01".
	UserID string
)

// ApprovalID is "A-" and a number of the desk that is never reused. It is the
// same on the card, on the command line, in JSON and in the audit.
type ApprovalID string

// NewApprovalID gives the id of the n-th approval of a desk.
func NewApprovalID(n int) ApprovalID {
	return ApprovalID("A-" + strconv.Itoa(n))
}
