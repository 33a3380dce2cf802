package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// trust says what becomes of characters that cannot be seen.
type trust int

const (
	// prose drops invisible characters: they carry nothing for a reader.
	prose trust = iota
	// evidence shows them as tags: what a person decides about is shown whole.
	evidence
)

const (
	tabSpaces = "    "
	// maxMarks is how many combining marks one character may carry; more only
	// paints over the lines around it.
	maxMarks = 8
)

// safe makes text from outside harmless before it is styled: afterwards it
// holds printable characters and newlines only. It is the one way of such text
// to the screen.
func safe(s string, t trust) string {
	if plainASCII(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 16)
	w := washer{out: &out, trust: t}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		rest := s[i+size:]
		if r == '\r' && strings.HasPrefix(rest, "\n") {
			i += size // the newline follows
			continue
		}
		w.rune(r, rest)
		i += size
	}
	return out.String()
}

// plainASCII reports whether there is nothing to do, as for most text.
func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '\n' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// safeLine is safe for text that has to stay on one line.
func safeLine(s string, t trust) string {
	return strings.Join(strings.Fields(safe(s, t)), " ")
}

// washer writes runes in their harmless form.
type washer struct {
	out   *strings.Builder
	trust trust
	// last is the rune written before, marks how many marks stand on it.
	last  rune
	marks int
}

func (w *washer) rune(r rune, rest string) {
	switch {
	case r == utf8.RuneError:
		w.write('\uFFFD')
	case r == '\n', r == '\r', r == '\u2028', r == '\u2029', r == '\u0085':
		w.write('\n')
	case r == '\t':
		w.out.WriteString(tabSpaces)
		w.last, w.marks = ' ', 0
	case r < ' ':
		w.write('\u2400' + r) // the control's picture
	case r == 0x7f:
		w.write('\u2421')
	case r >= 0x80 && r <= 0x9f:
		w.tag(fmt.Sprintf(`\x%02x`, r))
	case isBidi(r):
		w.tag(fmt.Sprintf("<U+%04X>", r))
	case r == '\u200d' && isEmoji(w.last) && startsWithEmoji(rest), r == '\ufe0f' && isEmoji(w.last):
		w.out.WriteRune(r)
		w.last = r
	case isInvisible(r):
		if w.trust == evidence {
			w.tag(fmt.Sprintf("<U+%04X>", r))
		}
	case unicode.In(r, unicode.Mn, unicode.Me):
		if w.marks++; w.marks <= maxMarks {
			w.out.WriteRune(r)
		}
	default:
		w.write(r)
	}
}

func (w *washer) write(r rune) {
	w.out.WriteRune(r)
	w.last, w.marks = r, 0
}

func (w *washer) tag(s string) {
	w.out.WriteString(s)
	w.last, w.marks = '>', 0
}

// isBidi reports whether the rune changes the direction of the text around it,
// so that it reads differently from what it is.
func isBidi(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// isInvisible reports whether the rune takes no ink: format characters, fillers,
// variation selectors, tags, and code points that are no characters.
func isInvisible(r rune) bool {
	switch r {
	case '\u00ad', '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u180b', '\u180c', '\u180d', '\u180e', '\u180f',
		'\u2800', '\u3164', '\ufeff', '\uffa0':
		return true
	}
	return r >= '\ufe00' && r <= '\ufe0f' || r >= 0xe0000 && r <= 0xe0fff || r&0xfffe == 0xfffe ||
		r >= 0xfdd0 && r <= 0xfdef || r >= 0xfff0 && r <= 0xfffb || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)
}

// isEmoji is wide on purpose: it only decides where a joiner may stay.
func isEmoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff ||
		r >= 0x2190 && r <= 0x21ff || r >= 0x2300 && r <= 0x23ff || r == '\ufe0f'
}

func startsWithEmoji(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isEmoji(r) && r != '\ufe0f'
}
