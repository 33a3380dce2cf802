package console

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestSafe(t *testing.T) {
	tests := []struct{ name, in, prose, evidence string }{
		{"plain", "order 2 × HE-3000", "order 2 × HE-3000", "order 2 × HE-3000"},
		{"clear the line", "evil\r\x1b[2K ok", "evil\n␛[2K ok", "evil\n␛[2K ok"},
		{"CRLF", "a\r\nb\rc", "a\nb\nc", "a\nb\nc"},
		{"clipboard", "\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇", "␛]52;c;aGk=␇"},
		{"C1", "\u009b2J", `\x9b2J`, `\x9b2J`},
		{"override", "a\u202eb", "a<U+202E>b", "a<U+202E>b"},
		{"isolate", "\u2066x\u2069", "<U+2066>x<U+2069>", "<U+2066>x<U+2069>"},
		{"zero width", "HE\u200b-3000", "HE-3000", "HE<U+200B>-3000"},
		{"filler", "a\u3164b", "ab", "a<U+3164>b"},
		{"tag", "a\U000e0041b", "ab", "a<U+E0041>b"},
		{"braille blank", "a\u2800b", "ab", "a<U+2800>b"},
		{"family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"joiner in text", "a\u200db", "ab", "a<U+200D>b"},
		{"heart", "❤\ufe0f", "❤\ufe0f", "❤\ufe0f"},
		{"tab", "a\tb", "a    b", "a    b"},
		{"invalid", "a\xffb", "a\ufffdb", "a\ufffdb"},
		{"line separator", "a\u2028b", "a\nb", "a\nb"},
		{"marks", "a" + strings.Repeat("\u0301", 40), "a" + strings.Repeat("\u0301", 8), "a" + strings.Repeat("\u0301", 8)},
		{"delete", "a\x7f", "a␡", "a␡"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := safe(tt.in, prose); got != tt.prose {
				t.Errorf("as prose: %q, want %q", got, tt.prose)
			}
			if got := safe(tt.in, evidence); got != tt.evidence {
				t.Errorf("as evidence: %q, want %q", got, tt.evidence)
			}
		})
	}
}

// harmless fails if text could do anything but be read.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is not valid UTF-8: %q", what, text)
	}
	for _, r := range text {
		if r != '\n' && unicode.IsControl(r) || isBidi(r) {
			t.Fatalf("%s holds %U: %q", what, r, text)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"", "a\u202eb", "\x1b]0;x\x07", "\xc2\x9b", "👨\u200d👩", "a\r\nb", "\u200b\u3164", "é́́́́́́́́́́́"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, trust := range []trust{prose, evidence} {
			out := safe(in, trust)
			harmless(t, "safe text", out)
			for _, line := range append(indented(out, 40), hanging(out, 40)...) {
				if w := ansi.StringWidth(line); w > 40 {
					t.Errorf("a line of %d cells in 40: %q", w, line)
				}
			}
		}
		harmless(t, "a quoted value", quoted([]byte(in)))
	})
}
