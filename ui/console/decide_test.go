package console

import (
	"testing"

	"deskhand/agent"
)

func TestApprove(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.undecided("A-1")
	p.press("tab", "a")
	p.untilText("On record: 1 order placed: PO-3021, 84.90 EUR.")
	p.until("the composer has the keyboard", func() bool { return p.m.focus == "" })
	if n := p.source.count("order_part"); n != 1 {
		t.Errorf("%d orders went out, not one", n)
	}
}

func TestDeny(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.press("tab", "d")
	p.write("too expensive")
	p.press("enter")
	p.untilText(`denied by Dispatch Desk 1 at 09:04: "too expensive"`)
	if a := p.approval("A-1"); a.State != agent.ApprovalDenied || a.Decision.Note != "too expensive" {
		t.Errorf("A-1 is %s with the reason %q", a.State, a.Decision.Note)
	}
	p.untilText("Nothing was ordered")
}
