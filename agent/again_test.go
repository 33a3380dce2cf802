package agent_test

import (
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestTheSameCallAfterItWasDoneAsksOnACardThatSaysSo: neither does the first
// approval cover it, nor a rule that would let it run, nor its equal id.
func TestTheSameCallAfterItWasDoneAsksOnACardThatSaysSo(t *testing.T) {
	const because = "the same call was already made in this turn"
	t.Run("a gated call", func(t *testing.T) {
		d := newDesk(t, agenttest.Call(orderCall), agenttest.Call(orderCall), agenttest.Say("Two ordered."))
		d.send(t, orderLine)
		report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
		if err != nil || report.ApprovalID != "A-2" || report.Approvals[0].Because != because {
			t.Fatalf("approve: %+v, %v", report, err)
		}
		d.orders(t, 1)
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
			t.Fatal(err)
		}
		d.orders(t, 2)
		if keys := d.wo.Orders(); keys[0] == keys[1] {
			t.Errorf("both have the key %s", keys[0])
		}
	})
	t.Run("a free write", func(t *testing.T) {
		d := newDesk(t, agenttest.Call(bookVisit), agenttest.Call(bookVisit))
		report := d.send(t, "book somebody for WO-1044")
		if report.Status != agent.TurnPaused || report.Approvals[0].Because != because {
			t.Errorf("report = %+v", report)
		}
		if n := len(d.wo.Ledger("book")); n != 1 {
			t.Errorf("booked %d times", n)
		}
	})
}

// TestTheSameCallTwiceInOneReplyIsTakenOnce whatever its ids: a stream may give
// an item twice. Free writes ran twice.
func TestTheSameCallTwiceInOneReplyIsTakenOnce(t *testing.T) {
	for _, call := range []agent.ModelCall{orderCall, bookVisit, tool("call_out", `{"work_order_id":"WO-1044"}`)} {
		t.Run(call.Name, func(t *testing.T) {
			d := newDesk(t, agenttest.Call(call, call), agenttest.Say("Done."))
			d.wo.Add(agent.Tool{Name: "call_out"}, agenttest.Fixed(agenttest.Structured(`{}`)))
			report := d.send(t, orderLine)
			if len(report.Approvals) > 1 || report.Calls[1].Status != agent.CallRefused {
				t.Errorf("report = %+v", report)
			}
			if report.ApprovalID != "" {
				if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: report.ApprovalID}); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(d.wo.Ledger(call.Name)); n != 1 {
				t.Errorf("sent %d times", n)
			}
			heard := d.model.Requests()[1].Messages[3].Result
			if want := "The same call stands twice in this reply; it was taken once."; heard.Text() != want {
				t.Errorf("the model heard %q", heard.Text())
			}
		})
	}
}

// TestTheSameReadTwiceInOneReplyIsAnsweredTwice: reading again harms nobody.
func TestTheSameReadTwiceInOneReplyIsAnsweredTwice(t *testing.T) {
	d := newDesk(t, agenttest.Call(lookUp, lookUp), agenttest.Say("It waits for parts."))
	report := d.send(t, "status 1044")
	if report.Calls[0].Status != agent.CallDone || report.Calls[1].Status != agent.CallDone {
		t.Errorf("report = %+v", report)
	}
}
