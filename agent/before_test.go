package agent_test

import (
	"encoding/json"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestACardSaysWhatAPersonDidEarlierAboutTheSame: it must not look like the first
// one of its kind.
func TestACardSaysWhatAPersonDidEarlierAboutTheSame(t *testing.T) {
	other := tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)
	deny := func(note string) func(*testing.T, *desk) {
		return func(t *testing.T, d *desk) {
			if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: note}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name    string
		first   func(*testing.T, *desk)
		again   agent.ModelCall
		newTurn bool
		because string
	}{
		{"the same after a denial", deny("wrong\nsize"), orderCall, true, "spends money; the same was declined before, in A-1: wrong size"},
		{"the same after a denial without a reason", deny(""), orderCall, true, "spends money; the same was declined before, in A-1"},
		{"something else after a denial", deny("wrong size"), other, true, "spends money"},
		{"something else in the turn of a denial", deny("wrong size"), other, false, "spends money; A-1 was declined in this turn: wrong size"},
		{"another tool in the turn of a denial", deny(""), tool("refund", `{"work_order_id":"WO-1044"}`), false, "A-1 was declined in this turn"},
		{"the same after an edit", func(t *testing.T, d *desk) {
			two := json.RawMessage(`{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":2}`)
			if _, err := d.Edit(t.Context(), agent.EditRequest{Approval: "A-1", Arguments: two}); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
				t.Fatal(err)
			}
		}, orderCall, false, "spends money; Dispatch Desk 1 changed the same call before deciding, in A-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			replies := []agent.ModelReply{agenttest.Call(orderCall), agenttest.Call(test.again)}
			if test.newTurn {
				replies = []agent.ModelReply{agenttest.Call(orderCall), agenttest.Say("So be it."), agenttest.Call(test.again)}
			}
			d := newDesk(t, replies...)
			d.wo.Add(agent.Tool{Name: "refund"}, agenttest.Fixed(agenttest.Structured(`{}`)))
			sent := d.send(t, orderLine)
			if because := sent.Approvals[0].Because; because != "spends money" {
				t.Errorf("the first asks because %q", because)
			}
			test.first(t, d)
			d.reopen(t)
			if test.newTurn {
				if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: orderLine}); err != nil {
					t.Fatal(err)
				}
			}
			waiting, err := d.Waiting(t.Context())
			if err != nil || len(waiting) != 1 || waiting[0].Because != test.because {
				t.Errorf("waiting: %+v, %v\nwant because %q", waiting, err, test.because)
			}
		})
	}
}
