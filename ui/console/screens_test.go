package console

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskhand/agent"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
)

// screenName lets golden files lie beside those of the other packages, under
// the name of the screen.
type screenName struct {
	testing.TB
	name string
}

func (s screenName) Name() string { return "screens/" + s.name }

// scenes bring a console to the screens that are compared.
var scenes = []struct {
	name string
	play func(p *pilot)
}{
	{"empty", func(*pilot) {}},
	{"status", func(p *pilot) {
		p.model.script(calls("lookup_work_order", `{"work_order_id":"WO-1043"}`), says("WO-1043 Rooftop unit leaks into the shop: scheduled, high priority.\nV-2019 Sam Orrin, Tue 1 Dec 13:00–15:00, booked.\nMust be done by Tue 1 Dec 18:00."))
		p.send("status of WO-1043")
		p.untilText("18:00.")
	}},
	{"running", (*pilot).running},
	{"markdown", func(p *pilot) {
		p.model.script(says(listing))
		p.send("who is out today")
		p.untilText("or not")
	}},
	{"help", func(p *pilot) { p.send("/help") }},
	{"found", func(p *pilot) {
		p.model.script(says("The pump of WO-1050 stands still since Monday."))
		p.send("what about the pump")
		p.untilText("since Monday.")
		p.send("/find pump")
		p.untilText("2 messages have")
	}},
	{"waiting", (*pilot).card},
	{"expiring", func(p *pilot) {
		p.expiresAfter = "30m"
		p.start("owner-2", p.m.width, p.m.height)
		p.card()
		p.ready()
		p.now = p.now.Add(28*time.Minute + 15*time.Second)
		p.update(tickedMsg{p.m.ticks.generation})
	}},
	{"focused", func(p *pilot) { p.card(); p.ready() }},
	{"warnings", func(p *pilot) {
		p.source.quote = strings.NewReplacer(
			`"duplicates":[]`, duplicates, `"warnings":[]`, `"warnings":[{"code":"own_stock_available","message":"In our own stock: 1 in the van of Benoît Carrowell."}]`,
			`"quantity":1,"goods":{"minor":8490`, `"quantity":20,"goods":{"minor":169800`, `"fees":[],"total":{"minor":8490`, `"fees":[{"name":"Delivery","amount":{"minor":1200,"currency":"EUR"}}],"total":{"minor":171000`,
			`"pack_size":1`, `"pack_size":10`, `"approver_needed":"none"`, `"approver_needed":"manager"`, `"days_to_deadline":1`, `"days_to_deadline":-2`,
		).Replace(quoteJSON)
		p.model.script(calls("order_part", `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":20,"reason":"they asked for it"}`))
		p.send("order twenty 3 kW heating elements for WO-1044")
		p.until("the card", func() bool { return len(p.m.open.cards) == 1 })
		p.ready()
	}},
	{"other-tool", func(p *pilot) {
		p.model.script(calls("cancel_visit", `{"visit_id":"V-2026","reason":"the customer is away"}`))
		p.send("cancel V-2026, the customer is away")
		p.until("the card", func() bool { return len(p.m.open.cards) == 1 })
		p.ready()
	}},
	{"choices", func(p *pilot) { p.card(); p.send("and where is sam") }},
	{"reason", func(p *pilot) { p.card(); p.ready(); p.press("d"); p.write("too dear") }},
	{"denied", func(p *pilot) {
		p.card()
		p.model.script(says("I did not order the heating element."))
		p.ready()
		p.press("d")
		p.write("too dear")
		p.press("enter")
		p.untilText("Nothing was ordered.")
	}},
	{"done", func(p *pilot) {
		p.card()
		p.model.script(says("Ordered as PO-3021; it arrives Thu 3 Dec."))
		p.ready()
		p.press("a")
		p.untilText("On record: 1 order placed")
		p.until("the composer has the keyboard", func() bool { return p.m.focus == "" && len(p.m.out) == 0 })
	}},
	{"unknown", func(p *pilot) {
		p.card()
		p.fails(agent.OutcomeUnknown, "the connection broke while the answer was awaited")
		p.ready()
		p.press("a")
		p.until("the card is back", func() bool { return len(p.m.out) == 0 && len(p.m.open.cards) == 1 && p.m.focus == "" })
		p.ready()
	}},
	{"not-sent", func(p *pilot) {
		p.card()
		p.fails(agent.OutcomeNotSent, "connection refused")
		p.ready()
		p.press("a")
		p.until("the card is back", func() bool { return len(p.m.out) == 0 && len(p.m.open.cards) == 1 && p.m.focus == "" })
		p.ready()
	}},
}

// running brings up a call that is told to be three quarters done.
func (p *pilot) running() {
	ctx := p.ctx
	p.source.set(func(s *scriptedSource) {
		s.answer = func(r agent.CallRequest) (agent.Result, error) {
			r.Progress(agent.Progress{Done: 3, Total: 4, Message: "places searched"})
			<-ctx.Done()
			return agent.Result{}, ctx.Err()
		}
	})
	p.model.script(calls("lookup_work_order", `{"work_order_id":"WO-1043","include_history":true}`))
	p.send("status of WO-1043")
	p.untilText("3 of 4")
}

// fails makes orders fail without an answer.
func (p *pilot) fails(outcome agent.Outcome, why string) {
	p.source.set(func(s *scriptedSource) {
		s.answer = func(agent.CallRequest) (agent.Result, error) {
			return agent.Result{}, &agent.CallError{Outcome: outcome, Server: "work-orders", Err: errors.New(why)}
		}
	})
}

func TestScreens(t *testing.T) {
	t.Chdir("../..")
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}, {44, 16}} {
		for _, scene := range scenes {
			name := fmt.Sprintf("%s-%dx%d", scene.name, size.width, size.height)
			t.Run(name, func(t *testing.T) {
				p := newPilot(t, size.width, size.height)
				scene.play(p)
				p.settle()
				checkScreen(t, p)
				golden.RequireEqual(screenName{t, name}, p.screen()+"\n")
			})
		}
	}
}

// checkScreen fails if the screen does not fit, or if anything on it could be
// more than text.
func checkScreen(t *testing.T, p *pilot) {
	t.Helper()
	view := p.m.View()
	lines := strings.Split(view, "\n")
	if len(lines) > p.m.height {
		t.Errorf("%d lines on a screen of %d", len(lines), p.m.height)
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > p.m.width {
			t.Errorf("a line of %d cells on a screen of %d: %q", w, p.m.width, line)
		}
	}
	at := strings.LastIndex(view, "\x1b[<")
	if at < 0 || !strings.HasSuffix(view, "z") {
		t.Fatalf("the frame does not say where the caret is: %q", view)
	}
	harmless(t, "the screen", view[:at])
}

// Every scene fits every size, without a panic.
func TestSizes(t *testing.T) {
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			p := newPilot(t, 80, 24)
			scene.play(p)
			for _, width := range []int{1, 20, 40, 57, 80, 200} {
				for _, height := range []int{1, 11, 12, 24, 60} {
					p.m.width, p.m.height = width, height
					p.m.draw()
					checkScreen(t, p)
				}
			}
		})
	}
}
