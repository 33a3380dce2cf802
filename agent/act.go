package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// act runs what may run by itself and puts up the cards of what may not: reads
// together, then free writes one after another in the model's order, then the
// previews and approvals of the rest. It goes on if one of its own commits
// settled the last call.
func (e *Engine) act(ctx context.Context, s Snapshot) (goOn bool, err error) {
	box, err := e.toolbox(ctx, s.Head.Conversation)
	if err != nil {
		return false, err
	}
	var reads, writes, asks []Call
	for _, c := range s.Calls {
		switch {
		case c.State == CallApproved && c.Free() && c.ReadOnly:
			reads = append(reads, c)
		case c.State == CallApproved && c.Free():
			writes = append(writes, c)
		case c.State == CallProposed:
			asks = append(asks, c)
		}
	}
	thinking, err := e.runReads(ctx, box, reads)
	for _, c := range writes {
		if err != nil || ctx.Err() != nil {
			break
		}
		var settled bool
		settled, err = e.runWrite(ctx, box, c)
		thinking = thinking || settled
	}
	for _, c := range asks {
		if err != nil || ctx.Err() != nil {
			break
		}
		var settled bool
		settled, err = e.putUp(ctx, box, c, s.Turn)
		thinking = thinking || settled
	}
	if err == nil {
		err = ctx.Err()
	}
	return thinking, err
}

// runReads runs free reads, a few at once. Each commits only its result: a read
// that is lost in a crash is simply read again.
func (e *Engine) runReads(ctx context.Context, box *Toolbox, reads []Call) (thinking bool, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	places := make(chan struct{}, maxReads)
	for _, c := range reads {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			c.Attempt, c.SentAt = c.Attempt+1, e.now()
			settled, failure := e.execute(ctx, box, c)
			mu.Lock()
			defer mu.Unlock()
			thinking = thinking || settled
			err = errors.Join(err, failure)
		})
	}
	wait.Wait()
	return thinking, err
}

// runWrite marks a free write as running and runs it.
func (e *Engine) runWrite(ctx context.Context, box *Toolbox, c Call) (bool, error) {
	sent, err := e.dispatch(ctx, c.ID, nil)
	if err != nil {
		return false, err
	}
	return e.execute(ctx, box, sent)
}

// putUp prepares a gated call and commits its approval (or its refusal).
func (e *Engine) putUp(ctx context.Context, box *Toolbox, c Call, turn Turn) (bool, error) {
	p, err := e.prepare(ctx, box, c, turn)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		// The tool was there when the model was asked. A card that can only be
		// denied keeps the decision with the dispatcher.
		entry, missing := e.lastEntry(ctx, c)
		if missing != nil {
			return false, missing
		}
		p = preparation{call: c, approval: newApproval(c, entry, turn)}
		p.approval.NoPreview = err.Error()
	}
	p.approval.Line = e.line(ctx, turn)
	now := e.now()
	return e.change(ctx, c.ID, func(tx Tx, stored *Call) ([]AuditLine, error) {
		if stored.State != CallProposed {
			return nil, errSkip
		}
		if p.refused != nil {
			stored.Result = p.refused
			return []AuditLine{{Step: AuditClosed, At: now, Note: p.reason}}, stored.Apply(EventRefuse)
		}
		stored.Arguments, stored.ServerIdentity, stored.Definition, stored.Keyed = p.call.Arguments, p.call.ServerIdentity, p.call.Definition, p.call.Keyed
		if err := openApproval(tx, stored, question{approval: p.approval, event: EventAsk, expiresAfter: e.policy.expiresAfter}, now); err != nil {
			return nil, err
		}
		return []AuditLine{{Step: AuditShown, At: now}}, nil
	})
}

// lastEntry describes a call's tool from the store.
func (e *Engine) lastEntry(ctx context.Context, c Call) (Entry, error) {
	tool, err := e.store.Definition(ctx, c.Definition)
	if err != nil {
		return Entry{}, fmt.Errorf("reading the definition of %s: %w", c.Tool, err)
	}
	return Entry{Name: c.Tool, Alias: c.Alias, Identity: c.ServerIdentity, Definition: c.Definition, Tool: tool}, nil
}

// line is the dispatcher's message of a turn; a message that cannot be read
// leaves the card without it.
func (e *Engine) line(ctx context.Context, turn Turn) string {
	messages, err := e.store.Messages(ctx, turn.Conversation, turn.FirstMessage+1, 1)
	if err != nil || len(messages) == 0 {
		return ""
	}
	return messages[0].Text
}
