package console

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/glamour"
	gansi "github.com/charmbracelet/glamour/ansi"
	gstyles "github.com/charmbracelet/glamour/styles"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// markup is what a message has somewhere if it is worth reading as Markdown.
// Most messages are not, and stay line for line as they were written.
var markup = regexp.MustCompile("(?m)^ {0,3}(#{1,6} |[-*+] |[0-9]{1,9}[.)] |> |```|~~~|\\|.*\\|)|\\*\\*|`")

// markdownLines draws a finished message of the assistant. What comes out of the
// library is treated like any text from outside: it decodes character
// references, so a message could smuggle in what was washed out of its source.
func markdownLines(text string, width int, s *styles) []string {
	var out []string
	for i, p := range passages(safe(text, prose)) {
		switch {
		case p.table != nil:
			out = append(out, p.table.lines(width, s)...)
		case i > 0:
			out = append(append(out, ""), passageLines(strings.TrimLeft(p.text, "\n"), width, s)...)
		default:
			out = append(out, passageLines(strings.TrimRight(p.text, "\n"), width, s)...)
		}
	}
	return out
}

// passageLines draws washed text without tables.
func passageLines(text string, width int, s *styles) []string {
	if !markup.MatchString(text) {
		return indented(text, width)
	}
	drawn, err := renderMarkdown(text, max(4, width-len(indent)), s)
	if err != nil {
		return indented(text, width)
	}
	return filtered(drawn, width, len(s.strong) > 0)
}

// renderMarkdown draws washed text. References and raw HTML are broken apart
// with a character that [filtered] takes out again: they stay what they look
// like.
func renderMarkdown(text string, width int, s *styles) (string, error) {
	text = strings.NewReplacer("&", "&\u200b", "<", "<\u200b").Replace(text)
	profile := termenv.Ascii
	if len(s.strong) > 0 {
		profile = termenv.ANSI
	}
	r, err := glamour.NewTermRenderer(glamour.WithStyles(markdownStyle(s)), glamour.WithWordWrap(width),
		glamour.WithPreservedNewLines(), glamour.WithColorProfile(profile), glamour.WithInlineTableLinks(true))
	if err != nil {
		return "", err
	}
	return r.Render(text)
}

// markdownStyle has no colours of its own: bold where there is bold, and the
// signs of Markdown where there is none.
func markdownStyle(s *styles) gansi.StyleConfig {
	style := gstyles.ASCIIStyleConfig
	none := uint(0)
	style.Document.Margin, style.Document.BlockPrefix, style.Document.BlockSuffix = &none, "", ""
	style.CodeBlock.Margin = &none
	bullet := "- "
	style.Item.BlockPrefix = bullet
	if len(s.strong) > 0 {
		bold := true
		style.Heading.Bold = &bold
		style.Strong = gansi.StylePrimitive{Bold: &bold}
		style.Code.StylePrimitive = gansi.StylePrimitive{Bold: &bold}
	}
	return style
}

var (
	styleSequence = regexp.MustCompile(`^\x1b\[[0-9;:]*m`)
	styledBlank   = regexp.MustCompile(`(?: |\x1b\[[0-9;:]*m)+$`)
)

// filtered keeps printable text, newlines and, where there are styles, style
// sequences; every line ends without a style, in no space, and inside the width.
func filtered(drawn string, width int, styled bool) []string {
	var clean strings.Builder
	for drawn != "" {
		if sequence := styleSequence.FindString(drawn); sequence != "" {
			if styled {
				clean.WriteString(sequence)
			}
			drawn = drawn[len(sequence):]
			continue
		}
		next := strings.IndexByte(drawn[1:], 0x1b) + 1
		if next == 0 {
			next = len(drawn)
		}
		clean.WriteString(safe(drawn[:next], prose))
		drawn = drawn[next:]
	}
	room := max(1, width-len(indent))
	var out []string
	for line := range strings.SplitSeq(clean.String(), "\n") {
		line = styledBlank.ReplaceAllString(line, "")
		rows := []string{line}
		if ansi.StringWidth(line) > room {
			rows = strings.Split(ansi.Hardwrap(line, room, true), "\n")
		}
		open := ""
		for _, row := range rows {
			row, open = closeStyle(open, row)
			if ansi.StringWidth(row) == 0 {
				row = ""
			} else {
				row = indent + row
			}
			out = append(out, row)
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	return slices.CompactFunc(out, func(a, b string) bool { return a == "" && b == "" })
}
