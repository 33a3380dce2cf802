package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	clockShape = regexp.MustCompile(`^(\d{1,2})(?:[:.h](\d{2}))?(am|pm|a\.m|p\.m|h|hrs)?$`)
	rangeShape = regexp.MustCompile(`^(\d{1,2}(?:[:.]\d{2})?(?:am|pm|h)?)-(\d{1,2}(?:[:.]\d{2})?(?:am|pm|h)?)$`)
	armyRange  = regexp.MustCompile(`^([01]\d|2[0-3])(00|15|30|45)-([01]\d|2[0-4])(00|15|30|45)$`)
	armyClock  = regexp.MustCompile(`^(0\d)(00|15|30|45)(?:h|hrs)?$`)
	spacedDash = regexp.MustCompile(`\b(\d{1,2}(?:[:.]\d{2})?(?:am|pm)?)\s+[-–—]\s+(\d{1,2}(?:[:.]\d{2})?(?:am|pm)?)\b`)
	durationIn = regexp.MustCompile(`^(\d{1,3}(?:[.,]\d)?)(h|hr|hrs|hour|hours|m|min|mins|minutes)$`)
)

// joinRanges writes "8 - 10" as "8-10", so that a range is one word.
func joinRanges(line string) string { return spacedDash.ReplaceAllString(line, "$1-$2") }

// clockText is a time as typed: hour, minute and which half of the day.
type clockText struct {
	hour, minute int
	half         string // "am", "pm" or empty
	// exact is set for 24-hour writing (08:00, 15h), which needs no guess.
	exact bool
}

func parseClock(s string) (clockText, bool) {
	m := clockShape.FindStringSubmatch(s)
	if m == nil {
		return clockText{}, false
	}
	c := clockText{half: strings.ReplaceAll(m[3], ".", "")}
	c.hour, _ = strconv.Atoi(m[1]) // one or two digits by the pattern
	c.minute, _ = strconv.Atoi("0" + m[2])
	if c.half == "h" || c.half == "hrs" {
		c.half, c.exact = "", true
	}
	if len(m[1]) == 2 && m[1][0] == '0' || c.hour > 12 {
		c.exact = true
	}
	if c.hour > 24 || c.minute > 59 || c.half != "" && (c.hour > 12 || c.hour == 0) {
		return clockText{}, false
	}
	return c, true
}

// minutes gives minutes of the day: 1 to 6 without am or pm is the afternoon.
// unclear is set for 7, which is said of the morning and of the evening.
func (c clockText) minutes() (m int, unclear bool) {
	h := c.hour
	switch {
	case c.half == "am":
		h %= 12
	case c.half == "pm":
		h = h%12 + 12
	case c.exact:
	case h >= 1 && h <= 6:
		h += 12
	case h == 7:
		return 7*60 + c.minute, true
	}
	return h*60 + c.minute, false
}

// rangeJoints stand between the two ends of a range.
var rangeJoints = []string{"to", "till", "til", "until", "and"}

// clockRange reads "8-10", "1-3pm", "8:30-10", "9 to 11", "half nine till eleven".
func (r *timeReader) clockRange(i int) int {
	if n := r.spokenRange(i); n > 0 {
		return n
	}
	a, b, n := "", "", 0
	if m := rangeShape.FindStringSubmatch(r.words[i].text); m != nil {
		a, b, n = m[1], m[2], 1
	} else if m := armyRange.FindStringSubmatch(r.words[i].text); m != nil {
		a, b, n = m[1]+":"+m[2], m[3]+":"+m[4], 1
	} else if i+2 < len(r.words) && slices.Contains(rangeJoints, r.words[i+1].text) {
		lead := i > 0 && slices.Contains([]string{"from", "between", "at"}, r.words[i-1].text)
		if !lead && (r.words[i+1].text == "and" || !hasHalf(r.words[i+2].text) && !hasHalf(r.words[i].text) && !r.out.dayKnown()) {
			return 0
		}
		a, b, n = r.words[i].text, r.words[i+2].text, 3
	}
	from, okFrom := parseClock(a)
	to, okTo := parseClock(b)
	if !okFrom || !okTo {
		return 0
	}
	if n == 1 && i+1 < len(r.words) && !r.words[i].ends && (r.words[i+1].text == "am" || r.words[i+1].text == "pm") && to.half == "" {
		to.half, n = r.words[i+1].text, 2
	}
	start, end, unclear, ok := rangeOf(from, to)
	if !ok {
		return 0
	}
	r.setRange(start, end)
	if unclear {
		r.out.unclear = from.hour
	}
	return n
}

func (r *timeReader) setRange(start, end int) {
	w := &r.out
	w.several = w.several || w.clockKnown() && w.window == "" && (w.from != start || w.to != end)
	w.from, w.to, w.window = start, end, ""
}

func hasHalf(s string) bool { return strings.HasSuffix(s, "am") || strings.HasSuffix(s, "pm") }

// rangeOf reads both ends together: "1-3pm" is all afternoon, "11-1pm" is not
// from 23:00, and "10-2" ends after it starts.
func rangeOf(from, to clockText) (start, end int, unclear, ok bool) {
	end, endUnclear := to.minutes()
	if to.half == "pm" && from.half == "" && !from.exact {
		with := from
		with.half = "pm"
		if m, _ := with.minutes(); m < end {
			return m, end, false, true
		}
	}
	if to.half == "am" && from.half == "" {
		from.half = "am"
	}
	start, unclear = from.minutes()
	if endUnclear && start >= 12*60 {
		end += 12 * 60
	}
	if end <= start && to.half == "" && !to.exact && end+12*60 <= 24*60 {
		end += 12 * 60
	}
	if end <= start && from.half == "" && !from.exact && start >= 13*60 {
		start -= 12 * 60
	}
	return start, end, unclear, start < end
}

// clockLeads are the words before a bare hour; without one, "3" is a number.
var clockLeads = []string{"at", "from", "by", "before", "after", "around", "about", "until", "till", "to", "starting"}

// clock reads "10am", "8:30", "at 3", "noon", "by tomorrow noon".
func (r *timeReader) clock(i int) int {
	t := r.words[i].text
	lead := ""
	if i > 0 {
		lead = r.words[i-1].text
		if r.words[i-1].as == asTime && i > 1 {
			lead = r.words[i-2].text
		}
	}
	n := 1
	c, ok := parseClock(t)
	switch {
	case t == "noon" || t == "midday" || t == "lunchtime" || t == "lunch" && lead == "before":
		c = clockText{hour: 12, exact: true}
	case armyClock.MatchString(t):
		c, _ = parseClock(t[:2] + ":" + t[2:4])
	case !ok:
		return 0
	case i+1 < len(r.words) && r.words[i+1].text == "oclock":
	case strings.ContainsAny(t, ":") || hasHalf(t) || strings.HasSuffix(t, "h"):
	case i+1 < len(r.words) && !r.words[i].ends && (r.words[i+1].text == "am" || r.words[i+1].text == "pm") && len(t) <= 2 && c.hour <= 12 && c.hour > 0:
		c.half, n = r.words[i+1].text, 2
	case !slices.Contains(clockLeads, lead) || len(t) > 2 || c.exact && c.hour > 24:
		return 0
	}
	minutes, unclear := c.minutes()
	r.setClock(minutes, lead)
	if unclear {
		r.out.unclear = c.hour
	}
	return n + r.oclock(i+n)
}

func (r *timeReader) oclock(i int) int {
	if i < len(r.words) && (r.words[i].text == "oclock" || r.words[i].text == "sharp") {
		return 1
	}
	return 0
}

// setClock puts a single time where its lead word says: an end or a start.
func (r *timeReader) setClock(minutes int, lead string) {
	w := &r.out
	if lead == "until" || lead == "till" {
		w.to = minutes
		return
	}
	w.several = w.several || w.clockKnown() && w.window == "" && w.from != minutes
	w.from, w.to, w.window = minutes, -1, ""
}

// duration reads "for two hours", "90 min", "an hour", "half an hour".
func (r *timeReader) duration(i int) int {
	lead := i > 0 && r.words[i-1].text == "for"
	if m := durationIn.FindStringSubmatch(r.words[i].text); m != nil && (lead || m[2] != "m" && !isHour(m[1], m[2])) {
		return r.setDuration(m[1], m[2], 1)
	}
	for _, d := range spokenDurations {
		if n := phraseAt(r.words, i, d.words); n > 0 {
			r.out.minutes = d.minutes
			return n
		}
	}
	if n, used := spokenNumber(r.words, i); used == 2 && i+2 < len(r.words) && strings.HasPrefix(r.words[i+2].text, "min") {
		r.out.minutes = n
		return 3
	}
	if i+1 >= len(r.words) {
		return 0
	}
	unit := r.words[i+1].text
	if !slices.Contains([]string{"h", "hr", "hrs", "hour", "hours", "min", "mins", "minutes"}, unit) {
		return 0
	}
	number := r.words[i].text
	if number == "an" || number == "a" {
		number = "1"
	}
	if n, ok := numberWords[number]; ok {
		number = strconv.Itoa(n)
	}
	return r.setDuration(number, unit, 2)
}

// spokenDurations are lengths that are said in words.
var spokenDurations = []struct {
	words   string
	minutes int
}{
	{"an hour and a half", 90}, {"one hour and a half", 90}, {"one and a half hours", 90}, {"hour and a half", 90},
	{"two and a half hours", 150}, {"three quarters of an hour", 45}, {"a quarter of an hour", 15}, {"quarter of an hour", 15},
	{"half an hour", 30}, {"half hour", 30}, {"a couple of hours", 120}, {"couple of hours", 120}, {"a few hours", 180},
}

// isHour reports whether "15h" is a time of day rather than a length.
func isHour(number, unit string) bool {
	n, err := strconv.Atoi(number)
	return err == nil && unit == "h" && n >= 8
}

func (r *timeReader) setDuration(number, unit string, words int) int {
	v, err := strconv.ParseFloat(strings.Replace(number, ",", ".", 1), 64)
	if err != nil || v <= 0 || v > 2000 {
		return 0
	}
	if unit[0] == 'h' {
		v *= 60
	}
	r.out.minutes = int(v)
	return words
}

// at builds a local time first and then the instant. An hour that the clocks
// skip does not exist; of one that comes twice the first is meant.
func at(day time.Time, minutes int) (time.Time, bool) {
	y, m, d := day.Date()
	t := time.Date(y, m, d, minutes/60, minutes%60, 0, 0, day.Location())
	whole := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
	if t.Hour() != whole.Hour() || t.Minute() != whole.Minute() {
		return t, false
	}
	if earlier := t.Add(-time.Hour); earlier.Hour() == t.Hour() && earlier.Day() == t.Day() {
		t = earlier
	}
	return t, true
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

// dayLayout and spanOf are how answers print times that this package made
// itself; times from results come with their own local form.
const dayLayout = "Mon 2 Jan"

func spanOf(start, end time.Time) string {
	if h, m, s := start.Clock(); h+m+s == 0 && end.Equal(start.AddDate(0, 0, 1)) {
		return start.Format(dayLayout)
	}
	if start.Format(dayLayout) == end.Format(dayLayout) {
		return start.Format(dayLayout+" 15:04") + "–" + end.Format("15:04")
	}
	return start.Format(dayLayout+" 15:04") + " – " + end.Format(dayLayout+" 15:04")
}
