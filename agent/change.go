package agent

import (
	"context"
	"errors"
	"fmt"
)

var (
	// errNotMine: the turn ended, or another owner has it.
	errNotMine = errors.New("the turn is not this engine's")
	// errSkip: the call moved on meanwhile; nothing is to be written.
	errSkip = errors.New("nothing to change")
)

// change is how a stored call moves: fn changes the call, and call, head and
// audit are written in one transaction. Lines need step, time and note only;
// the rest is filled in. It reports whether this very change made the turn
// think (or act) again, in which case the caller drives it.
func (e *Engine) change(ctx context.Context, id CallID, fn func(Tx, *Call) ([]AuditLine, error)) (goOn bool, err error) {
	var c Call
	var after Head
	var before TurnState
	err = e.store.Update(ctx, func(tx Tx) error {
		goOn = false
		c, err = tx.Call(id)
		if err != nil {
			return err
		}
		lines, err := fn(tx, &c)
		if err != nil {
			return err
		}
		if err := tx.PutCall(c); err != nil {
			return err
		}
		head, err := tx.Head(c.Conversation)
		if err != nil {
			return err
		}
		if err := fillLines(tx, c, lines); err != nil {
			return err
		}
		if before = ""; head.Open != nil {
			before = head.Open.State
		}
		goOn = e.note(&head, c)
		after = head
		return putAudit(tx, &head, lines)
	})
	if errors.Is(err, errSkip) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keeping what became of the call: %w", err)
	}
	if after.Open != nil {
		e.tellTurn(after, c.Turn, before, after.Open.State)
	}
	return goOn, nil
}

// note writes the call's state into the head and reports whether the turn goes
// on because of it: its last call settled, or it had been stalled.
func (e *Engine) note(head *Head, c Call) bool {
	stalled := head.Open != nil && head.Open.State == TurnStalled
	if !head.Note(c, e.owner) {
		return false
	}
	return head.Open.State == TurnThinking || head.Open.State == TurnActing && stalled
}

func fillLines(tx Tx, c Call, lines []AuditLine) error {
	for i, line := range lines {
		full := auditLine(line.Step, c, nil, line.At)
		full.By, full.Note = line.By, line.Note
		if line.State != "" { // a step on the way, in the same commit
			full.State = line.State
		}
		if c.Approval != "" {
			a, err := tx.Approval(c.Approval)
			if err != nil {
				return err
			}
			full.Digest = a.Digest
		}
		lines[i] = full
	}
	return nil
}
