package offline

import (
	"slices"
	"strconv"
)

// tens are the words for whole tens.
var tens = []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}

// spokenNumber reads a number below a hundred that is said in one or two words,
// and gives how many they are: "forty three" is 43.
func spokenNumber(words []word, i int) (value, used int) {
	if i >= len(words) || slices.Contains(countNouns, words[i].text) {
		return 0, 0
	}
	n, ok := numberWords[words[i].text]
	if !ok {
		return 0, 0
	}
	if slices.Contains(tens, words[i].text) && i+1 < len(words) && !words[i].ends {
		if digit, ok := numberWords[words[i+1].text]; ok && digit > 0 && digit < 10 {
			return n + digit, 2
		}
	}
	return n, 1
}

// spokenJobLeads are the words before a number that is a job's, not a time or a
// count.
var spokenJobLeads = []string{"job", "wo", "for", "on", "of", "status", "about", "number", "is", "hows", "note"}

// spokenJobs writes jobs that are said in words as their numbers: "status of ten
// forty three".
func spokenJobs(words []word) []word {
	var out []word
	for i := 0; i < len(words); i++ {
		if i == 0 || slices.Contains(spokenJobLeads, words[i-1].text) {
			if digits, used := spokenJob(words, i); used > 0 {
				w := newWord(digits)
				w.ends, w.asks = words[i+used-1].ends, words[i+used-1].asks
				out, i = append(out, w), i+used-1
				continue
			}
		}
		out = append(out, words[i])
	}
	return out
}

// spokenJob reads two numbers of two digits each, the second also as "oh six".
func spokenJob(words []word, i int) (digits string, used int) {
	first, n := spokenNumber(words, i)
	if n == 0 || first < 10 || words[i+n-1].ends {
		return "", 0
	}
	second, more := spokenNumber(words, i+n)
	if k := i + n; more == 0 && k < len(words) && (words[k].text == "oh" || words[k].text == "o") {
		if second, more = spokenNumber(words, k+1); more > 0 && second < 10 {
			return strconv.Itoa(first) + "0" + strconv.Itoa(second), n + 1 + more
		}
		return "", 0
	}
	if more == 0 || second < 10 {
		return "", 0
	}
	return strconv.Itoa(first) + strconv.Itoa(second), n + more
}

// timeSpellings are the words of time that a slip of the finger is undone for.
var timeSpellings = []string{
	"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow", "morning", "afternoon", "evening",
}

// undoSlips spells the words of time as they were meant: "thurday" is Thursday.
// What could be two of them stays as it is, and so does what means something
// else.
func undoSlips(words []word) []word {
	for i, w := range words {
		if base := w.base(); base != w.text && (slices.Contains(timeSpellings, base) || base == "tonight") {
			words[i].text = base // "tomorrow's visits"
			continue
		}
		if len(w.text) < 5 || everyday(w.text) || slices.Contains(timeSpellings, w.text) {
			continue
		}
		if meant, ok := onlyNear(w.text, timeSpellings); ok {
			words[i].text = meant
		}
	}
	return words
}

// onlyNear gives the one word of a list that differs by a slip of the finger.
func onlyNear(said string, list []string) (string, bool) {
	found := ""
	for _, word := range list {
		if !nearly(word, said) {
			continue
		}
		if found != "" {
			return "", false
		}
		found = word
	}
	return found, found != ""
}
