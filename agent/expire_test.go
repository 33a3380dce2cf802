package agent_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// expiringDesk is a desk whose approvals wait for eight hours, and its clock.
func expiringDesk(t *testing.T, replies ...agent.ModelReply) (*desk, *atomic.Int64) {
	t.Helper()
	d := newDesk(t, replies...)
	var passed atomic.Int64
	policy := agenttest.Policy("work-orders")
	policy.ExpiresAfter = "8h"
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
		Now: func() time.Time { return agenttest.Now.Add(time.Duration(passed.Load())) },
	})
	return d, &passed
}

func TestALateApproveFindsTheApprovalExpired(t *testing.T) {
	d, passed := expiringDesk(t, agenttest.Call(orderCall), agenttest.Say("Nobody decided."))
	sent := d.send(t, orderLine)
	passed.Store(int64(8 * time.Hour))
	var decided *agent.DecidedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &decided) || decided.Approval.State != agent.ApprovalExpired {
		t.Fatalf("approve: %v", err)
	}
	d.orders(t, 0)
	report, err := d.Report(t.Context(), sent.ConversationID)
	if err != nil || report.Answer != "Nobody decided." || report.Calls[0].Status != agent.CallExpired {
		t.Errorf("report = %+v, %v", report, err)
	}
}

func TestADenyIsADenyUntilTheExpiryIsStored(t *testing.T) {
	d, passed := expiringDesk(t, agenttest.Call(orderCall), agenttest.Say("Not ordered."))
	d.send(t, orderLine)
	passed.Store(int64(9 * time.Hour))
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Calls[0].Status != agent.CallDenied {
		t.Errorf("deny: %+v, %v", report, err)
	}
}

func TestAnExtendedApprovalWaitsLongerAndOthersExpireByThemselves(t *testing.T) {
	other := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)
	d, passed := expiringDesk(t, agenttest.Call(orderCall, other), agenttest.Say("One ordered."))
	d.send(t, orderLine)
	passed.Store(int64(7 * time.Hour))
	if a, err := d.Extend(t.Context(), "A-1", 8*time.Hour); err != nil || !a.ExpiresAt.Equal(agenttest.Now.Add(15*time.Hour)) {
		t.Fatalf("extend: %+v, %v", a, err)
	}
	passed.Store(int64(9 * time.Hour))
	if err := d.ExpireDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ApprovalID != "A-1" {
		t.Fatalf("waiting = %+v, %v", waiting, err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}
