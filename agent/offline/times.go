package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// when is what a clause says about time. Days are resolved against the clock of
// the line; a day that could be two is kept as both.
type when struct {
	// day is midnight of the day named; zero if none was.
	day time.Time
	// days are the two readings of an unclear day ("tue" said on a Tuesday).
	days []time.Time
	// dayText is how the day was typed.
	dayText string

	// from and to are minutes of the day; -1 if not said.
	from, to int
	// window is the name of a named window, e.g. "morning".
	window string
	// unclear is an hour that could be morning or evening ("at 7"), or 0.
	unclear int
	// minutes is a duration that was said; 0 if none.
	minutes int

	// several is set if two times were said that cannot both be the start.
	several bool

	// now says "right now"; before and after say on which side of from the
	// time lies ("by noon", "after 3"); deadline says "before its deadline".
	now, before, after, deadline bool
	// week is set for "this week" and "next week": seven days from day.
	week bool
}

func (w when) dayKnown() bool   { return !w.day.IsZero() }
func (w when) clockKnown() bool { return w.from >= 0 }

// said reports whether anything about time was said.
func (w when) said() bool {
	return w.dayKnown() || len(w.days) > 0 || w.clockKnown() || w.unclear > 0 || w.now || w.deadline || w.minutes > 0
}

// windows are the named parts of a day, in minutes.
var windows = []struct {
	words    string
	from, to int
}{
	{"first thing in the morning", 8 * 60, 10 * 60},
	{"first thing", 8 * 60, 10 * 60},
	{"early morning", 7 * 60, 9 * 60},
	{"end of day", 15 * 60, 17 * 60},
	{"end of the day", 15 * 60, 17 * 60},
	{"whole day", 8 * 60, 17 * 60},
	{"all day", 8 * 60, 17 * 60},
	{"full day", 8 * 60, 17 * 60},
	{"morning", 8 * 60, 12 * 60},
	{"am", 8 * 60, 12 * 60},
	{"afternoon", 13 * 60, 17 * 60},
	{"arvo", 13 * 60, 17 * 60},
	{"pm", 13 * 60, 17 * 60},
	{"evening", 17 * 60, 21 * 60},
	{"early", 7 * 60, 9 * 60},
	{"late afternoon", 15 * 60, 17 * 60},
	{"after lunch", 13 * 60, 17 * 60},
	{"close of business", 15 * 60, 17 * 60},
	{"eod", 15 * 60, 17 * 60},
	{"cob", 15 * 60, 17 * 60},
}

var weekdays = map[string]time.Weekday{
	"sunday": time.Sunday, "sun": time.Sunday, "monday": time.Monday, "mon": time.Monday,
	"tuesday": time.Tuesday, "tue": time.Tuesday, "tues": time.Tuesday,
	"wednesday": time.Wednesday, "wed": time.Wednesday, "weds": time.Wednesday, "wensday": time.Wednesday, "wendsday": time.Wednesday, "wednsday": time.Wednesday,
	"thursday": time.Thursday, "thu": time.Thursday, "thur": time.Thursday, "thurs": time.Thursday,
	"friday": time.Friday, "fri": time.Friday, "saturday": time.Saturday, "sat": time.Saturday,
}

// relativeDays are days counted from today.
var relativeDays = []struct {
	words string
	days  int
}{
	{"day after tomorrow", 2}, {"today", 0}, {"tomorrow", 1}, {"tomorow", 1}, {"tommorow", 1}, {"tommorrow", 1},
	{"todays", 0}, {"tdy", 0}, {"2day", 0}, {"tomorrows", 1}, {"tmrw", 1}, {"tmr", 1}, {"tmrow", 1}, {"tomo", 1}, {"2moro", 1}, {"yesterday", -1},
}

// timeReader walks over a clause's words once and collects what they say of time.
type timeReader struct {
	words []word
	now   time.Time
	out   when
}

func readTimes(words []word, now time.Time) when {
	r := timeReader{words: words, now: now, out: when{from: -1, to: -1}}
	steps := []func(int) int{r.relative, r.weekday, r.date, r.named, r.fromNow, r.duration, r.clockRange, r.spokenClock, r.clock, r.instant}
	for i := 0; i < len(words); {
		n := 0
		if words[i].as == asNothing {
			for _, step := range steps {
				if n = step(i); n > 0 {
					break
				}
			}
		}
		for k := i; k < i+n; k++ {
			words[k].as = asTime
		}
		i += max(n, 1)
	}
	r.finish()
	return r.out
}

func (r *timeReader) today() time.Time {
	return time.Date(r.now.Year(), r.now.Month(), r.now.Day(), 0, 0, 0, 0, r.now.Location())
}

func (r *timeReader) setDay(day time.Time, text string) {
	if !r.out.dayKnown() && len(r.out.days) == 0 {
		r.out.day, r.out.dayText = day, text
	}
}

func (r *timeReader) relative(i int) int {
	for _, d := range relativeDays {
		if n := phraseAt(r.words, i, d.words); n > 0 {
			r.setDay(r.today().AddDate(0, 0, d.days), d.words)
			return n
		}
	}
	for _, p := range []string{"end of the week", "end of week", "the end of the week"} {
		if n := phraseAt(r.words, i, p); n > 0 {
			r.setDay(r.today().AddDate(0, 0, (int(time.Friday)-int(r.today().Weekday())+7)%7), p)
			return n
		}
	}
	if r.words[i].text == "tonight" {
		r.setDay(r.today(), "tonight")
		r.setWindow("evening", 17*60, 21*60)
		return 1
	}
	if n := r.dayOfNextWeek(i); n > 0 {
		return n
	}
	if n := r.daysAhead(i); n > 0 {
		return n
	}
	if i+1 < len(r.words) && r.words[i+1].text == "week" && (r.words[i].text == "this" || r.words[i].text == "next") {
		monday := r.today().AddDate(0, 0, 7-(int(r.today().Weekday())+6)%7)
		r.out.week = true
		if r.words[i].text == "this" {
			monday = r.today()
		}
		r.setDay(monday, r.words[i].text+" week")
		return 2
	}
	return 0
}

// dayOfNextWeek reads "thursday next week", "next week thursday" and "thursday
// week".
func (r *timeReader) dayOfNextWeek(i int) int {
	for _, p := range []struct {
		day, used int
		phrase    string
		at        int
	}{{0, 3, "next week", 1}, {2, 3, "next week", 0}, {3, 4, "next week on", 0}, {0, 2, "week", 1}, {3, 4, "a week on", 0}} {
		if i+p.used > len(r.words) || phraseAt(r.words, i+p.at, p.phrase) == 0 {
			continue
		}
		day, ok := weekdays[r.words[i+p.day].text]
		if !ok {
			continue
		}
		monday := r.today().AddDate(0, 0, 7-(int(r.today().Weekday())+6)%7)
		date := monday.AddDate(0, 0, (int(day)+6)%7)
		if p.phrase != "next week" && p.phrase != "next week on" { // a week after the next such day
			date = r.today().AddDate(0, 0, 7+(int(day)-int(r.today().Weekday())+6)%7+1)
		}
		r.setDay(date, joinWords(texts(r.words[i:i+p.used])))
		return p.used
	}
	return 0
}

// daysAhead reads "in two days", "in a week", "a week today", "two days from now".
func (r *timeReader) daysAhead(i int) int {
	k := i
	in := r.words[i].text == "in"
	if in {
		k++
	}
	if k+1 >= len(r.words) {
		return 0
	}
	unit := dayUnits[r.words[k+1].text]
	n, ok := dayCount(r.words[k].text)
	if unit == 0 || !ok {
		return 0
	}
	used := k + 2 - i
	behind := 0
	for _, p := range []string{"from now", "from today", "today", "from tomorrow", "tomorrow"} {
		if behind == 0 {
			behind = phraseAt(r.words, k+2, p)
		}
	}
	if !in && behind == 0 {
		return 0
	}
	days := n * unit
	if behind > 0 && r.words[k+1+behind].text == "tomorrow" {
		days++
	}
	r.setDay(r.today().AddDate(0, 0, days), joinWords(texts(r.words[i:i+used+behind])))
	return used + behind
}

// dayUnits are the units of whole days.
var dayUnits = map[string]int{"day": 1, "days": 1, "week": 7, "weeks": 7}

// dayCount reads how many days: "2", "two", "a".
func dayCount(s string) (int, bool) {
	if s == "a" || s == "an" {
		return 1, true
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n <= 60 {
		return n, true
	}
	n, ok := numberWords[s]
	return n, ok && n > 0 && n <= 60 && !slices.Contains(countNouns[:1], s)
}

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// weekday is the next such day after today. The day's own name, and "next" with
// another day, could mean two days.
func (r *timeReader) weekday(i int) int {
	n, next := 0, false
	if t := r.words[i].text; (t == "next" || t == "this" || t == "coming") && i+1 < len(r.words) {
		n, next = 1, t == "next"
	}
	name := strings.TrimSuffix(r.words[i+n].text, "s")
	day, ok := weekdays[r.words[i+n].text]
	if !ok {
		if day, ok = weekdays[name]; !ok || len(name) < 6 {
			return 0
		}
	}
	if r.words[i+n].as != asNothing || r.out.dayKnown() {
		return 0
	}
	ahead := (int(day) - int(r.today().Weekday()) + 7) % 7
	soon, later := r.today().AddDate(0, 0, ahead), r.today().AddDate(0, 0, ahead+7)
	text := r.words[i].raw
	if n > 0 {
		text += " " + r.words[i+n].raw
	}
	switch {
	case ahead == 0 && next:
		r.setDay(later, text)
	case ahead == 0 && n == 0, ahead > 0 && next:
		r.out.days, r.out.dayText = []time.Time{soon, later}, text
	default:
		r.setDay(soon, text)
	}
	return n + 1
}

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// monthOf reads a month's name. "Jun" and "may" are also names and words, so
// that dates need the number beside them.
func monthOf(s string) time.Month {
	for i, m := range months {
		if s == m || len(s) > 3 && strings.HasPrefix(strings.ToLower(time.Month(i+1).String()), s) {
			return time.Month(i + 1)
		}
	}
	return 0
}

// slashDate is a date as it is written here: the day first.
var slashDate = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})$`)

func dayNumber(s string) int {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		s = strings.TrimSuffix(s, suffix)
	}
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= 31 && len(s) <= 2 {
		return n
	}
	return 0
}

// date reads 2026-12-04, "4 dec", "dec 4" and "the 4th".
func (r *timeReader) date(i int) int {
	t := r.words[i].text
	if d, err := time.ParseInLocation("2006-01-02", t, r.now.Location()); err == nil {
		r.setDay(d, t)
		return 1
	}
	if m := slashDate.FindStringSubmatch(t); m != nil {
		d, month := dayNumber(m[1]), dayNumber(m[2])
		if d > 0 && month > 0 && month <= 12 && r.monthDay(d, time.Month(month), t) > 0 {
			return 1
		}
	}
	if i+1 < len(r.words) && r.words[i+1].as == asNothing {
		next := r.words[i+1].text
		if d, m := dayNumber(t), monthOf(next); d > 0 && m > 0 {
			return r.monthDay(d, m, t+" "+next)
		}
		if d, m := dayNumber(next), monthOf(t); d > 0 && m > 0 && !(i > 0 && m == time.June) {
			return r.monthDay(d, m, t+" "+next)
		}
	}
	if d := dayNumber(t); d > 0 && !startsWithDigit(t[len(t)-1:]) {
		day := time.Date(r.now.Year(), r.now.Month(), d, 0, 0, 0, 0, r.now.Location())
		if day.Before(r.today()) {
			day = time.Date(r.now.Year(), r.now.Month()+1, d, 0, 0, 0, 0, r.now.Location())
		}
		if day.Day() == d {
			r.setDay(day, t)
			return 1
		}
	}
	return 0
}

// monthDay sets a date. Beside a weekday ("fri 11 dec") the date counts if the
// two agree; if not, either could be the slip.
func (r *timeReader) monthDay(d int, m time.Month, text string) int {
	day := time.Date(r.now.Year(), m, d, 0, 0, 0, 0, r.now.Location())
	if day.Before(r.today().AddDate(0, -6, 0)) {
		day = time.Date(r.now.Year()+1, m, d, 0, 0, 0, 0, r.now.Location())
	}
	w := &r.out
	switch {
	case day.Day() != d:
		return 0
	case len(w.days) > 0 && day.Weekday() == w.days[0].Weekday():
		w.days, w.day = nil, day
	case w.dayKnown() && w.day.Weekday() == day.Weekday():
		w.day = day
	case w.dayKnown() && !w.day.Equal(day):
		w.days, w.day, w.dayText = []time.Time{w.day, day}, time.Time{}, w.dayText+" "+text
	default:
		r.setDay(day, text)
	}
	return 2
}

func (r *timeReader) setWindow(name string, from, to int) {
	if r.out.from < 0 {
		r.out.window, r.out.from, r.out.to = name, from, to
	}
}

func (r *timeReader) named(i int) int {
	skip := 0
	if t := r.words[i].text; t == "this" || t == "in" || t == "the" {
		if i+1 < len(r.words) && r.words[i+1].text == "the" {
			skip++
		}
		skip++
	}
	for _, w := range windows {
		if w.words == "am" && i > 0 && r.words[i-1].text == "i" {
			continue
		}
		if n := phraseAt(r.words, i+skip, w.words); n > 0 {
			r.setWindow(w.words, w.from, w.to)
			if skip > 0 && r.words[i].text == "this" {
				r.setDay(r.today(), "this "+w.words)
			}
			return skip + n
		}
	}
	return 0
}

// instant reads "now", "asap" and "deadline".
func (r *timeReader) instant(i int) int {
	for _, p := range []string{"right now", "straight away", "right away", "now", "asap", "immediately"} {
		if n := phraseAt(r.words, i, p); n > 0 {
			r.out.now = true
			return n
		}
	}
	if t := r.words[i].text; t == "deadline" || t == "due" && i > 0 && slices.Contains([]string{"its", "is"}, r.words[i-1].text) {
		r.out.deadline = t == "deadline"
		if r.out.deadline {
			return 1
		}
	}
	return 0
}

// finish applies what depends on the whole clause.
func (r *timeReader) finish() {
	w := &r.out
	for i := 1; i < len(r.words); i++ {
		if r.words[i].as == asTime && r.words[i-1].as == asNothing {
			switch r.words[i-1].text {
			case "by", "before":
				w.before = w.to < 0 || w.window != ""
			case "after":
				w.after = w.to < 0
			}
		}
	}
	if w.minutes > 0 && w.from >= 0 && (w.to < 0 || w.window != "") {
		w.to = w.from + w.minutes
		w.window = ""
	}
}
