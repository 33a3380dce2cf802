package agent

import "time"

// question is an approval on its way into the store.
type question struct {
	approval Approval
	// event moves the call: EventAsk for the first approval, EventRevise for
	// one that replaces another.
	event Event
	// expiresAfter is how long it waits; zero is for ever.
	expiresAfter time.Duration
}

// newApproval drafts the approval of a call whose arguments are final. Number,
// id and time come with its transaction.
func newApproval(c Call, entry Entry, turn Turn) Approval {
	return Approval{
		Version: recordVersion, Conversation: c.Conversation, Turn: c.Turn, Call: c.ID, State: ApprovalOpen,
		Tool: c.Tool, Kind: entry.Tool.Desk.Kind, ServerIdentity: entry.Identity, Definition: entry.Definition,
		Description: entry.Tool.Description, Arguments: c.Arguments, TermPointers: entry.Tool.Desk.Terms,
		Because: c.because(), NotInRequest: c.NotInRequest, RequestedBy: turn.User,
	}
}

// openApproval gives the question its number, moves the call and writes the
// approval. The caller writes the call. Nothing may be drawn before the
// transaction is committed.
func openApproval(tx Tx, c *Call, q question, now time.Time) error {
	a := q.approval
	number, err := tx.NextApproval()
	if err != nil {
		return err
	}
	if err := c.Apply(q.event); err != nil {
		return err
	}
	a.Number, a.ID, a.RequestedAt = number, NewApprovalID(number), now
	a.Arguments = c.Arguments
	if q.expiresAfter > 0 {
		end := now.Add(q.expiresAfter)
		a.ExpiresAt = &end
	}
	a.Digest = a.bind()
	c.Approval, c.NotSent = a.ID, ""
	return tx.PutApproval(a)
}

// supersede closes the open approval of a call in favour of a new one.
func supersede(tx Tx, old ApprovalID, by int) error {
	a, err := tx.Approval(old)
	if err != nil {
		return err
	}
	if a.State == ApprovalOpen {
		a.State = ApprovalSuperseded
	}
	a.SupersededBy = NewApprovalID(by)
	return tx.PutApproval(a)
}
