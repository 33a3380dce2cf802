package console

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// noteText is all that a notification ever says: nothing of a customer's
	// leaves the screen.
	noteText = "A decision is waiting"
	program  = "Deskhand"

	// The terminal keeps the title that it had, and gets it back.
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
)

// noteFor is the sequence with which a terminal shows a notification, after what
// the environment says of the terminal. Terminals that do not know it ignore it.
func noteFor(getenv func(string) string) string {
	sequence := "\x1b]9;" + program + ": " + noteText + "\x07"
	if getenv("VTE_VERSION") != "" || strings.HasPrefix(getenv("TERM"), "rxvt") || strings.HasPrefix(getenv("TERM"), "foot") {
		sequence = "\x1b]777;notify;" + program + ";" + noteText + "\x07"
	}
	return throughTmux(sequence, getenv)
}

// throughTmux wraps a sequence that is meant for the terminal around tmux.
func throughTmux(sequence string, getenv func(string) string) string {
	if getenv("TMUX") == "" {
		return sequence
	}
	return "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// title keeps the window's title: the program and how many decisions wait, and
// nothing else.
func (m *Model) title() tea.Cmd {
	title := program
	if n := len(m.waiting); n > 0 {
		title = fmt.Sprintf("%s (%d waiting)", program, n)
	}
	if title == m.titled {
		return nil
	}
	m.titled = title
	return tea.SetWindowTitle(title)
}
