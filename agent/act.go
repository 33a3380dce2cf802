package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
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
	past, err := e.history(ctx, s)
	if err != nil {
		return false, err
	}
	var reads, writes, asks []Call
	for _, c := range s.Calls {
		if c.State == CallApproved && c.Free() && !e.stillFree(box, &c, past) {
			asks = append(asks, c)
			continue
		}
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
		settled, err = e.putUp(ctx, box, c, s, past)
		thinking = thinking || settled
	}
	if err == nil {
		err = ctx.Err()
	}
	return thinking, err
}

// stillFree reads today's rules for a call that another start of the engine let
// run: they may have become stricter since. Nothing is ever loosened. A call
// that runs under a ceiling is held against today's with what it spends.
func (e *Engine) stillFree(box *Toolbox, c *Call, past history) bool {
	if c.Owner == e.owner {
		return true
	}
	in := PolicyInput{Tool: c.Tool, Args: c.Requested, Call: c.ID, Conversation: past.texts, Amount: c.Verdict.Spends}
	if entry, err := box.Resolve(c.Tool); err == nil {
		in.Spends = entry.Tool.Desk.Spends
	}
	verdict := e.policy.Verdict(in)
	if verdict.Decision == DecisionRun {
		return true
	}
	verdict.Fixed = true
	c.Verdict = verdict
	return false
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
	sent, _, err := e.dispatch(ctx, c.ID, nil)
	var moved *TransitionError
	switch {
	case errors.As(err, &moved):
		return false, nil // whoever took the turn over, or ended it, was faster
	case err != nil:
		return false, err
	}
	return e.execute(ctx, box, sent)
}

// putUp prepares a gated call and commits its approval, its refusal, or, where
// the preview shows that a rule lets it run, that it runs.
func (e *Engine) putUp(ctx context.Context, box *Toolbox, c Call, s Snapshot, past history) (bool, error) {
	p, err := e.prepare(ctx, box, c, s.Turn)
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
		p = preparation{call: c, approval: newApproval(c, entry, s.Turn)}
		p.approval.NoPreview = err.Error()
	}
	p.approval.Line = e.line(ctx, s.Turn)
	verdict := e.secondLook(p, box, past)
	now := e.now()
	runs := false
	goOn, err := e.change(ctx, c.ID, func(tx Tx, stored *Call) ([]AuditLine, error) {
		runs = false
		if stored.State != CallProposed && !(stored.State == CallApproved && stored.Free()) {
			return nil, errSkip
		}
		if p.refused != nil {
			stored.Result = p.refused
			return []AuditLine{{Step: AuditClosed, At: now, Note: p.reason}}, stored.Apply(EventRefuse)
		}
		stored.Arguments, stored.ServerIdentity, stored.Definition, stored.Keyed = p.call.Arguments, p.call.ServerIdentity, p.call.Definition, p.call.Keyed
		stored.Verdict = verdict
		if verdict.Decision == DecisionRefuse {
			stored.Result = TextResult(ruledOut(verdict), true)
			return []AuditLine{{Step: AuditClosed, At: now, Note: verdict.Because}}, stored.Apply(EventRefuse)
		}
		var err error
		if runs, err = mayRun(tx, stored, now); runs || err != nil {
			stored.By = s.Turn.User.ID
			return nil, errors.Join(err, stored.Apply(EventRun))
		}
		draft := p.approval
		draft.Because = stored.because()
		if err := openApproval(tx, stored, question{approval: draft, event: EventAsk, expiresAfter: e.policy.expiresAfter}, now); err != nil {
			return nil, err
		}
		return []AuditLine{{Step: AuditShown, At: now}}, nil
	})
	return goOn || runs, err
}

// secondLook asks policy again once the preview is there: rules may be about
// it, and ceilings always are. What has to ask, asks.
func (e *Engine) secondLook(p preparation, box *Toolbox, past history) Verdict {
	first := p.call.Verdict
	if first.Decision == DecisionRefuse {
		return first
	}
	entry, err := box.Resolve(p.call.Tool)
	if err != nil || p.refused != nil || p.approval.Preview == nil {
		return first
	}
	second := e.policy.Verdict(PolicyInput{
		Tool: p.call.Tool, Args: p.call.Requested, Preview: p.approval.Preview.Structured,
		Spends: entry.Tool.Desk.Spends, Call: p.call.ID, Conversation: past.texts,
	})
	if first.Fixed && second.Decision == DecisionRun {
		return first
	}
	second.Fixed = first.Fixed
	if first.Fixed && first.Because != "" {
		second.Because = first.Because
	}
	return second
}

// mayRun reports whether a call with its final verdict runs unasked. A ceiling
// for the day is counted in the same transaction, so that two calls at once
// cannot both take the rest of it.
func mayRun(tx Tx, c *Call, now time.Time) (bool, error) {
	v := c.Verdict
	if v.Decision != DecisionRun {
		return false, nil
	}
	if v.Ceiling == nil || v.Ceiling.PerDay == 0 {
		return true, nil
	}
	setting := fmt.Sprintf("spent/%s/%s/%s", c.Tool, v.Ceiling.Currency, now.Format(time.DateOnly))
	var spent int64
	if err := tx.Setting(setting, &spent); err != nil && !errors.Is(err, ErrNotFound) {
		return false, err
	}
	if spent+v.Spends.Minor > v.Ceiling.PerDay {
		today := Money{Minor: spent, Currency: v.Ceiling.Currency}
		c.Verdict = Verdict{Decision: DecisionAsk, Because: fmt.Sprintf("%s was spent by itself today already", today)}
		return false, nil
	}
	return true, tx.PutSetting(setting, spent+v.Spends.Minor)
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
