package agent

import (
	"context"
	"fmt"
	"time"
)

// SettleAs is what a person says of a call whose outcome is unknown.
type SettleAs string

// The answers to "what did it do?".
const (
	SettleHappened SettleAs = "happened"
	SettleNot      SettleAs = "did-not-happen"
	SettleResend   SettleAs = "resend"
)

// SettleRequest settles an unknown call, named by its newest approval or, if it
// never had one, by its own id.
type SettleRequest struct {
	Approval ApprovalID
	Call     CallID
	As       SettleAs
	Note     string
}

// Settle says what an unknown call really did, or sends it again: with its key
// where the server keeps keys, else only after its hard deadline.
func (e *Engine) Settle(ctx context.Context, r SettleRequest) (Report, error) {
	if r.Approval != "" {
		a, _, err := e.load(ctx, r.Approval)
		if err != nil {
			return Report{}, err
		}
		r.Call = a.Call
	}
	calls, err := e.store.Calls(ctx, []CallID{r.Call})
	if err != nil {
		return Report{}, fmt.Errorf("reading the call: %w", err)
	}
	if len(calls) == 0 {
		return Report{}, fmt.Errorf("there is no call %s: %w", r.Call, ErrNotFound)
	}
	c := calls[0]
	if c.State != CallUnknown {
		return Report{}, nothingToSettle(c)
	}
	if r.As == SettleResend {
		if !c.Keyed && time.Now().Before(c.Deadline) {
			return Report{}, fmt.Errorf("%s may still be running: it can be sent again after %s", c.Name(), c.Deadline.Format(time.TimeOnly))
		}
		return e.again(ctx, c)
	}
	goOn, err := e.settle(ctx, c, r)
	if err == nil && goOn {
		err = e.drive(ctx, c.Conversation, c.Turn)
	}
	return e.finish(ctx, c.Conversation, err)
}

func (e *Engine) settle(ctx context.Context, c Call, r SettleRequest) (bool, error) {
	now, user := e.now(), e.userIn(ctx)
	happened := r.As == SettleHappened
	if !happened && r.As != SettleNot {
		return false, fmt.Errorf("%q: say happened, did-not-happen or resend", r.As)
	}
	return e.change(ctx, c.ID, func(_ Tx, c *Call) ([]AuditLine, error) {
		if c.State != CallUnknown { // answered, or sent again, meanwhile
			return nil, nothingToSettle(*c)
		}
		c.Settlement = &Settlement{Happened: happened, By: user.ID, At: now, Note: r.Note}
		text, event := e.texts.DidNotHappen, EventFail
		if happened {
			text, event = e.texts.Happened, EventDone
		}
		if r.Note != "" {
			text += " Note: " + r.Note
		}
		c.Result, c.Lost = TextResult(text, false), ""
		return []AuditLine{{Step: AuditSettled, At: now, By: &user, Note: string(r.As) + noteSuffix(r.Note)}}, c.Apply(event)
	})
}

func nothingToSettle(c Call) error {
	return fmt.Errorf("%s is %s: there is nothing to settle", c.Name(), c.State)
}

func noteSuffix(note string) string {
	if note == "" {
		return ""
	}
	return ": " + note
}

// again sends an unknown call once more, with the key that it always had.
func (e *Engine) again(ctx context.Context, c Call) (Report, error) {
	goOn, err := e.askByKey(ctx, c, true)
	if err == nil && goOn {
		err = e.drive(ctx, c.Conversation, c.Turn)
	}
	return e.finish(ctx, c.Conversation, err)
}

// askByKey sends an unknown call again, unless its server cannot be reached, in
// which case it stays unknown. Where no person asked for it, it also stays
// unknown if the tool has changed: whether its server still keeps the key that
// the arguments hold, nobody knows.
func (e *Engine) askByKey(ctx context.Context, c Call, person bool) (bool, error) {
	box, err := e.toolbox(ctx, c.Conversation)
	if err != nil {
		return false, err
	}
	entry, err := box.Resolve(c.Tool)
	if err != nil {
		return false, err
	}
	if !person && (entry.Definition != c.Definition || entry.Identity != c.ServerIdentity) {
		return false, nil
	}
	sent, revived, err := e.dispatch(ctx, c.ID, nil)
	if err != nil {
		return false, err
	}
	return e.executeAll(ctx, box, sent, revived)
}

// Abort ends a conversation's open turn in whatever state it is: what waits is
// cancelled, what runs becomes unknown and stays listed (a read is cancelled),
// and nothing of the turn goes on.
func (e *Engine) Abort(ctx context.Context, id ConversationID) (Report, error) {
	now, user := e.now(), e.userIn(ctx)
	var turn TurnID
	err := e.store.Update(ctx, func(tx Tx) error {
		head, err := tx.Head(id)
		if err != nil {
			return err
		}
		if head.Open == nil {
			return ErrNoOpenTurn
		}
		turn = head.Open.Turn
		var lines []AuditLine
		for _, b := range head.Open.Batch {
			line, err := e.abortCall(tx, b.ID, user, now)
			if isUnusable(err) {
				err = leave(tx, b)
			}
			if err != nil {
				return err
			}
			lines = append(lines, line...)
		}
		record, err := tx.Turn(turn)
		if err == nil {
			record.End, record.Usage = TurnAborted, head.Open.Usage
			err = tx.PutTurn(record)
		}
		if err != nil && !isUnusable(err) {
			return err
		}
		head.Open, head.Updated = nil, now
		return putAudit(tx, &head, lines)
	})
	if err != nil {
		return Report{}, fmt.Errorf("aborting: %w", err)
	}
	e.stop(turn)
	e.tell(Happening{Kind: TurnEnded, Conversation: id, Turn: turn})
	report, err := e.Report(ctx, id)
	if isUnusable(err) {
		report.Status, err = TurnAborted, nil
		report.answer(nil, Snapshot{})
	}
	return report, err
}

// leave takes a call of an aborted turn that has no usable record out of what
// waits; one that was out stays listed, because it may have happened.
func leave(tx Tx, b BatchCall) error {
	if b.State == CallRunning || b.State == CallUnknown {
		return nil
	}
	return tx.LeaveCall(b.ID)
}

// abortCall moves one call of an aborted turn.
func (e *Engine) abortCall(tx Tx, id CallID, user User, now time.Time) ([]AuditLine, error) {
	c, err := tx.Call(id)
	if err != nil || c.State.Settled() || c.State == CallUnknown {
		return nil, err
	}
	event, text := EventAbort, e.texts.Cancelled
	if c.State == CallRunning {
		event, text = EventLose, ""
		c.Lost = "the turn was aborted while the call was out"
	}
	if err := c.Apply(event); err != nil {
		return nil, err
	}
	if text != "" {
		c.Result = TextResult(text, false)
	}
	line := auditLine(AuditClosed, c, nil, now)
	line.By, line.Note = &user, "turn aborted"
	if c.Approval != "" {
		a, err := tx.Approval(c.Approval)
		if err != nil && !isUnusable(err) {
			return nil, err
		}
		line.Digest = a.Digest
		if a.State == ApprovalOpen {
			a.State, a.Closed = ApprovalCancelled, "the turn was aborted"
			if err := tx.PutApproval(a); err != nil {
				return nil, err
			}
		}
	}
	return []AuditLine{line}, tx.PutCall(c)
}
