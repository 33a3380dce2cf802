package offline

import (
	"regexp"
	"slices"
	"strings"
)

// endings are what follows a verb that is only inflected.
var endings = []string{"s", "d", "r", "ed", "er", "ing", "ings", "led", "ling", "able", "let", "ment", "ments", "lation"}

var (
	gluedJob     = regexp.MustCompile(`^(for|on|to|job|at)(\d{4,6})$`)
	twoJobs      = regexp.MustCompile(`^(\d{4,6})[/&+](\d{4,6})$`)
	gluedMeasure = regexp.MustCompile(`^(\d+(?:[.,]\d+)?(?:kw|mm|kg))([a-z]{4,})$`)
)

// shorthand are signs that stand for words.
var shorthand = map[string]string{"&": "and", "+": "and", "w/": "with", "@": "at", "abt": "about", "btw": "between", "u": "you", "ur": "your", "gonna": "going"}

// parted undoes missing spaces: "bookpriya", "for1047", "3kwelement".
func parted(words []word) []word {
	out := make([]word, 0, len(words)+2)
	open := opening(words)
	for i, w := range words {
		if i == open {
			if verb, rest, ok := gluedVerb(w); ok {
				out = append(out, newWord(verb), word{text: newWord(rest).text, raw: rest, ends: w.ends})
				continue
			}
		}
		if typed, ok := shorthand[w.text]; ok {
			out = append(out, word{text: typed, raw: w.raw, ends: w.ends, asks: w.asks})
			continue
		}
		if m := twoJobs.FindStringSubmatch(w.text); m != nil {
			out = append(out, newWord(m[1]), newWord("and"), word{text: m[2], raw: m[2], ends: w.ends, asks: w.asks})
			continue
		}
		m := gluedJob.FindStringSubmatch(w.text)
		if m == nil {
			m = gluedMeasure.FindStringSubmatch(w.text)
		}
		if m != nil {
			out = append(out, newWord(m[1]), word{text: m[2], raw: m[2], ends: w.ends})
			continue
		}
		out = append(out, w)
	}
	return out
}

// gluedVerb parts a verb from what was typed right behind it.
func gluedVerb(w word) (verb, rest string, ok bool) {
	for _, v := range spelledVerbs {
		tail, cut := strings.CutPrefix(w.text, v)
		if !cut || len(tail) < 3 || slices.Contains(endings, tail) || len(w.raw) <= len(v) || !strings.EqualFold(w.raw[:len(v)], v) {
			continue
		}
		return v, w.raw[len(v):], true
	}
	return "", "", false
}

// jobFirst turns "for 1024 order the kit" and "1055: order a trap" around, so
// that the verb opens the line.
func jobFirst(words []word) []word {
	open := opening(words)
	i := open
	if i < len(words) && (words[i].text == "for" || words[i].text == "on") {
		i++
	}
	if i < len(words) && (words[i].text == "wo" || words[i].text == "job") {
		i++
	}
	if i >= len(words) || !isJobWord(words, i) {
		return words
	}
	verb := i + 1
	for verb < len(words) && slices.Contains(politeness, words[verb].text) {
		verb++
	}
	if verb+1 >= len(words) || !slices.Contains(orderVerbs, words[verb].text) && !slices.Contains([]string{"book", "schedule", "sched", "move", "assign"}, words[verb].text) {
		return words
	}
	rest := slices.Clone(words[verb:])
	end := len(rest) // the job goes behind the first request of the line
	for k := 1; k < len(rest); k++ {
		if isJobWord(rest, k) {
			return words // another job is named: which is for what is not for a reader to turn around
		}
		if end == len(rest) && slices.Contains(clauseVerbs, rest[k].text) && (rest[k-1].ends || slices.Contains(joints, rest[k-1].text)) {
			end = k
			for end > 1 && slices.Contains(joints, rest[end-1].text) {
				end--
			}
		}
	}
	out := append(slices.Clone(words[:open]), rest[0])
	job := words[i]
	job.ends = false
	if slices.Contains(orderVerbs, rest[0].text) {
		out = append(out, rest[1:end]...)
		job.ends = out[len(out)-1].ends
		out[len(out)-1].ends = false
		out = append(out, newWord("for"), job)
	} else {
		out = append(append(out, job), rest[1:end]...)
	}
	return append(out, rest[end:]...)
}

// verbLast turns "one capacitor for 1043 pls order" around, so that the verb opens
// the line.
func verbLast(words []word) []word {
	open, end := opening(words), len(words)
	for end > 0 && slices.Contains(politeness, words[end-1].text) {
		end--
	}
	last := end - 1
	if last <= open+1 || words[last].text != "order" || words[last].asks || slices.Contains(questionWords, words[open].text) {
		return words
	}
	for _, w := range words[open:last] {
		if slices.Contains(clauseVerbs, w.text) || slices.Contains(cancelVerbs, w.text) || slices.Contains(negations, w.text) {
			return words
		}
	}
	if !words[last-1].ends && slices.Contains([]string{"the", "an", "on", "part", "any", "in", "back", "to", "my", "this", "that", "last"}, words[last-1].text) {
		return words
	}
	out := append(slices.Clone(words[:open]), words[last])
	return append(out, words[open:last]...)
}
