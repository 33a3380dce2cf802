package agent_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// desk is an engine over the in-memory store with the small work-orders server.
type desk struct {
	*agent.Engine
	store *state.Store
	model *agenttest.Model
	wo    *agenttest.WorkOrders
}

const orderLine = "order a heating element for WO-1044"

var orderCall = agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":1}`)

func newDesk(t *testing.T, replies ...agent.ModelReply) *desk {
	t.Helper()
	d := &desk{
		store: state.New(memory.New()),
		model: &agenttest.Model{Script: agenttest.Replies(replies...)},
		wo:    agenttest.NewWorkOrders("work-orders"),
	}
	d.reopen(t)
	t.Cleanup(func() {
		for i, r := range d.model.Requests() {
			if err := agenttest.CheckRequest(r); err != nil {
				t.Errorf("model request %d: %v", i, err)
			}
		}
	})
	return d
}

// reopen is what a kill and a new start are for the engine: another owner on
// the same store.
func (d *desk) reopen(t *testing.T) {
	t.Helper()
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo},
		Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
	})
}

func (d *desk) send(t *testing.T, text string) agent.Report {
	t.Helper()
	report, err := d.Send(t.Context(), agent.SendRequest{Text: text})
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return report
}

func (d *desk) orders(t *testing.T, want int) {
	t.Helper()
	if got := len(d.wo.Orders()); got != want {
		t.Errorf("orders in the ledger: %d, want %d", got, want)
	}
}

func TestAnOrderWaitsAndRunsOnceWhenApproved(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Call(orderCall), agenttest.Say("Ordered."))
	report := d.send(t, orderLine)
	if report.Status != agent.TurnPaused || report.ApprovalID != "A-1" {
		t.Fatalf("report = %+v", report)
	}
	if len(report.OrderIDs) != 1 || report.OrderIDs[0] != "WO-1044" {
		t.Errorf("orderIds = %v", report.OrderIDs)
	}
	if !strings.Contains(report.Answer, "84.90 EUR") {
		t.Errorf("the answer names no total: %q", report.Answer)
	}
	d.orders(t, 0)
	d.reopen(t)
	d.orders(t, 0)

	done, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
	if done.Status != agent.TurnCompleted || done.Answer != "Ordered." {
		t.Errorf("report = %+v", done)
	}
	if done.Ledger != "1 order placed: PO-3021, 84.90 EUR." {
		t.Errorf("ledger = %q", done.Ledger)
	}
	if sent := d.wo.Ledger("order")[0]; string(sent.Arguments) != string(report.Approvals[0].Args) {
		t.Errorf("sent %s, drawn %s", sent.Arguments, report.Approvals[0].Args)
	}

	var decided *agent.DecidedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &decided) || !strings.Contains(err.Error(), "Dispatch Desk 1") {
		t.Errorf("second approve: %v", err)
	}
	d.orders(t, 1)
}

func TestTheApprovedResultReachesTheModelLikeAnUnguardedOne(t *testing.T) {
	gated := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	gated.send(t, orderLine)
	if _, err := gated.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	requests := gated.model.Requests()
	got := requests[len(requests)-1].Messages[2]
	want, err := gated.wo.Call(t.Context(), gated.wo.Ledger("order")[0])
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "order" || got.State != agent.CallDone {
		t.Errorf("result message = %+v", got)
	}
	if len(got.Result.Content) != len(want.Content) {
		t.Fatalf("%d content blocks, want %d", len(got.Result.Content), len(want.Content))
	}
	for i := range want.Content {
		if string(got.Result.Content[i]) != string(want.Content[i]) {
			t.Errorf("content %d = %s, want %s", i, got.Result.Content[i], want.Content[i])
		}
	}
	if string(got.Result.Structured) != string(want.Structured) {
		t.Errorf("structured = %s", got.Result.Structured)
	}
	if string(got.Result.Meta) != string(want.Meta) {
		t.Errorf("meta = %s", got.Result.Meta)
	}
}

func TestDenyNeedsNothingAndNothingIsOrdered(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("All right, not ordered."))
	d.send(t, orderLine)
	d.wo.SetDown(errors.New("nothing listens"))
	d.reopen(t)
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: "wrong size"})
	if err != nil {
		t.Fatal(err)
	}
	if report.Ledger != "Nothing was ordered." {
		t.Errorf("ledger = %q", report.Ledger)
	}
	requests := d.model.Requests()
	heard := requests[len(requests)-1].Messages[2]
	if text := heard.Result.Text(); !strings.Contains(text, "Declined by the dispatcher. Nothing was ordered.") || !strings.Contains(text, "wrong size") || heard.Result.IsError {
		t.Errorf("the model heard %q (error: %v)", text, heard.Result.IsError)
	}
	d.orders(t, 0)
}

func TestFiftyDecisionsAtOnceGiveOneOrder(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.send(t, orderLine)
	var wait sync.WaitGroup
	errs := make([]error, 50)
	for i := range errs {
		wait.Go(func() {
			if i%2 == 0 {
				_, errs[i] = d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
			} else {
				_, errs[i] = d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
			}
		})
	}
	wait.Wait()
	won := 0
	for _, err := range errs {
		var decided *agent.DecidedError
		switch {
		case err == nil:
			won++
		case !errors.As(err, &decided):
			t.Errorf("a loser was told %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d decisions won", won)
	}
	if n := len(d.wo.Orders()); n > 1 {
		t.Errorf("%d orders", n)
	}
}

func TestWithTheServerDownApproveRecordsNothing(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.send(t, orderLine)
	d.wo.SetDown(errors.New("nothing listens"))
	var unreachable *agent.UnreachableError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &unreachable) {
		t.Fatalf("approve: %v", err)
	}
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallWaiting {
		t.Fatalf("waiting = %+v, %v", waiting, err)
	}
	d.wo.SetDown(nil)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}

func TestDearerTermsMakeANewCard(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.send(t, orderLine)
	d.wo.SetPrice(8990)
	var changed *agent.ChangedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &changed) {
		t.Fatalf("approve: %v", err)
	}
	if got := changed.Error(); got != "total now 89.90 EUR (was 84.90 EUR): decide A-2" {
		t.Errorf("error = %q", got)
	}
	d.orders(t, 0)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
		t.Error("the superseded approval was approved")
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}
