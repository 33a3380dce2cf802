package console

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

func TestCommandsAreCompleted(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.write("/con")
	p.press("tab")
	if !p.says("/conversations /continue /connect") || p.m.composer.text != "/con" {
		t.Errorf("the composer has %q:\n%s", p.m.composer.text, p.screen())
	}
	p.write("v")
	p.press("tab")
	if p.m.composer.text != "/conversations " {
		t.Errorf("the composer has %q", p.m.composer.text)
	}
	p.m.composer.set("/zzz")
	p.press("tab")
	if !p.says("No command begins like that") {
		t.Errorf("the screen is\n%s", p.screen())
	}
}

// Every command is in the help, with no other key of the same name.
func TestTheHelpHasEveryCommand(t *testing.T) {
	p := newPilot(t, 100, 80)
	p.send("/help")
	for _, s := range slashes() {
		if !p.says("/" + s.name) {
			t.Errorf("/%s is not in the help:\n%s", s.name, p.screen())
		}
	}
	checkScreen(t, p)
}

func TestSearchOpensWhatItFound(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.model.script(says("The Pump stands still \x1b[2J since Monday."), says("All is well."))
	p.send("what about WO-1050")
	p.untilText("since Monday.")
	first := p.m.open.id
	p.send("/new")
	p.until("the new conversation", func() bool { return p.m.open.id != first })
	p.send("anything else")
	p.untilText("All is well.")
	p.send("/find pump")
	p.untilText("1 message has \"pump\"")
	p.untilText("The [Pump] stands still ␛[2J since Monday.")
	checkScreen(t, p)
	p.press("1", "enter")
	p.until("the conversation", func() bool { return p.m.open.id == first && p.says("since Monday.") })
	p.send("/find nowhere")
	p.untilText("0 messages have")
}

func TestAConversationIsRenamed(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.send("/rename nothing yet")
	p.untilText("no message yet")
	p.m.composer.set("")
	p.model.script(says("Good."))
	p.send("how is WO-1050")
	p.untilText("Good.")
	p.send("/rename The pump of WO-1050")
	p.untilText("── #1 The pump of WO-1050 ─")
	p.send("/rename")
	p.untilText("Write /rename TITLE")
}

func TestExportsAreWholeAndReplaceNothing(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.ready()
	p.press("d")
	p.write("too dear")
	p.press("enter")
	p.untilText("Nothing was ordered.")
	p.until("the composer has the keyboard", func() bool { return p.m.focus == "" })
	dir := t.TempDir()
	for _, name := range []string{"day.md", "day.json"} {
		p.send("/export " + filepath.Join(dir, name))
		p.until("the file", func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil && p.says("Written to") })
	}
	text, _ := os.ReadFile(filepath.Join(dir, "day.md"))
	for _, part := range []string{"# order a 3 kW", "## You", "[denied] A-1 1 × Heating element", `denied by Dispatch Desk 1`, "too dear", "On record: Nothing was ordered."} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is missing:\n%s", part, text)
		}
	}
	var whole struct {
		Entries []agent.TranscriptEntry `json:"entries"`
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "day.json"))
	if err := json.Unmarshal(raw, &whole); err != nil || len(whole.Entries) < 2 {
		t.Errorf("%d entries, %v", len(whole.Entries), err)
	}
	p.send("/export " + filepath.Join(dir, "day.md"))
	p.untilText("Nothing was exported")
	p.m.composer.set("")
	p.send("/export day.doc")
	p.untilText("has to end in .md or .json")
}

// What is copied is a person's own wish, and the screen claims no more than is
// known.
func TestCopying(t *testing.T) {
	p := newPilot(t, 80, 24)
	var copied []string
	p.m.clipboard = func(text string) string { copied = append(copied, text); return "was sent." }
	p.card()
	p.ready()
	p.press("Y")
	p.untilText("The id was sent.")
	p.press("y")
	p.untilText("The card was sent.")
	if len(copied) != 2 || copied[0] != "A-1" || !strings.Contains(copied[1], "84.90 EUR") || strings.ContainsAny(copied[1], "│┃━\x1b") {
		t.Errorf("copied %q", copied)
	}
	p.undecided("A-1")
	p.press("esc")
	p.send("/copy")
	p.untilText("There is no answer here yet.")
}

// The details of a card have its history.
func TestDetailsOfACard(t *testing.T) {
	p := newPilot(t, 100, 60)
	p.card()
	p.ready()
	p.press("v")
	p.untilText("History")
	p.until("the history", func() bool { return strings.Contains(p.screen(), "proposed") })
	for _, part := range []string{"digest: ", "call: ", "key: ", "What is sent", "shown · A-1"} {
		if !p.says(part) {
			t.Errorf("%q is missing:\n%s", part, p.screen())
		}
	}
	checkScreen(t, p)
}

// A new card calls once: with the bell, and with a message of the terminal's
// where its window is not in front. Nothing else does, and the title says only
// how many there are.
func TestANewCardCallsOnce(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.until("the bell", func() bool { return p.bells.Load() == 1 })
	if p.notes.Load() != 0 || p.m.titled != "Deskhand (1 waiting)" {
		t.Errorf("%d notes, the title is %q", p.notes.Load(), p.m.titled)
	}
	p.update(tea.BlurMsg{})
	p.model.script(calls("order_part", orderArgs), says("Well."))
	if _, err := p.engine.Send(p.ctx, agent.SendRequest{Conversation: "beside", Text: "order a 3 kW heating element for WO-1044"}); err != nil {
		t.Fatal(err)
	}
	p.until("the second bell", func() bool { return p.bells.Load() == 2 && p.m.titled == "Deskhand (2 waiting)" })
	if p.notes.Load() != 1 {
		t.Errorf("%d notes", p.notes.Load())
	}
	p.update(tea.FocusMsg{})
	p.settle()
	if p.bells.Load() != 2 {
		t.Errorf("%d bells for two cards", p.bells.Load())
	}
}

func TestNotifications(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"most terminals", map[string]string{"TERM": "xterm-256color"}, "\x1b]9;Deskhand: A decision is waiting\x07"},
		{"of the VTE family", map[string]string{"VTE_VERSION": "7600"}, "\x1b]777;notify;Deskhand;A decision is waiting\x07"},
		{"inside tmux", map[string]string{"TMUX": "/tmp/tmux,1,0"}, "\x1bPtmux;\x1b\x1b]9;Deskhand: A decision is waiting\x07\x1b\\"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := noteFor(func(name string) string { return tt.env[name] }); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
