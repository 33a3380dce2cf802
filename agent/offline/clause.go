package offline

import (
	"slices"
	"strings"
	"time"
)

// clause is one request of a line: "order the 3 kW element for 1044 and book
// lukasz friday 8-10" has two.
type clause struct {
	words []word
	open  int // where it begins, after "please" and the like
	ids   ids
	// people are those who are named; listed says that everybody's name is known,
	// so that no other word is one.
	people   []mention
	listed   bool
	when     when
	measures []measure
	quantity quantity
	// site are the words of "at the bakery"; rest what nobody took.
	site []string
	rest []string
	// intent is what the clause asks for; nil if no row of the table fits.
	intent *intent
	// terse is a booking without a verb: job, name, time. corrects is set
	// where the clause opens with "no wait" or the like.
	terse, corrects bool
	// shaped says that no word chose the intent, but what the clause names.
	shaped bool
	// unsure says that several jobs were named just before, and this clause
	// writes for one of them without saying which.
	unsure bool
	// reason is why something shall be moved or cancelled, as typed; note is the
	// text of a note, as typed.
	reason, note string
}

// politeness opens a line without saying anything.
var politeness = []string{
	"please", "pls", "plz", "ok", "okay", "hey", "hi", "hello", "right", "so", "and", "then", "also", "now", "just", "yes", "yep",
	"can you", "could you", "would you", "will you", "go ahead and", "lets", "we need to", "i need you to", "i want you to",
	"id like to", "i would like to", "want to", "i want to", "need to", "quickly", "thanks", "great", "good", "fine", "alright", "tell me", "can you tell me", "could you tell me", "do you know", "any idea", "good morning", "good afternoon", "hi there", "morning all", "ta", "cheers", "listen",
}

// corrections open a line that changes the one before.
var corrections = []string{"no wait", "wait no", "wait", "actually", "i meant", "sorry i meant", "no i meant", "rather", "sorry"}

// openers are both.
var openers = slices.Concat(politeness, corrections)

// opening is the position of the first word that says something.
func opening(words []word) int {
	for i := 0; ; {
		n := 0
		for _, p := range openers {
			n = max(n, phraseAt(words, i, p))
		}
		if n == 0 || i+n >= len(words) {
			return i
		}
		i += n
	}
}

// maxClauses is how many requests one line may hold; more is no line to a
// dispatch desk but a text.
const maxClauses = 8

// splitClauses cuts a line before a verb that follows "and", "then" or a stop.
func splitClauses(words []word) [][]word {
	var out [][]word
	start := 0
	for i := 1; i < len(words); i++ {
		joint := words[i-1].text == "and" || words[i-1].text == "then"
		asks := joint && slices.Contains(questionClauses, words[i].text)
		if !asks && (!joint && !words[i-1].ends || !slices.Contains(clauseVerbs, words[i].text)) {
			continue
		}
		end := i
		for end > start && (words[end-1].text == "and" || words[end-1].text == "then") {
			end--
		}
		if end > start && opening(words[start:end]) < end-start-1 {
			out = append(out, words[start:end])
			start = i
		}
	}
	return append(out, words[start:])
}

// splitJobs cuts before a second job that has a time of its own: "book mairead
// 1041 tmrw 9-10 and 1058 tmrw 11-12".
func splitJobs(parts [][]word) [][]word {
	var out [][]word
	for _, words := range parts {
		start := 0
		for i := 1; i < len(words); i++ {
			joint := slices.Contains(joints, words[i-1].text) || words[i-1].ends
			if !joint || !isJobWord(words, i) || !hasJob(words[start:i]) || !timed(words[start:i]) || !timed(words[i:]) {
				continue
			}
			out = append(out, trimJoints(words[start:i]))
			start = i
		}
		out = append(out, words[start:])
	}
	return out
}

func hasJob(words []word) bool {
	for i := range words {
		if isJobWord(words, i) {
			return true
		}
	}
	return false
}

// timed reports whether words say a time of day.
func timed(words []word) bool { return timesIn(words, time.Time{}).clockKnown() }

// readLine reads a line's clauses. Now is the clock of the line; people are those
// whose names are known, if any are.
func (t table) readLine(line string, now time.Time, people directory) []*clause {
	before, head, text, rest, noted := cutNote(line)
	if !noted {
		return t.readRequests(line, now, people)
	}
	out := t.readRequests(before, now, people)
	if words := splitWords(head); len(words) > 0 {
		c := t.readClause(words, now, people)
		c.intent, c.note = t.named("note"), text
		if body := readIDs(splitWords(text)); len(c.ids.jobs) == 0 && len(body.jobs) == 1 && len(c.site) == 0 {
			c.ids.jobs = body.jobs
		}
		out = append(out, c)
	}
	if out = append(out, t.readRequests(rest, now, people)...); len(out) > maxClauses {
		return nil
	}
	return out
}

// readRequests reads a line, or a part of one, without a note in it.
func (t table) readRequests(line string, now time.Time, people directory) []*clause {
	var out []*clause
	var parts [][]word
	for _, words := range splitJobs(splitClauses(jobFirst(verbLast(undoSlips(spokenJobs(parted(splitWords(joinRanges(line))))))))) {
		if orders := splitOrders(words); len(orders) > 1 {
			parts = append(parts, orders...)
		} else {
			parts = append(parts, words)
		}
	}
	if len(parts) > maxClauses {
		return nil
	}
	for _, words := range parts {
		if len(words) > 0 {
			out = append(out, t.readClause(words, now, people))
		}
	}
	return out
}

func (t table) readClause(words []word, now time.Time, people directory) *clause {
	c := &clause{open: opening(words)}
	c.words, c.reason = cutReason(words, c.open, now)
	words = c.words
	c.corrects = contains(words[:c.open], corrections...)
	c.ids = readIDs(words)
	c.measures = readMeasures(words)
	c.people, c.listed = people.mentions(words), people != nil
	c.when = readTimes(words, now)
	ordering := startsWith(words, c.open, orderVerbs)
	c.quantity = readNumbers(words, &c.ids, ordering)
	c.intent = t.find(c)
	if c.intent == nil && len(words)-c.open > 2 {
		if verb, ok := respelled(words[c.open].text); ok {
			words[c.open].text = verb
			c.intent = t.find(c)
		}
	}
	if c.intent == nil {
		c.intent, c.terse = t.shape(c)
		c.shaped = c.intent != nil
	}
	preps := defaultPreps
	if c.intent != nil {
		preps = c.intent.preps
		c.markCues()
	}
	c.readSite(preps)
	for _, w := range words {
		if w.as == asNothing && !slices.Contains(stopWords, w.text) && w.text != "" {
			c.rest = append(c.rest, w.base())
		}
	}
	return c
}

// startsWith reports whether one of the phrases stands at position i.
func startsWith(words []word, i int, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return phraseAt(words, i, p) > 0 })
}

// markCues takes the words that chose the intent, so that they are no part and
// no name.
func (c *clause) markCues() {
	for _, list := range [][]string{c.intent.starts, c.intent.any, c.intent.also} {
		for _, p := range list {
			for i := range c.words {
				for k := i; k < i+phraseAt(c.words, i, p); k++ {
					// A word that leads to a site ("who's on the bakery job") keeps doing so.
					if c.words[k].as == asNothing && !slices.Contains(c.intent.preps, c.words[k].text) {
						c.words[k].as = asCue
					}
				}
			}
		}
	}
}

// readSite takes the words after "at" as the site, else those after one of the
// other words that may lead to one, up to a comma or something else that was
// understood.
func (c *clause) readSite(preps []string) {
	if slices.Contains(preps, "at") {
		c.readSiteAfter([]string{"at"}, preps)
	}
	if len(c.site) == 0 {
		c.readSiteAfter(preps, preps)
	}
}

func (c *clause) readSiteAfter(leads, preps []string) {
	for i := 0; i+1 < len(c.words); i++ {
		if c.words[i].ends || c.words[i].as != asNothing || !slices.Contains(leads, c.words[i].text) {
			continue
		}
		var found []int
		for k := i + 1; k < len(c.words); k++ {
			w := c.words[k]
			if w.as != asNothing || slices.Contains(preps, w.text) {
				break
			}
			if slices.Contains(stopWords, w.text) {
				if len(found) > 0 && !slices.Contains(articles, w.text) {
					break
				}
			} else {
				found = append(found, k)
			}
			if w.ends {
				break
			}
		}
		if len(found) == 0 {
			continue
		}
		for _, k := range found {
			c.site = append(c.site, c.words[k].base())
			c.words[k].as = asSite
		}
		return
	}
}

// has reports whether the clause holds one of the phrases.
func (c *clause) has(phrases ...string) bool { return contains(c.words, phrases...) }

// negations say not to do something.
var negations = []string{"dont", "do not", "not", "never", "no need", "nobody", "shouldnt", "wont", "stop"}

// negated reports whether the clause says not to do something.
func (c *clause) negated() bool {
	return c.has(negations...) || c.has("instead of")
}

// insteadOnly reports whether the clause is negated by nothing but "instead of".
func (c *clause) insteadOnly() bool {
	return c.has("instead of") && !c.has(negations...)
}

// conditional reports whether the clause depends on something that only a person
// can judge ("if it is under 100").
func (c *clause) conditional() bool {
	return c.has("if", "unless", "in case", "provided", "whenever", "when", "once", "maybe", "perhaps", "as soon as", "depending")
}

// hasRest reports whether a word is left that nobody read and that means
// something.
func (c *clause) hasRest() bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return w.as == asNothing && !slices.Contains(stopWords, w.text) })
}

// text is the clause as typed.
func (c *clause) text() string {
	raw := make([]string, len(c.words))
	for i, w := range c.words {
		raw[i] = w.raw
	}
	return strings.Join(raw, " ")
}

// isQuestion reports whether the clause opens like a question.
func (c *clause) isQuestion() bool {
	return c.open < len(c.words) && slices.Contains(questionWords, c.words[c.open].text)
}

// namesOne reports whether what is left of the clause can be one person's name.
func (c *clause) namesOne() bool {
	if c.listed {
		return c.somebody() != nil
	}
	n := 0
	for i, w := range c.words {
		if i > c.open && w.as == asNothing && w.text != "" && !slices.Contains(stopWords, w.text) && !slices.Contains(fillerNames, w.text) || i == c.open && !c.isQuestion() && w.as == asNothing {
			n++
		}
	}
	return n >= 1 && n <= 3
}

// ofSomebody reports whether the clause speaks of somebody's day or jobs: "sam's
// jobs tomorrow".
func ofSomebody(c *clause) bool {
	if c.listed {
		return c.somebody() != nil && (c.somebody().owns || c.isQuestion())
	}
	return slices.ContainsFunc(c.words, func(w word) bool {
		return w.as == asNothing && w.base() != w.text && !slices.Contains(questionWords, w.text) && !weekdayWord(w.base())
	})
}

func weekdayWord(s string) bool {
	_, ok := weekdays[s]
	return ok || s == "today" || s == "tomorrow" || s == "it" || s == "that" || s == "there"
}

// questionWords open a question. "Can you" was taken as politeness before.
var questionWords = []string{
	"who", "whos", "what", "whats", "when", "whens", "where", "wheres", "why", "whys", "how", "hows", "which", "is", "are", "isnt", "did", "does", "do",
	"has", "have", "had", "was", "were", "can", "could", "should", "would", "will", "may", "any", "anyone", "anybody", "anything", "if",
}

var articles = []string{"the", "a", "an", "our", "that", "this"}

// stopWords carry no meaning of their own here.
var stopWords = []string{
	"the", "a", "an", "of", "for", "on", "at", "to", "in", "into", "with", "by", "from", "and", "or", "but", "as", "please", "pls", "plz", "me", "us",
	"my", "our", "your", "you", "i", "we", "is", "are", "was", "were", "be", "been", "it", "its", "that", "this", "there", "them", "her", "him", "she",
	"he", "they", "do", "does", "did", "can", "could", "would", "will", "should", "shall", "may", "job", "jobs", "visit", "visits", "some", "any", "new", "one",
	"ones", "now", "then", "still", "yet", "just", "also", "too", "so", "ok", "okay", "yes", "no", "not", "thanks", "thank", "hey", "hi", "hello",
	"what", "whats", "who", "whos", "when", "where", "which", "how", "why", "if", "about", "up", "out", "off", "per", "each", "get", "got",
	"has", "have", "had", "go", "give", "need", "needs", "needed", "want", "part", "parts", "spare", "piece", "pieces", "pcs", "pc", "unit", "units",
	"work", "order", "wo", "around", "before", "after", "until", "till", "between", "same", "again", "all", "am", "pm", "here", "near", "over",
	"everything", "anything", "something", "lets", "let", "show", "list", "find", "look", "check", "see", "tell", "know", "number", "qty", "quantity", "metre", "metres", "meter", "meters",
	"like", "both", "more", "other", "another", "anyway", "whole", "open", "ahead", "right", "quick", "quickly", "today", "people", "person", "someone", "somebody",
}
