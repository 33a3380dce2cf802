package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// slowOrder makes the order tool wait: the call is out until release is called.
// Entered is signalled when the server has the call and has done its work.
func slowOrder(d *desk, keyed bool) (entered chan struct{}, release func()) {
	entered = make(chan struct{}, 10)
	gate := make(chan struct{})
	list, _ := d.wo.Tools(context.Background()) // a scripted source that is up
	for _, tool := range list.Tools {
		if tool.Name != "order" {
			continue
		}
		inner := d.wo.Handler("order")
		if !keyed {
			tool.Desk.Fill = nil
		}
		var calls atomic.Int32
		d.wo.Add(tool, func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
			result, err := inner(ctx, r)
			first := calls.Add(1) == 1 // before anybody hears of it, and sends again
			entered <- struct{}{}
			if first {
				<-gate
			}
			return result, err
		})
	}
	return entered, func() { close(gate) }
}

// approveInBackground approves and gives a channel that closes when the verb
// has returned.
func approveInBackground(t *testing.T, d *desk, id agent.ApprovalID) chan error {
	t.Helper()
	done := make(chan error, 1)
	engine := d.Engine
	go func() {
		_, err := engine.Approve(context.Background(), agent.DecideRequest{Approval: id})
		done <- err
	}()
	return done
}

func TestAKeyedCallThatRanWhenKilledIsAskedAgainWithItsKey(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."), agenttest.Say("late"))
	d.send(t, orderLine)
	entered, release := slowOrder(d, true)
	old := approveInBackground(t, d, "A-1")
	<-entered
	d.reopen(t) // the old owner counts as dead
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallUnknown {
		t.Fatalf("after the kill: %+v, %v", waiting, err)
	}
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
	sent := d.wo.Ledger("order")
	if len(sent) != 2 || string(sent[0].Arguments) != string(sent[1].Arguments) || sent[0].Call != sent[1].Call {
		t.Errorf("the second send differs from the first: %+v", sent)
	}
	report, err := d.Report(t.Context(), waiting[0].ConversationID)
	if err != nil || report.Status != agent.TurnCompleted || report.Answer != "Ordered." {
		t.Errorf("report = %+v, %v", report, err)
	}
	release()
	if err := <-old; err != nil {
		t.Errorf("the old owner's late answer: %v", err)
	}
	d.orders(t, 1)
	if n := len(d.model.Requests()); n != 2 {
		t.Errorf("%d model requests, want 2: a late answer asks nobody", n)
	}
}

func TestAnUnkeyedCallThatRanWhenKilledIsUnknownUntilAPersonSettlesIt(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("You say it happened."), agenttest.Say("late"))
	entered, release := slowOrder(d, false)
	defer release()
	report := d.send(t, orderLine)
	approveInBackground(t, d, "A-1")
	<-entered
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(d.wo.Ledger("order")); n != 1 {
		t.Fatalf("%d sends; an unknown outcome is never sent again by itself", n)
	}
	settled, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleHappened, Note: "saw it in the book"})
	if err != nil || settled.Status != agent.TurnCompleted {
		t.Fatalf("settle: %+v, %v", settled, err)
	}
	requests := d.model.Requests()
	heard := requests[len(requests)-1].Messages[2].Result.Text()
	if want := "A person confirmed that this happened; the server's own answer is not known. Note: saw it in the book"; heard != want {
		t.Errorf("the model heard %q", heard)
	}
	if settled.ConversationID != report.ConversationID {
		t.Error("another conversation went on")
	}
}

func TestAReadThatRanWhenKilledRunsAgain(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Say("It waits for parts."))
	entered, gate := make(chan struct{}, 2), make(chan struct{})
	var calls atomic.Int32
	d.wo.Add(agent.Tool{Name: "look_up"}, func(context.Context, agent.CallRequest) (agent.Result, error) {
		first := calls.Add(1) == 1
		entered <- struct{}{}
		if first {
			<-gate
		}
		return agenttest.Structured(`{"work_order":{"id":"WO-1044"}}`), nil
	})
	old := make(chan struct{})
	engine, id := d.Engine, d.NewConversation()
	go func() {
		defer close(old)
		_, _ = engine.Send(context.Background(), agent.SendRequest{Conversation: id, Text: "status 1044"}) // its turn is taken over
	}()
	<-entered
	d.reopen(t)
	report, err := d.Report(t.Context(), id)
	if err != nil || report.Status != agent.TurnStalled {
		t.Fatalf("after the kill: %+v, %v", report, err)
	}
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err = d.Report(t.Context(), id)
	if err != nil || report.Status != agent.TurnCompleted || report.Answer != "It waits for parts." {
		t.Errorf("report = %+v, %v", report, err)
	}
	close(gate)
	<-old
}

// refuseOrders makes the order tool provably not sent, until it is restored.
func refuseOrders(d *desk) (restore func()) {
	list, _ := d.wo.Tools(context.Background())
	inner := d.wo.Handler("order")
	for _, tool := range list.Tools {
		if tool.Name == "order" {
			d.wo.Add(tool, func(context.Context, agent.CallRequest) (agent.Result, error) {
				return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: "work-orders", Err: errors.New("connection refused")}
			})
			return func() { d.wo.Add(tool, inner) }
		}
	}
	panic("no order tool")
}

func TestApprovedAndNotSentGoesOutOnlyOnAKey(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.send(t, orderLine)
	restore := refuseOrders(d)
	var notSent *agent.NotSentError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &notSent) {
		t.Fatalf("approve: %v", err)
	}
	restore()
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 0)
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallApproved || waiting[0].Reason == "" {
		t.Fatalf("waiting = %+v, %v", waiting, err)
	}
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Status != agent.TurnCompleted {
		t.Fatalf("approve again: %+v, %v", report, err)
	}
	d.orders(t, 1)
	approvals, err := d.Store().Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || approvals[0].State != agent.ApprovalApproved {
		t.Errorf("the decision changed: %+v, %v", approvals, err)
	}
}

func TestApprovedAndNotSentCanStillBeDenied(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Not ordered."))
	d.send(t, orderLine)
	restore := refuseOrders(d)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
		t.Fatal("approve went through")
	}
	restore()
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: "too late"})
	if err != nil || report.Ledger != "Nothing was ordered." {
		t.Fatalf("deny: %+v, %v", report, err)
	}
	d.orders(t, 0)
}

func TestHeldTermsAreCheckedAgainBeforeSending(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.send(t, orderLine)
	restore := refuseOrders(d)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
		t.Fatal("approve went through")
	}
	restore()
	d.wo.SetPrice(9990)
	var changed *agent.ChangedError
	if _, err := d.Retry(t.Context(), "A-1"); !errors.As(err, &changed) {
		t.Fatalf("retry: %v", err)
	}
	d.orders(t, 0)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: changed.New.ID}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}

func TestAModelThatFailsAfterAnApprovedCallLosesNothing(t *testing.T) {
	d := newDesk(t)
	fail := true
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		switch {
		case n == 0:
			return agenttest.Call(orderCall), nil
		case fail:
			return agent.ModelReply{}, errors.New("500 from the provider")
		}
		return agenttest.Say("Ordered."), nil
	}
	sent := d.send(t, orderLine)
	var stalled *agent.StallError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &stalled) {
		t.Fatalf("approve: %v", err)
	}
	d.orders(t, 1)
	fail = false
	d.reopen(t)
	report, err := d.Continue(t.Context(), sent.ConversationID)
	if err != nil || report.Status != agent.TurnCompleted || report.Ledger != "1 order placed: PO-3021, 84.90 EUR." {
		t.Fatalf("continue: %+v, %v", report, err)
	}
	d.orders(t, 1)
}

func TestAbortCancelsWhatWaitsAndNothingGoesOn(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Hello."))
	sent := d.send(t, orderLine)
	report, err := d.Abort(t.Context(), sent.ConversationID)
	if err != nil || report.Status != agent.TurnAborted || report.Calls[0].Status != agent.CallCancelled {
		t.Fatalf("abort: %+v, %v", report, err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
		t.Error("a cancelled approval was approved")
	}
	d.orders(t, 0)
	if waiting, _ := d.Waiting(t.Context()); len(waiting) != 0 {
		t.Errorf("something waits: %+v", waiting)
	}
	if r, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "hello"}); err != nil || r.Answer != "Hello." {
		t.Errorf("the conversation is not usable: %+v, %v", r, err)
	}
}

func TestAbortWhileACallIsOutLeavesItUnknownAndStoresTheLateAnswer(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("never asked"))
	sent := d.send(t, orderLine)
	entered, release := slowOrder(d, true)
	done := approveInBackground(t, d, "A-1")
	<-entered
	report, err := d.Abort(t.Context(), sent.ConversationID)
	if err != nil || report.Calls[0].Status != agent.CallUnknown {
		t.Fatalf("abort: %+v, %v", report, err)
	}
	release()
	<-done
	report, err = d.Report(t.Context(), sent.ConversationID)
	if err != nil || report.Status != agent.TurnAborted || report.Calls[0].Status != agent.CallDone {
		t.Errorf("late answer: %+v, %v", report, err)
	}
	if n := len(d.model.Requests()); n != 1 {
		t.Errorf("%d model requests after an abort, want 1", n)
	}
}

func TestACardWithoutItsPreviewCanBeFetchedAgain(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	quote := d.wo.Handler("quote")
	list, err := d.wo.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	quoteTool := list.Tools[slices.IndexFunc(list.Tools, func(tool agent.Tool) bool { return tool.Name == "quote" })]
	d.wo.Add(quoteTool, func(context.Context, agent.CallRequest) (agent.Result, error) {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: "work-orders", Err: errors.New("timed out")}
	})
	report := d.send(t, orderLine)
	if report.Approvals[0].Reason == "" {
		t.Fatalf("the card does not say that its preview is missing: %+v", report.Approvals)
	}
	var unreachable *agent.UnreachableError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &unreachable) {
		t.Errorf("approve: %v", err)
	}
	if _, err := d.Retry(t.Context(), "A-1"); !errors.As(err, &unreachable) {
		t.Errorf("fetching again: %v", err)
	}
	d.wo.Add(quoteTool, quote)
	fetched, err := d.Retry(t.Context(), "A-1")
	if err != nil || fetched.Approvals[0].ApprovalID != "A-2" || fetched.Approvals[0].Because != "spends money" {
		t.Fatalf("fetching again: %+v, %v", fetched, err)
	}
	d.orders(t, 0)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}
