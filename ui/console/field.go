package console

import (
	"context"
	"slices"
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// field is one line that is asked for before something happens to a card: a
// reason, a total that has to match, or a change.
type field struct {
	card  card
	label string
	// help is the line under the field: what Enter does, and Esc.
	help string
	// enter acts on the line, trimmed. If it cannot, it says why, and the field
	// stays.
	enter  func(m *Model, text string) (cmd tea.Cmd, refusal string)
	editor editor
}

func newField(c card, label, help string, enter func(*Model, string) (tea.Cmd, string)) *field {
	return &field{card: c, label: label, help: help, enter: enter, editor: editor{single: true}}
}

// denial asks for the reason; Enter denies.
func denial(c card) *field {
	help := "Enter denies " + c.call.Name() + " · Esc goes back, nothing is decided"
	return newField(c, "Reason (optional): ", help, func(m *Model, text string) (tea.Cmd, string) {
		e := m.desk.engine
		r := agent.DecideRequest{Approval: c.approval.ID, Digest: c.approval.Digest, Note: text}
		return m.run(c, "denying…", func(ctx context.Context) (agent.Report, error) { return e.Deny(ctx, r) }), ""
	})
}

// confirmation asks for what has to match before Enter approves.
func confirmation(c card, label string, accepted []string) *field {
	yes, _ := c.effects()
	help := "Enter approves " + c.call.Name() + " (" + yes + ") if it matches · Esc goes back, nothing is decided"
	return newField(c, label, help, func(m *Model, text string) (tea.Cmd, string) {
		if !slices.Contains(accepted, text) {
			return nil, "That does not match " + accepted[0] + ", so nothing was decided."
		}
		return m.approve(c, agent.DecideRequest{Approval: c.approval.ID, Digest: c.approval.Digest}), ""
	})
}

// closeField closes the field, saying why if there is a reason.
func (m *Model) closeField(why string) {
	if m.field != nil && why != "" {
		m.say(why)
	}
	m.field = nil
}

// fieldKey types into the field. Only Enter acts, and only alone.
func (m *Model) fieldKey(k tea.KeyMsg) tea.Cmd {
	f := m.field
	switch name := k.String(); {
	case name == "esc":
		m.field = nil
	case name == "enter" && m.guard.burst:
		m.hint(m.guard.refusal())
	case name == "enter":
		cmd, refusal := f.enter(m, strings.TrimSpace(f.editor.text))
		if refusal != "" {
			m.hint(refusal)
			return nil
		}
		m.field = nil
		return cmd
	case k.Paste || (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && !k.Alt:
		f.editor.insert(string(k.Runes))
	default:
		f.editor.key(name)
	}
	return nil
}
