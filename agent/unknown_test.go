package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// lostThen makes a tool do its work and lose the answer of the first call; from
// the second on, it fails in another way.
func lostThen(d *desk, tool string, later agent.Outcome) {
	inner, n := d.wo.Handler(tool), 0
	d.wo.SetHandler(tool, func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
		if n++; n > 1 {
			return agent.Result{}, &agent.CallError{Outcome: later, Server: "work-orders", Err: errors.New("no such luck")}
		}
		if _, err := inner(ctx, r); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: "work-orders", Err: errors.New("connection reset")}
	})
}

// TestAnUnknownCallStaysUnknownWhenAskingAgainFails: that the second send did not
// arrive says nothing about the first one. Such calls became "approved, not
// sent", or failed with "the call was not sent", although the order stood.
func TestAnUnknownCallStaysUnknownWhenAskingAgainFails(t *testing.T) {
	for _, later := range []agent.Outcome{agent.OutcomeNotSent, agent.OutcomeAnswered, agent.OutcomeUnknown} {
		for _, test := range []struct {
			tool string
			call agent.ModelCall
		}{{"order", orderCall}, {"book", tool("book", `{"work_order_id":"WO-1044"}`)}} {
			t.Run(test.tool+", then "+string(later), func(t *testing.T) {
				d := newDesk(t, agenttest.Call(test.call), agenttest.Say("So be it."))
				lostThen(d, test.tool, later)
				report := d.send(t, orderLine)
				if test.tool == "order" {
					if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
						t.Fatal(err)
					}
				}
				d.expectUnknown(t, "the answer was lost")
				d.reopen(t)
				if err := d.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
				d.expectUnknown(t, "a new start asked by key")
				settled, err := d.Settle(t.Context(), agent.SettleRequest{Call: report.Calls[0].ID, As: agent.SettleHappened})
				if err != nil || settled.Status != agent.TurnCompleted {
					t.Errorf("settle: %+v, %v", settled, err)
				}
			})
		}
	}
}

func (d *desk) expectUnknown(t *testing.T, when string) {
	t.Helper()
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallUnknown || waiting[0].Reason == "" {
		t.Fatalf("%s: %+v, %v", when, waiting, err)
	}
}

// TestACallIsNotAskedAgainByItselfWhereItsToolHasChanged: the key is only as good
// as the tool that knows its argument. A server that was replaced by one without
// keys was sent the order a second time, by starting the program.
func TestACallIsNotAskedAgainByItselfWhereItsToolHasChanged(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("So be it."))
	lostThen(d, "order", agent.OutcomeUnknown)
	d.send(t, orderLine)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	sends := len(d.wo.Ledger("order"))
	d.wo.Add(agent.Tool{Name: "order", Description: "Orders a part.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		agenttest.Fixed(agenttest.Structured(`{"part_order":{"id":"PO-9"}}`)))
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.expectUnknown(t, "the tool has changed")
	if n := len(d.wo.Ledger("order")); n != sends {
		t.Errorf("%d sends, want %d", n, sends)
	}
}
