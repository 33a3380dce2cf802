package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// TestTheTimeOfACallBeginsWhenItIsSent: a person may think about a card for as
// long as it takes. By default nothing expires.
func TestTheTimeOfACallBeginsWhenItIsSent(t *testing.T) {
	for _, wait := range []time.Duration{20 * time.Minute, 60 * 24 * time.Hour} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
				d.Engine = agenttest.NewEngine(t, agent.Config{
					Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
					CallTimeout: time.Minute, Now: time.Now,
				})
				report := d.send(t, orderLine)
				if report.Approvals[0].ExpiresAt != nil {
					t.Errorf("it expires at %s", report.Approvals[0].ExpiresAt)
				}
				<-time.After(wait)
				var left []time.Duration
				for _, name := range []string{"quote", "order"} {
					inner := d.wo.Handler(name)
					d.wo.SetHandler(name, func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
						deadline, _ := ctx.Deadline()
						left = append(left, time.Until(deadline))
						return inner(ctx, r)
					})
				}
				if err := d.ExpireDue(t.Context()); err != nil {
					t.Fatal(err)
				}
				done, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
				if err != nil || done.Status != agent.TurnCompleted {
					t.Fatalf("approve: %+v, %v", done, err)
				}
				d.orders(t, 1)
				if len(left) != 2 || left[0] != time.Minute || left[1] != time.Minute {
					t.Errorf("the preview and the order had %v", left)
				}
			})
		})
	}
}

// TestACardCanBeDecidedInTheMomentInWhichItIsTold also in a long conversation: it
// is on disk before anybody hears of it.
func TestACardCanBeDecidedInTheMomentInWhichItIsTold(t *testing.T) {
	d := newDesk(t, agenttest.Say("I see."), agenttest.Call(orderCall), agenttest.Say("Ordered."))
	sent := d.send(t, strings.Repeat("a long story ", 400_000))
	happenings := d.Follow(t.Context(), 100)
	decided := make(chan error, 1)
	go func() {
		for h := range happenings {
			if h.Kind == agent.TurnWaits {
				_, err := d.Approve(context.Background(), agent.DecideRequest{Approval: "A-1"})
				decided <- err
				return
			}
		}
	}()
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: orderLine}); err != nil {
		t.Fatal(err)
	}
	if err := <-decided; err != nil {
		t.Errorf("approve: %v", err)
	}
	d.orders(t, 1)
}

// TestAnApprovedCallIsAnsweredBeforeTheModelIsAskedAgain: what runs is what was
// stored, and not what the model would say now.
func TestAnApprovedCallIsAnsweredBeforeTheModelIsAskedAgain(t *testing.T) {
	d := newDesk(t)
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		if n == 0 {
			return agenttest.Call(orderCall), nil
		}
		d.orders(t, 1)
		return agenttest.Say("Ordered."), nil
	}
	d.send(t, orderLine)
	d.reopen(t)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
}

// TestTheModelIsNotAskedWhileACallOfItsReplyIsOut although the card beside it was
// decided meanwhile.
func TestTheModelIsNotAskedWhileACallOfItsReplyIsOut(t *testing.T) {
	d := newOwnersDesk(t, agenttest.Call(lookUp, tool("call_out", `{"work_order_id":"WO-1044"}`)))
	look := d.hold("look_up")
	e, _ := d.engine(t)
	id := e.NewConversation()
	done := inTheMiddle(t, e, id, false, look)
	report, err := e.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Calls[1].Status != agent.CallDone || report.Status != agent.TurnActing {
		t.Errorf("approve: %+v, %v", report, err)
	}
	if n := len(d.model.Requests()); n != 1 {
		t.Errorf("%d model requests while the read is out", n)
	}
	close(look.gate)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	requests := d.model.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d model requests, want 2", len(requests))
	}
	if err := agenttest.CheckRequest(requests[1]); err != nil {
		t.Error(err)
	}
}

// TestASecondCardThatCouldNotBeWrittenIsNotShown, and the first one does not
// stand in for it.
func TestASecondCardThatCouldNotBeWrittenIsNotShown(t *testing.T) {
	backend := &breaking{Store: memory.New()}
	d := newDesk(t)
	d.store = state.New(backend)
	d.reopen(t)
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		if n == 0 {
			return agenttest.Call(orderCall), nil
		}
		backend.fail = 1000
		return agenttest.Call(orderTwo), nil
	}
	sent := d.send(t, orderLine)
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if !errors.Is(err, errBroken) || len(report.Approvals) != 0 {
		t.Errorf("approve: %+v, %v", report, err)
	}
	backend.fail = 0
	if waiting, err := d.Waiting(t.Context()); err != nil || len(waiting) != 0 {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
	var decided *agent.DecidedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &decided) {
		t.Errorf("the stale card: %v", err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("the card that is not there: %v", err)
	}
	d.orders(t, 1)
	d.model.Script = func(int, agent.ModelRequest) (agent.ModelReply, error) { return agenttest.Call(orderTwo), nil }
	if report, err := d.Continue(t.Context(), sent.ConversationID); err != nil || report.ApprovalID != "A-2" {
		t.Errorf("continue: %+v, %v", report, err)
	}
}

// TestWhatFailsAfterACallDoesNotRunItAgain: the answer is stored by then.
func TestWhatFailsAfterACallDoesNotRunItAgain(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	sent := d.send(t, orderLine)
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
		MaxResult: func(string) int { panic("the result cannot be shown") },
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing failed")
			}
		}()
		_, _ = d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}) // it does not return
	}()
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := d.Report(t.Context(), sent.ConversationID)
	if err != nil || report.Answer != "Ordered." || report.Ledger != "1 order placed: PO-3021, 84.90 EUR." {
		t.Errorf("report = %+v, %v", report, err)
	}
	if n := len(d.wo.Ledger("order")); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// measured counts the bytes that are written.
type measured struct {
	kv.Store
	bytes int
}

// Update implements kv.Store.
func (m *measured) Update(ctx context.Context, fn func(kv.Tx) error) error {
	written := map[string][]byte{}
	err := m.Store.Update(ctx, func(tx kv.Tx) error { return fn(recordedTx{tx, written}) })
	for key, value := range written {
		m.bytes += len(key) + len(value)
	}
	return err
}

// TestAPauseWritesNoMoreInALongConversation: a record names what came before, and
// does not hold it again.
func TestAPauseWritesNoMoreInALongConversation(t *testing.T) {
	written := func(earlier int) int {
		backend := &measured{Store: memory.New()}
		d := newDesk(t)
		d.store = state.New(backend)
		d.reopen(t)
		d.model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
			if r.Messages[len(r.Messages)-1].Text == orderLine {
				return agenttest.Call(orderCall), nil
			}
			return agenttest.Say(strings.Repeat("It waits. ", 100)), nil
		}
		id := d.NewConversation()
		for i := range earlier {
			if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: fmt.Sprintf("status, number %d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		backend.bytes = 0
		if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: orderLine}); err != nil {
			t.Fatal(err)
		}
		return backend.bytes
	}
	few, many := written(1), written(100)
	if many > few+few/50 || many > 20_000 {
		t.Errorf("%d bytes after 2 messages, %d after 200", few, many)
	}
}
