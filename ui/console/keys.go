package console

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// key routes a key: first what works everywhere, then to whatever has the
// keyboard.
func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	m.guard.key()
	if m.notice.passing {
		m.notice = notice{}
	}
	name := k.String()
	if name != "ctrl+c" && name != "ctrl+d" {
		m.leaving = false
	}
	if name == "ctrl+c" {
		return m.interrupt()
	}
	if name == "ctrl+l" {
		return tea.ClearScreen
	}
	if m.scrollKey(k) {
		return nil
	}
	switch {
	case m.field != nil:
		return m.fieldKey(k)
	case m.panel != nil:
		if cmd, used := m.panelKey(k); used {
			return cmd
		}
	case m.focus != "":
		return m.cardKey(k)
	case m.choice:
		if cmd, used := m.choiceKey(k); used {
			return cmd
		}
	}
	return m.composerKey(k)
}

// scrollKey scrolls what is read, wherever the keyboard is.
func (m *Model) scrollKey(k tea.KeyMsg) bool {
	page := max(1, m.list.height-2)
	switch {
	case key.Matches(k, m.keys.pageUp):
		m.scroll(-page)
	case key.Matches(k, m.keys.pageDown):
		m.scroll(page)
	case m.panel != nil:
		return false
	case key.Matches(k, m.keys.top):
		m.list.toTop()
	case key.Matches(k, m.keys.end):
		m.list.toEnd()
	default:
		return false
	}
	return true
}

// scroll moves what is read: a panel where one is open, else the transcript.
func (m *Model) scroll(step int) {
	if m.panel != nil {
		m.panel.scroll(step)
		return
	}
	m.list.scroll(step)
}

// wheelStep is how many lines a step of the mouse wheel scrolls.
const wheelStep = 3

// wheel scrolls with a captured mouse; its buttons do nothing.
func (m *Model) wheel(msg tea.MouseMsg) {
	step := map[tea.MouseButton]int{tea.MouseButtonWheelUp: -wheelStep, tea.MouseButtonWheelDown: wheelStep}[msg.Button]
	if step != 0 {
		m.scroll(step)
	}
}

// interrupt is Ctrl+C: it goes back one step at a time, and leaves last.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.field != nil:
		m.closeField("")
	case m.panel != nil:
		m.panel = nil
	case m.choice:
		m.choice = false
	case m.focus != "":
		m.toComposer()
	case m.composer.text != "":
		m.history.keep(m.composer.text)
		m.composer.set("")
		m.hint("Cleared. Ctrl+P brings it back, Ctrl+C again asks to leave.")
	default:
		return m.askToLeave()
	}
	return nil
}

func (m *Model) askToLeave() tea.Cmd {
	if m.leaving {
		return m.leave()
	}
	m.leaving = true
	m.hint("Leave? Press Ctrl+C again. " + m.stays())
	return nil
}

// stays says what leaving does to what is open.
func (m *Model) stays() string {
	if n := len(m.waiting); n > 0 {
		return plural(n, "decision keeps", "decisions keep") + " waiting; nothing is decided by leaving."
	}
	return "Everything is stored."
}

// leave saves the draft and quits; nothing is decided by it.
func (m *Model) leave() tea.Cmd {
	return tea.Sequence(m.saveDraft(), tea.Quit)
}

// composerKey types.
func (m *Model) composerKey(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	if k.Paste || k.Type == tea.KeyRunes && !k.Alt || k.Type == tea.KeySpace && !k.Alt {
		m.history.leave()
		if !m.composer.insert(string(k.Runes)) || k.Paste && m.options.pasteCut() {
			m.say("The text was cut: a message holds at most " + plural(maxDraft/1024, "kilobyte.", "kilobytes."))
		}
		return nil
	}
	empty := m.composer.text == ""
	switch name {
	case "enter":
		return m.enter()
	case "alt+enter", "ctrl+j":
		m.composer.insert("\n")
	case "tab":
		switch {
		case strings.HasPrefix(m.composer.text, "/"):
			m.complete()
			return nil
		case !empty:
			m.hint("Ctrl+G goes to the card.")
			return nil
		}
		return m.enterCards()
	case "alt+e":
		return m.editElsewhere()
	case "ctrl+g":
		return m.enterCards()
	case "ctrl+b":
		if len(m.back) > 0 {
			return m.goBack()
		}
		m.composer.key(name)
	case "ctrl+p":
		m.composer.set(m.history.older(m.composer.text))
	case "ctrl+n":
		m.composer.set(m.history.newer(m.composer.text))
	case "esc":
		m.notice = notice{}
		if empty {
			m.pinned = nil
		}
	case "ctrl+d":
		if empty {
			return m.askToLeave()
		}
		m.composer.key(name)
	case "up", "down", "home", "end":
		m.moveOrScroll(name, empty)
	default:
		if !m.composer.key(name) && k.Type == tea.KeyRunes { // Esc and a letter in one go
			m.composer.insert(string(k.Runes))
		}
	}
	return nil
}

// moveOrScroll moves the caret in a text, and scrolls where there is none: a
// mouse wheel arrives as these keys.
func (m *Model) moveOrScroll(name string, empty bool) {
	step := map[string]int{"up": -1, "down": 1}[name]
	switch {
	case !empty && step != 0:
		m.composer.vertical(step, m.composerWidth())
	case !empty:
		m.composer.key(name)
	case step != 0:
		m.list.scroll(step)
	case name == "home":
		m.list.toTop()
	default:
		m.list.toEnd()
	}
}

// history is what was sent from here, for Ctrl+P and Ctrl+N.
type history struct {
	lines []string
	at    int    // how far back; 0: not in the history
	typed string // what was in the composer before
}

const maxHistory = 200

func (h *history) keep(line string) {
	h.at = 0
	if line = strings.TrimSpace(line); line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > maxHistory {
		h.lines = h.lines[1:]
	}
}

func (h *history) leave() { h.at = 0 }

func (h *history) older(typed string) string {
	if h.at == 0 {
		h.typed = typed
	}
	if h.at < len(h.lines) {
		h.at++
	}
	return h.line(typed)
}

func (h *history) newer(typed string) string {
	if h.at == 0 {
		return typed
	}
	h.at--
	return h.line(typed)
}

func (h *history) line(typed string) string {
	if h.at == 0 {
		if len(h.lines) == 0 {
			return typed
		}
		return h.typed
	}
	return h.lines[len(h.lines)-h.at]
}
