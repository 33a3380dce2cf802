package offline

import (
	"slices"
	"strconv"
	"strings"
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

// clockSaid reads a time of day in words at i, with how many they are: "half past
// nine", "half nine", "quarter to four", "noon", "ten", "2". sure is set where it
// can be nothing else.
func (r *timeReader) clockSaid(i int) (c clockText, n int, sure bool) {
	text := func(k int) string {
		if k < 0 || k >= len(r.words) || r.words[k].as != asNothing {
			return ""
		}
		return r.words[k].text
	}
	quarter := text(i) == "quarter"
	switch {
	case text(i) == "noon" || text(i) == "midday":
		return clockText{hour: 12, exact: true}, 1, true
	case text(i) == "half" && text(i+1) == "past", quarter && text(i+1) == "past", quarter && text(i+1) == "to":
		hour, ok := hourOf(text(i + 2))
		if !ok {
			return c, 0, false
		}
		switch c, n = (clockText{hour: hour, minute: 30}), 3; {
		case text(i+1) == "to":
			c = clockText{hour: (hour+10)%12 + 1, minute: 45}
		case quarter:
			c.minute = 15
		}
		sure = true
	case text(i) == "half":
		hour, ok := hourOf(text(i + 1))
		if !ok {
			return c, 0, false
		}
		c, n, sure = clockText{hour: hour, minute: 30}, 2, true // as said in Britain
	default:
		hour, ok := hourOf(text(i))
		if !ok {
			return c, 0, false
		}
		c, n = clockText{hour: hour}, 1
	}
	switch h := text(i + n); h {
	case "am", "pm":
		c.half, sure = h, true
		n++
	case "oclock", "sharp":
		sure = true
		n++
	}
	return c, n, sure
}

// spokenRange reads "half nine till eleven", "ten to noon" where at least one end
// is said in words.
func (r *timeReader) spokenRange(i int) int {
	from, n, sure := r.clockSaid(i)
	if n == 0 || i+n+1 >= len(r.words) || !slices.Contains(append([]string{"-"}, rangeJoints...), r.words[i+n].text) {
		return 0
	}
	joint := r.words[i+n].text
	to, more, sureTo := r.clockSaid(i + n + 1)
	if more == 0 {
		if typed, ok := parseClock(r.words[i+n+1].text); ok && r.words[i+n+1].as == asNothing {
			to, more, sureTo = typed, 1, strings.ContainsAny(r.words[i+n+1].text, ":.")
		}
	}
	lead := i > 0 && slices.Contains([]string{"from", "between", "at"}, r.words[i-1].text)
	switch {
	case more == 0, joint == "and" && !lead, !sure && !sureTo && !lead && !r.out.dayKnown():
		return 0
	case n == 1 && more == 1 && !sure && !sureTo && isNumber(r.words[i].text) && isNumber(r.words[i+n+1].text):
		return 0 // typed in figures
	}
	start, end, unclear, ok := rangeOf(from, to)
	if !ok {
		return 0
	}
	r.setRange(start, end)
	if unclear {
		r.out.unclear = from.hour
	}
	return n + 1 + more
}

// spokenClock reads "half past nine", "half 3", "at ten", "three o'clock".
func (r *timeReader) spokenClock(i int) int {
	lead := ""
	if i > 0 {
		lead = r.words[i-1].text
	}
	c, n, sure := r.clockSaid(i)
	_, isWord := numberWords[r.words[i].text]
	led := isWord && slices.Contains([]string{"at", "from", "until", "till", "before", "after", "by"}, lead)
	if n == 0 || !sure && !led {
		return 0
	}
	minutes, unclear := c.minutes()
	r.setClock(minutes, lead)
	if unclear {
		r.out.unclear = c.hour
	}
	return n
}
