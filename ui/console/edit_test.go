package console

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
)

// quotesByQuantity makes the server quote what is asked for.
func (p *pilot) quotesByQuantity() {
	two := strings.NewReplacer(`"quantity":1,"goods":{"minor":8490`, `"quantity":2,"goods":{"minor":16980`,
		`"total":{"minor":8490`, `"total":{"minor":16980`,
		`"warnings":[]`, `"warnings":[{"code":"more_than_needed","message":"The technician asked for 1, this is 2."}]`).Replace(quoteJSON)
	p.source.set(func(s *scriptedSource) {
		s.quotes = func(r agent.CallRequest) string {
			if strings.Contains(string(r.Arguments), `"quantity":2`) {
				return two
			}
			return quoteJSON
		}
	})
}

func TestEditingAQuantityPutsUpANewCard(t *testing.T) {
	p := newPilot(t, 80, 34)
	p.quotesByQuantity()
	p.card()
	p.ready()
	p.press("e")
	p.untilText("Quantity (or argument=value): 1")
	p.press("enter")
	if !p.says("That is the quantity on the card already.") {
		t.Errorf("the screen says\n%s", p.screen())
	}
	p.press("backspace")
	p.write("2")
	p.press("enter")
	p.until("the new card", func() bool { return len(p.m.open.cards) == 1 && p.m.open.cards[0].card.approval.ID == "A-2" })
	p.settle()
	if p.m.focus == "" {
		t.Error("the new card has not the keyboard")
	}
	p.update(keyMsg("a")) // at once: the guard has begun anew
	p.undecided("A-2")
	for _, want := range []string{"TOTAL  169.80 EUR", "quantity now 2 (was 1), changed by Dispatch Desk 1", "total now 169.80 EUR (was 84.90 EUR)", "! new warning: The technician asked for 1", "This card takes the place of A-1."} {
		if !p.says(want) {
			t.Errorf("the card does not say %q:\n%s", want, p.screen())
		}
	}
	if a := p.approval("A-1"); a.State != agent.ApprovalSuperseded || a.Decision != nil {
		t.Errorf("A-1 is %s", a.State)
	}
	p.press("home", "pgdown", "pgdown", "end", "a")
	p.untilText("On record: 1 order placed")
	if n := p.source.count("order_part"); n != 1 {
		t.Errorf("%d orders went out", n)
	}
}

func TestAnEditThatIsNotPossibleLeavesTheCard(t *testing.T) {
	for _, tt := range []struct{ typed, says string }{
		{"0.5", "quantity must be a whole number, not 0.5. The card waits as it was."},
		{"two", "quantity must be a whole number"},
		{"colour", "quantity must be a whole number"},
		{"=3", "Write an argument and its value, such as"},
		{"max_total_minor=1", `"max_total_minor" is filled in by the desk`},
		{"sku=", "A-1 was not changed"},
	} {
		p := newPilot(t, 80, 34)
		p.card()
		p.ready()
		p.source.set(func(s *scriptedSource) {
			s.refuseEmpty = true
		})
		p.press("e", "backspace")
		p.write(tt.typed)
		p.press("enter")
		p.untilText(tt.says[:min(len(tt.says), 60)])
		p.until("it is over", func() bool { return len(p.m.out) == 0 })
		p.undecided("A-1")
	}
}

func TestLeavingTheEditChangesNothing(t *testing.T) {
	p := newPilot(t, 80, 34)
	p.card()
	p.ready()
	p.press("e")
	p.write("2")
	p.press("esc")
	p.untilText("[e] edit")
	p.undecided("A-1")
	p.press("e")
	p.untilText("Quantity (or argument=value): 1")
	p.update(keyMsg("2"))
	p.update(keyMsg("enter")) // in a burst, as a paste comes
	if !p.says("Just a moment") {
		t.Errorf("the screen says\n%s", p.screen())
	}
	p.undecided("A-1")
}

func TestAnyArgumentOfAnyCardCanBeEdited(t *testing.T) {
	p := newPilot(t, 80, 34)
	p.model.script(calls("cancel_visit", `{"visit_id":"V-2026","reason":"rain"}`))
	p.send("cancel V-2026")
	p.until("the card", func() bool { return len(p.m.open.cards) == 1 })
	p.ready()
	p.press("e")
	p.untilText("Change (argument=value): ")
	p.write("nothing")
	p.press("enter")
	if !p.says(`such as reason="rain"`) {
		t.Errorf("the screen says\n%s", p.screen())
	}
	for range len("nothing") {
		p.press("backspace")
	}
	p.write("reason=asked by the hotel")
	p.press("enter")
	p.untilText(`reason now "asked by the hotel" (was "rain"), changed by Dispatch Desk 1`)
	p.until("the new card", func() bool { return p.m.open.cards[0].card.approval.ID == "A-2" })
}

func TestACardAboveTheLimitIsLeftToSomebodyElse(t *testing.T) {
	p := newPilot(t, 80, 34)
	p.source.quote = strings.Replace(quoteJSON, `"approver_needed":"none"`, `"approver_needed":"senior_dispatcher"`, 1)
	p.card()
	p.ready()
	p.press("s")
	p.untilText("Left to a senior dispatcher by Dispatch Desk 1 at 09:04.")
	p.until("it is over", func() bool { return len(p.m.out) == 0 })
	p.undecided("A-1")
	if r := p.approval("A-1").Referral; r == nil || r.Role != "senior_dispatcher" {
		t.Errorf("the referral is %+v", r)
	}
	p.press("end", "s")
	if !p.says("It waits for a senior dispatcher already") {
		t.Errorf("the screen says\n%s", p.screen())
	}
}

func TestACardsTimeIsExtended(t *testing.T) {
	p := newPilot(t, 80, 34)
	p.expiresAfter = "1h"
	p.start("owner-2", 80, 34)
	p.card()
	p.untilText("until 10:04")
	p.ready()
	p.now = p.now.Add(30 * time.Minute)
	p.press("t")
	p.untilText("until 10:34")
	p.undecided("A-1")
}

func TestAnUnknownOutcomeIsLookedUpBesideTheCard(t *testing.T) {
	p := newPilot(t, 80, 34)
	p.card()
	p.source.set(func(s *scriptedSource) {
		s.answer = func(agent.CallRequest) (agent.Result, error) {
			return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: "work-orders", Err: errors.New("the connection broke")}
		}
	})
	p.ready()
	p.press("a")
	p.untilText("OUTCOME UNKNOWN")
	p.until("the composer has the keyboard", func() bool { return p.m.focus == "" && len(p.m.out) == 0 })
	first := p.m.open.id
	p.ready()
	p.press("l")
	p.until("another conversation", func() bool { return p.m.open.id != first && p.m.composer.text == "part orders for WO-1044" })
	p.untilText("Ctrl+B goes back to the card")
	p.press("ctrl+b")
	p.until("the card again", func() bool { return p.m.open.id == first && len(p.m.open.cards) == 1 })
	p.untilText("OUTCOME UNKNOWN")
}
