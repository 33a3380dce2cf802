package agent_test

import (
	"context"
	"sync/atomic"
	"testing"

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
