package console

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// filled puts a conversation of n messages into the store, two to a turn.
func (p *pilot) filled(n int) agent.ConversationID {
	p.t.Helper()
	id := agent.ConversationID("long")
	if err := fill(p.ctx, p.store, id, n, p.now); err != nil {
		p.t.Fatal(err)
	}
	return id
}

func fill(ctx context.Context, store agent.Store, id agent.ConversationID, n int, at time.Time) error {
	const batch = 10
	number := 0
	err := store.Update(ctx, func(tx agent.Tx) (err error) {
		if number, err = tx.NextConversation(); err != nil {
			return err
		}
		return tx.PutHead(agent.Head{Version: 1, Conversation: id, Number: number, NextMessage: 1, NextAudit: 1})
	})
	if err != nil {
		return err
	}
	for from := 1; from <= n; from += batch {
		err := store.Update(ctx, func(tx agent.Tx) error {
			for i := from; i < from+batch && i <= n; i++ {
				m := agent.Message{Version: 1, Conversation: id, Number: i, Turn: "t", Role: agent.RoleUser, Text: fmt.Sprintf("line %d: who is on WO-%d", i, 1000+i%60), At: at}
				if i%2 == 0 {
					m.Role, m.Text = agent.RoleAssistant, fmt.Sprintf("answer %d: Sam Orrin has it tomorrow at ten, and the part is on its way to the depot in time for the visit.\nMust be done by Fri 4 Dec.", i)
				}
				if err := tx.PutMessage(m); err != nil {
					return err
				}
			}
			head := agent.Head{Version: 1, Conversation: id, Number: number, Title: "a long day", Created: at, Updated: at, NextMessage: min(from+batch, n+1), NextAudit: 1, LastTurn: "t"}
			if err := tx.PutTurn(agent.Turn{Version: 1, ID: "t", Conversation: id, FirstMessage: 1, End: agent.TurnCompleted}); err != nil {
				return err
			}
			return tx.PutHead(head)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLongConversation(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.filled(1000)
	p.start("owner-2", 80, 24)
	if !p.says("answer 1000") || len(p.m.open.entries) != tailLength {
		t.Fatalf("a start shows %d messages:\n%s", len(p.m.open.entries), p.screen())
	}
	for i := 0; p.m.open.oldest() > 1; i++ {
		if i > 200 {
			t.Fatalf("older messages do not come; the oldest is %d", p.m.open.oldest())
		}
		before := p.m.open.oldest()
		p.press("home")
		top := strings.SplitN(p.screen(), "\n", 4)[2]
		p.until("older messages", func() bool { return p.m.open.oldest() < before })
		if now := strings.SplitN(p.screen(), "\n", 4)[2]; now != top {
			t.Fatalf("the reader was moved from %q to %q", top, now)
		}
	}
	p.press("home")
	if !p.says("line 1: who") {
		t.Errorf("the first message is not at the top:\n%s", p.screen())
	}
	checkScreen(t, p)
	p.press("end")
	if !p.says("answer 1000") || !p.m.list.follow {
		t.Errorf("End does not go to the newest:\n%s", p.screen())
	}
}

// What arrives does not move a reader who is not at the end.
func TestReaderStays(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.filled(100)
	p.start("owner-2", 80, 24)
	p.press("pgup", "pgup")
	before := strings.Split(p.screen(), "\n")[:18]
	p.model.script(says("Right away."))
	if _, err := p.engine.Send(p.ctx, agent.SendRequest{Conversation: "long", Text: "from elsewhere"}); err != nil {
		t.Fatal(err)
	}
	p.until("the answer", func() bool { return p.m.open.newest() == 102 })
	if after := strings.Split(p.screen(), "\n")[:18]; strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the reader was moved; before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if !p.says("2 new ↓") {
		t.Errorf("the screen does not say that more has come:\n%s", p.screen())
	}
	p.press("end")
	if !p.says("Right away.") || p.says("new ↓") {
		t.Errorf("at the end:\n%s", p.screen())
	}
}

func TestScrollIsExact(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.filled(60)
	p.start("owner-2", 80, 24)
	var seen []string
	p.press("home")
	for range 400 {
		lines := strings.Split(p.screen(), "\n")
		seen = append(seen, lines[0])
		p.press("down")
	}
	text := strings.Join(seen, "\n")
	for i := 1; i <= 50; i++ {
		if n := strings.Count(text, fmt.Sprintf(" %d:", i)); n != 1 {
			t.Fatalf("message %d passed the top %d times while scrolling down by lines", i, n)
		}
	}
	down := p.screen()
	p.press("up", "up", "up", "down", "down", "down")
	if p.screen() != down {
		t.Errorf("three up and three down end elsewhere:\n%s", p.screen())
	}
}

func TestEditor(t *testing.T) {
	tests := []struct {
		name, text string
		keys       []string
		want       string
		caret      int
	}{
		{"left over a family", "a👨\u200d👩\u200d👧", []string{"left", "x"}, "ax👨\u200d👩\u200d👧", 2},
		{"backspace takes a whole character", "ae\u0301", []string{"backspace"}, "a", 1},
		{"words", "one two  three", []string{"ctrl+w", "ctrl+w"}, "one ", 4},
		{"to the line's start", "one\ntwo", []string{"ctrl+u"}, "one\n", 4},
		{"home and end", "one\ntwo", []string{"home", "x", "end", "y"}, "one\nxtwoy", 9},
		{"delete", "abc", []string{"home", "delete"}, "bc", 0},
		{"over a line break", "a\nb", []string{"home", "left", "left", "x"}, "xa\nb", 1},
		{"backspace at the start", "", []string{"backspace", "left", "right", "delete", "ctrl+w", "ctrl+k"}, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e editor
			e.set(tt.text)
			for _, k := range tt.keys {
				if !e.key(k) {
					e.insert(k)
				}
			}
			if e.text != tt.want || e.caret != tt.caret {
				t.Errorf("%q with the caret at %d, want %q at %d", e.text, e.caret, tt.want, tt.caret)
			}
		})
	}
}

// However text is edited, the caret stands between two characters and on the
// screen, and no row is wider than it may be.
func FuzzEditor(f *testing.F) {
	f.Add("hello 天安門 👨\u200d👩\u200d👧 world", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 10)
	names := []string{"left", "right", "ctrl+left", "ctrl+right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "up", "down"}
	f.Fuzz(func(t *testing.T, text string, keys []byte, width int) {
		width = 3 + max(0, width)%60
		var e editor
		e.insert(text)
		for _, k := range keys {
			switch name := names[int(k)%len(names)]; name {
			case "up":
				e.vertical(-1, width)
			case "down":
				e.vertical(1, width)
			default:
				e.key(name)
			}
			lines, row, column := e.view(prompt, width+3, 5)
			if row < 0 || row >= len(lines) || column > width+3 {
				t.Fatalf("the caret is at row %d, column %d of %d rows", row, column, len(lines))
			}
			harmless(t, "the draft", e.text)
		}
	})
}

func TestComposerGrows(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.update(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("a line of a pasted mail\n", 60))})
	checkScreen(t, p)
	if strings.Count(p.screen(), "a line of a pasted mail") > 8 {
		t.Errorf("the composer takes the whole screen:\n%s", p.screen())
	}
	p.update(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("x", maxDraft))})
	if len(p.m.composer.text) > maxDraft || !p.says("The text was cut: a message holds at most 32 kilobytes.") {
		t.Errorf("%d bytes are in the composer:\n%s", len(p.m.composer.text), p.screen())
	}
}

// benchmarkKey measures what one key costs: update and view.
func benchmarkKey(b *testing.B, messages int) {
	p := benchPilot(b, messages)
	p.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
	keys := []tea.KeyMsg{keyMsg("a"), keyMsg("backspace")}
	for i := range 100 {
		p.Update(keys[i%2])
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		p.Update(keys[i%2])
		_ = p.View()
	}
}

func BenchmarkKey10(b *testing.B)    { benchmarkKey(b, 10) }
func BenchmarkKey10000(b *testing.B) { benchmarkKey(b, 10000) }

// BenchmarkStart is a start without its process: from an open store to the
// drawn screen.
func BenchmarkStart(b *testing.B) {
	p := benchPilot(b, 10000)
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		m := New(ctx, p.options)
		m.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
		cancel()
	}
}

// BenchmarkChange is what a change in the store costs until it is on the screen,
// with all messages of a long conversation there.
func BenchmarkChange(b *testing.B) {
	m := benchPilot(b, 10000)
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
	for b.Loop() {
		m.Update(m.reload()())
	}
}
