package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// callTool is the one place in the program that calls a tool: that of the call,
// or another one that is asked for its sake.
func (e *Engine) callTool(ctx context.Context, c Call, name QualifiedName, r CallRequest) (Result, error) {
	ctx, end := e.span(ctx, Span{
		Kind: SpanCall, Conversation: c.Conversation, Turn: c.Turn,
		Call: c.ID, Tool: name, Preview: name != c.Tool, Approval: r.Approval, Arguments: r.Arguments,
	})
	result, err := e.askSource(ctx, name, r)
	end(callEnd(result, err))
	return result, err
}

func (e *Engine) askSource(ctx context.Context, name QualifiedName, r CallRequest) (Result, error) {
	source := e.source(name.Server())
	if source == nil {
		return Result{}, &CallError{Outcome: OutcomeNotSent, Server: name.Server(), Err: errors.New("no such server is configured")}
	}
	r.Tool = name.Tool()
	e.log.Info("call", "tool", name, "call", r.Call, "approval", r.Approval)
	ctx, cancel := context.WithTimeout(ctx, e.callTimeout)
	defer cancel()
	result, err := source.Call(ctx, r)
	if err != nil {
		return Result{}, err
	}
	if err := result.check(); err != nil {
		return Result{}, &CallError{Outcome: OutcomeUnknown, Server: name.Server(), Err: fmt.Errorf("the answer cannot be read: %w", err)}
	}
	return result, nil
}

// dispatch commits that a call is about to be sent: running, with owner,
// attempt and deadline, before the first byte leaves. With also, a decision is
// written in the same commit. Revived says that the turn had been stalled, so
// that nobody drives what else of it may go on.
func (e *Engine) dispatch(ctx context.Context, id CallID, also func(Tx, *Call) ([]AuditLine, error)) (sent Call, revived bool, err error) {
	now, deadline := e.now(), time.Now().Add(e.callTimeout)
	revived, err = e.change(ctx, id, func(tx Tx, c *Call) ([]AuditLine, error) {
		var lines []AuditLine
		if also != nil {
			var err error
			if lines, err = also(tx, c); err != nil {
				return nil, err
			}
		}
		if err := c.Apply(EventSend); err != nil {
			return nil, err
		}
		c.Owner, c.Attempt, c.SentAt, c.Deadline = e.owner, c.Attempt+1, now, deadline
		c.NotSent = "" // Lost stays: an earlier send may have happened
		sent = *c
		return append(lines, AuditLine{Step: AuditSent, At: now, Note: fmt.Sprintf("attempt %d", c.Attempt)}), nil
	})
	return sent, revived, err
}

// executeAll executes a dispatched call, and then, if its dispatch revived the
// turn, what else of the reply may go on by itself.
func (e *Engine) executeAll(ctx context.Context, box *Toolbox, sent Call, revived bool) (goOn bool, err error) {
	goOn, err = e.execute(ctx, box, sent)
	if err != nil || goOn || !revived {
		return goOn, err
	}
	s, err := e.store.Snapshot(ctx, sent.Conversation)
	open := s.Head.Open
	if err != nil || open == nil || open.Turn != sent.Turn || open.Owner != e.owner || open.State != TurnActing {
		return false, err
	}
	ctx, done := e.stoppable(ctx, sent.Turn)
	defer done()
	if goOn, err = e.act(ctx, s); err != nil {
		return false, errors.Join(err, e.stall(context.WithoutCancel(ctx), sent.Conversation, sent.Turn, oneLine(err.Error()), ctx.Err() != nil))
	}
	return goOn, nil
}

// execute sends a call and commits what came of it. A keyed call whose answer
// was lost is asked again with its key, once: its server knows what it did.
func (e *Engine) execute(ctx context.Context, box *Toolbox, c Call) (goOn bool, err error) {
	stoppable, done := e.stoppable(ctx, c.Turn)
	defer done()
	e.tell(Happening{Kind: ToolStarted, Conversation: c.Conversation, Turn: c.Turn, Call: c.ID})
	result, failure := e.sendCall(stoppable, box, c)
	if lost(failure) && c.Keyed && stoppable.Err() == nil {
		e.log.Warn("answer lost, asking again with the key", "call", c.ID, "error", failure)
		// Only an answer says more: that asking again failed is no word on the
		// first send.
		if answer, again := e.sendCall(stoppable, box, c); again == nil {
			result, failure = answer, nil
		}
	}
	e.tell(Happening{Kind: ToolFinished, Conversation: c.Conversation, Turn: c.Turn, Call: c.ID})
	if failure != nil && ctx.Err() != nil && c.ReadOnly && c.Free() {
		// That the program was told to stop is no answer: whoever goes on with
		// the turn reads again.
		return false, ctx.Err()
	}
	// Whatever the caller wants meanwhile, an outcome is always kept.
	ctx = context.WithoutCancel(ctx)
	for range keepTries {
		if goOn, err = e.commitOutcome(ctx, c, result, failure); err == nil {
			e.setProgress(c.ID, Progress{})
			return goOn, nil
		}
	}
	return false, err
}

// keepTries is how often an outcome is offered to a store that fails to write.
const keepTries = 3

func (e *Engine) sendCall(ctx context.Context, box *Toolbox, c Call) (Result, error) {
	entry, err := box.Resolve(c.Tool)
	if err != nil {
		return Result{}, &CallError{Outcome: OutcomeNotSent, Server: c.Tool.Server(), Err: err}
	}
	if entry.Identity != c.ServerIdentity {
		return Result{}, &CallError{Outcome: OutcomeNotSent, Server: c.Tool.Server(),
			Err: fmt.Errorf("it was meant for %s, and the server is %s now", c.ServerIdentity, entry.Identity)}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, &CallError{Outcome: OutcomeNotSent, Server: c.Tool.Server(), Err: err}
	}
	return e.callTool(ctx, c, c.Tool, CallRequest{
		Arguments: c.Arguments, Call: c.ID, Approval: c.Approval, User: c.By,
		Progress: func(p Progress) {
			e.setProgress(c.ID, p)
			e.tell(Happening{Kind: ToolProgressed, Conversation: c.Conversation, Turn: c.Turn, Call: c.ID, Progress: p})
		},
	})
}

// outcomeOf reads a source's error; one of another type proves nothing, so the
// call may have run.
func outcomeOf(err error) Outcome {
	var failure *CallError
	if errors.As(err, &failure) {
		return failure.Outcome
	}
	return OutcomeUnknown
}

func lost(err error) bool { return err != nil && outcomeOf(err) == OutcomeUnknown }

// commitOutcome stores a result, or why there is none.
func (e *Engine) commitOutcome(ctx context.Context, sent Call, result Result, failure error) (bool, error) {
	now := e.now()
	return e.change(ctx, sent.ID, func(_ Tx, c *Call) ([]AuditLine, error) {
		if c.State == CallApproved && c.Free() && c.ReadOnly { // a free read commits only this
			if err := c.Apply(EventSend); err != nil {
				return nil, err
			}
			c.Attempt, c.SentAt = sent.Attempt, sent.SentAt
		}
		if c.Attempt != sent.Attempt || c.State != CallRunning && c.State != CallUnknown {
			return nil, errSkip // settled meanwhile, or sent again by somebody else
		}
		if failure == nil {
			c.Result, c.Lost = &result, ""
			event := EventDone
			if result.IsError {
				event = EventFail
			}
			return []AuditLine{{Step: AuditResult, At: now}}, c.Apply(event)
		}
		return c.applyFailure(failure, now)
	})
}

// applyFailure moves a call that gave no result.
func (c *Call) applyFailure(failure error, now time.Time) ([]AuditLine, error) {
	outcome := outcomeOf(failure)
	settles := outcome == OutcomeAnswered || c.ReadOnly || outcome == OutcomeNotSent && c.Free()
	switch {
	case c.State == CallUnknown:
		return nil, errSkip // nothing new is known
	case c.Lost != "" && !c.ReadOnly: // an earlier send, of which this one says nothing
		return []AuditLine{{Step: AuditResult, At: now, Note: "unknown: " + c.Lost + "; asking again: " + cause(failure)}}, c.Apply(EventLose)
	case settles:
		c.Result = TextResult(failureText(outcome, failure), true)
		return []AuditLine{{Step: AuditResult, At: now, Note: failure.Error()}}, c.Apply(EventFail)
	case outcome == OutcomeNotSent:
		c.NotSent = cause(failure)
		return []AuditLine{{Step: AuditNotSent, At: now, Note: c.NotSent}}, c.Apply(EventNotSent)
	}
	c.Lost = cause(failure)
	return []AuditLine{{Step: AuditResult, At: now, Note: "unknown: " + c.Lost}}, c.Apply(EventLose)
}

// failureText tells the model why a call gave no result.
func failureText(outcome Outcome, failure error) string {
	if outcome == OutcomeNotSent {
		return "The call was not sent: " + cause(failure)
	}
	return "The call failed: " + cause(failure)
}

// cause is why a call failed, without the outcome and the server's name, which
// stand beside it wherever it is shown.
func cause(failure error) string {
	var call *CallError
	if errors.As(failure, &call) {
		return call.Err.Error()
	}
	return failure.Error()
}
