package agent_test

import (
	"context"
	"errors"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// dear makes every quote need a role.
func (d *desk) dear(role string) {
	quote := d.wo.Handler("quote")
	d.wo.SetHandler("quote", func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
		result, err := quote(ctx, r)
		result.Structured = append([]byte(`{"limits":{"approver_needed":"`+role+`"},`), result.Structured[1:]...)
		return result, err
	})
}

func TestACardAboveTheLimitIsLeftToSomebodyWithTheRole(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.dear("senior_dispatcher")
	ada := agent.User{ID: "U-01", Name: "Ada", Role: "dispatcher"}
	ben := agent.User{ID: "U-02", Name: "Ben", Role: "manager"}
	as := func(u agent.User) context.Context { return agent.As(t.Context(), u) }
	d.send(t, orderLine)
	asked, err := d.store.Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || len(asked) != 1 {
		t.Fatal(asked, err)
	}
	digest := asked[0].Digest

	if _, err := d.Refer(as(ben), "A-1"); err == nil {
		t.Error("somebody who may approve left it to others")
	}
	a, err := d.Refer(as(ada), "A-1")
	if err != nil || a.ID != "A-1" || a.Digest != digest || a.State != agent.ApprovalOpen || a.Referral == nil ||
		a.Referral.Role != "senior_dispatcher" || a.Referral.By.ID != "U-01" {
		t.Fatalf("%+v, %v", a, err)
	}
	d.orders(t, 0)
	var limit *agent.LimitError
	if _, err := d.Approve(as(ada), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &limit) || limit.Needs != "senior_dispatcher" {
		t.Errorf("approving above the limit: %v", err)
	}
	d.orders(t, 0)
	d.reopen(t)
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Referral == nil || waiting[0].Referral.Role != "senior_dispatcher" {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
	if _, err := d.Approve(as(ben), agent.DecideRequest{Approval: "A-1", Digest: digest}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
	var decided *agent.DecidedError
	if _, err := d.Refer(as(ada), "A-1"); !errors.As(err, &decided) {
		t.Errorf("after the decision: %v", err)
	}
	lines, err := d.store.Audit(t.Context(), a.Conversation)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, l := range lines {
		if l.Step == agent.AuditReferred {
			found = l.Approval == "A-1" && l.By != nil && l.By.Name == "Ada" && l.Note == "to a senior dispatcher"
		}
	}
	if !found {
		t.Errorf("the audit does not say so: %+v", lines)
	}
}
