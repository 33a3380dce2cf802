package agent

import (
	"context"
	"errors"
	"fmt"
)

// Mark is the first half of recovery: it marks what dead owners left, touches
// only the store, and runs whenever a store is opened. Calls that ran become
// unknown (reads may simply run again), turns that thought or acted are
// stalled. Alive says whose owners live besides this engine; nil means nobody.
func (e *Engine) Mark(ctx context.Context, alive func(OwnerID) bool) error {
	dead := func(o OwnerID) bool { return o != "" && o != e.owner && (alive == nil || !alive(o)) }
	calls, err := e.store.OpenCalls(ctx)
	if err != nil {
		return fmt.Errorf("looking for unfinished calls: %w", err)
	}
	for _, c := range calls {
		if c.State != CallRunning || !dead(c.Owner) {
			continue
		}
		if err := e.markCall(ctx, c); err != nil {
			return err
		}
	}
	heads, err := e.store.OpenTurns(ctx)
	if err != nil {
		return fmt.Errorf("looking for unfinished turns: %w", err)
	}
	for _, head := range heads {
		if head.Open == nil || !dead(head.Open.Owner) {
			continue
		}
		if err := e.markTurn(ctx, head, dead); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) markCall(ctx context.Context, c Call) error {
	now := e.now()
	err := e.store.Update(ctx, func(tx Tx) error {
		fresh, err := tx.Call(c.ID)
		if err != nil || fresh.State != CallRunning || fresh.Owner != c.Owner {
			return err
		}
		event := EventLose
		fresh.Lost = "the program ended before the answer came"
		if fresh.ReadOnly && fresh.Free() {
			event, fresh.Lost = EventReread, ""
		}
		if err := fresh.Apply(event); err != nil {
			return err
		}
		head, err := tx.Head(fresh.Conversation)
		if err != nil {
			return err
		}
		if open := head.Open; open != nil && open.Turn == fresh.Turn {
			for i := range open.Batch {
				if open.Batch[i].ID == fresh.ID {
					open.Batch[i].State = fresh.State
				}
			}
		}
		if err := tx.PutCall(fresh); err != nil {
			return err
		}
		lines := []AuditLine{{Step: AuditResult, At: now, Note: "unknown: " + fresh.Lost}}
		if event == EventReread {
			lines = nil
		}
		if err := fillLines(tx, fresh, lines); err != nil {
			return err
		}
		return putAudit(tx, &head, lines)
	})
	if err != nil {
		return fmt.Errorf("marking the call %s: %w", c.Name(), err)
	}
	return nil
}

func (e *Engine) markTurn(ctx context.Context, h Head, dead func(OwnerID) bool) error {
	err := e.store.Update(ctx, func(tx Tx) error {
		head, err := tx.Head(h.Conversation)
		if err != nil || head.Open == nil || !dead(head.Open.Owner) {
			return err
		}
		head.Open.Owner = ""
		head.Open.State = batchState(head.Open.Batch)
		if head.Open.State != TurnPaused {
			head.Open.State = TurnStalled
			head.Open.Stall, head.Open.Interrupted = "the program ended in the middle of the turn", true
		}
		return tx.PutHead(head)
	})
	if err != nil {
		return fmt.Errorf("marking the turn of conversation %s: %w", h.Conversation, err)
	}
	return nil
}

// Resume is the second half of recovery, for all open turns: reads run again,
// keyed calls are asked again with their key, the model is asked again. It is
// for programs that stay (the console, the server); commands continue only the
// turn that they are about. A call that was approved and not sent is never sent
// here. Errors of single turns are joined; the others go on.
func (e *Engine) Resume(ctx context.Context) error {
	heads, err := e.store.OpenTurns(ctx)
	if err != nil {
		return fmt.Errorf("looking for unfinished turns: %w", err)
	}
	failures := []error{e.ExpireDue(ctx)}
	for _, head := range heads {
		if err := e.ResumeTurn(ctx, head.Conversation); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// ResumeTurn continues what a dead owner left of one conversation's turn.
func (e *Engine) ResumeTurn(ctx context.Context, id ConversationID) error {
	s, err := e.store.Snapshot(ctx, id)
	if err != nil || s.Head.Open == nil {
		return err
	}
	goOn := false
	for _, c := range s.Calls {
		if c.State != CallUnknown || !c.Keyed {
			continue
		}
		settled, err := e.askByKey(ctx, c, false)
		var moved *TransitionError
		if errors.As(err, &moved) {
			continue // somebody else was faster
		}
		if err != nil {
			return fmt.Errorf("asking for %s by its key: %w", c.Name(), err)
		}
		goOn = goOn || settled
	}
	if s.Head.Open.State == TurnStalled && s.Head.Open.Interrupted && !goOn {
		goOn, err = e.takeOver(ctx, id)
		if err != nil {
			return err
		}
	}
	if goOn {
		return e.drive(ctx, id, s.Head.Open.Turn)
	}
	return nil
}

// takeOver makes this engine the owner of an interrupted turn.
func (e *Engine) takeOver(ctx context.Context, id ConversationID) (bool, error) {
	taken := false
	err := e.store.Update(ctx, func(tx Tx) error {
		taken = false
		head, err := tx.Head(id)
		if err != nil {
			return err
		}
		if head.Open == nil || head.Open.State != TurnStalled || !head.Open.Interrupted {
			return nil
		}
		steps := head.Open.Steps
		head.Open.revive(e.owner)
		head.Open.Steps = steps
		taken = true
		return tx.PutHead(head)
	})
	return taken, err
}
