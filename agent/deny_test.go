package agent_test

import (
	"errors"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestADenialStandsWhereTheModelFailsAfterwards: the decision is stored before
// anybody is asked for words about it. The model hears of it when it can.
func TestADenialStandsWhereTheModelFailsAfterwards(t *testing.T) {
	d := newDesk(t)
	down := true
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		switch {
		case n == 0:
			return agenttest.Call(orderCall), nil
		case down:
			return agent.ModelReply{}, errors.New("500 from the provider")
		}
		return agenttest.Say("Not ordered, as you said."), nil
	}
	sent := d.send(t, orderLine)
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: "wrong size"})
	var stalled *agent.StallError
	if !errors.As(err, &stalled) || !strings.Contains(err.Error(), "500 from the provider") {
		t.Fatalf("deny: %v", err)
	}
	if report.Status != agent.TurnStalled || report.Calls[0].Status != agent.CallDenied {
		t.Fatalf("the decision is not shown as made: %+v", report)
	}

	d.reopen(t)
	approvals, err := d.store.Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || approvals[0].State != agent.ApprovalDenied || approvals[0].Decision.Note != "wrong size" {
		t.Errorf("the stored decision: %+v, %v", approvals, err)
	}
	var decided *agent.DecidedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &decided) {
		t.Errorf("approve after the denial: %v", err)
	}
	if waiting, _ := d.Waiting(t.Context()); len(waiting) != 0 {
		t.Errorf("a stale card: %+v", waiting)
	}

	down = false
	report, err = d.Continue(t.Context(), sent.ConversationID)
	if err != nil || report.Answer != "Not ordered, as you said." || report.Ledger != "Nothing was ordered." {
		t.Fatalf("continue: %+v, %v", report, err)
	}
	requests := d.model.Requests()
	heard := requests[len(requests)-1].Messages[2]
	if heard.State != agent.CallDenied || heard.Result.IsError ||
		heard.Result.Text() != "Declined by the dispatcher. Nothing was ordered. Reason: wrong size" {
		t.Errorf("the model heard %s %q", heard.State, heard.Result.Text())
	}
	d.orders(t, 0)
}

// TestTheRightOneOfSeveralCallsIsHeardAsDeclined: the model can tell which.
func TestTheRightOneOfSeveralCallsIsHeardAsDeclined(t *testing.T) {
	other := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":2}`)
	d := newDesk(t, agenttest.Call(orderCall, other), agenttest.Say("One of two."))
	d.send(t, orderLine)
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-2", Note: "we have it"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	heard := d.model.Requests()[1].Messages[2:]
	if heard[0].CallID != "call_0" || heard[0].State != agent.CallDone || heard[1].CallID != "call_1" || heard[1].State != agent.CallDenied ||
		!strings.HasSuffix(heard[1].Result.Text(), "Reason: we have it") {
		t.Errorf("heard %+v", heard)
	}
	if sent := d.wo.Ledger("order"); len(sent) != 1 || !strings.Contains(string(sent[0].Arguments), "HE-3000-230") {
		t.Errorf("sent %+v", sent)
	}
}

// TestAfterADenialNoLaterRulesOrLinesSendTheCall: neither a restart, nor rules
// that free the tool, nor later turns bring a declined call back.
func TestAfterADenialNoLaterRulesOrLinesSendTheCall(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Declined."), agenttest.Say("one"), agenttest.Say("two"), agenttest.Say("three"))
	sent := d.send(t, orderLine)
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	everythingRuns(t, d)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"thanks", "status 1044", "bye"} {
		if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: line}); err != nil {
			t.Fatal(err)
		}
	}
	d.orders(t, 0)
}

// TestAnApprovedCallIsNotSentAgainByLaterTurns: an approval that was used stays
// used.
func TestAnApprovedCallIsNotSentAgainByLaterTurns(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."), agenttest.Say("one"), agenttest.Say("two"), agenttest.Say("three"))
	sent := d.send(t, orderLine)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"thanks", "status 1044", "bye"} {
		d.reopen(t)
		if err := d.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: line}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.wo.Ledger("order")); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// everythingRuns starts again under rules that let all tools run.
func everythingRuns(t *testing.T, d *desk) {
	t.Helper()
	policy := agenttest.Policy("work-orders")
	policy.Previews = nil
	policy.RunWithoutApproval = append(policy.RunWithoutApproval, "work-orders/order")
	policy.Rules = []agent.Rule{{Tool: "work-orders/order", Then: agent.DecisionRun, Ceiling: &agent.Ceiling{Minor: 100_000, Currency: "EUR", At: "/line/total"}}}
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
	})
}

// TestACardThatWaitsIsNotLetRunByLaterRules: the stored call says that it was
// gated, and rules that were loosened since change nothing about it.
func TestACardThatWaitsIsNotLetRunByLaterRules(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Declined."))
	d.send(t, orderLine)
	everythingRuns(t, d)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallWaiting {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 0)
}

// TestAnotherToolToTheSameEndAsksAgain: what was declined of one tool says
// nothing about another, and the other does not run by itself.
func TestAnotherToolToTheSameEndAsksAgain(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Call(agenttest.Tool("order_in_bulk", `{"work_order_id":"WO-1044"}`)))
	d.wo.Add(agent.Tool{Name: "order_in_bulk", Desk: agent.DeskMeta{Spends: true}}, agenttest.Fixed(agenttest.Structured(`{}`)))
	d.send(t, orderLine)
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Status != agent.TurnPaused || report.ApprovalID != "A-2" {
		t.Fatalf("deny: %+v, %v", report, err)
	}
	if len(d.wo.Ledger("order_in_bulk")) != 0 {
		t.Error("it ran")
	}
}

// TestAReadThatWaitsIsNotReadByLaterRules: a desk that asks about everything was
// started again with rules that let reads run.
func TestAReadThatWaitsIsNotReadByLaterRules(t *testing.T) {
	d := newDesk(t, agenttest.Call(lookUp), agenttest.Say("Not looked up."))
	d.Engine = agenttest.NewEngine(t, agent.Config{Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}})
	if report := d.send(t, "status 1044"); report.ApprovalID != "A-1" {
		t.Fatalf("report = %+v", report)
	}
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil || report.Calls[0].Status != agent.CallDenied {
		t.Errorf("deny: %+v, %v", report, err)
	}
	if n := len(d.wo.Ledger("look_up")); n != 0 {
		t.Errorf("read %d times", n)
	}
}

// TestTheLedgerLineStandsAgainstAModelThatSaysOtherwise: it comes from the records.
func TestTheLedgerLineStandsAgainstAModelThatSaysOtherwise(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Done! I have ordered it: PO-9999, 84.90 EUR."))
	d.send(t, orderLine)
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Ledger != "Nothing was ordered." {
		t.Errorf("deny: %+v, %v", report, err)
	}
}
