package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// TestTodaysRulesStopAFreeCallThatWasNotSentYet: a crash came between the reply
// and the free write, and the policy became stricter before the next start.
func TestTodaysRulesStopAFreeCallThatWasNotSentYet(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules []agent.Rule
		free  bool
		state agent.CallState
		sends int
	}{
		{"the same rules", nil, true, agent.CallDone, 1},
		{"it asks now", nil, false, agent.CallWaiting, 0},
		{"it is refused now", []agent.Rule{{Tool: "work-orders/book", Then: agent.DecisionRefuse}}, true, agent.CallRefused, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, agenttest.Call(agenttest.Tool("book", `{"work_order_id":"WO-1044"}`)), agenttest.Say("Booked."))
			backend := &brokenAfterReply{Store: memory.New(), model: d.model}
			d.store = state.New(backend)
			d.reopen(t)
			id := d.NewConversation()
			if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "book somebody for WO-1044"}); !errors.Is(err, errBroken) {
				t.Fatalf("send: %v", err)
			}
			backend.mended = true
			policy := agenttest.Policy("work-orders")
			policy.Rules = test.rules
			if !test.free {
				policy.RunWithoutApproval = nil
			}
			d.Engine = agenttest.NewEngine(t, agent.Config{
				Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
			})
			if err := d.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			report, err := d.Report(t.Context(), id)
			if err != nil || len(report.Calls) != 1 || report.Calls[0].Status != test.state {
				t.Errorf("report = %+v, %v", report, err)
			}
			if n := len(d.wo.Ledger("book")); n != test.sends {
				t.Errorf("%d sends, want %d", n, test.sends)
			}
		})
	}
}

var errBroken = errors.New("the disk is gone")

// brokenAfterReply is a backend that breaks once the model's reply is stored,
// until it is mended.
type brokenAfterReply struct {
	kv.Store
	model  *agenttest.Model
	broken bool
	mended bool
}

// Update implements kv.Store.
func (b *brokenAfterReply) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if b.broken && !b.mended {
		return errBroken
	}
	err := b.Store.Update(ctx, fn)
	b.broken = b.broken || len(b.model.Requests()) > 0
	return err
}

// TestACeilingThatWasTakenAwayStopsAnOrderThatWasNotSentYet: it was let run under
// the ceiling of the last start, and went out although today's rules ask.
func TestACeilingThatWasTakenAwayStopsAnOrderThatWasNotSentYet(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules []agent.Rule
		state agent.CallState
		sends int
	}{
		{"the same ceiling", []agent.Rule{ceiling(8490, 0, "EUR")}, agent.CallDone, 1},
		{"no ceiling", nil, agent.CallWaiting, 0},
		{"a lower ceiling", []agent.Rule{ceiling(8489, 0, "EUR")}, agent.CallWaiting, 0},
		{"another currency", []agent.Rule{ceiling(9999, 0, "GBP")}, agent.CallWaiting, 0},
		{"a refusal", []agent.Rule{{Tool: "work-orders/order", Then: agent.DecisionRefuse}}, agent.CallRefused, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := ceilingDesk(t, []agent.Rule{ceiling(8490, 0, "EUR")}, agenttest.Call(orderCall), agenttest.Say("Done."))
			backend := &brokenOnceApproved{Store: memory.New()}
			d.store = state.New(backend)
			d.reopen(t)
			policy := agenttest.Policy("work-orders")
			policy.Rules = []agent.Rule{ceiling(8490, 0, "EUR")}
			config := agent.Config{Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy)}
			d.Engine = agenttest.NewEngine(t, config)
			id := d.NewConversation()
			if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: orderLine}); !errors.Is(err, errBroken) {
				t.Fatalf("send: %v", err)
			}
			backend.mended = true
			policy.Rules = test.rules
			config.Policy = agenttest.NewPolicy(t, policy)
			d.Engine = agenttest.NewEngine(t, config)
			if err := d.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			report, err := d.Report(t.Context(), id)
			if err != nil || len(report.Calls) != 1 || report.Calls[0].Status != test.state {
				t.Errorf("report = %+v, %v", report, err)
			}
			d.orders(t, test.sends)
		})
	}
}

// brokenOnceApproved is a backend that breaks once a call may run, until it is
// mended.
type brokenOnceApproved struct {
	kv.Store
	broken, mended bool
}

// Update implements kv.Store.
func (b *brokenOnceApproved) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if b.broken && !b.mended {
		return errBroken
	}
	written := map[string][]byte{}
	err := b.Store.Update(ctx, func(tx kv.Tx) error { return fn(recordedTx{tx, written}) })
	for key, value := range written {
		b.broken = b.broken || strings.HasPrefix(key, "call/") && strings.Contains(string(value), `"state":"approved"`)
	}
	return err
}
