package workorders

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unmarked maps letters that do not fall apart into a base letter and a mark.
var unmarked = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ß': "ss", 'æ': "ae",
	'œ': "oe", 'ı': "i", 'ħ': "h", 'ŧ': "t", 'µ': "u", 'μ': "u", '’': "'",
}

// fold makes text comparable: lower case, without accents, compatibility
// forms made plain.
func fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unmarked[r] != "":
			b.WriteString(unmarked[r])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// words splits folded text at everything that is no letter or digit.
func words(s string) []string {
	return strings.FieldsFunc(fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// nearly says whether a is at most two typing mistakes away from b, or one for
// short words. Both are folded.
func nearly(a, b string) bool {
	limit := 2
	if len(a) < 5 || len(b) < 5 {
		limit = 1
	}
	return distance([]rune(a), []rune(b)) <= limit
}

// distance counts insertions, deletions and replacements.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
