package console

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	// minWidth and minHeight are the smallest screen that holds a card's keys.
	minWidth, minHeight = 40, 12
	maxNotice           = 4
)

// draw lays out the screen. It runs after every update; all that it shows is
// cached, so that a key costs the same in a long conversation as in a short one.
func (m *Model) draw() {
	if m.width <= 0 || m.height <= 0 {
		m.screen = ""
		return
	}
	if m.width < minWidth || m.height < minHeight {
		m.view.end = false
		m.screen = fit(m.waitingText()+fmt.Sprintf(" · too small, needs %d × %d", minWidth, minHeight), m.width) + caret(0, 0)
		return
	}
	top := m.pinnedLines()
	bottom, caretRow, caretColumn := m.bottom()
	m.fitListTo(len(top) + len(bottom))
	m.keepEnd()
	lines := append(make([]string, 0, m.height), top...)
	if m.panel != nil {
		lines = append(lines, m.panel.view(m.list.canvas, m.list.height)...)
		m.view.end = false
	} else {
		body, spans := m.list.window()
		if k := m.open.card(m.focus); k != nil {
			m.view.note(k, m.width, spans)
		}
		lines = append(lines, body...)
	}
	for len(lines) < m.height-len(bottom) {
		lines = append(lines, "")
	}
	lines = append(lines, bottom...)
	m.screen = strings.Join(lines, "\n")
	if m.focus != "" && m.field == nil || m.panel != nil {
		m.screen += caret(0, 0)
	} else {
		m.screen += caret(len(lines)-len(bottom)+caretRow+1, caretColumn+1)
	}
}

// keepEnd keeps the end of the focused card in view when a line below takes its
// place: a card that was read to its end can be decided while a hint is shown.
func (m *Model) keepEnd() {
	shrunk := m.list.height < m.drawnHeight
	m.drawnHeight = m.list.height
	if k := m.open.card(m.focus); k != nil && shrunk && m.view.end {
		m.list.placeEnd(m.list.find(k.cell.id))
	}
}

// fitList makes the list as high as it will be when drawn.
func (m *Model) fitList() {
	if m.width < minWidth || m.height < minHeight {
		return
	}
	bottom, _, _ := m.bottom()
	m.fitListTo(len(m.pinnedLines()) + len(bottom))
}

func (m *Model) fitListTo(taken int) {
	demo, clock := m.options.Company().Demo, clockAt(m.options.Now())
	c := &m.list.canvas
	if c.demo != demo || !c.clock.today.Equal(clock.today) || c.styles != m.styles {
		c.demo, c.clock, c.styles = demo, clock, m.styles
		m.list.redraw()
	}
	if len(m.open.entries) == 0 { // the welcome follows what the server says
		m.list.set(m.open.cells(m.welcome()))
		m.list.first, m.list.hidden, m.list.follow = 0, 0, false
	}
	m.list.resize(m.width, m.height-taken)
}

// pinnedLines stand at the top until they are dismissed.
func (m *Model) pinnedLines() []string {
	var out []string
	for _, text := range m.pinned {
		for _, line := range hanging("! "+safeLine(text, prose), m.width) {
			out = append(out, paint(m.styles.warn, line))
		}
	}
	if len(out) > m.height/4 {
		out = append(out[:m.height/4-1], paint(m.styles.warn, fit("… (Esc hides these lines)", m.width)))
	}
	return out
}

// bottom is everything below the transcript: notice, rule, composer or field,
// status. The caret's row counts from its first line.
func (m *Model) bottom() (lines []string, caretRow, caretColumn int) {
	lines = append(m.noticeLines(), m.rule())
	room := max(1, min(8, m.height/3))
	var typed []string
	if f := m.field; f != nil {
		typed, caretRow, caretColumn = f.editor.view(f.label, m.width, 2)
	} else {
		typed, caretRow, caretColumn = m.composer.view(prompt, m.width, room)
	}
	caretRow += len(lines)
	return append(append(lines, typed...), m.status()), caretRow, caretColumn
}

func (m *Model) composerWidth() int {
	return max(2, m.width-ansi.StringWidth(prompt)-1)
}

// noticeLines are what the dispatcher has to know about the key before.
func (m *Model) noticeLines() []string {
	text, ink := m.notice.text, m.styles.faint
	if m.notice.grave {
		ink = m.styles.danger
	}
	if m.choice {
		text, ink = m.choices(), m.styles.strong
	}
	var parts []string
	if text != "" {
		parts = hanging(text, m.width)
	}
	if m.field != nil {
		parts = append(parts, hanging(m.field.help, m.width)...)
	}
	if len(parts) > maxNotice {
		parts = append(parts[:maxNotice-1], fit(parts[maxNotice-1]+" …", m.width))
	}
	for i := range parts {
		parts[i] = paint(ink, parts[i])
	}
	return parts
}

// rule separates what is read from what is typed, and says which conversation
// is on the screen and whether more has come below.
func (m *Model) rule() string {
	left := "── new conversation "
	if h := m.open.head; h != nil {
		left = fmt.Sprintf("── #%d %s ", h.Number, safeLine(h.Title, prose))
	}
	right := ""
	if !m.list.follow && !m.list.atEnd() {
		right = " End: to the newest ──"
		if m.list.fresh > 0 {
			right = fmt.Sprintf(" %d new ↓ ──", m.list.fresh)
		}
	}
	if len(m.back) > 0 && m.width >= 60 {
		right = " Ctrl+B: back" + right
		if !strings.HasSuffix(right, "──") {
			right += " ──"
		}
	}
	room := m.width - ansi.StringWidth(right)
	left = fit(left, room)
	return paint(m.styles.faint, left+strings.Repeat("─", max(0, room-ansi.StringWidth(left)))+right)
}

// caret tells the writer where the real cursor belongs: a sequence that no
// terminal ever sees. Row 0 hides the cursor. It travels inside the frame, so
// that frame and cursor can never disagree.
func caret(row, column int) string { return fmt.Sprintf("\x1b[<%d;%dz", row, column) }
