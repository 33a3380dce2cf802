package console

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// copyWidth is the width of text that is copied.
	copyWidth = 100
	// tmuxTime bounds how long tmux may take for its buffer.
	tmuxTime = 2 * time.Second
	// maxClipboard is how much a terminal's clipboard is sent.
	maxClipboard = 64 << 10
)

// clipboardOf gives the ways from here to a clipboard: tmux's buffer inside
// tmux, and the terminal's own. Neither says whether the text arrived, except
// tmux about its buffer; the sentences do not claim more.
func clipboardOf(out *terminalWriter, getenv func(string) string) func(string) string {
	return func(text string) string {
		if tmux := getenv("TMUX"); tmux != "" {
			ctx, cancel := context.WithTimeout(context.Background(), tmuxTime)
			defer cancel()
			load := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
			load.Env = append(os.Environ(), "TMUX="+tmux)
			load.Stdin = strings.NewReader(text)
			if load.Run() == nil {
				return "is in tmux's buffer (prefix ] pastes it) and was sent to the terminal's clipboard. If it is not there, /pager shows it."
			}
		}
		if len(text) > maxClipboard {
			return "is too long for the terminal's clipboard; /export writes it into a file."
		}
		out.raw("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07")
		return "was sent to the terminal's clipboard. If it is not there, the terminal does not allow it: /pager shows it."
	}
}

// copyText copies what a person asked for, and nothing else is ever copied.
func (m *Model) copyText(what, text string) tea.Cmd {
	clipboard := m.clipboard
	what = strings.ToUpper(what[:1]) + what[1:]
	return func() tea.Msg { return toldMsg{text: what + " " + clipboard(text)} }
}

// logicalText is what the card says, without its frame: one line for each thing
// that it says.
func (k card) logicalText(c canvas) string {
	c.styles = &styles{}
	b := newBox(c, false)
	b.bare = true
	k.body(b)
	return k.tag(c) + ": " + k.title(c) + "\n" + strings.Join(b.out, "\n")
}

// copyCommand copies the newest answer, or everything that is on the screen's
// conversation.
func (m *Model) copyCommand(rest string) tea.Cmd {
	if rest == "all" {
		id, clock, d, clipboard := m.open.id, m.list.canvas.clock, m.desk, m.clipboard
		return func() tea.Msg {
			text, err := d.markdown(id, clock)
			if err != nil {
				return toldMsg{text: "The conversation could not be read: " + full(err.Error()), grave: true}
			}
			return toldMsg{text: "The conversation " + clipboard(text)}
		}
	}
	for _, e := range slices.Backward(m.open.entries) {
		if e.entry.Message.Role == agent.RoleAssistant && e.entry.Message.Text != "" {
			return m.copyText("the answer", safe(e.entry.Message.Text, prose))
		}
	}
	m.hint("There is no answer here yet.")
	return nil
}

// all reads a whole conversation.
func (d desk) all(id agent.ConversationID) (agent.Head, []agent.TranscriptEntry, error) {
	s, err := d.engine.Store().Snapshot(d.ctx, id)
	if errors.Is(err, agent.ErrNotFound) {
		return agent.Head{}, nil, errors.New("this conversation has no message yet")
	}
	if err != nil {
		return agent.Head{}, nil, err
	}
	entries, err := d.engine.Transcript(d.ctx, id, 0, s.Head.NextMessage)
	return s.Head, entries, err
}

// markdown writes a conversation as Markdown, washed like what is on the screen.
func (d desk) markdown(id agent.ConversationID, clock deskClock) (string, error) {
	head, entries, err := d.all(id)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n", safeLine(head.Title, prose))
	for _, e := range entries {
		who := "Assistant"
		if e.Message.Role == agent.RoleUser {
			who = "You"
		}
		fmt.Fprintf(&out, "\n## %s, %s\n\n", who, clock.at(e.Message.At))
		if text := strings.TrimSpace(safe(e.Message.Text, prose)); text != "" {
			out.WriteString(text + "\n\n")
		}
		for _, c := range e.Calls {
			a := e.Approvals[c.Approval]
			name := ""
			if a.ID != "" {
				name = string(a.ID) + " "
			}
			fmt.Fprintf(&out, "- [%s] %s%s\n", c.State, name, card{call: c, approval: a}.what())
			for _, line := range (settledItem{call: c, approval: a}).history(canvas{width: copyWidth, styles: &styles{}, clock: clock}) {
				out.WriteString("  - " + line + "\n")
			}
		}
		if e.Turn != nil && e.Turn.Ledger != "" {
			out.WriteString("On record: " + safeLine(e.Turn.Ledger, evidence) + "\n")
		}
	}
	return out.String(), nil
}

// page shows the whole conversation in the pager, with its search and its own
// way of copying.
func (d desk) page(id agent.ConversationID, clock deskClock, o Options) tea.Cmd {
	text, err := d.markdown(id, clock)
	if err != nil {
		return func() tea.Msg { return toldMsg{text: full(err.Error()), grave: true} }
	}
	return withFile(text, "conversation-*.md", []string{o.getenv("PAGER"), "less", "more"}, o.Input, o.Output, func(_ string, err error) tea.Msg {
		if err != nil {
			return toldMsg{text: "The pager did not work: " + full(err.Error()) + " Set PAGER to one that does.", grave: true}
		}
		return toldMsg{}
	})
}

// editElsewhere edits the composer's text in $EDITOR.
func (m *Model) editElsewhere() tea.Cmd {
	id := m.open.id
	return withFile(m.composer.text, "message-*.txt", []string{m.options.getenv("VISUAL"), m.options.getenv("EDITOR"), "vi", "nano"}, m.options.Input, m.options.Output, func(text string, err error) tea.Msg {
		return editedMsg{conversation: id, text: text, err: err}
	})
}

func (m *Model) edited(msg editedMsg) {
	switch {
	case msg.err != nil:
		m.say("The editor did not work: " + full(msg.err.Error()) + " Set EDITOR to one that does.")
	case msg.conversation == m.open.id:
		m.composer.set("")
		if !m.composer.insert(strings.TrimRight(strings.ReplaceAll(msg.text, "\r\n", "\n"), "\n")) {
			m.say("The text was cut: a message holds at most " + plural(maxDraft/1024, "kilobyte.", "kilobytes."))
		}
	}
}

// withFile gives the terminal to the first program that there is, with a file of
// its own, and brings back what the file holds afterwards.
func withFile(text, pattern string, programs []string, in, out *os.File, done func(string, error) tea.Msg) tea.Cmd {
	fail := func(err error) tea.Cmd { return func() tea.Msg { return done("", err) } }
	var words []string
	for _, program := range programs {
		fields := strings.Fields(program)
		if len(fields) == 0 {
			continue
		}
		if _, err := exec.LookPath(fields[0]); err == nil {
			words = fields
			break
		}
	}
	if len(words) == 0 {
		return fail(errors.New("there is none on this machine"))
	}
	file, err := os.CreateTemp("", pattern) // readable by this person only
	if err != nil {
		return fail(err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fail(err)
	}
	program := exec.Command(words[0], append(words[1:], file.Name())...)
	program.Stdin, program.Stdout, program.Stderr = in, out, out
	return tea.ExecProcess(program, func(err error) tea.Msg {
		defer func() { _ = os.Remove(file.Name()) }()
		if err != nil {
			return done("", err)
		}
		edited, err := os.ReadFile(file.Name())
		return done(string(edited), err)
	})
}

// export writes the conversation into a new file; it replaces none.
func (m *Model) export(path string) tea.Cmd {
	id, clock, d := m.open.id, m.list.canvas.clock, m.desk
	path = m.options.file(path)
	return func() tea.Msg {
		if err := d.writeConversation(id, clock, path); err != nil {
			return toldMsg{text: "Nothing was exported: " + full(err.Error()), grave: true}
		}
		return toldMsg{text: "Written to " + say(path) + "."}
	}
}

func (d desk) writeConversation(id agent.ConversationID, clock deskClock, path string) error {
	var content []byte
	switch filepath.Ext(path) {
	case ".json":
		head, entries, err := d.all(id)
		if err != nil {
			return err
		}
		content, err = json.MarshalIndent(struct {
			Head    agent.Head              `json:"conversation"`
			Entries []agent.TranscriptEntry `json:"entries"`
		}{head, entries}, "", "  ")
		if err != nil {
			return err
		}
	case ".md":
		text, err := d.markdown(id, clock)
		if err != nil {
			return err
		}
		content = []byte(text)
	default:
		return errors.New("the file's name has to end in .md or .json")
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
