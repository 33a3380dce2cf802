package console

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// monkey presses whatever comes, and keeps a book of its own of which approvals
// were meant: it looks at the screen, at what it pressed and when, and never
// asks the guard.
type monkey struct {
	*pilot
	r *rand.Rand

	quiet   time.Duration // when the newest key was pressed, or a card landed
	armed   bool          // it was quiet for long enough since the card landed
	pressed time.Duration // when the newest key was pressed
	focus   agent.ApprovalID
	// rows of the focused card that were on the screen, by their text.
	rows map[string]bool
	// read says that all of them were, at some width.
	read bool
	// meant is the approval that the newest key would approve.
	meant agent.ApprovalID
	// explicit are all approvals that somebody meant.
	explicit map[agent.ApprovalID]bool
}

var monkeyKeys = []string{
	"a", "a", "a", "a", "d", "e", "s", "v", "r", "t", "h", "n", "x", "l", "y", "Y", "1", "z", "aa", "space", "enter", "enter", "enter", "esc", "tab", "tab", "tab",
	"ctrl+g", "ctrl+g", "ctrl+o", "ctrl+x", "ctrl+b", "ctrl+c", "ctrl+p", "ctrl+n", "ctrl+j", "up", "down", "pgup", "pgdown", "pgdown", "home", "end", "backspace", "alt+enter", "alt+a",
}

var monkeyLines = []string{
	"order a 3 kW heating element for WO-1044", "cancel V-2026, the customer is away", "status of WO-1043", "yes", "a", "approve A-1",
	"/approvals", "/new", "/conversations", "/help", "/find heating", "/abort", "/continue", "/rename x", "/nonsense",
}

func (k *monkey) replies() []agent.ModelReply {
	return []agent.ModelReply{
		calls("order_part", orderArgs), calls("order_part", orderArgs), calls("order_part", `{"work_order_id":"WO-1050","sku":"HE-3000-230","quantity":2}`),
		calls("order_part", orderArgs, "cancel_visit", `{"visit_id":"V-2026","reason":"a\u001b[2K\nb"}`),
		calls("lookup_work_order", `{"work_order_id":"WO-1043"}`), calls("cancel_visit", `{"visit_id":"V-2026"}`), says("Done."), says(listing),
	}
}

// look writes down what is on the screen of the card that has the keyboard.
func (k *monkey) look() {
	c := k.m.open.card(k.m.focus)
	switch {
	case c == nil:
		k.focus, k.meant = "", ""
		return
	case c.card.approval.ID != k.focus:
		k.focus, k.rows, k.read, k.meant, k.quiet = c.card.approval.ID, map[string]bool{}, false, "", k.clock
		k.armed = false
	}
	if k.m.list.canvas.styles == nil { // nothing was drawn yet
		return
	}
	screen := map[string]bool{}
	for line := range strings.SplitSeq(k.screen(), "\n") {
		screen[line] = true
	}
	all := true
	for _, line := range c.card.lines(k.m.list.canvas) {
		if line = strings.TrimRight(ansi.Strip(line), " "); line == "" {
			continue
		}
		if screen[line] {
			k.rows[line] = true
		}
		all = all && k.rows[line]
	}
	k.read = k.read || all
}

// event tells the console of something, and takes in what came of it.
func (k *monkey) event(msg tea.Msg) {
	key, isKey := msg.(tea.KeyMsg)
	if isKey {
		k.meant = ""
		before, gap := k.focus, k.clock-k.pressed
		k.armed = k.armed || k.clock-k.quiet >= 400*time.Millisecond
		k.pressed = k.clock
		single := key.Type == tea.KeyRunes && !key.Paste && !key.Alt && len(key.Runes) == 1
		if single && key.Runes[0] == 'a' && before != "" && k.m.field == nil && k.m.panel == nil && k.read && k.armed && gap >= 100*time.Millisecond {
			k.meant = before
		}
		if f := k.m.field; f != nil && key.Type == tea.KeyEnter && gap >= burstTime && slices.Contains([]string{"84.90", "84,90", "PO-3007"}, strings.TrimSpace(f.editor.text)) {
			k.explicit[f.card.approval.ID] = true
		}
		k.quiet = k.clock
	}
	if stood, ok := msg.(keyStoodAloneMsg); ok && stood.key == "a" && k.meant != "" {
		k.explicit[k.meant] = true
	}
	if _, ok := msg.(tea.FocusMsg); ok {
		k.armed, k.quiet = false, k.clock
	}
	k.update(msg)
	k.quit = false // leaving decides nothing either; the monkey stays
	k.look()
}

func (k *monkey) takeIn() {
	for {
		select {
		case msg := <-k.facts:
			k.event(msg)
		default:
			return
		}
	}
}

func (k *monkey) step() {
	k.clock += []time.Duration{2, 20, 40, 90, 150, 450, 900}[k.r.IntN(7)] * time.Millisecond
	switch n := k.r.IntN(100); {
	case n < 62:
		k.event(keyMsg(monkeyKeys[k.r.IntN(len(monkeyKeys))]))
	case n < 72:
		for _, r := range monkeyLines[k.r.IntN(len(monkeyLines))] {
			k.clock += time.Duration(5+k.r.IntN(60)) * time.Millisecond
			name := string(r)
			if r == ' ' {
				name = "space"
			}
			k.event(keyMsg(name))
		}
		k.clock += 300 * time.Millisecond
		k.event(keyMsg("enter"))
	case n < 76:
		k.event(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("a\ny\n\x1b[201~a")})
	case n < 80:
		k.event(tea.WindowSizeMsg{Width: 1 + k.r.IntN(130), Height: 1 + k.r.IntN(50)})
	case n < 83:
		k.event(tea.BlurMsg{})
		k.event(tea.FocusMsg{})
	case n < 85:
		k.event(tickedMsg{k.m.ticks.generation})
	case n < 87: // the total of a card that asks for one
		for _, r := range "84.90" {
			k.event(keyMsg(string(r)))
		}
		k.clock += 200 * time.Millisecond
		k.event(keyMsg("enter"))
	case n < 88:
		quotes := []string{quoteJSON, strings.Replace(quoteJSON, `"duplicates":[]`, duplicates, 1), strings.Replace(quoteJSON, `"expected_on":{"at":"2026-12-03`, `"expected_on":{"at":"2026-12-05`, 1)}
		k.source.set(func(s *scriptedSource) { s.quote = quotes[k.r.IntN(len(quotes))] })
	case n < 89:
		k.event(tea.WindowSizeMsg{Width: 100, Height: 40})
	case n < 92:
		k.decide()
	default: // a moment passes for what is out
		time.Sleep(100 * time.Microsecond)
	}
}

// decide does what a person does: goes into a card, reads it to its end, waits,
// and presses the key once; and now and then leaves some of that out.
func (k *monkey) decide() {
	careful := func() bool { return k.r.IntN(4) > 0 }
	size := tea.WindowSizeMsg{Width: 100, Height: 40}
	if !careful() {
		size = tea.WindowSizeMsg{Width: 44, Height: 14}
	}
	k.event(size)
	for range 3 {
		k.clock += 200 * time.Millisecond
		k.event(keyMsg("esc"))
	}
	k.m.composer.set("")
	k.clock += 200 * time.Millisecond
	k.event(keyMsg("ctrl+g"))
	if k.focus == "" {
		return
	}
	if careful() {
		for range 6 {
			k.clock += 200 * time.Millisecond
			k.event(keyMsg("pgdown"))
		}
	}
	if careful() {
		k.clock += time.Second
	}
	k.event(keyMsg([]string{"a", "a", "d"}[k.r.IntN(3)]))
	if k.m.field != nil { // the total has to be typed, or a reason may be
		if k.r.IntN(2) == 0 {
			for _, r := range "84.90" {
				k.clock += 90 * time.Millisecond
				k.event(keyMsg(string(r)))
			}
			k.clock += 200 * time.Millisecond
			k.event(keyMsg("enter"))
		}
		return
	}
	moment := time.After(aloneTime * 5 / 4) // no key comes in which the key could stand alone
	for k.meant == "" || !k.explicit[k.meant] {
		select {
		case msg := <-k.facts:
			k.event(msg)
		case <-moment:
			return
		}
	}
}

// Whatever is pressed, pasted, resized and typed: no approval is on record that
// nobody meant, and orders went out for approvals only.
func TestNoMonkeyApprovesAnythingByAccident(t *testing.T) {
	events, seed := 1500, uint64(1)
	if os.Getenv("DESKHAND_SWEEP") == "full" {
		events, seed = 100_000, rand.Uint64()
	}
	t.Logf("%d events from seed %d", events, seed)
	k := &monkey{pilot: newPilot(t, 100, 40), r: rand.New(rand.NewPCG(seed, 2)), explicit: map[agent.ApprovalID]bool{}, rows: map[string]bool{}}
	conversations := map[agent.ConversationID]bool{}
	for i := range events {
		if i%20 == 0 {
			all := k.replies()
			k.model.script(all[k.r.IntN(len(all))])
		}
		k.takeIn()
		k.step()
		conversations[k.m.open.id] = true
		if i%16 == 0 {
			checkScreen(t, k.pilot)
		}
		if t.Failed() {
			t.Fatalf("event %d", i)
		}
	}
	approved := 0
	for id := range conversations {
		lines, err := k.store.Audit(k.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if line.Step != agent.AuditDecided || line.State == agent.CallDenied {
				continue
			}
			approved++
			if !k.explicit[line.Approval] {
				t.Errorf("%s was approved, and nobody meant it", line.Approval)
			}
		}
	}
	if sent := k.source.count("order_part") + k.source.count("cancel_visit"); sent > approved {
		t.Errorf("%d calls went out for %d approvals", sent, approved)
	}
	if approved == 0 && events > 10_000 {
		t.Error("nothing was approved at all, so nothing was tried")
	}
	t.Logf("%d approvals", approved)
}
