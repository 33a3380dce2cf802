package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestAnAnswerThatIsNoJSONIsNamedByItsPlaceAndTheCallIsUnknown: what cannot be
// kept says nothing of what the server did, and stays with nobody as "running".
func TestAnAnswerThatIsNoJSONIsNamedByItsPlaceAndTheCallIsUnknown(t *testing.T) {
	text := json.RawMessage(`{"type":"text","text":"ordered"}`)
	for place, answer := range map[string]agent.Result{
		"content/1":  {Content: []json.RawMessage{text, json.RawMessage(`{"type":`)}},
		"structured": {Content: []json.RawMessage{text}, Structured: json.RawMessage(`{"id":PO-1}`)},
		"meta":       {Content: []json.RawMessage{text}, Meta: json.RawMessage(``)},
	} {
		t.Run(place, func(t *testing.T) {
			d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("You say so."))
			d.send(t, orderLine)
			d.wo.SetHandler("order", agenttest.Fixed(answer))
			if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
				t.Errorf("approve: %v", err)
			}
			waiting, err := d.Waiting(t.Context())
			if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallUnknown || !strings.HasPrefix(waiting[0].Reason, "the answer cannot be read: "+place+": ") {
				t.Fatalf("waiting: %+v, %v", waiting, err)
			}
			if _, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleHappened}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAPreviewThatIsNoJSONIsNamedByItsPlace and leaves a card that can be fetched
// again, or denied.
func TestAPreviewThatIsNoJSONIsNamedByItsPlace(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Not ordered."))
	d.wo.SetHandler("quote", agenttest.Fixed(agent.Result{Structured: json.RawMessage(`{"line":`)}))
	report := d.send(t, orderLine)
	if report.Status != agent.TurnPaused || !strings.Contains(report.Approvals[0].Reason, "the answer cannot be read: structured: ") {
		t.Fatalf("report = %+v", report)
	}
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Error(err)
	}
	d.orders(t, 0)
}
