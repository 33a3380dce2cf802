package console

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// box draws a frame around lines.
type box struct {
	canvas canvas
	frame  frame
	ink    ansi.Style
	inner  int
	out    []string
	// bare leaves the frame away: one line for each thing that is said.
	bare bool
}

func newBox(c canvas, focused bool) *box {
	b := &box{canvas: c, frame: plainFrame, ink: c.styles.frame, inner: max(4, c.width-4)}
	if focused {
		b.frame, b.ink = focusFrame, c.styles.focus
	}
	return b
}

// head is the top of the frame. What does not fit beside the title goes into
// the first line.
func (b *box) head(title, tag string) {
	f := b.frame
	room := b.inner + 2
	left := f.h + " " + title + " "
	right := " " + tag + " " + f.h
	gap := room - ansi.StringWidth(left) - ansi.StringWidth(right)
	if gap >= 1 {
		b.out = append(b.out, paint(b.ink, f.tl+left+strings.Repeat(f.h, gap)+right+f.tr))
		return
	}
	left = fit(left, room)
	b.out = append(b.out, paint(b.ink, f.tl+left+strings.Repeat(f.h, max(0, room-ansi.StringWidth(left)))+f.tr))
	b.text(tag)
}

// put adds one line that fits.
func (b *box) put(line string) {
	if b.bare {
		b.out = append(b.out, indent+line)
		return
	}
	v := paint(b.ink, b.frame.v)
	b.out = append(b.out, v+" "+pad(line, b.inner)+" "+v)
}

// row puts two texts at both ends of a line, or under each other where they do
// not fit beside each other.
func (b *box) row(left, right string) {
	if b.bare {
		b.put(strings.TrimLeft(joinParts([]string{strings.TrimLeft(left, " "), right}), " "))
		return
	}
	if gap := b.inner - ansi.StringWidth(left) - ansi.StringWidth(right); right != "" && gap >= 2 {
		b.put(left + strings.Repeat(" ", gap) + right)
		return
	}
	b.text(left)
	if right != "" {
		b.text(indent + right)
	}
}

// text wraps a text; lines after the first keep its indent.
func (b *box) text(text string) {
	if b.bare || ansi.StringWidth(text) <= b.inner {
		b.put(text)
		return
	}
	for _, line := range hanging(text, b.inner) {
		b.put(line)
	}
}

// flow puts parts beside each other, never breaking one that fits a line.
func (b *box) flow(parts []string, ink ansi.Style) {
	line := ""
	for i, part := range parts {
		next := line + "   " + part
		if line == "" {
			next = part
		}
		if i > 0 && ansi.StringWidth(next) > b.inner {
			b.text(paint(ink, line))
			next = part
		}
		line = next
	}
	b.text(paint(ink, line))
}

// warning puts a line that must be read before deciding.
func (b *box) warning(text string, grave bool) {
	ink := b.canvas.styles.warn
	if grave {
		ink = b.canvas.styles.danger
	}
	if b.bare {
		b.put("Warning: " + text)
		return
	}
	for i, line := range wrap(text, b.inner-len(indent)) {
		mark := "! "
		if i > 0 {
			mark = indent
		}
		b.put(paint(ink, mark+line))
	}
}

func (b *box) close() []string {
	f := b.frame
	return append(b.out, paint(b.ink, f.bl+strings.Repeat(f.h, b.inner+2)+f.br))
}
