package console

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	// maxDraft bounds what one message may hold, so that a paste of a whole
	// file neither slows each key nor reaches the model.
	maxDraft = 32 << 10
	prompt   = "> "
)

// editor is text with a caret. The caret moves by what people see as one
// character. With single set it has no line breaks.
type editor struct {
	text   string
	caret  int // in bytes, always between two characters
	single bool

	// rows are the text's lines at width, kept until either changes.
	rows  []row
	width int
}

// row is one line on the screen: the text from byte start to byte end.
type row struct{ start, end int }

func (e *editor) set(text string) {
	e.text, e.width = safe(text, prose), 0
	e.caret = len(e.text)
}

// insert puts text at the caret and reports whether all of it fitted.
func (e *editor) insert(text string) bool {
	text = safe(text, prose)
	if e.single {
		text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " ")
	}
	whole := true
	for len(e.text)+len(text) > maxDraft {
		whole = false
		cut := maxDraft - len(e.text)
		if cut <= 0 {
			return false
		}
		text = strings.ToValidUTF8(text[:cut], "")
	}
	e.text = e.text[:e.caret] + text + e.text[e.caret:]
	e.caret += len(text)
	e.width = 0
	return whole
}

// left and right are the borders of the characters beside the caret.
func (e *editor) left() int {
	from := strings.LastIndexByte(e.text[:e.caret], '\n') + 1
	if from == e.caret {
		return max(0, e.caret-1)
	}
	at := from
	for at < e.caret {
		n := clusterLen(e.text[at:])
		if at+n >= e.caret {
			break
		}
		at += n
	}
	return at
}

func (e *editor) right() int {
	if e.caret == len(e.text) {
		return e.caret
	}
	return e.caret + clusterLen(e.text[e.caret:])
}

// clusterLen is the length of the first character of s.
func clusterLen(s string) int {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1
	}
	cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(cluster))
}

func (e *editor) wordLeft() int {
	at := e.caret
	for at > 0 && isSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !isSpace(e.text[at-1]) {
		at--
	}
	return at
}

func (e *editor) wordRight() int {
	at := e.caret
	for at < len(e.text) && isSpace(e.text[at]) {
		at++
	}
	for at < len(e.text) && !isSpace(e.text[at]) {
		at++
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' }

func (e *editor) lineStart() int { return strings.LastIndexByte(e.text[:e.caret], '\n') + 1 }

func (e *editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.caret:], '\n'); i >= 0 {
		return e.caret + i
	}
	return len(e.text)
}

// cut removes the text between two places, one of which is the caret.
func (e *editor) cut(from, to int) {
	e.text = e.text[:from] + e.text[to:]
	e.caret = from
	e.width = 0
}

// key edits, and reports whether it knew the key.
func (e *editor) key(name string) bool {
	switch name {
	case "left", "ctrl+b":
		e.caret = e.left()
	case "right", "ctrl+f":
		e.caret = e.right()
	case "ctrl+left", "alt+left", "alt+b":
		e.caret = e.wordLeft()
	case "ctrl+right", "alt+right", "alt+f":
		e.caret = e.wordRight()
	case "home", "ctrl+a":
		e.caret = e.lineStart()
	case "end", "ctrl+e":
		e.caret = e.lineEnd()
	case "backspace", "ctrl+h":
		e.cut(e.left(), e.caret)
	case "delete", "ctrl+d":
		e.cut(e.caret, e.right())
	case "ctrl+w", "alt+backspace":
		e.cut(e.wordLeft(), e.caret)
	case "ctrl+u":
		e.cut(e.lineStart(), e.caret)
	case "ctrl+k":
		e.cut(e.caret, e.lineEnd())
	default:
		return false
	}
	return true
}

// layout breaks the text into rows: at line breaks, else after a space, else
// where the width ends.
func (e *editor) layout(width int) []row {
	width = max(2, width)
	if e.width == width {
		return e.rows
	}
	e.rows, e.width = e.rows[:0], width
	start := 0
	for {
		end := len(e.text)
		if i := strings.IndexByte(e.text[start:], '\n'); i >= 0 {
			end = start + i
		}
		e.breakLine(start, end, width)
		if end == len(e.text) {
			return e.rows
		}
		start = end + 1
	}
}

func (e *editor) breakLine(start, end, width int) {
	used, space := 0, -1
	for at := start; at < end; {
		n := clusterLen(e.text[at:end])
		cells := ansi.StringWidth(e.text[at : at+n])
		if used+cells > width && at > start {
			to := at
			if space > start {
				to = space
			}
			e.rows = append(e.rows, row{start, to})
			start, at, used, space = to, to, 0, -1
			continue
		}
		used += cells
		at += n
		if e.text[at-1] == ' ' {
			space = at
		}
	}
	e.rows = append(e.rows, row{start, end})
}

// place gives the caret's row and column.
func (e *editor) place(width int) (line, column int) {
	rows := e.layout(width)
	for i, r := range rows {
		soft := i+1 < len(rows) && rows[i+1].start == r.end
		if e.caret >= r.start && (e.caret < r.end || e.caret == r.end && !soft) {
			return i, ansi.StringWidth(e.text[r.start:e.caret])
		}
	}
	return len(rows) - 1, 0
}

// vertical moves the caret by rows and reports whether it could.
func (e *editor) vertical(by, width int) bool {
	rows := e.layout(width)
	line, column := e.place(width)
	if line+by < 0 || line+by >= len(rows) {
		return false
	}
	r := rows[line+by]
	at, before, used := r.start, r.start, 0
	for at < r.end && used < column {
		n := clusterLen(e.text[at:r.end])
		used += ansi.StringWidth(e.text[at : at+n])
		before, at = at, at+n
	}
	soft := line+by+1 < len(rows) && rows[line+by+1].start == r.end
	if at == r.end && soft { // that place belongs to the row below
		at = before
	}
	e.caret = at
	return true
}

// narrowest is the room that a field needs beside its label.
const narrowest = 12

// view gives the rows around the caret, at most height of them, each with its
// prompt or indent, and where the caret stands among them.
func (e *editor) view(label string, width, height int) (lines []string, caretRow, caretColumn int) {
	lead := ansi.StringWidth(label)
	if width-lead < narrowest && lead > len(indent) { // the label gets lines of its own
		head := wrap(label, width)
		lines, caretRow, caretColumn = e.view(indent, width, height)
		return append(head, lines...), len(head) + caretRow, caretColumn
	}
	inner := max(2, width-lead-1) // the caret may stand behind the last character
	rows := e.layout(inner)
	line, column := e.place(inner)
	height = max(1, height)
	top := max(0, min(line-height+1, len(rows)-height))
	if line < top {
		top = line
	}
	for i := top; i < len(rows) && i < top+height; i++ {
		lead := strings.Repeat(" ", lead)
		if i == 0 {
			lead = label
		}
		lines = append(lines, strings.TrimRight(lead+e.text[rows[i].start:rows[i].end], " "))
	}
	return lines, line - top, lead + column
}
