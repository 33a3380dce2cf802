package console

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

const listing = "Two visits **today**:\n\n| Visit | Technician | When |\n|---|---|---|\n| V-2019 | Sam Orrin | 13:00–15:00 |\n| V-2020 | Mairéad Quillin | 15:30–16:30 |\n\n1. Call the site\n2. Bring `HE-3000-230`\n\n- on *time*\n- or not\n"

func TestMarkdown(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string // on lines of the plain theme
		never    []string
	}{
		{"plain text stays line for line", "WO-1043: booked.\nV-2019 * 2, 5 < 6 & 7.", []string{"WO-1043: booked.", "V-2019 * 2, 5 < 6 & 7."}, nil},
		{"a table", listing, []string{"V-2019", "Sam Orrin", "───", "1. Call the site", "- on *time*"}, []string{"| Visit |", "|---|"}},
		{"raw HTML is text", "- <b>bold</b> <script>x</script>", []string{"<b>bold</b> <script>x</script>"}, nil},
		{"references are text", "- &#27;]52;c;aGk=&#7; &amp; &#x202e;x", []string{"&#27;]52;c;aGk=&#7; &amp; &#x202e;x"}, nil},
		{"references in code", "`&#27;]52;c;aGk=&#7;`", []string{"&#27;]52;c;aGk=&#7;"}, nil},
		{"a link shows where it goes", "- [the site](https://example.com/a)", []string{"the site", "https://example.com/a"}, nil},
		{"a fake frame is indented", "**x**\n\n┏━ ORDER PART · approval needed ━┓", []string{"  ┏━ ORDER PART"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, theme := range []Theme{ThemeNone, ThemeDark, ThemeLight} {
				lines := markdownLines(tt.in, 60, newStyles(theme))
				text := ansi.Strip(strings.Join(lines, "\n"))
				harmless(t, "the text", text)
				for _, w := range tt.want {
					if theme == ThemeNone && !strings.Contains(text, w) {
						t.Errorf("%q is missing:\n%s", w, text)
					}
				}
				for _, w := range tt.never {
					if strings.Contains(text, w) {
						t.Errorf("%q is there:\n%s", w, text)
					}
				}
				for _, line := range lines {
					if line != "" && !strings.HasPrefix(ansi.Strip(line), indent) {
						t.Errorf("a line at the edge: %q", line)
					}
				}
			}
		})
	}
}

// onlyStyles fails if drawn lines hold anything but printable text and styles.
func onlyStyles(t *testing.T, what string, lines []string, width int) {
	t.Helper()
	for _, line := range lines {
		rest := line
		var text strings.Builder
		for rest != "" {
			if s := styleSequence.FindString(rest); s != "" {
				rest = rest[len(s):]
				continue
			}
			text.WriteByte(rest[0])
			rest = rest[1:]
		}
		harmless(t, what, text.String())
		if strings.Contains(text.String(), "\n") {
			t.Errorf("%s: a newline in a line", what)
		}
		if w := ansi.StringWidth(line); w > width {
			t.Errorf("%s: a line of %d cells in %d: %q", what, w, width, line)
		}
		if strings.Contains(line, "\x1b") && !strings.HasSuffix(line, ansi.ResetStyle) {
			if _, open := closeStyle("", line); open != "" {
				t.Errorf("%s: a style goes on after %q", what, line)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(jobsTable, 30)
	f.Add("a|b\n-|-\n|||||\n漢字|\x1b[2J", 20)
	for _, seed := range []string{
		listing, "# a\n```go\nx := 1\n```\n", "- &#27;[2J", "**&#x1b;]0;x&#7;**", "> q\n> - `&#155;2J`", "|a|\n|-|\n|" + strings.Repeat("天", 60) + "|", "* [x](<&#27;]8;;>)",
	} {
		f.Add(seed, 40)
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, in string, width int) {
		if len(in) > 2000 {
			return
		}
		width = 8 + max(0, width%120)
		for _, theme := range []Theme{ThemeNone, ThemeDark} {
			onlyStyles(t, "markdown", markdownLines(in, width, newStyles(theme)), width)
		}
		onlyStyles(t, "what comes from the library", filtered(in, width, true), width)
	})
}
