package agenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deskhand/agent"
)

// Desk is everything that a store holds.
type Desk struct {
	Heads     []agent.Head
	Messages  map[agent.ConversationID][]agent.Message
	Turns     map[agent.TurnID]agent.Turn
	Calls     map[agent.CallID]agent.Call
	Approvals map[agent.ApprovalID]agent.Approval
	Audit     map[agent.ConversationID][]agent.AuditLine
}

// ReadDesk reads all of a store, from the messages down, and never through an
// index of what is open.
func ReadDesk(ctx context.Context, store agent.Store) (Desk, error) {
	d := Desk{
		Messages: map[agent.ConversationID][]agent.Message{}, Turns: map[agent.TurnID]agent.Turn{},
		Calls: map[agent.CallID]agent.Call{}, Approvals: map[agent.ApprovalID]agent.Approval{},
		Audit: map[agent.ConversationID][]agent.AuditLine{},
	}
	heads, err := store.Conversations(ctx, 0, 10_000)
	if err != nil {
		return d, err
	}
	d.Heads = heads
	for _, h := range heads {
		if err := d.read(ctx, store, h); err != nil {
			return d, fmt.Errorf("conversation %s: %w", h.Conversation, err)
		}
	}
	return d, d.readApprovals(ctx, store)
}

func (d *Desk) read(ctx context.Context, store agent.Store, h agent.Head) error {
	messages, err := store.Messages(ctx, h.Conversation, 0, 10_000)
	if err != nil {
		return err
	}
	d.Messages[h.Conversation] = messages
	for _, m := range messages {
		turns, err := store.Turns(ctx, []agent.TurnID{m.Turn})
		if err != nil || len(turns) != 1 {
			return errors.Join(err, fmt.Errorf("message %d: its turn %s is missing", m.Number, m.Turn))
		}
		d.Turns[m.Turn] = turns[0]
		calls, err := store.Calls(ctx, m.Calls)
		if err != nil || len(calls) != len(m.Calls) {
			return errors.Join(err, fmt.Errorf("message %d: %d of its %d calls are missing", m.Number, len(m.Calls)-len(calls), len(m.Calls)))
		}
		for _, c := range calls {
			d.Calls[c.ID] = c
		}
	}
	d.Audit[h.Conversation], err = store.Audit(ctx, h.Conversation)
	return err
}

// readApprovals reads the approvals of all calls, with those that they replaced.
func (d *Desk) readApprovals(ctx context.Context, store agent.Store) error {
	for _, c := range d.Calls {
		for next := c.Approval; next != ""; {
			approvals, err := store.Approvals(ctx, []agent.ApprovalID{next})
			if err != nil || len(approvals) != 1 {
				return errors.Join(err, fmt.Errorf("call %s: its approval %s is missing", c.ID, next))
			}
			d.Approvals[next] = approvals[0]
			next = approvals[0].Supersedes
		}
	}
	return nil
}

// CheckDesk makes sure that the records of a store agree with each other: heads
// with calls, approvals with calls, the indexes of what is open with both,
// messages and audit lines without holes. It may be asked at any moment.
func CheckDesk(ctx context.Context, store agent.Store) error {
	d, err := ReadDesk(ctx, store)
	if err != nil {
		return err
	}
	return d.Check(ctx, store)
}

// Check is [CheckDesk] for a desk that was just read from the store.
func (d *Desk) Check(ctx context.Context, store agent.Store) error {
	faults := []error{d.checkIndexes(ctx, store)}
	for _, h := range d.Heads {
		faults = append(faults, d.checkHead(h))
	}
	for _, c := range d.Calls {
		faults = append(faults, d.checkCall(c))
	}
	for _, a := range d.Approvals {
		faults = append(faults, d.checkApproval(a))
	}
	return errors.Join(faults...)
}

func (d *Desk) checkIndexes(ctx context.Context, store agent.Store) error {
	open, err := store.OpenCalls(ctx)
	if err != nil {
		return err
	}
	var got, want []string
	for _, c := range open {
		got = append(got, "call "+string(c.ID))
	}
	heads, err := store.OpenTurns(ctx)
	if err != nil {
		return err
	}
	for _, h := range heads {
		got = append(got, "turn of "+string(h.Conversation))
	}
	for _, c := range d.Calls {
		held := c.State == agent.CallApproved && c.Verdict.Decision != agent.DecisionRun
		if held || c.State == agent.CallWaiting || c.State == agent.CallUnknown || c.State == agent.CallRunning {
			want = append(want, "call "+string(c.ID))
		}
	}
	for _, h := range d.Heads {
		if h.Open != nil {
			want = append(want, "turn of "+string(h.Conversation))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("the indexes list %v as open, the records say %v", got, want)
	}
	return nil
}

func (d *Desk) checkHead(h agent.Head) error {
	var faults []error
	for i, m := range d.Messages[h.Conversation] {
		if m.Number != i+1 {
			faults = append(faults, fmt.Errorf("message %d of %s has number %d", i+1, h.Conversation, m.Number))
		}
	}
	if n := len(d.Messages[h.Conversation]); h.NextMessage != n+1 {
		faults = append(faults, fmt.Errorf("%s counts %d messages and has %d", h.Conversation, h.NextMessage-1, n))
	}
	for i, line := range d.Audit[h.Conversation] {
		if line.Number != i+1 {
			faults = append(faults, fmt.Errorf("audit line %d of %s has number %d", i+1, h.Conversation, line.Number))
		}
	}
	if n := len(d.Audit[h.Conversation]); h.NextAudit != n+1 {
		faults = append(faults, fmt.Errorf("%s counts %d audit lines and has %d", h.Conversation, h.NextAudit-1, n))
	}
	for _, t := range d.Turns {
		if t.Conversation == h.Conversation && (t.End == "") != (h.Open != nil && h.Open.Turn == t.ID) {
			faults = append(faults, fmt.Errorf("turn %s ended %q, and the head says %+v", t.ID, t.End, h.Open))
		}
	}
	if h.Open != nil {
		faults = append(faults, d.checkOpenTurn(*h.Open))
	}
	return errors.Join(faults...)
}

// checkOpenTurn compares a head's batch with the calls, and its state with what
// the batch allows.
func (d *Desk) checkOpenTurn(open agent.OpenTurn) error {
	var faults []error
	needsPerson, mayGoOn := false, false
	for _, b := range open.Batch {
		c := d.Calls[b.ID]
		free := c.Verdict.Decision == agent.DecisionRun
		if c.State != b.State || free != b.Free {
			faults = append(faults, fmt.Errorf("the head says of call %s: %s (free: %v), the call: %s (free: %v)", b.ID, b.State, b.Free, c.State, free))
		}
		switch {
		case c.State.Settled():
		case c.State == agent.CallProposed, c.State == agent.CallRunning, c.State == agent.CallApproved && free:
			mayGoOn = true
		default:
			needsPerson = true
		}
	}
	driven := open.State == agent.TurnThinking || open.State == agent.TurnActing
	switch {
	case driven && open.Owner == "":
		faults = append(faults, fmt.Errorf("the turn is %s and nobody drives it", open.State))
	case open.State == agent.TurnThinking && (needsPerson || mayGoOn):
		faults = append(faults, errors.New("the turn is thinking although calls are not settled"))
	case open.State == agent.TurnPaused && (mayGoOn || !needsPerson):
		faults = append(faults, errors.New("the turn is paused although nothing waits, or something may go on"))
	}
	return errors.Join(faults...)
}

func (d *Desk) checkCall(c agent.Call) error {
	a, gated := d.Approvals[c.Approval]
	switch {
	case c.State.Settled() != (c.Result != nil):
		return fmt.Errorf("call %s is %s, with result: %v", c.ID, c.State, c.Result != nil)
	case c.State == agent.CallWaiting && a.State != agent.ApprovalOpen:
		return fmt.Errorf("call %s waits, and its approval is %q", c.ID, a.State)
	case c.State != agent.CallWaiting && a.State == agent.ApprovalOpen:
		return fmt.Errorf("call %s is %s, and its approval %s is open", c.ID, c.State, a.ID)
	case gated && string(a.Arguments) != string(c.Arguments):
		return fmt.Errorf("call %s would send %s, and its approval shows %s", c.ID, c.Arguments, a.Arguments)
	}
	return nil
}

func (d *Desk) checkApproval(a agent.Approval) error {
	decided := a.State == agent.ApprovalApproved || a.State == agent.ApprovalDenied
	switch {
	case Digest(a) != a.Digest:
		return fmt.Errorf("%s has another digest than its record", a.ID)
	case decided != (a.Decision != nil):
		return fmt.Errorf("%s is %s, with decision: %v", a.ID, a.State, a.Decision != nil)
	case a.Decision != nil && a.Decision.Approved != (a.State == agent.ApprovalApproved):
		return fmt.Errorf("%s is %s, and its decision says approved: %v", a.ID, a.State, a.Decision.Approved)
	case a.State == agent.ApprovalOpen && d.Calls[a.Call].Approval != a.ID:
		return fmt.Errorf("%s is open, and its call has %s", a.ID, d.Calls[a.Call].Approval)
	}
	return nil
}
