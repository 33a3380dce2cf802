package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
)

// sweepConversation is the one conversation of a script.
const sweepConversation = agent.ConversationID("c-1")

// shownCard is a card that was on a screen.
type shownCard struct {
	Approval agent.ApprovalID `json:"approval"`
	Digest   string           `json:"digest"`
}

// sweepPerson is the dispatcher of a script. What to do next follows from the
// store alone, so that it goes on after a kill as if there had been none.
type sweepPerson struct {
	engine *agent.Engine
	store  *state.Store
	shop   *agenttest.Shop
	script sweepScript
	dir    string
	shown  *agenttest.Lines[shownCard]
}

// work goes on until every line was said and nothing is open.
func (p *sweepPerson) work(ctx context.Context) error {
	for range 60 {
		done, err := p.step(ctx)
		if done || err != nil {
			return err
		}
	}
	return errors.New("the person did sixty things and the turn is still open")
}

func (p *sweepPerson) step(ctx context.Context) (done bool, err error) {
	s, err := p.store.Snapshot(ctx, sweepConversation)
	if err != nil && !errors.Is(err, agent.ErrNotFound) {
		return false, err
	}
	said, err := p.said(ctx, s)
	if err != nil {
		return false, err
	}
	text, queue, more := p.script.line(said)
	if more && (s.Head.Open == nil || queue) {
		_, err := p.engine.Send(ctx, agent.SendRequest{Conversation: sweepConversation, Text: text, Queue: queue})
		return false, err
	}
	waiting, err := p.engine.Waiting(ctx)
	if err != nil {
		return false, err
	}
	for _, w := range waiting {
		if s.Head.Open != nil && w.TurnID == s.Head.Open.Turn {
			return false, p.act(ctx, w)
		}
	}
	switch {
	case s.Head.Open == nil:
		return true, nil
	case s.Head.Open.State == agent.TurnStalled:
		_, err := p.engine.Continue(ctx, sweepConversation)
		return false, err
	}
	return false, fmt.Errorf("the turn is stuck: %+v", *s.Head.Open)
}

// said counts the lines that the desk has, queued ones included.
func (p *sweepPerson) said(ctx context.Context, s agent.Snapshot) (int, error) {
	messages, err := p.store.Messages(ctx, sweepConversation, 0, 1000)
	if err != nil {
		return 0, err
	}
	n := len(s.Head.Queue)
	for _, m := range messages {
		if m.Role == agent.RoleUser {
			n++
		}
	}
	return n, nil
}

// act does what the script says about one thing that waits.
func (p *sweepPerson) act(ctx context.Context, w agent.ApprovalReport) error {
	switch w.Status {
	case agent.CallUnknown:
		return p.settle(ctx, w)
	case agent.CallApproved: // not sent: a key press
		_, err := p.engine.Retry(ctx, w.ApprovalID)
		return excuse(err)
	}
	if err := p.shown.Append(shownCard{Approval: w.ApprovalID, Digest: w.Digest}); err != nil {
		return err
	}
	calls, err := p.store.Calls(ctx, []agent.CallID{w.CallID})
	if err != nil || len(calls) != 1 {
		return errors.Join(err, fmt.Errorf("%s has no call", w.ApprovalID))
	}
	decision := agent.DecideRequest{Approval: w.ApprovalID, Digest: w.Digest}
	switch what := p.script.decide[w.Tool.Tool()]; {
	case what == doDeny:
		decision.Note = "wrong size"
		_, err = p.engine.Deny(ctx, decision)
	case what == doAbort:
		_, err = p.engine.Abort(ctx, sweepConversation)
	case what == doExpire:
		err = errors.Join(os.WriteFile(clockFile(p.dir), nil, 0o600), p.engine.ExpireDue(ctx))
	case what == doEdit && calls[0].EditedBy == nil:
		_, err = p.engine.Edit(ctx, agent.EditRequest{
			Approval: w.ApprovalID, Digest: w.Digest,
			Arguments: json.RawMessage(`{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":2}`),
		})
	default:
		if what == doDearer {
			err = p.shop.SetPrice(9990)
		}
		if err == nil {
			_, err = p.engine.Approve(ctx, decision)
		}
	}
	return excuse(err)
}

// excuse takes the errors that the person can live with: there is a new card, or
// the call waits for a key.
func excuse(err error) error {
	var changed *agent.ChangedError
	var notSent *agent.NotSentError
	if errors.As(err, &changed) || errors.As(err, &notSent) {
		return nil
	}
	return err
}

// settle looks at the server's ledger and says what it shows.
func (p *sweepPerson) settle(ctx context.Context, w agent.ApprovalReport) error {
	receipts, err := p.shop.Receipts()
	if err != nil {
		return err
	}
	as := agent.SettleNot
	for _, r := range receipts {
		if r.Call == w.CallID && r.Tool == w.Tool.Tool() && r.Worked { // not its quote
			as = agent.SettleHappened
		}
	}
	_, err = p.engine.Settle(ctx, agent.SettleRequest{Call: w.CallID, As: as})
	return err
}
