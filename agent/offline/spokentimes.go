package offline

import (
	"slices"
	"strconv"
	"time"
)

// fromNow reads "in 30 minutes", "in half an hour", "in two hours".
func (r *timeReader) fromNow(i int) int {
	if r.words[i].text != "in" || i+2 >= len(r.words)+1 || r.out.clockKnown() {
		return 0
	}
	lead := 1
	if i+1 < len(r.words) && (r.words[i+1].text == "about" || r.words[i+1].text == "around") {
		lead = 2
	}
	if i+lead >= len(r.words) || r.words[i+lead].as != asNothing {
		return 0
	}
	before := r.out.minutes
	n := r.duration(i + lead)
	if n == 0 {
		return 0
	}
	then := r.now.Add(time.Duration(r.out.minutes) * time.Minute)
	r.out.minutes = before
	y, m, d := then.Date()
	r.setDay(time.Date(y, m, d, 0, 0, 0, 0, then.Location()), "in a while")
	r.out.from, r.out.to, r.out.window = then.Hour()*60+then.Minute(), -1, ""
	return lead + n
}

// hourOf reads an hour that is typed as a number or a word.
func hourOf(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= 12 && len(s) <= 2 {
		return n, true
	}
	n, ok := numberWords[s]
	return n, ok && n >= 1 && n <= 12 && !slices.Contains(countNouns, s)
}

// spokenClock reads "half past nine", "quarter to four", "at ten", "three
// o'clock", "two pm".
func (r *timeReader) spokenClock(i int) int {
	text := func(k int) string {
		if k < 0 || k >= len(r.words) {
			return ""
		}
		return r.words[k].text
	}
	c, n := clockText{}, 0
	switch hour, ok := hourOf(text(i + 2)); {
	case ok && text(i) == "half" && text(i+1) == "past":
		c, n = clockText{hour: hour, minute: 30}, 3
	case ok && text(i) == "quarter" && text(i+1) == "past":
		c, n = clockText{hour: hour, minute: 15}, 3
	case ok && text(i) == "quarter" && text(i+1) == "to":
		c, n = clockText{hour: (hour+10)%12 + 1, minute: 45}, 3
	default:
		hour, isWord := numberWords[text(i)]
		half := text(i+1) == "am" || text(i+1) == "pm" || text(i+1) == "oclock"
		lead := slices.Contains([]string{"at", "from", "until", "till", "before", "after"}, text(i-1))
		if !isWord || hour < 1 || hour > 12 || slices.Contains(countNouns, text(i)) || !half && !lead {
			return 0
		}
		c, n = clockText{hour: hour}, 1
	}
	if h := text(i + n); h == "am" || h == "pm" {
		c.half = h
		n++
	}
	minutes, unclear := c.minutes()
	r.setClock(minutes, text(i-1))
	if unclear {
		r.out.unclear = c.hour
	}
	return n + r.oclock(i+n)
}
