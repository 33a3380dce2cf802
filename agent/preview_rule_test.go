package agent_test

import (
	"errors"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestARuleThatRefusesByPreviewAlsoRefusesAtApproval: the card went up under the
// limit of the rule, and the price went over it before the decision.
func TestARuleThatRefusesByPreviewAlsoRefusesAtApproval(t *testing.T) {
	d := ceilingDesk(t, []agent.Rule{{Tool: "work-orders/order", When: "preview.line.total.minor > 9000", Then: agent.DecisionRefuse, Because: "too dear"}},
		agenttest.Call(orderCall), agenttest.Say("It is too dear."))
	d.send(t, orderLine)
	d.wo.SetPrice(9500)
	_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	var changed *agent.ChangedError
	if errors.As(err, &changed) { // a person sees the new price, and says yes to it
		_, err = d.Approve(t.Context(), agent.DecideRequest{Approval: changed.New.ID})
	}
	var closed *agent.ClosedError
	if !errors.As(err, &closed) {
		t.Errorf("approve: %v", err)
	}
	d.orders(t, 0)
}
