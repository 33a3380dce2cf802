package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// behind is a backend on which something happens once, right after a commit.
type behind struct {
	kv.Store
	do func()
}

// Update implements kv.Store.
func (b *behind) Update(ctx context.Context, fn func(kv.Tx) error) error {
	err := b.Store.Update(ctx, fn)
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return err
}

// inTurn makes the model hold each of its first requests until the test lets it
// go, and answer with the replies in their order.
func inTurn(m *agenttest.Model, replies ...agent.ModelReply) []*held {
	holds := make([]*held, len(replies))
	for i := range holds {
		holds[i] = newHeld()
	}
	m.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		if n >= len(replies) {
			return agent.ModelReply{}, fmt.Errorf("the script has no reply %d", n)
		}
		holds[n].stop()
		return replies[n], nil
	}
	return holds
}

// inBackground runs a verb and gives a channel with its error.
func inBackground(verb func(context.Context) error) chan error {
	done := make(chan error, 1)
	go func() { done <- verb(context.Background()) }()
	return done
}

func sendTo(e *agent.Engine, id agent.ConversationID, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := e.Send(ctx, agent.SendRequest{Conversation: id, Text: text})
		return err
	}
}

// expectOpen makes sure that a conversation's open turn is in that state and has
// that owner.
func (d *ownersDesk) expectOpen(t *testing.T, id agent.ConversationID, state agent.TurnState, owner agent.OwnerID) {
	t.Helper()
	s, err := d.store.Snapshot(t.Context(), id)
	if err != nil || s.Head.Open == nil || s.Head.Open.State != state || s.Head.Open.Owner != owner {
		t.Errorf("the open turn is %+v, %v; want it %s by %q", s.Head.Open, err, state, owner)
	}
}

func (d *ownersDesk) expectRequests(t *testing.T, want int) {
	t.Helper()
	if n := len(d.model.Requests()); n != want {
		t.Errorf("%d model requests, want %d", n, want)
	}
}

// expectAnswer makes sure how a turn ended, and that its records agree.
func (d *ownersDesk) expectAnswer(t *testing.T, e *agent.Engine, id agent.ConversationID, want string) {
	t.Helper()
	report, err := e.Report(t.Context(), id)
	if err != nil || report.Status != agent.TurnCompleted || report.Answer != want {
		t.Errorf("report = %+v, %v; want the answer %q", report, err, want)
	}
	if err := agenttest.CheckDesk(t.Context(), d.store); err != nil {
		t.Error(err)
	}
}

// TestAnEngineThatWasTakenForDeadLeavesTheTurnToWhoeverTookItOver: it stood still
// between keeping the line and asking the model.
func TestAnEngineThatWasTakenForDeadLeavesTheTurnToWhoeverTookItOver(t *testing.T) {
	d := newOwnersDesk(t, agent.ModelReply{})
	asked := inTurn(d.model, agenttest.Say("Good morning."))[0]
	stored, shared := newHeld(), memory.New()
	backend := &behind{Store: shared}
	d.store = state.New(backend)
	slow, _ := d.engine(t)
	id := slow.NewConversation()
	backend.do = stored.stop
	late := inBackground(sendTo(slow, id, "good morning"))
	<-stored.entered

	d.store = state.New(shared)
	quick, owner := d.engine(t)
	done := inBackground(quick.Resume)
	<-asked.entered
	close(stored.gate)
	if err := <-late; err != nil {
		t.Errorf("the slow one: %v", err)
	}
	d.expectOpen(t, id, agent.TurnThinking, owner)
	close(asked.gate)
	if err := <-done; err != nil {
		t.Errorf("the one that took over: %v", err)
	}
	d.expectRequests(t, 1)
	d.expectAnswer(t, quick, id, "Good morning.")
}

// TestAReplyThatComesAfterTheTurnWasTakenOverIsNotKept: the one that took over has
// asked the model itself.
func TestAReplyThatComesAfterTheTurnWasTakenOverIsNotKept(t *testing.T) {
	for name, reply := range map[string]agent.ModelReply{
		"an answer": agenttest.Say("Late."),
		"a call":    agenttest.Call(bookVisit),
	} {
		t.Run(name, func(t *testing.T) {
			d := newOwnersDesk(t, agent.ModelReply{})
			asked := inTurn(d.model, reply, agenttest.Say("Good morning."))
			slow, _ := d.engine(t)
			id := slow.NewConversation()
			late := inBackground(sendTo(slow, id, "good morning, WO-1044"))
			<-asked[0].entered
			quick, owner := d.engine(t)
			done := inBackground(quick.Resume)
			<-asked[1].entered
			close(asked[0].gate)
			if err := <-late; err != nil {
				t.Errorf("the slow one: %v", err)
			}
			d.expectOpen(t, id, agent.TurnThinking, owner)
			close(asked[1].gate)
			if err := <-done; err != nil {
				t.Errorf("the one that took over: %v", err)
			}
			d.expectRequests(t, 2)
			d.expectAnswer(t, quick, id, "Good morning.")
			if n := len(d.wo.Ledger("book")); n != 0 {
				t.Errorf("booked %d times", n)
			}
		})
	}
}

// TestTheEndOfAnEarlierSendIsNotThatOfALaterOne: a call is out for the second time
// when the first send comes to its end.
func TestTheEndOfAnEarlierSendIsNotThatOfALaterOne(t *testing.T) {
	failed := func(outcome agent.Outcome) error {
		return &agent.CallError{Outcome: outcome, Server: "work-orders", Err: errors.New("no such luck")}
	}
	for name, end := range map[string]error{
		"an answer":             nil,
		"an error":              failed(agent.OutcomeAnswered),
		"nothing had been sent": failed(agent.OutcomeNotSent),
	} {
		t.Run(name, func(t *testing.T) {
			d := newOwnersDesk(t, agenttest.Call(orderCall))
			sends := []*held{newHeld(), newHeld()}
			d.wo.SetHandler("order", func(context.Context, agent.CallRequest) (agent.Result, error) {
				n := len(d.wo.Ledger("order"))
				sends[n-1].stop()
				if n == 1 && end != nil {
					return agent.Result{}, end
				}
				return agenttest.Structured(fmt.Sprintf(`{"part_order":{"id":"PO-%d"}}`, n)), nil
			})
			slow, _ := d.engine(t)
			id := slow.NewConversation()
			late := inTheMiddle(t, slow, id, true, sends[0])
			quick, owner := d.engine(t)
			done := inBackground(quick.Resume) // asks by key
			<-sends[1].entered
			close(sends[0].gate)
			if err := <-late; err != nil {
				t.Errorf("the slow one: %v", err)
			}
			d.expectOpen(t, id, agent.TurnActing, owner)
			close(sends[1].gate)
			if err := <-done; err != nil {
				t.Errorf("the one that took over: %v", err)
			}
			report, err := quick.Report(t.Context(), id)
			if err != nil || report.Calls[0].Status != agent.CallDone || report.Calls[0].Result.Text() != `{"part_order":{"id":"PO-2"}}` {
				t.Errorf("report = %+v, %v", report, err)
			}
			d.expectRequests(t, 2)
			d.expectAnswer(t, quick, id, "All right.")
		})
	}
}
