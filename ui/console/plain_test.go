package console

import (
	"context"
	"strings"
	"testing"

	"deskhand/agent"
)

func (p *pilot) plain(interactive bool, input string) (string, agent.Report, error) {
	p.t.Helper()
	var out strings.Builder
	report, err := RunPlain(p.ctx, PlainOptions{
		Engine: p.engine, In: strings.NewReader(input), Out: &out, Interactive: interactive,
		Company: p.m.options.Company, Now: p.m.options.Now, User: p.m.options.User,
	})
	return out.String(), report, err
}

func TestPlainPiped(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.model.script(calls("lookup_work_order", `{"work_order_id":"WO-1043"}`), says("WO-1043 is booked."), calls("order_part", orderArgs), says("Sam is free."))
	out, report, err := p.plain(false, "status of 1043\norder an element\napprove A-1 84.90\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"[done] work-orders/lookup_work_order WO-1043\n",
		"Assistant:\n  WO-1043 is booked.\n",
		"Card A-1 · since 09:04: DEMO · ORDER PART · approval needed\n",
		"TOTAL  84.90 EUR",
		"To decide: deskhand approve A-1, or deskhand deny A-1 --reason TEXT. Nothing is sent before that.\n",
		"asked in a new conversation beside it",
		"  Sam is free.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if report.Status != agent.TurnPaused || report.ApprovalID != "A-1" {
		t.Errorf("the report is about a turn that is %s, not about the card", report.Status)
	}
	p.undecided("A-1")
}

func TestPlainInteractive(t *testing.T) {
	tests := []struct {
		name, input string
		state       agent.ApprovalState
		says        string
		orders      int
	}{
		{"id and total", "approve A-1 84.90\n", agent.ApprovalApproved, "On record: 1 order placed: PO-3021, 84.90 EUR.", 1},
		{"a comma", "approve A-1 84,90\n", agent.ApprovalApproved, "PO-3021", 1},
		{"without total", "approve A-1\n", agent.ApprovalOpen, "Nothing was decided", 0},
		{"wrong total", "approve A-1 84.91\n", agent.ApprovalOpen, "Nothing was decided", 0},
		{"deny with reason", "deny A-1 too dear\n", agent.ApprovalDenied, `denied by Dispatch Desk 1 at 09:04: "too dear"`, 0},
		{"a message that begins like one", "approve the order please\n", agent.ApprovalOpen, "in a new conversation beside it", 0},
		{"no such card", "approve A-9 84.90\n", agent.ApprovalOpen, "there is no approval A-9", 0},
		{"end of input", "", agent.ApprovalOpen, "To decide: approve A-1 84.90, or deny A-1 REASON", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPilot(t, 80, 24)
			p.model.script(calls("order_part", orderArgs))
			out, _, err := p.plain(true, "order an element\n"+tt.input)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out, tt.says) {
				t.Errorf("the output lacks %q:\n%s", tt.says, out)
			}
			if a := p.approval("A-1"); a.State != tt.state {
				t.Errorf("A-1 is %s, want %s:\n%s", a.State, tt.state, out)
			}
			if n := p.source.count("order_part"); n != tt.orders {
				t.Errorf("%d orders went out, want %d", n, tt.orders)
			}
		})
	}
}

// A card of an earlier session is printed before it can be decided.
func TestPlainNotPrinted(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	var out strings.Builder
	k := plain{o: PlainOptions{Engine: p.engine, Out: &out, Interactive: true, Company: p.m.options.Company, Now: p.m.options.Now, User: p.m.options.User},
		shown: map[agent.ApprovalID]string{}, told: map[agent.ConversationID]int{}}
	for range 2 {
		if err := k.take(context.Background(), "approve A-1 84.90"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "type the line again") && p.approval("A-1").State == agent.ApprovalOpen {
			p.undecided("A-1")
		}
	}
	if n := p.source.count("order_part"); n != 1 {
		t.Errorf("%d orders went out, not one:\n%s", n, out.String())
	}
}
