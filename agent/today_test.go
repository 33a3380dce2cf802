package agent_test

import (
	"context"
	"errors"
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
