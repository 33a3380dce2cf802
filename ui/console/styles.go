package console

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Theme chooses the colours. They come from the 16 of the terminal's own
// palette, and nothing is said by colour alone.
type Theme int

// The themes. The choice is made before the program starts: asking the terminal
// for its background later would put the reply into the composer.
const (
	// ThemeNone has no colour, no bold and no reverse (NO_COLOR).
	ThemeNone Theme = iota
	ThemeDark
	ThemeLight
)

// styles are all styles of the console.
type styles struct {
	speaker ansi.Style // who says a message
	faint   ansi.Style // what can be skipped
	strong  ansi.Style // what the eye should find
	total   ansi.Style // the amount on a card
	warn    ansi.Style
	danger  ansi.Style
	good    ansi.Style
	frame   ansi.Style // the frame of a card that waits
	focus   ansi.Style // the frame of the card that has the keyboard
	status  ansi.Style
	waiting ansi.Style // the count of decisions in the status line
}

func newStyles(t Theme) *styles {
	if t == ThemeNone {
		return &styles{}
	}
	s := &styles{
		speaker: ansi.Style{}.Bold(),
		faint:   ansi.Style{}.Faint(),
		strong:  ansi.Style{}.Bold(),
		total:   ansi.Style{}.Bold(),
		warn:    ansi.Style{}.Bold().ForegroundColor(ansi.Yellow),
		danger:  ansi.Style{}.Bold().ForegroundColor(ansi.Red),
		good:    ansi.Style{}.ForegroundColor(ansi.Green),
		frame:   ansi.Style{}.ForegroundColor(ansi.Yellow),
		focus:   ansi.Style{}.Bold().ForegroundColor(ansi.Cyan),
		status:  ansi.Style{}.Faint(),
		waiting: ansi.Style{}.Reverse(true),
	}
	if t == ThemeLight { // yellow and cyan cannot be read on white
		s.warn = ansi.Style{}.Bold().ForegroundColor(ansi.Magenta)
		s.frame = ansi.Style{}.ForegroundColor(ansi.Magenta)
		s.focus = ansi.Style{}.Bold().ForegroundColor(ansi.Blue)
	}
	return s
}

// paint styles text line by line; an empty style changes nothing.
func paint(s ansi.Style, text string) string {
	if len(s) == 0 || text == "" {
		return text
	}
	if !strings.Contains(text, "\n") {
		return s.Styled(text)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = s.Styled(lines[i])
	}
	return strings.Join(lines, "\n")
}

// wrap breaks safe text into lines of at most width cells. It gives at least
// one line, and none ends in a space.
func wrap(text string, width int) []string {
	lines := wrapPlain(text, max(1, width))
	styled := strings.Contains(text, "\x1b")
	open := ""
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
		if styled {
			lines[i], open = closeStyle(open, lines[i])
		}
	}
	return lines
}

// idHyphen stands inside an id, a part number or a date, where no line ends.
var idHyphen = regexp.MustCompile(`([A-Z0-9])-([0-9])`)

// nonBreaking is a hyphen at which the library does not break.
const nonBreaking = "\u2011"

func wrapKeepingIDs(text string, width int) string {
	if strings.Contains(text, nonBreaking) {
		return ansi.Wrap(text, width, "")
	}
	joined := idHyphen.ReplaceAllString(text, "${1}"+nonBreaking+"${2}")
	return strings.ReplaceAll(ansi.Wrap(joined, width, ""), nonBreaking, "-")
}

// wrapPlain wraps at spaces. The library lets a line with leading spaces grow
// too long; such a line is broken where the width ends.
func wrapPlain(text string, width int) []string {
	lines := strings.Split(wrapKeepingIDs(text, width), "\n")
	if !slices.ContainsFunc(lines, func(line string) bool { return ansi.StringWidth(line) > width }) {
		return lines
	}
	var out []string
	for _, line := range lines {
		for ansi.StringWidth(line) > width {
			head := ansi.Truncate(line, width, "")
			if rest := strings.TrimPrefix(line, head); head == "" || rest == line || strings.Contains(line, "\x1b") {
				break // a character wider than the width, or a style in the way
			} else {
				out, line = append(out, head), rest
			}
		}
		out = append(out, line)
	}
	return out
}

// closeStyle makes a line of a wrapped text end without a style and begin with
// the one that the line before it had.
func closeStyle(open, line string) (closed, next string) {
	line = open + line
	at := strings.LastIndex(line, "\x1b[")
	if at < 0 {
		return line, ""
	}
	end := strings.IndexByte(line[at:], 'm')
	if end < 0 || line[at:at+end+1] == ansi.ResetStyle {
		return line, ""
	}
	return line + ansi.ResetStyle, line[at : at+end+1]
}

// indented wraps safe text and indents it; a line's own indent is kept over its
// rows. Text from outside is always indented, so that it cannot pass for a line
// of the console's own.
func indented(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		body := strings.TrimLeft(line, " ")
		lead := indent + line[:min(len(line)-len(body), width/4)]
		for _, row := range wrap(body, width-len(lead)) {
			if row != "" {
				row = lead + row
			}
			out = append(out, row)
		}
	}
	return out
}

const indent = "  "

// fit cuts a line to the width.
func fit(line string, width int) string {
	if ansi.StringWidth(line) <= width {
		return line
	}
	return ansi.Truncate(line, max(0, width), "…")
}

// pad fills a line with spaces up to the width.
func pad(line string, width int) string {
	if missing := width - ansi.StringWidth(line); missing > 0 {
		return line + strings.Repeat(" ", missing)
	}
	return line
}
