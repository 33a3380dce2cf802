package offline

import (
	"slices"
	"strings"
)

// spelledVerbs are the verbs that a slip of the finger is undone for.
var spelledVerbs = []string{"order", "book", "schedule", "assign", "move", "reschedule", "postpone", "cancel", "status", "reassign", "purchase"}

// respelled gives the verb that a word was meant to be: one letter doubled, left
// out, put in, or two beside each other in the wrong order. Another letter in
// place of one is another word ("look", "love"), and so are other forms
// ("moved").
func respelled(text string) (string, bool) {
	found := ""
	for _, verb := range spelledVerbs {
		if text == verb || len(text) < 4 || text[0] != verb[0] || strings.HasPrefix(text, verb) || !slip(text, verb) {
			continue
		}
		if found != "" {
			return "", false
		}
		found = verb
	}
	return found, found != "" && !slices.Contains([]string{"older", "brook", "books", "states", "statue"}, text)
}

// slip reports whether two words differ by one letter more, one less, or two
// neighbours swapped.
func slip(a, b string) bool {
	switch len(a) - len(b) {
	case 1:
		return oneMore(a, b)
	case -1:
		return oneMore(b, a)
	case 0:
		i := 0
		for i < len(a) && a[i] == b[i] {
			i++
		}
		return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return false
}

// oneMore reports whether long is short with one letter more.
func oneMore(long, short string) bool {
	i := 0
	for i < len(short) && long[i] == short[i] {
		i++
	}
	return long[i+1:] == short[i:]
}

// nearly reports whether two words differ by one slip of the finger: a letter
// more, less or another, or two neighbours swapped.
func nearly(a, b string) bool {
	if slip(a, b) {
		return true
	}
	if len(a) != len(b) || a == b {
		return false
	}
	differ := 0
	for i := range len(a) {
		if a[i] != b[i] {
			differ++
		}
	}
	return differ == 1 && a[0] == b[0]
}
