package agent_test

import (
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

func TestAVerbActsInTheNameOfThePersonOfItsRequest(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	ada, ben := agent.User{ID: "U-08", Name: "Ada"}, agent.User{ID: "U-09", Name: "Ben"}
	report, err := d.Send(agent.As(t.Context(), ada), agent.SendRequest{Text: orderLine})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Approve(agent.As(t.Context(), ben), agent.DecideRequest{Approval: report.ApprovalID}); err != nil {
		t.Fatal(err)
	}
	turns, err := d.store.Turns(t.Context(), []agent.TurnID{report.TurnID})
	if err != nil || len(turns) != 1 || turns[0].User != ada {
		t.Errorf("the turn is in the name of %+v, %v", turns, err)
	}
	found, err := d.store.Approvals(t.Context(), []agent.ApprovalID{report.ApprovalID})
	if err != nil || len(found) != 1 || found[0].Decision == nil || found[0].Decision.By != ben {
		t.Errorf("decided: %+v, %v", found, err)
	}
	sent := d.wo.Ledger("order")
	if len(sent) != 1 || sent[0].User != ben.ID {
		t.Errorf("sent: %+v", sent)
	}
}
