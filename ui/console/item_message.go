package console

import (
	"strings"

	"deskhand/agent"
)

// messageItem is what a person or the assistant said. The first line is the
// console's own; what was said is indented.
type messageItem struct{ message agent.Message }

func (i messageItem) lines(c canvas) []string {
	who := "Assistant"
	if i.message.Role == agent.RoleUser {
		who = "You"
	}
	head := paint(c.styles.speaker, who) + paint(c.styles.faint, " "+c.clock.at(i.message.At))
	text := strings.TrimRight(i.message.Text, "\n ")
	if i.message.Role == agent.RoleUser {
		return append([]string{"", head}, indented(safe(text, prose), c.width)...)
	}
	return append([]string{"", head}, markdownLines(text, c.width, c.styles)...)
}

// ledgerItem is the line under a turn's answer that comes from the records, so
// that an answer's prose cannot mislead. It is not indented: no text from
// outside can stand where it stands.
type ledgerItem struct{ turn agent.Turn }

func (i ledgerItem) lines(c canvas) []string {
	lines := hanging("= On record: "+safeLine(i.turn.Ledger, evidence), c.width)
	for n := range lines {
		lines[n] = paint(c.styles.strong, lines[n])
	}
	return lines
}

// liveItem is a reply that is still arriving.
type liveItem struct{ text string }

func (i liveItem) lines(c canvas) []string {
	out := []string{"", paint(c.styles.speaker, "Assistant")}
	for _, p := range passages(safe(i.text, prose)) {
		if p.table != nil {
			out = append(out, p.table.lines(c.width, c.styles)...)
		} else {
			out = append(out, indented(p.text, c.width)...)
		}
	}
	return out
}

// noteItem is a line of the console's own, with a text from outside at most as
// its end.
type noteItem struct {
	text  string
	grave bool
}

func (i noteItem) lines(c canvas) []string {
	ink := c.styles.faint
	if i.grave {
		ink = c.styles.danger
	}
	out := []string{""}
	for _, line := range hanging(i.text, c.width) {
		out = append(out, paint(ink, line))
	}
	return out
}

// queuedItem is a message that waits behind the open turn.
type queuedItem struct{ text string }

func (i queuedItem) lines(c canvas) []string {
	head := paint(c.styles.faint, fit("Queued; sent when this request is done", c.width))
	return append([]string{"", head}, indented(safe(i.text, prose), c.width)...)
}
