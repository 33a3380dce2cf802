package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// slotKind is what a question wants to know.
type slotKind int

const (
	slotChoice slotKind = iota // one of the choices only
	slotJob
	slotTechnician
	slotTime
	slotQuantity
)

// question is an open question of this model about one request.
type question struct {
	request *request
	choices []choice
	slot    slotKind
}

// choice is one numbered answer.
type choice struct {
	label string
	// words are what else says this choice ("orrin").
	words string
	apply func(*request)
	// leave is set for "do nothing"; it answers with the sentence.
	leave string
}

// yes is the only choice that does something, or -1 if there are several.
func (q *question) yes() int {
	found := -1
	for i, c := range q.choices {
		if c.leave != "" {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// numbered prints the choices below a question.
func (q *question) numbered() string {
	out := make([]string, len(q.choices))
	for i, c := range q.choices {
		out[i] = strconv.Itoa(i+1) + ") " + c.label
	}
	return strings.Join(out, "\n")
}

// reaction is what a line means to an open question.
type reaction struct {
	request *request
	// say answers at once; nothing is to be done.
	say string
	// again repeats the question: the line chose nothing.
	again bool
	// other is set if the line is no answer.
	other bool
}

var (
	bareChoice = regexp.MustCompile(`^(?:(?:option|number|no|nr|choice|the)\s)?(\d{1,2})\)?$`)

	yesWords = []string{"yes", "y", "yep", "yeah", "yup", "sure", "ok", "okay", "do it", "go ahead", "please do", "correct", "right", "fine", "confirm", "confirmed", "ja", "oui"}
	noWords  = []string{"no", "n", "nope", "nah", "leave it", "never mind", "nevermind", "forget it", "dont", "do not", "neither", "none", "none of them", "cancel", "stop", "skip it", "not now"}

	// fillers may stand beside a choice without changing it.
	fillers = []string{"the", "one", "that", "this", "it", "please", "pls", "do", "then", "go", "with", "for", "take", "use", "want", "i", "we", "ill", "and", "just", "order", "book", "thanks", "new", "him", "her", "them", "a", "an", "to", "ahead", "mean", "meant", "anyway", "another"}
)

// react reads a line as an answer.
func (q *question) react(t table, clauses []*clause) reaction {
	if len(clauses) != 1 {
		return reaction{other: true}
	}
	c := clauses[0]
	texts := make([]string, len(c.words))
	for i, w := range c.words {
		texts[i] = w.text
	}
	whole := strings.Join(texts, " ")
	if m := bareChoice.FindStringSubmatch(whole); m != nil && len(q.choices) > 0 {
		n, _ := strconv.Atoi(m[1]) // digits by the pattern
		if n >= 1 && n <= len(q.choices) {
			return q.take(n - 1)
		}
		if q.slot == slotQuantity {
			return q.filled(t, c) // "Order 5?" answered by "10"
		}
		return reaction{again: true}
	}
	if i, ok := ordinals[firstOf(without(texts, fillers...))]; ok && len(without(texts, fillers...)) == 1 && len(q.choices) > 1 {
		if i < 0 {
			i = len(q.choices) - 1
		}
		if i < len(q.choices) {
			return q.take(i)
		}
	}
	if r, ok := q.agreed(texts); ok {
		return r
	}
	switch i := q.described(texts); {
	case i >= 0:
		return q.take(i)
	case i == severalChoices:
		return reaction{again: true}
	}
	return q.filled(t, c)
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (q *question) take(i int) reaction {
	c := q.choices[i]
	if c.leave != "" {
		return reaction{say: c.leave}
	}
	r := q.request.copy()
	c.apply(r)
	return reaction{request: r}
}

// agreed reads yes and no, alone or with fillers: "yes the new one". Anything
// more is not taken as consent.
func (q *question) agreed(texts []string) (reaction, bool) {
	whole := strings.Join(texts, " ")
	for _, no := range noWords {
		if rest, ok := cutWord(whole, no); ok && len(without(strings.Fields(rest), append([]string{"thanks", "it", "order", "book"}, fillers...)...)) == 0 {
			return reaction{say: q.leaves()}, true
		}
	}
	for _, yes := range yesWords {
		rest, ok := cutWord(whole, yes)
		if !ok {
			continue
		}
		more := without(strings.Fields(rest), append(slices.Concat(yesWords), fillers...)...)
		if i := q.yes(); len(more) == 0 && i >= 0 {
			return q.take(i), true
		}
		if len(more) == 0 && rest == "" {
			return reaction{again: true}, true
		}
		if i := q.described(more); len(more) > 0 && i >= 0 {
			return q.take(i), true
		}
	}
	return reaction{}, false
}

// cutWord takes a word or phrase off the front of a text.
func cutWord(text, front string) (string, bool) {
	rest, ok := strings.CutPrefix(text, front)
	if !ok || rest != "" && rest[0] != ' ' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// leaves is the sentence for no.
func (q *question) leaves() string {
	for _, c := range q.choices {
		if c.leave != "" {
			return c.leave
		}
	}
	if w := q.request.intent.write; w != "" {
		return "Nothing was " + w + "."
	}
	return "All right, nothing was changed."
}

// severalChoices is what described gives if more than one choice fits.
const severalChoices = -2

// described gives the only choice that all content words of the line name; -1 if
// there is none.
func (q *question) described(texts []string) int {
	content := without(texts, fillers...)
	if len(content) == 0 || len(content) > 8 {
		return -1
	}
	found := -1
	for i, c := range q.choices {
		have := append(textWords(c.label+" "+c.words), strings.Fields(fold(c.words))...)
		fits := !slices.ContainsFunc(content, func(w string) bool {
			return !slices.ContainsFunc(have, func(h string) bool { return stem(h) == stem(w) })
		})
		if !fits || c.leave != "" {
			continue
		}
		if found >= 0 {
			return severalChoices
		}
		found = i
	}
	return found
}

// filled takes a line that brings the asked slot and asks for nothing of its
// own: "1044", "thursday 10-12", "two", "orrin".
func (q *question) filled(t table, c *clause) reaction {
	own := c.intent != nil && c.intent != t.named("status") && !c.terse && c.intent != t.named("change")
	r := q.request.copy()
	switch {
	case own || c.isQuestion() || c.negated():
		return reaction{other: true}
	case q.slot == slotJob && len(c.ids.jobs) == 1:
		r.job = c.ids.jobs[0]
	case q.slot == slotJob && c.intent == nil && len(c.ids.jobs) == 0 && len(c.site)+len(c.rest) > 0 && len(c.site)+len(c.rest) <= 5:
		r.site = joinWords(append(c.site, c.rest...)) // "the hotel"
	case q.slot == slotTime && c.when.said() && len(c.rest) == 0 && len(c.ids.jobs) == 0:
		r.when = mergeWhen(r.when, c.when)
		return reaction{request: r}
	case q.slot == slotTechnician && c.somebody() != nil && len(c.ids.jobs) == 0:
		r.technician = c.somebody().name(true)
	case q.slot == slotTechnician && len(c.rest) > 0 && len(c.rest) <= 4 && len(c.ids.jobs) == 0:
		r.technician = joinWords(c.rest)
	case q.slot == slotQuantity && c.quantity.given && len(c.rest) == 0:
		r.quantity = c.quantity
	default:
		return reaction{other: true}
	}
	if c.when.said() {
		r.when = mergeWhen(r.when, c.when)
	}
	if c.quantity.given {
		r.quantity = c.quantity
	}
	return reaction{request: r}
}

// mergeWhen keeps of the older time what the newer does not say.
func mergeWhen(old, said when) when {
	out := said
	if !said.dayKnown() && len(said.days) == 0 {
		out.day, out.days, out.dayText = old.day, old.days, old.dayText
	}
	if !said.clockKnown() && said.unclear == 0 {
		out.from, out.to, out.window, out.unclear = old.from, old.to, old.window, old.unclear
	}
	if said.minutes == 0 {
		out.minutes = old.minutes
	}
	return out
}
