package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// drive goes on with a turn that this engine owns, until it pauses, stalls or
// ends. Pausing is returning: the state is committed, and whoever decides
// later comes through here again. It is called by the goroutine whose own
// commit made the turn go on, so that nobody else drives it.
func (e *Engine) drive(ctx context.Context, id ConversationID, turn TurnID) (err error) {
	for err == nil && turn != "" { // a queued message begins the next turn
		inside, end := e.span(ctx, Span{Kind: SpanTurn, Conversation: id, Turn: turn})
		driven := turn
		turn, err = e.driveTurn(inside, id, driven)
		end(e.turnEnd(inside, id, driven, err))
	}
	return err
}

// driveTurn is drive for one turn. If that one has ended and another of the same
// conversation is open, it gives that other one.
func (e *Engine) driveTurn(ctx context.Context, id ConversationID, turn TurnID) (next TurnID, err error) {
	ctx, done := e.stoppable(ctx, turn)
	defer done()
	for {
		snapshot, err := e.store.Snapshot(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return "", e.interrupted(ctx, id, turn)
			}
			return "", fmt.Errorf("reading the turn: %w", err)
		}
		open := snapshot.Head.Open
		if open == nil || open.Owner != e.owner {
			return "", nil
		}
		if open.Turn != turn {
			return open.Turn, nil
		}
		goOn := false
		switch open.State {
		case TurnThinking:
			goOn, err = e.think(ctx, snapshot)
		case TurnActing:
			goOn, err = e.act(ctx, snapshot)
		}
		if err != nil && ctx.Err() != nil {
			return "", e.interrupted(ctx, id, turn)
		}
		if err != nil {
			// Best effort: the store may be what failed.
			return "", errors.Join(err, e.stall(ctx, id, turn, oneLine(err.Error()), false))
		}
		if !goOn {
			return "", nil
		}
	}
}

// interrupted marks a turn whose driver was told to stop; an aborted turn needs
// no mark.
func (e *Engine) interrupted(ctx context.Context, id ConversationID, turn TurnID) error {
	return e.stall(context.WithoutCancel(ctx), id, turn, "stopped before the answer came", true)
}

// stall stops a turn; what was decided and done stands.
func (e *Engine) stall(ctx context.Context, id ConversationID, turn TurnID, reason string, interrupted bool) error {
	stalled := false
	err := e.store.Update(ctx, func(tx Tx) error {
		stalled = false
		head, err := tx.Head(id)
		if err != nil {
			return err
		}
		if head.Open == nil || head.Open.Turn != turn || head.Open.Owner != e.owner {
			return nil
		}
		stalled = true
		head.Open.State, head.Open.Owner = TurnStalled, ""
		head.Open.Stall, head.Open.Interrupted = reason, interrupted
		return tx.PutHead(head)
	})
	if err != nil {
		return fmt.Errorf("keeping that the turn stalled (%s): %w", reason, err)
	}
	if stalled {
		e.tell(Happening{Kind: TurnStopped, Conversation: id, Turn: turn})
	}
	return nil
}

// think asks the model once and commits what it said.
func (e *Engine) think(ctx context.Context, s Snapshot) (goOn bool, err error) {
	id, turn := s.Head.Conversation, s.Turn
	if s.Head.Open.Steps >= e.maxSteps {
		return false, e.stall(ctx, id, turn.ID, fmt.Sprintf("the assistant took %d steps without an answer%s", s.Head.Open.Steps, lastRefusal(s.Calls)), false)
	}
	if reason := e.stalledBy(s); reason != "" {
		return false, e.stall(ctx, id, turn.ID, reason, false)
	}
	if e.model == nil {
		return false, e.stall(ctx, id, turn.ID, "no model is configured", false)
	}
	box, err := e.toolbox(ctx, id)
	if err != nil {
		return false, err
	}
	past, err := e.history(ctx, s)
	if err != nil {
		return false, err
	}
	request := ModelRequest{
		System: e.prompt(turn), Now: turn.SentAt, Messages: past.messages, Tools: box.ModelTools(),
	}
	reply, err := e.ask(ctx, s, request)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		return false, e.stall(ctx, id, turn.ID, "the model did not answer: "+err.Error(), false)
	case len(reply.Calls) == 0 && strings.TrimSpace(reply.Text) == "":
		return false, e.stall(ctx, id, turn.ID, "the model gave an empty answer", false)
	case len(reply.Calls) == 0:
		return e.commitAnswer(ctx, s, past, reply)
	}
	return e.commitCalls(ctx, s, box, past, reply)
}

// lastRefusal says why the newest reply's calls came to nothing, if none came to
// anything: a model that repeats one mistake is stopped because of that.
func lastRefusal(calls []Call) string {
	for _, c := range calls {
		if c.State != CallRefused {
			return ""
		}
	}
	if len(calls) == 0 {
		return ""
	}
	return "; its last call was refused: " + oneLine(calls[0].Result.Text())
}

// stalledBy gives the reason to stop the turn because of a tool's failure, where
// the configuration says so of the tool and nobody asked to go on yet.
func (e *Engine) stalledBy(s Snapshot) string {
	if s.Head.Open.Revived {
		return ""
	}
	for _, c := range s.Calls {
		if c.State == CallFailed && e.onError[c.Tool] == OnErrorStall {
			return fmt.Sprintf("%s failed: %s", c.Tool, oneLine(c.Result.Text()))
		}
	}
	return ""
}

// ask makes one model request and shows its text as it arrives.
func (e *Engine) ask(ctx context.Context, s Snapshot, request ModelRequest) (ModelReply, error) {
	id := s.Head.Conversation
	ctx, end := e.span(ctx, Span{Kind: SpanModel, Conversation: id, Turn: s.Turn.ID, Model: e.model.Name()})
	var text strings.Builder
	defer e.setLive(id, "")
	request.Waiting = func(w ModelWait) {
		e.log.Warn("the model is asked again", "conversation", id, "pause", w.Pause, "reason", w.Reason)
		e.setLive(id, fmt.Sprintf("(%s; asking again in %v)", oneLine(w.Reason), w.Pause.Round(time.Second)))
	}
	reply, err := e.model.Respond(ctx, request, func(part string) {
		text.WriteString(part)
		e.setLive(id, text.String())
	})
	end(modelEnd(reply, err))
	return reply, err
}

// commitAnswer stores the final answer and ends the turn; a queued message
// begins the next turn in the same transaction.
func (e *Engine) commitAnswer(ctx context.Context, s Snapshot, past history, reply ModelReply) (bool, error) {
	now, next := e.now(), TurnID(e.newID())
	goOn, ended := false, false
	err := e.update(ctx, s, func(tx Tx, head *Head) error {
		goOn, ended = false, true
		message := e.assistantMessage(head, s.Turn.ID, reply, nil, now)
		turn := s.Turn
		turn.End, turn.LastMessage = TurnCompleted, message.Number
		turn.Usage = head.Open.Usage.Add(reply.Usage)
		turn.Ledger = Ledger(past.turnCalls)
		if err := tx.PutMessage(message); err != nil {
			return err
		}
		if err := tx.PutTurn(turn); err != nil {
			return err
		}
		head.Open, head.Updated = nil, now
		if first, ok := head.takeQueued(s.Turn.ID, next); ok {
			first.At = now
			goOn = true
			return startTurn(tx, head, next, first, e.owner)
		}
		return tx.PutHead(*head)
	})
	if err == nil && ended {
		e.tell(Happening{Kind: TurnEnded, Conversation: s.Head.Conversation, Turn: s.Turn.ID})
	}
	if err == nil && goOn {
		e.tell(Happening{Kind: TurnStarted, Conversation: s.Head.Conversation, Turn: next})
	}
	return goOn, err
}

// commitCalls stores a reply with calls: each proposed, with its verdict, and
// with its approval where no preview is needed.
func (e *Engine) commitCalls(ctx context.Context, s Snapshot, box *Toolbox, past history, reply ModelReply) (bool, error) {
	proposals, err := e.propose(ctx, s, box, past, reply.Calls)
	if err != nil {
		return false, err
	}
	if err := e.keepDefinitions(ctx, proposals); err != nil {
		return false, err
	}
	stop := looping(past.turnCalls, proposals)
	now := e.now()
	goOn := false
	var after Head
	err = e.update(ctx, s, func(tx Tx, head *Head) error {
		calls := make([]CallID, 0, len(proposals))
		head.Open.Batch = nil
		var lines []AuditLine
		for _, p := range proposals {
			c := p.call
			c.Owner = e.owner
			lines = append(lines, auditLine(AuditProposed, c, nil, now))
			if p.ask != nil {
				if err := openApproval(tx, &c, *p.ask, now); err != nil {
					return err
				}
				lines = append(lines, auditLine(AuditShown, c, &p.ask.approval, now))
			}
			if err := tx.PutCall(c); err != nil {
				return err
			}
			if err := e.keepDefinition(tx, p.entry); err != nil {
				return err
			}
			calls = append(calls, c.ID)
			head.Open.Batch = append(head.Open.Batch, BatchCall{ID: c.ID, State: c.State, Free: c.Free()})
		}
		if err := tx.PutMessage(e.assistantMessage(head, s.Turn.ID, reply, calls, now)); err != nil {
			return err
		}
		head.Open.Steps++
		head.Open.Revived = false
		head.Open.Usage = head.Open.Usage.Add(reply.Usage)
		head.Updated = now
		head.Open.State = batchState(head.Open.Batch)
		if head.Open.State == TurnPaused {
			head.Open.Owner = ""
		}
		if stop != "" && head.Open.State == TurnThinking {
			head.Open.State, head.Open.Owner, head.Open.Stall = TurnStalled, "", stop
		}
		goOn = head.Open.Owner != ""
		after = *head
		return putAudit(tx, head, lines)
	})
	if err == nil {
		e.definitionsKept(proposals)
	}
	if err == nil && after.Open != nil {
		e.tellTurn(after, s.Turn.ID, TurnThinking, after.Open.State)
	}
	return goOn, err
}

func (e *Engine) assistantMessage(head *Head, turn TurnID, reply ModelReply, calls []CallID, now time.Time) Message {
	m := Message{
		Version: recordVersion, Conversation: head.Conversation, Number: head.NextMessage,
		Turn: turn, Role: RoleAssistant, Text: reply.Text, Calls: calls, At: now, Opaque: reply.Opaque,
	}
	head.NextMessage++
	return m
}

// update runs fn on the head of a turn that this engine must still own; a turn
// that was aborted or taken over meanwhile is left alone, without an error.
func (e *Engine) update(ctx context.Context, s Snapshot, fn func(Tx, *Head) error) error {
	err := e.store.Update(ctx, func(tx Tx) error {
		head, err := tx.Head(s.Head.Conversation)
		if err != nil {
			return err
		}
		if head.Open == nil || head.Open.Turn != s.Turn.ID || head.Open.Owner != e.owner {
			return errNotMine
		}
		return fn(tx, &head)
	})
	if err == errNotMine {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping the reply: %w", err)
	}
	return nil
}

// putAudit appends lines to the conversation's audit and writes the head, which
// counts them.
func putAudit(tx Tx, head *Head, lines []AuditLine) error {
	if len(lines) > 0 {
		for i := range lines {
			lines[i].Number = head.NextAudit + i
		}
		if err := tx.PutAudit(head.Conversation, head.NextAudit, lines); err != nil {
			return err
		}
		head.NextAudit += len(lines)
	}
	return tx.PutHead(*head)
}

func auditLine(step AuditStep, c Call, a *Approval, at time.Time) AuditLine {
	line := AuditLine{
		At: at, Step: step, Conversation: c.Conversation, Turn: c.Turn, Call: c.ID, ModelID: c.ModelID,
		Approval: c.Approval, Tool: c.Tool, Key: c.Key, State: c.State,
	}
	if a != nil {
		line.Approval, line.Digest = a.ID, a.Digest
	}
	return line
}
