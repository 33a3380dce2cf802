package agent_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// dieInCall sends a line from an engine that is left behind in its n-th call of
// a tool, from 1, and opens the desk anew. The old engine ends with the test.
func dieInCall(t *testing.T, d *desk, tool string, n int32) agent.ConversationID {
	t.Helper()
	entered, gate, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	inner := d.wo.Handler(tool)
	var calls atomic.Int32
	d.wo.SetHandler(tool, func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
		if calls.Add(1) == n {
			close(entered)
			<-gate
		}
		return inner(ctx, r)
	})
	id, old := d.NewConversation(), d.Engine
	go func() {
		defer close(gone)
		_, _ = old.Send(context.Background(), agent.SendRequest{Conversation: id, Text: orderLine}) // its turn is taken over
	}()
	<-entered
	t.Cleanup(func() { close(gate); <-gone })
	d.reopen(t)
	return id
}

// TestACallThatIsAskedByItsKeyDoesNotLeaveTheRestOfItsReplyBehind: the dispatch
// made the stalled turn act again, and nobody put up the card of the next call.
// The turn stayed "acting", with a living owner, for ever.
func TestACallThatIsAskedByItsKeyDoesNotLeaveTheRestOfItsReplyBehind(t *testing.T) {
	d := newDesk(t, agenttest.Call(tool("book", `{"work_order_id":"WO-1044"}`), orderCall), agenttest.Say("Done."))
	id := dieInCall(t, d, "book", 1)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := d.Report(t.Context(), id)
	if err != nil || report.Status != agent.TurnPaused || report.ApprovalID != "A-1" {
		t.Fatalf("after recovery: %+v, %v", report, err)
	}
	if report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil || report.Status != agent.TurnCompleted {
		t.Errorf("approve: %+v, %v", report, err)
	}
}

// TestApprovingOneCardOfAnInterruptedReplyPutsUpTheOthers: as above, where a
// person decides before anybody has continued the turn.
func TestApprovingOneCardOfAnInterruptedReplyPutsUpTheOthers(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall, tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)), agenttest.Say("Done."))
	dieInCall(t, d, "quote", 2)
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Status != agent.TurnPaused || report.ApprovalID != "A-2" {
		t.Fatalf("approve: %+v, %v", report, err)
	}
	if report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil || report.Status != agent.TurnCompleted {
		t.Errorf("approve: %+v, %v", report, err)
	}
	d.orders(t, 2)
}

// TestWhateverMovesACardOfAnInterruptedReplyPutsUpTheOthers: an edit, changed
// terms and more time made the stalled turn act again, too, and nobody acted.
func TestWhateverMovesACardOfAnInterruptedReplyPutsUpTheOthers(t *testing.T) {
	verbs := map[string]func(*desk) error{
		"an edit": func(d *desk) error {
			_, err := d.Edit(t.Context(), agent.EditRequest{Approval: "A-1", Arguments: json.RawMessage(`{"work_order_id":"WO-1044","sku":"P-1","quantity":2}`)})
			return err
		},
		"dearer terms": func(d *desk) error {
			d.wo.SetPrice(9990)
			_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
			return excuse(err)
		},
		"more time": func(d *desk) error {
			_, err := d.Extend(t.Context(), "A-1", time.Hour)
			return err
		},
		"a denial": func(d *desk) error {
			_, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
			return err
		},
	}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, agenttest.Call(orderCall, tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)), agenttest.Say("Done."))
			policy := agenttest.Policy("work-orders")
			policy.ExpiresAfter = "8h"
			d.Engine = agenttest.NewEngine(t, agent.Config{
				Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
			})
			id := dieInCall(t, d, "quote", 2)
			if err := verb(d); err != nil {
				t.Fatal(err)
			}
			report, err := d.Report(t.Context(), id)
			if err != nil || report.Status != agent.TurnPaused || report.Calls[1].Status != agent.CallWaiting {
				t.Errorf("report = %+v, %v", report, err)
			}
		})
	}
}
