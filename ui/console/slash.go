package console

import (
	"context"
	"fmt"
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// slash is a command that is typed into the composer.
type slash struct {
	name, takes, does string
	// run acts; rest is what stands after the name.
	run func(m *Model, rest string) tea.Cmd
}

// slashes are the commands, in the order of /help.
func slashes() []slash {
	return []slash{
		{"approvals", "", "the next card, in whatever conversation", func(m *Model, _ string) tea.Cmd { return m.nextWaiting() }},
		{"new", "", "a new conversation; Ctrl+B goes back", (*Model).newConversation},
		{"conversations", "", "the list; a number opens one", func(m *Model, _ string) tea.Cmd { return m.desk.listConversations() }},
		{"find", "WORDS", "search all conversations", (*Model).find},
		{"rename", "TITLE", "give this conversation another title", (*Model).rename},
		{"today", "", "what is due today", func(m *Model, _ string) tea.Cmd { return m.putLine("what is due today") }},
		{"continue", "", "go on after a stop", func(m *Model, _ string) tea.Cmd { return m.turn("continue", m.desk.engine.Continue) }},
		{"abort", "", "end this request", func(m *Model, _ string) tea.Cmd { return m.turn("abort", m.desk.engine.Abort) }},
		{"copy", "[all]", "the newest answer, or the whole conversation", (*Model).copyCommand},
		{"pager", "", "the whole conversation in $PAGER", func(m *Model, _ string) tea.Cmd {
			return m.desk.page(m.open.id, m.list.canvas.clock, m.options)
		}},
		{"export", "FILE", "into a file: .md, or .json", (*Model).export},
		{"servers", "", "the servers, and how to connect one", (*Model).connect},
		{"model", "", "the model, and how to take another", (*Model).connect},
		{"connect", "", "your own system or model", (*Model).connect},
		{"help", "", "keys and commands", func(m *Model, _ string) tea.Cmd { m.panel = helpPanel(); return nil }},
		{"quit", "", "leave; nothing is decided by it", func(m *Model, _ string) tea.Cmd { return m.leave() }},
	}
}

// alsoCalled are other names of commands.
var alsoCalled = map[string]string{"?": "help", "exit": "quit"}

// command runs a line that begins with a slash.
func (m *Model) command(line string) tea.Cmd {
	name, rest, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	rest = strings.TrimSpace(rest)
	if other, ok := alsoCalled[name]; ok {
		name = other
	}
	for _, s := range slashes() {
		switch {
		case s.name != name:
		case rest == "" && s.takes != "" && !strings.HasPrefix(s.takes, "["):
			m.hint("Write /" + s.name + " " + s.takes + ": " + s.does + ".")
			return nil
		default:
			m.history.keep(line)
			m.composer.set("")
			m.notice, m.choice = notice{}, false
			return s.run(m, rest)
		}
	}
	m.say("There is no command /" + safeLine(name, prose) + ". /help lists them.")
	return nil
}

// complete writes a command's name to its end, as far as it is certain.
func (m *Model) complete() {
	typed := strings.TrimPrefix(m.composer.text, "/")
	var fits []string
	for _, s := range slashes() {
		if strings.HasPrefix(s.name, typed) {
			fits = append(fits, s.name)
		}
	}
	switch len(fits) {
	case 0:
		m.hint("No command begins like that. /help lists them.")
		return
	case 1:
		m.composer.set("/" + fits[0] + " ")
		return
	}
	common := fits[0]
	for _, name := range fits {
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
	}
	m.composer.set("/" + common)
	m.hint("/" + strings.Join(fits, "  /"))
}

// commandHelp is the part of /help about commands.
func commandHelp() string {
	out := "Commands (Tab completes)\n"
	for _, s := range slashes() {
		out += fmt.Sprintf("  %-17s%s\n", strings.TrimSpace("/"+s.name+" "+s.takes), s.does)
	}
	return out
}

func (m *Model) newConversation(string) tea.Cmd {
	m.back = append(m.back, m.open.id)
	return m.switchTo(m.desk.engine.NewConversation(), "")
}

func (m *Model) connect(string) tea.Cmd {
	m.panel = m.connectPanel()
	return nil
}

func (m *Model) turn(what string, verb func(context.Context, agent.ConversationID) (agent.Report, error)) tea.Cmd {
	id := m.open.id
	return m.desk.turnVerb(what, func(ctx context.Context) (agent.Report, error) { return verb(ctx, id) })
}

// putLine sends a line as if it had been typed.
func (m *Model) putLine(text string) tea.Cmd {
	m.composer.set(text)
	return m.enter()
}

// maxTitle is how long a title may be.
const maxTitle = 120

// rename gives the conversation another title.
func (m *Model) rename(title string) tea.Cmd {
	id, store := m.open.id, m.desk.engine.Store()
	if m.open.head == nil {
		m.hint("This conversation has no message yet; its first one will be its title.")
		return nil
	}
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	return m.desk.verb(func(ctx context.Context) tea.Msg {
		return verbDoneMsg{what: "rename", err: store.Update(ctx, func(tx agent.Tx) error {
			head, err := tx.Head(id)
			if err != nil {
				return err
			}
			head.Title = title
			return tx.PutHead(head)
		})}
	})
}

// readHistory reads what is on record about a call.
func (d desk) readHistory(p *panel, c agent.Call) tea.Cmd {
	return func() tea.Msg {
		all, err := d.engine.Store().Audit(d.ctx, c.Conversation)
		out := auditedMsg{panel: p, err: err}
		for _, line := range all {
			if line.Call == c.ID {
				out.lines = append(out.lines, line)
			}
		}
		return out
	}
}
