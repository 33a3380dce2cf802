package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
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
	if heard := d.model.Requests()[1].Messages[2]; heard.State != agent.CallExpired || heard.Result.Text() != "Nobody decided in time, so this was not done." {
		t.Errorf("the model heard %s %q", heard.State, heard.Result.Text())
	}
	if waiting, err := d.Waiting(t.Context()); err != nil || len(waiting) != 0 {
		t.Errorf("waiting: %+v, %v", waiting, err)
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

// between is a backend on which something happens once, right before a commit.
type between struct {
	kv.Store
	do func()
}

// Update implements kv.Store.
func (b *between) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return b.Store.Update(ctx, fn)
}

// TestWhatIsExtendedAtTheLastMomentDoesNotExpire: somebody extends the approval
// after it was seen to be due, and before its end is stored.
func TestWhatIsExtendedAtTheLastMomentDoesNotExpire(t *testing.T) {
	backend := &between{Store: memory.New()}
	var passed atomic.Int64
	policy := agenttest.Policy("work-orders")
	policy.ExpiresAfter = "8h"
	open := func(store kv.Store) *desk {
		d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
		d.store = state.New(store)
		d.Engine = agenttest.NewEngine(t, agent.Config{
			Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
			Now: func() time.Time { return agenttest.Now.Add(time.Duration(passed.Load())) },
		})
		return d
	}
	d := open(backend)
	d.send(t, orderLine)
	other := open(backend.Store)
	passed.Store(int64(8 * time.Hour))
	backend.do = func() {
		if _, err := other.Extend(t.Context(), "A-1", time.Hour); err != nil {
			t.Error(err)
		}
	}
	if err := d.ExpireDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if backend.do != nil {
		t.Fatal("nothing was about to be stored")
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}

// TestARuleThatRefusesNeedsNoServer: what the rules refuse by now is closed
// without asking anybody.
func TestARuleThatRefusesNeedsNoServer(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Not ordered."))
	sent := d.send(t, orderLine)
	policy := agenttest.Policy("work-orders")
	policy.Rules = append(policy.Rules, agent.Rule{Tool: "work-orders/order", When: "args.quantity > 0", Then: agent.DecisionRefuse})
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
	})
	d.wo.SetDown(errors.New("it is off"))
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil || !strings.Contains(err.Error(), "A-1 was closed: the desk's rules") {
		t.Errorf("approve: %v", err)
	}
	d.orders(t, 0)
	report, err := d.Report(t.Context(), sent.ConversationID)
	if err != nil || report.Calls[0].Status != agent.CallRefused {
		t.Errorf("report: %+v, %v", report, err)
	}
}
