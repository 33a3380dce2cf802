package agent_test

import (
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestACallGoesOnlyToTheServerThatItWasMeantFor: another server came under the
// same name while the model was thinking.
func TestACallGoesOnlyToTheServerThatItWasMeantFor(t *testing.T) {
	for _, call := range []agent.ModelCall{lookUp, bookVisit} {
		t.Run(call.Name, func(t *testing.T) {
			d := newDesk(t)
			d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
				if n > 0 {
					return agenttest.Say("It went wrong."), nil
				}
				d.wo.SetIdentity("another server")
				return agenttest.Call(call), nil
			}
			report := d.send(t, "see to WO-1044")
			if report.Status != agent.TurnCompleted || report.Calls[0].Status != agent.CallFailed ||
				!strings.Contains(report.Calls[0].Result.Text(), "it was meant for test:work-orders, and the server is another server now") {
				t.Errorf("report = %+v", report)
			}
			if n := len(d.wo.Ledger(call.Name)); n != 0 {
				t.Errorf("the other server got %d calls", n)
			}
		})
	}
}

// TestACallIsNotSentAgainToAnotherServer, also where a person asks for it: what
// the first one did, the other one does not know.
func TestACallIsNotSentAgainToAnotherServer(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("never asked"))
	lostThen(d, "order", agent.OutcomeUnknown)
	d.send(t, orderLine)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	sends := len(d.wo.Ledger("order"))
	d.wo.SetIdentity("another server")
	if _, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleResend}); err != nil {
		t.Fatal(err)
	}
	d.expectUnknown(t, "it was not sent again")
	if n := len(d.wo.Ledger("order")); n != sends {
		t.Errorf("%d sends, want %d", n, sends)
	}
}
