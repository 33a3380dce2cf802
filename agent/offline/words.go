package offline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLine is how much of a line is read, in bytes. A request to a dispatch desk
// is a sentence; a longer text could hide a request that nobody made.
const maxLine = 4000

// word is one word of a line, folded for comparison.
type word struct {
	// text is lower case, without accents, apostrophes and outer punctuation.
	text string
	// raw is the word as typed, without outer punctuation.
	raw string
	// ends is set where a comma, a full stop or the like follows.
	ends bool
	// asks is set where a question mark follows.
	asks bool
	// as says what the word was read as; readers take a word once.
	as reading
}

// reading is what a word was understood as.
type reading int

const (
	asNothing reading = iota
	asID
	asTime
	asMeasure
	asNumber
	asCue    // part of the phrase that chose the intent
	asSite   // part of "at the bakery"
	asPerson // part of a technician's name
)

// letters maps letters that do not fall apart into a base letter and a mark.
var letters = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ß': "ss", 'æ': "ae",
	'œ': "oe", 'ı': "i", 'µ': "u", 'μ': "u", '½': ".5", '‐': "-", '‑': "-",
	'‒': "-", '–': "-", '—': "-", '−': "-", '×': "x",
}

// fold makes text comparable: lower case, no accents, plain dashes.
func fold(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	var spelled strings.Builder
	for _, r := range strings.ToLower(s) {
		if plain, ok := letters[r]; ok {
			spelled.WriteString(plain)
		} else {
			spelled.WriteRune(r)
		}
	}
	var out strings.Builder
	for _, r := range norm.NFKD.String(spelled.String()) {
		if !unicode.Is(unicode.Mn, r) {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitWords makes words of a line. Arrows and lone punctuation are no words,
// but they end what stands before them.
func splitWords(line string) []word {
	var out []word
	for _, field := range strings.FieldsFunc(strings.ReplaceAll(line, "->", " "), unicode.IsSpace) {
		core := strings.TrimLeftFunc(field, isOuter)
		tail := strings.TrimRightFunc(core, isOuter)
		if tail == "" {
			if n := len(out); n > 0 && isBreak(field) {
				out[n-1].ends = true
			}
			continue
		}
		// A minus before a number belongs to it: "-1 pieces" is no "1".
		if i := strings.Index(field, tail); i > 0 && field[i-1] == '-' && startsWithDigit(tail) && len(out) > 0 {
			tail = "-" + tail
		}
		ends := isBreak(core[len(strings.TrimPrefix(tail, "-")):])
		for _, piece := range splitList(tail) {
			out = append(out, newWord(piece))
		}
		out[len(out)-1].ends = ends
		out[len(out)-1].asks = ends && strings.Contains(core, "?")
	}
	return out
}

// splitList parts "1044,1045" and "bakery/annex" no further than needed: only
// commas between letters, so that "3,5" stays a number.
func splitList(s string) []string {
	if !strings.Contains(s, ",") || startsWithDigit(s) && len(s) < 6 {
		return []string{s}
	}
	return slices.DeleteFunc(strings.Split(s, ","), func(p string) bool { return p == "" })
}

var apostrophes = strings.NewReplacer("'", "", "’", "", "`", "")

func newWord(raw string) word {
	return word{text: apostrophes.Replace(fold(raw)), raw: raw}
}

// base is the word without a possessive s: "1043's" is 1043.
func (w word) base() string {
	if r := strings.ReplaceAll(w.raw, "’", "'"); strings.HasSuffix(strings.ToLower(r), "'s") {
		return strings.TrimSuffix(w.text, "s")
	}
	return w.text
}

func isOuter(r rune) bool {
	return strings.ContainsRune(`,.;:!?"“”„()[]{}<>«»*_~|=-–—'’#`, r) || unicode.IsControl(r)
}

func isBreak(s string) bool { return strings.ContainsAny(s, ",.;:!?)-–—") }

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// phraseAt gives how many words a phrase of a table has if it stands at position
// i, else 0.
func phraseAt(words []word, i int, phrase string) int {
	n := 0
	for phrase != "" {
		want, rest, _ := strings.Cut(phrase, " ")
		if i+n >= len(words) || words[i+n].text != want {
			return 0
		}
		n, phrase = n+1, rest
	}
	return n
}

// contains reports whether any of the phrases occurs.
func contains(words []word, phrases ...string) bool {
	for i := range words {
		if slices.ContainsFunc(phrases, func(p string) bool { return phraseAt(words, i, p) > 0 }) {
			return true
		}
	}
	return false
}

// stem takes a plural s away, so that "elements" is "element".
func stem(s string) string {
	switch {
	case len(s) > 4 && strings.HasSuffix(s, "ies"):
		return s[:len(s)-3] + "y"
	case len(s) > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !startsWithDigit(s):
		return s[:len(s)-1]
	}
	return s
}

// textWords are the folded words of any text, e.g. a part's name.
func textWords(s string) []string {
	return strings.FieldsFunc(fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' })
}
