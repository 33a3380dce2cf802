package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestAFullReplyOfAllKindsFitsIntoOneCommit: sixteen calls of sixteen tools, each
// with a card and a definition that the store does not have yet, or with long
// arguments.
func TestAFullReplyOfAllKindsFitsIntoOneCommit(t *testing.T) {
	for _, test := range []struct {
		name string
		size int
	}{{"sixteen new tools", 10}, {"sixteen calls of twenty thousand characters", 20_000}, {"sixteen of a hundred thousand", 100_000}} {
		t.Run(test.name, func(t *testing.T) {
			var calls []agent.ModelCall
			for i := range 16 {
				calls = append(calls, tool(fmt.Sprintf("tool_%02d", i), fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", test.size))))
			}
			d := newDesk(t, agenttest.Call(calls...), agenttest.Say("None."))
			for i := range 16 {
				d.wo.Add(agent.Tool{Name: fmt.Sprintf("tool_%02d", i)}, agenttest.Fixed(agenttest.Structured(`{}`)))
			}
			report := d.send(t, "do everything")
			if report.Status != agent.TurnPaused || len(report.Approvals) != 16 {
				t.Fatalf("%s, %d cards", report.Status, len(report.Approvals))
			}
			if _, err := d.Abort(t.Context(), report.ConversationID); err != nil {
				t.Errorf("abort: %v", err)
			}
		})
	}
}

// TestALargePreviewFillsItsCardAndIsSentOnce: values of this size do not lie
// under their own key, and are read again in the transaction that writes them.
func TestALargePreviewFillsItsCardAndIsSentOnce(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	large := fmt.Sprintf(`,"terms_text":%q}`, strings.Repeat("x", 100_000))
	d.wo.SetHandler("quote", agenttest.Fixed(agenttest.Structured(strings.TrimSuffix(agenttest.Quote(1, 8490), "}")+large)))
	if report := d.send(t, orderLine); report.Status != agent.TurnPaused {
		t.Fatalf("report = %+v", report)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}
