package console

import (
	"context"
	"slices"
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// field is one line that is asked for before a decision: a reason, or a total
// that has to match.
type field struct {
	card     card
	label    string
	accepted []string // empty: a reason; Enter denies
	editor   editor
}

func newField(c card, label string, accepted []string) *field {
	return &field{card: c, label: label, accepted: accepted, editor: editor{single: true}}
}

// help is the line under the field.
func (f *field) help() string {
	name := f.card.call.Name()
	if len(f.accepted) > 0 {
		yes, _ := f.card.effects()
		return "Enter approves " + name + " (" + yes + ") if it matches · Esc goes back, nothing is decided"
	}
	return "Enter denies " + name + " · Esc goes back, nothing is decided"
}

// closeField closes the field, saying why if there is a reason.
func (m *Model) closeField(why string) {
	if m.field != nil && why != "" {
		m.say(why)
	}
	m.field = nil
}

// fieldKey types into the field. Only Enter decides, and only alone.
func (m *Model) fieldKey(k tea.KeyMsg) tea.Cmd {
	f := m.field
	switch name := k.String(); {
	case name == "esc":
		m.field = nil
	case name == "enter" && m.guard.burst:
		m.hint(m.guard.refusal())
	case name == "enter" && len(f.accepted) > 0:
		if !slices.Contains(f.accepted, strings.TrimSpace(f.editor.text)) {
			m.hint("That does not match " + f.accepted[0] + ", so nothing was decided.")
			return nil
		}
		m.field = nil
		return m.approve(f.card, agent.DecideRequest{Approval: f.card.approval.ID, Digest: f.card.approval.Digest})
	case name == "enter":
		m.field = nil
		e := m.desk.engine
		r := agent.DecideRequest{Approval: f.card.approval.ID, Digest: f.card.approval.Digest, Note: strings.TrimSpace(f.editor.text)}
		return m.run(f.card, "denying…", func(ctx context.Context) (agent.Report, error) { return e.Deny(ctx, r) })
	case k.Paste || (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && !k.Alt:
		f.editor.insert(string(k.Runes))
	default:
		f.editor.key(name)
	}
	return nil
}
