package cli

import (
	"fmt"
	"strings"
	"unicode"
)

// visible makes text from outside safe for a terminal: whatever could move the
// cursor, change its colours or reorder letters is shown instead of done.
// Newlines stay.
func visible(text string) string {
	var out strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == '\n':
			out.WriteRune(r)
		case r == '\t':
			out.WriteByte(' ')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			fmt.Fprintf(&out, "\\u%04x", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
