package console

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
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
	if strings.Contains(p.screen(), "┌") || strings.Contains(p.screen(), "┏") {
		t.Errorf("a card that was decided still has a frame:\n%s", p.screen())
	}
}

func TestDeny(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.press("tab", "d")
	p.write("too expensive")
	p.press("enter")
	p.untilText(`denied by Dispatch Desk 1 at 09:04: "too expensive"`)
	p.untilText("Nothing was ordered")
	if a := p.approval("A-1"); a.State != agent.ApprovalDenied || a.Decision.Note != "too expensive" {
		t.Errorf("A-1 is %s with the reason %q", a.State, a.Decision.Note)
	}
	if n := p.source.count("order_part"); n != 0 {
		t.Errorf("%d orders went out after a denial", n)
	}
}

// Every way in which keys that were meant for something else have decided in
// other programs. None may decide here.
func TestNothingDecidesByAccident(t *testing.T) {
	tests := []struct {
		name string
		keys func(p *pilot)
		// says is on the screen afterwards; draft is in the composer.
		says, draft string
	}{
		{"typing goes on while the card appears", func(p *pilot) {
			p.write("yes a 1 d")
			p.update(keyMsg("enter"))
		}, "typing decides nothing", "yes a 1 d"},
		{"letters in half a sentence", func(p *pilot) { p.write("also y p n a d") }, "Tab or Ctrl+G to decide", "also y p n a d"},
		{"tab with text", func(p *pilot) { p.write("a"); p.press("tab", "a") }, "Tab or Ctrl+G to decide", "aa"},
		{"enter in the card", func(p *pilot) { p.ready(); p.press("enter", "enter") }, "Enter decides nothing", ""},
		{"held enter", func(p *pilot) {
			p.ready()
			for range 30 {
				p.clock += 33 * time.Millisecond
				p.update(keyMsg("enter"))
			}
		}, "Enter decides nothing", ""},
		{"a key at once after the card got the keyboard", func(p *pilot) {
			p.press("tab")
			p.clock += 100 * time.Millisecond
			p.update(keyMsg("a"))
		}, "Just a moment", ""},
		{"keys that never pause", func(p *pilot) {
			p.press("tab")
			for range 50 {
				p.clock += 100 * time.Millisecond
				p.update(keyMsg("a"))
			}
		}, "Just a moment", ""},
		{"a key within 30 ms of another", func(p *pilot) {
			p.ready()
			p.update(keyMsg("down"))
			p.clock += 29 * time.Millisecond
			p.update(keyMsg("a"))
		}, "Just a moment", ""},
		{"a paste", func(p *pilot) {
			p.ready()
			p.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a"), Paste: true})
		}, "Pasted text decides nothing", ""},
		{"two letters at once", func(p *pilot) {
			p.ready()
			p.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("aa")})
		}, "Several keys at once decide nothing", ""},
		{"alt and the letter", func(p *pilot) { p.ready(); p.press("alt+a") }, "That key does nothing on a card", ""},
		{"a capital letter", func(p *pilot) { p.ready(); p.press("A") }, `"A" does nothing on this card`, ""},
		{"esc", func(p *pilot) { p.ready(); p.press("esc", "a") }, "Tab or Ctrl+G to decide", "a"},
		{"ctrl+c", func(p *pilot) { p.ready(); p.press("ctrl+c") }, "Tab or Ctrl+G to decide", ""},
		{"the first key after the window came to the front", func(p *pilot) {
			p.ready()
			p.update(tea.BlurMsg{})
			p.rest()
			p.update(tea.FocusMsg{})
			p.clock += 10 * time.Millisecond
			p.update(keyMsg("a"))
		}, "Just a moment", ""},
		{"a key into a window whose focus report was lost", func(p *pilot) {
			p.ready()
			p.update(tea.BlurMsg{})
			p.rest()
			p.update(keyMsg("a"))
		}, "Just a moment", ""},
		{"keys in a panel over the card", func(p *pilot) { p.ready(); p.press("v", "enter") }, "[a] order for 84.90 EUR", ""},
		{"a letter that closes the panel", func(p *pilot) { p.ready(); p.press("v", "a") }, "[a] order for 84.90 EUR", ""},
		{"a reason and esc", func(p *pilot) { p.ready(); p.press("d"); p.write("no"); p.press("esc") }, "[a] order for 84.90 EUR", ""},
		{"enter in the reason, in a burst", func(p *pilot) {
			p.ready()
			p.update(keyMsg("d"))
			p.clock += 5 * time.Millisecond
			p.update(keyMsg("enter"))
		}, "Just a moment", ""},
		{"a paste with a line end into the reason", func(p *pilot) {
			p.ready()
			p.press("d")
			p.rest()
			p.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("no\nreally\n"), Paste: true})
		}, "Reason (optional): no really", ""},
		{"s where nobody else is needed", func(p *pilot) { p.ready(); p.press("s") }, "It needs nobody else: you may approve it.", ""},
		{"t without a limit", func(p *pilot) { p.ready(); p.press("t") }, "It waits without a limit.", ""},
		{"an edit and esc", func(p *pilot) { p.ready(); p.press("e"); p.write("2"); p.press("esc") }, "[a] order for 84.90 EUR", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPilot(t, 80, 30)
			p.card()
			tt.keys(p)
			if !p.says(tt.says) {
				t.Errorf("the screen does not say %q:\n%s", tt.says, p.screen())
			}
			if p.m.composer.text != tt.draft {
				t.Errorf("the composer holds %q, want %q", p.m.composer.text, tt.draft)
			}
			if len(p.m.out) > 0 {
				t.Errorf("something was started: %v", p.m.out)
			}
			p.undecided("A-1")
		})
	}
}

// A card that does not fit the screen has to be scrolled to its end first.
func TestScrollToTheEndFirst(t *testing.T) {
	p := newPilot(t, 44, 16)
	p.card()
	p.press("tab", "a")
	if !p.says("Scroll to the end first") {
		t.Errorf("the screen does not say why nothing happened:\n%s", p.screen())
	}
	p.undecided("A-1")
	p.press("home", "pgdown", "pgdown", "pgdown", "x")
	p.undecided("A-1")
	p.press("a") // the hint took lines away, and the end stayed in view
	p.untilText("On record: 1 order placed")
}

// The end alone is not enough, and reading survives a change of the width.
func TestReadBeforeResize(t *testing.T) {
	p := newPilot(t, 44, 12)
	p.card()
	p.press("tab")
	p.press("end", "a")
	if !p.says("The beginning of this card has not been in view") && !p.says("Scroll to the end first") {
		t.Errorf("the screen does not say why nothing happened:\n%s", p.screen())
	}
	p.undecided("A-1")
	p.press("home", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
	p.update(tea.WindowSizeMsg{Width: 60, Height: 12})
	p.press("home", "a")
	p.undecided("A-1") // the end is out of view
	p.press("end", "a")
	p.untilText("On record: 1 order placed")
}

func TestSmallScreen(t *testing.T) {
	p := newPilot(t, 80, 3)
	p.card()
	if got := p.screen(); !strings.Contains(got, "1 decision waiting") || strings.Count(got, "\n") > 2 {
		t.Errorf("at three rows the screen is %q", got)
	}
	p.press("ctrl+g", "a")
	p.undecided("A-1")
}

func TestOverride(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.source.quote = strings.Replace(quoteJSON, `"duplicates":[]`, duplicates, 1)
	p.card()
	p.ready()
	p.press("a")
	p.untilText("Type the total to order again:")
	for _, wrong := range []string{"", "84.9", "84.91", "84.90 EUR"} {
		p.m.field.editor.set(wrong)
		p.press("enter")
		if p.m.field == nil {
			t.Fatalf("%q was accepted as the total", wrong)
		}
		p.undecided("A-1")
	}
	p.m.field.editor.set("84,90")
	p.press("enter")
	p.untilText("On record: 1 order placed")
}

// severalCards is a console with three cards, all in view.
func severalCards(t *testing.T) *pilot {
	t.Helper()
	p := newPilot(t, 80, 60)
	p.model.script(calls("cancel_visit", `{"visit_id":"V-1","reason":"sick"}`, "cancel_visit", `{"visit_id":"V-2","reason":"sick"}`, "cancel_visit", `{"visit_id":"V-3","reason":"sick"}`))
	p.send("cancel V-1, V-2 and V-3")
	p.until("three cards", func() bool { return len(p.m.open.cards) == 3 })
	return p
}

// Each card is decided by itself, and the guard starts anew on each.
func TestSeveralCards(t *testing.T) {
	p := severalCards(t)
	if p.bells.Load() == 0 {
		p.until("the bell", func() bool { return p.bells.Load() == 1 })
	}
	p.press("tab", "tab") // the second
	if !strings.Contains(p.screen(), "[a] cancel V-2") {
		t.Fatalf("the second card has not the keyboard:\n%s", p.screen())
	}
	p.press("d", "enter")
	p.until("the next card has the keyboard", func() bool { k := p.m.open.card(p.m.focus); return k != nil && k.card.approval.ID != "A-2" })
	if a := p.approval("A-2"); a.State != agent.ApprovalDenied {
		t.Errorf("A-2 is %s", a.State)
	}
	for _, id := range []agent.ApprovalID{"A-1", "A-3"} {
		if a := p.approval(id); a.State != agent.ApprovalOpen {
			t.Errorf("%s is %s; it was not touched", id, a.State)
		}
	}
	p.update(keyMsg("a")) // at once: the guard of the next card
	if a := p.approval(p.m.open.card(p.m.focus).card.approval.ID); a.State != agent.ApprovalOpen {
		t.Errorf("a key went on to the next card: %s is %s", a.ID, a.State)
	}
	p.press("a")
	p.until("one card left", func() bool { return len(p.m.open.cards) == 1 && p.m.focus != "" })
	p.press("a")
	p.until("no card left", func() bool { return len(p.m.open.cards) == 0 && p.m.focus == "" })
	// The card goes when its call is on the way, which is before it arrives.
	p.until("both visits are cancelled", func() bool { return p.source.count("cancel_visit") == 2 })
}

func TestChangedTerms(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.source.set(func(s *scriptedSource) {
		s.quote = strings.NewReplacer("8490", "8990", "51510", "51010").Replace(quoteJSON)
	})
	p.ready()
	p.press("a")
	p.untilText("total now 89.90 EUR (was 84.90 EUR)")
	p.untilText("This card takes the place of A-1.")
	p.until("the new card has the keyboard", func() bool { k := p.m.open.card(p.m.focus); return k != nil && k.card.approval.ID == "A-2" })
	p.update(keyMsg("a"))
	if !p.says("Just a moment") {
		t.Errorf("the guard did not start on the new card:\n%s", p.screen())
	}
	if p.approval("A-2").State != agent.ApprovalOpen || p.source.count("order_part") != 0 {
		t.Error("the new card was decided by the key for the old one")
	}
	p.press("a")
	p.untilText("On record: 1 order placed")
}

func TestServerDown(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.source.set(func(s *scriptedSource) { s.down = errors.New("connection refused") })
	p.ready()
	p.press("a")
	p.untilText("cannot be reached, so nothing was recorded and the card still waits")
	p.undecided("A-1")
	p.press("d", "enter") // declining needs no server
	p.until("A-1 is denied", func() bool { return p.approval("A-1").State == agent.ApprovalDenied })
}

func TestNoPreview(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.model.script(calls("order_part", orderArgs))
	p.source.failQuote = true
	p.send("order a 3 kW heating element for WO-1044")
	p.untilText("Approving is off:")
	p.ready()
	p.press("a")
	p.untilText("r fetches it again")
	p.undecided("A-1")
	p.source.set(func(s *scriptedSource) { s.failQuote, s.quote = false, quoteJSON })
	p.press("r")
	p.untilText("TOTAL  84.90 EUR")
	p.until("the new card has the keyboard", func() bool { k := p.m.open.card(p.m.focus); return k != nil && k.card.approval.ID == "A-2" })
	p.press("a")
	p.untilText("On record: 1 order placed")
}

func TestNotSent(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.source.set(func(s *scriptedSource) {
		s.answer = func(agent.CallRequest) (agent.Result, error) {
			return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: "work-orders", Err: errors.New("connection refused")}
		}
	})
	p.ready()
	p.press("a")
	p.untilText("approved, NOT SENT")
	p.until("the composer has the keyboard", func() bool { return p.m.focus == "" && len(p.m.out) == 0 })
	p.ready()
	p.press("a")
	p.untilText("It is approved already: r sends it")
	p.source.set(func(s *scriptedSource) { s.answer = nil })
	p.press("r")
	p.untilText("On record: 1 order placed")
}

func TestUnknown(t *testing.T) {
	for _, tt := range []struct{ key, says string }{
		{"h", "On record: 1 order placed: confirmed by a person"},
		{"n", "On record: Nothing was ordered."},
		{"x", "On record: 1 order placed: PO-3021"},
	} {
		t.Run(tt.key, func(t *testing.T) {
			p := newPilot(t, 80, 30)
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
			p.ready()
			p.source.set(func(s *scriptedSource) { s.answer = nil })
			p.press("a")
			if !strings.Contains(p.screen(), `"a" does nothing on this card`) {
				t.Errorf("a is not explained:\n%s", p.screen())
			}
			p.press(tt.key)
			p.untilText(tt.says)
		})
	}
}

// Somebody else decides while the reason is being typed.
func TestDecidedElsewhere(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.ready()
	p.press("d")
	p.write("too")
	if _, err := p.engine.Deny(p.ctx, agent.DecideRequest{Approval: "A-1", Note: "from the command line"}); err != nil {
		t.Fatal(err)
	}
	p.untilText("The card was decided meanwhile.")
	p.untilText(`"from the command line"`)
	if p.m.field != nil {
		t.Error("the field is still open")
	}
}

func TestLimit(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.source.quote = strings.Replace(quoteJSON, `"approver_needed":"none"`, `"approver_needed":"manager"`, 1)
	p.card()
	p.ready()
	if strings.Contains(p.screen(), "[a]") || !strings.Contains(p.screen(), "Needs a manager") {
		t.Errorf("the card does not say who is needed:\n%s", p.screen())
	}
	p.press("a")
	p.untilText("It needs a manager")
	p.undecided("A-1")
}

// The same card waits after a restart, and is decided there, once.
func TestRestart(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.write("half a line")
	p.until("the draft is saved", func() bool { return p.m.desk.draft(p.m.open.id) == "half a line" })
	p.start("owner-2", 80, 24)
	if got := p.screen(); !strings.Contains(got, "A-1 · since 09:04") || !strings.Contains(got, "> half a line") || !strings.Contains(got, "1 decision waiting") {
		t.Fatalf("the restored screen is\n%s", got)
	}
	if p.bells.Load() != 1 {
		t.Errorf("the bell rang %d times; the restored card needs none", p.bells.Load())
	}
	p.press("ctrl+g", "a")
	p.untilText("On record: 1 order placed")
	if p.m.composer.text != "half a line" {
		t.Errorf("the draft is %q after the decision", p.m.composer.text)
	}
	if n := p.source.count("order_part"); n != 1 {
		t.Errorf("%d orders went out, not one", n)
	}
}

// A card whose time ran out loses its frame, and nothing is sent.
func TestExpired(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.expiresAfter = "1h"
	p.start("owner-2", 80, 30)
	p.card()
	p.untilText("since 09:04 · until 10:04")
	p.ready()
	p.now = p.now.Add(2 * time.Hour)
	p.update(tickedMsg{p.m.ticks.generation})
	p.untilText("[expired] A-1")
	p.until("the composer has the keyboard", func() bool { return p.m.focus == "" })
	if strings.Contains(p.screen(), "┏") || p.source.count("order_part") != 0 {
		t.Errorf("after the card's time:\n%s", p.screen())
	}
}

// TestAHeldKeyDecidesOneCardAtMost: one held "a" approved two orders, because
// the pause before a keyboard repeats is longer than the quiet that a card asks
// for.
func TestAHeldKeyDecidesOneCardAtMost(t *testing.T) {
	for _, pause := range []time.Duration{300, 500, 660, 800} {
		p := severalCards(t)
		p.press("tab", "a")
		p.until("the next card has the keyboard", func() bool { return len(p.m.open.cards) == 2 && p.m.focus != "" })
		p.clock += pause * time.Millisecond
		for range 30 {
			p.update(keyMsg("a"))
			p.clock += 33 * time.Millisecond
		}
		if pause < 400 { // the first repeat is too early, the others are too close
			p.untilText("Just a moment")
		} else { // the first repeat waits for a moment alone, in vain
			p.untilText("Press it once")
		}
		for _, id := range []agent.ApprovalID{"A-2", "A-3"} {
			if a := p.approval(id); a.State != agent.ApprovalOpen {
				t.Errorf("after a pause of %d ms, %s is %s", pause, id, a.State)
			}
		}
	}
}

// TestAPasteWithoutBracketsDecidesNothing: "a" and Enter arrive as two keys at
// once.
func TestAPasteWithoutBracketsDecidesNothing(t *testing.T) {
	for _, after := range []string{"enter", "space", "b"} {
		p := severalCards(t)
		p.press("tab")
		p.rest()
		p.update(keyMsg("a"))
		p.clock += time.Millisecond
		p.update(keyMsg(after))
		p.untilText("Press it once")
		if a := p.approval("A-1"); a.State != agent.ApprovalOpen {
			t.Errorf("a, then %s: A-1 is %s", after, a.State)
		}
	}
}
