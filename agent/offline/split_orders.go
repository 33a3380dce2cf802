package offline

import "slices"

// joints stand between two orders of one line.
var joints = []string{"and", "plus", "also", "then", "&", "+"}

// splitOrders parts a clause that orders several things where it is certain
// which is for which job: "a trap for 1058 and a fan for 1044", or "a trap and a
// seal for 1044". Each part gets the verb, and the job. It gives nil where
// nothing has to be parted, or where that would be a guess.
func splitOrders(words []word) [][]word {
	open := opening(words)
	verb := 0
	for _, v := range orderVerbs {
		verb = max(verb, phraseAt(words, open, v))
	}
	if verb == 0 {
		return nil
	}
	head, body := words[:open+verb], words[open+verb:]
	var jobs []int
	for i := range body {
		if isJobWord(body, i) {
			jobs = append(jobs, i)
		}
	}
	switch {
	case len(jobs) == 1:
		return partsForOneJob(head, body, jobs[0])
	case len(jobs) > 1:
		return partsForJobs(head, body, jobs)
	}
	return nil
}

// isJobWord reports whether a word is a job's number.
func isJobWord(words []word, i int) bool {
	base := words[i].base()
	if m := prefixedID.FindStringSubmatch(base); m != nil {
		return m[1] == "wo" && len(m[2]) >= 4
	}
	return bareJob.MatchString(base) // nobody orders a thousand pieces in a line
}

// partsForJobs parts behind each job. Every part must say what is ordered.
func partsForJobs(head, body []word, jobs []int) [][]word {
	var out [][]word
	var previous []word
	start := 0
	for n, at := range jobs {
		end := at + 1
		segment := trimJoints(body[start:end])
		last := n == len(jobs)-1
		if last {
			segment = trimJoints(body[start:])
		} else if !body[at].ends && (end >= len(body) || !slices.Contains(joints, body[end].text)) {
			return nil
		}
		if n > 0 && !describes(segment) && counts(segment) && len(previous) > 0 {
			segment = append(slices.Clone(segment[:1]), append(slices.Clone(previous), segment[1:]...)...) // "two for 1045 and one for 1044"
		}
		if !describes(segment) {
			return nil
		}
		previous = partPhrase(segment)
		whole := slices.Concat(head, segment)
		if parts := splitOrders(whole); len(parts) > 1 { // "a trap and a seal for 1058, and a fan for 1044"
			out = append(out, parts...)
		} else {
			out = append(out, whole)
		}
		start = end
	}
	return out
}

// counts reports whether words begin with how many.
func counts(words []word) bool {
	if len(words) < 2 {
		return false
	}
	return numberWords[words[0].text] > 0 || timesMark.MatchString(words[0].text) || isNumber(words[0].text) && len(words[0].text) < 4
}

// partPhrase are the words of a segment that name its part.
func partPhrase(words []word) []word {
	fresh := slices.Clone(words)
	readIDs(fresh)
	readMeasures(fresh)
	var out []word
	for i, w := range fresh {
		named := w.as == asMeasure || w.as == asID && !isJobWord(words, i)
		plain := w.as == asNothing && !isJobWord(words, i) && !slices.Contains(stopWords, w.text) && numberWords[w.text] == 0 && !isNumber(w.text) && !timesMark.MatchString(w.text)
		if named || plain {
			part := words[i]
			part.ends = false
			out = append(out, part)
		}
	}
	return out
}

// partsForOneJob parts before a joint that an article, a number or a part number
// follows; the job counts for all.
func partsForOneJob(head, body []word, job int) [][]word {
	tail := job
	for tail > 0 && slices.Contains([]string{"for", "wo", "job", "to", "on", "the"}, body[tail-1].text) {
		tail--
	}
	if tail == 0 {
		return nil // "order for 1044 a trap and a seal"
	}
	var parts [][]word
	start := 0
	for i := 1; i < tail; i++ {
		joint := slices.Contains(joints, body[i].text)
		if !joint && !body[i-1].ends {
			continue
		}
		next := i
		if joint {
			next++
		}
		if next < tail && beginsPart(body[next]) {
			parts = append(parts, trimJoints(body[start:i]))
			start = next
		}
	}
	if len(parts) == 0 {
		return nil
	}
	parts = append(parts, trimJoints(body[start:tail]))
	var out [][]word
	for _, p := range parts {
		if !describes(p) {
			return nil
		}
		out = append(out, slices.Concat(head, p, body[tail:]))
	}
	return out
}

// beginsPart reports whether a word can be the first of "a seal", "2 belts" or
// a part number.
func beginsPart(w word) bool {
	if _, isSKU := readSKU(w); isSKU {
		return true
	}
	_, isNumber := numberWords[w.text]
	return isNumber || slices.Contains([]string{"a", "an", "the", "some"}, w.text) || startsWithDigit(w.text) && len(w.text) <= 3
}

// describes reports whether words name something to order.
func describes(words []word) bool {
	for i, w := range words {
		if w.text == "" || slices.Contains(stopWords, w.text) || isJobWord(words, i) || isNumber(w.text) {
			continue
		}
		if _, number := numberWords[w.text]; number {
			continue
		}
		return true
	}
	return false
}

func trimJoints(words []word) []word {
	for len(words) > 0 && slices.Contains(joints, words[0].text) {
		words = words[1:]
	}
	for len(words) > 0 && slices.Contains(joints, words[len(words)-1].text) {
		words = words[:len(words)-1]
	}
	return words
}
