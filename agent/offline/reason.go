package offline

import (
	"slices"
	"strings"
	"time"
)

// becauseWords begin a reason; they are no part of it.
var becauseWords = []string{"because of", "because", "since", "cos", "cause", "due to", "as", "reason"}

// cutReason takes the reason off a clause that moves or cancels something:
// "cancel the 1052 visit, tomas has no certificate". It is text for people, in
// which no number and no time means anything.
func cutReason(words []word, open int, now time.Time) (rest []word, reason string) {
	cancels := startsWith(words, open, cancelVerbs)
	if !cancels && !startsWith(words, open, moveVerbs) {
		return words, ""
	}
	for i := open + 2; i < len(words); i++ {
		lead := 0
		for _, b := range becauseWords {
			lead = max(lead, phraseAt(words, i, b))
		}
		tail := words[i+lead:]
		switch {
		case len(tail) == 0:
		case lead > 0 && !(words[i].text == "as" && len(tail) < 3):
			return words[:i], asTyped(tail)
		case lead == 0 && words[i-1].ends && explains(tail, cancels, now):
			return words[:i], asTyped(tail)
		}
	}
	return words, ""
}

// explains reports whether what follows a comma is a reason, and not more of the
// request.
func explains(tail []word, cancels bool, now time.Time) bool {
	ids := readIDs(slices.Clone(tail))
	if len(ids.jobs)+len(ids.visits)+len(ids.orders) > 0 || contains(tail, "please", "instead", "same time", "thanks") {
		return false
	}
	if len(tail) < 2 || len(tail) < 3 && !cancels {
		return false
	}
	return cancels || !readTimes(slices.Clone(tail), now).said() && !contains(tail, "to", "for", "at")
}

func asTyped(words []word) string {
	raw := make([]string, len(words))
	for i, w := range words {
		raw[i] = w.raw
		if w.ends && i+1 < len(words) {
			raw[i] += ","
		}
	}
	return strings.Join(raw, " ")
}
