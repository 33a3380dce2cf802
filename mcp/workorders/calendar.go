package workorders

import (
	"slices"
	"strings"
	"time"
)

// The company's calendar. Days and clock times are built in a zone and never
// by adding hours, so that a change of the clocks moves nothing.

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func weekday(t time.Time) string { return weekdays[t.Weekday()] }

// midnight is the start of t's day in its zone.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// nextDay is the same clock time a day later.
func nextDay(t time.Time) time.Time { return t.AddDate(0, 0, 1) }

// clockOn is "HH:MM" on day's date, in its zone. "24:00" is the next midnight.
func clockOn(day time.Time, clock string) (time.Time, bool) {
	if clock == "24:00" {
		return nextDay(midnight(day)), true
	}
	c, err := time.Parse("15:04", clock)
	if err != nil {
		return time.Time{}, false
	}
	// A shift that begins or ends in the missing hour does so when it is over.
	t, _ := wallTime(time.Date(day.Year(), day.Month(), day.Day(), c.Hour(), c.Minute(), 0, 0, time.UTC), day.Location())
	return t, true
}

// wallTime is the instant at which the clocks in zone show the date and time
// of wall, whatever its own zone. In the doubled hour of the year it is the
// first of two; in the missing hour there is none (ok is false), and it is the
// moment at which the clocks go forward.
func wallTime(wall time.Time, zone *time.Location) (t time.Time, ok bool) {
	t = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	// The offsets of a day before and a day after are those on both sides of a
	// change of the clocks; most days have none.
	_, before := t.Add(-24 * time.Hour).Zone()
	_, after := t.Add(24 * time.Hour).Zone()
	if before == after {
		return t, true
	}
	utc := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
	for _, offset := range []int{before, after} { // the first of two
		at := utc.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, shown := at.Zone(); shown == offset {
			return at, true
		}
	}
	start, end := t.ZoneBounds()
	if !end.IsZero() && end.Sub(t) < t.Sub(start) {
		return end, false
	}
	return start, false
}

func (c *contents) closedDay(day time.Time) bool {
	return slices.Contains(c.company.ClosedDays, day.In(c.zone).Format(time.DateOnly))
}

func (c *contents) workingDay(day time.Time) bool {
	return slices.Contains(c.company.WorkingDays, weekday(day.In(c.zone))) && !c.closedDay(day)
}

// orderDay is the day on which the supplier takes an order made now: today if
// it is a working day and the cut-off is not over, else the next working day.
func (c *contents) orderDay(s *Supplier, now time.Time) time.Time {
	now = now.In(c.zone)
	day := midnight(now)
	cutoff, ok := clockOn(day, s.OrderCutoff)
	if c.workingDay(day) && (!ok || !now.After(cutoff)) {
		return day
	}
	for range 366 {
		if day = nextDay(day); c.workingDay(day) {
			break
		}
	}
	return day
}

// arrival is noon of the day that lies the lead time after the order day.
func (c *contents) arrival(s *Supplier, leadDays int, now time.Time) time.Time {
	day := c.orderDay(s, now)
	for left, tries := leadDays, 0; left > 0 && tries < 3660; tries++ {
		if day = nextDay(day); c.workingDay(day) {
			left--
		}
	}
	noon, _ := clockOn(day, "12:00")
	return noon
}

// cutoff is the last moment at which an order still arrives as quoted now.
func (c *contents) cutoff(s *Supplier, now time.Time) time.Time {
	day := c.orderDay(s, now)
	if t, ok := clockOn(day, s.OrderCutoff); ok {
		return t
	}
	return nextDay(day)
}

// An interval is half-open: it holds its start and not its end.
type interval struct{ start, end time.Time }

func (i interval) length() time.Duration { return i.end.Sub(i.start) }

// clip is the part of i inside [start, end), which may be empty.
func (i interval) clip(start, end time.Time) interval {
	if i.start.Before(start) {
		i.start = start
	}
	if i.end.After(end) {
		i.end = end
	}
	return i
}

// merge joins intervals that overlap or touch and puts them in order.
func merge(all []interval) []interval {
	all = slices.DeleteFunc(slices.Clone(all), func(i interval) bool { return !i.start.Before(i.end) })
	slices.SortFunc(all, func(a, b interval) int { return a.start.Compare(b.start) })
	var out []interval
	for _, i := range all {
		if n := len(out); n > 0 && !i.start.After(out[n-1].end) {
			if i.end.After(out[n-1].end) {
				out[n-1].end = i.end
			}
			continue
		}
		out = append(out, i)
	}
	return out
}

// without is what of the merged intervals from is left when taken is gone.
func without(from, taken []interval) []interval {
	var out []interval
	taken = merge(taken)
	for _, f := range from {
		for _, t := range taken {
			if !overlaps(f.start, f.end, t.start, t.end) {
				continue
			}
			if f.start.Before(t.start) {
				out = append(out, interval{f.start, t.start})
			}
			f.start = t.end
			if !f.start.Before(f.end) {
				break
			}
		}
		if f.start.Before(f.end) {
			out = append(out, f)
		}
	}
	return out
}

// workTime lists when t works or is on call within [start, end).
func (c *contents) workTime(t *Technician, start, end time.Time) []interval {
	var out []interval
	// A shift may begin on the day before and end after midnight.
	for day := midnight(start.In(c.zone)).AddDate(0, 0, -1); day.Before(end); day = nextDay(day) {
		for _, s := range t.Shifts {
			if slices.Contains(s.Days, weekday(day)) {
				out = append(out, shiftOn(day, s).clip(start, end))
			}
		}
	}
	for _, p := range t.OnCall {
		out = append(out, interval{p.Start.Time, p.End.Time}.clip(start, end))
	}
	return merge(out)
}

func shiftOn(day time.Time, s Shift) interval {
	start, ok1 := clockOn(day, s.Start)
	end, ok2 := clockOn(day, s.End)
	if !ok1 || !ok2 {
		return interval{}
	}
	if !start.Before(end) {
		end, _ = clockOn(nextDay(day), s.End)
	}
	return interval{start, end}
}

// shiftText says when t works on the day of at, for a message.
func (c *contents) shiftText(t *Technician, at time.Time) string {
	day := midnight(at.In(c.zone))
	on := day.Format("Mon 2 Jan")
	var hours []string
	for _, i := range c.workTime(t, day, nextDay(day)) {
		hours = append(hours, i.start.In(c.zone).Format("15:04")+"-"+i.end.In(c.zone).Format("15:04"))
	}
	if len(hours) == 0 {
		return t.Name + " does not work on " + on
	}
	return t.Name + " works " + list(hours) + " on " + on
}

// offDuring lists the times off that overlap [start, end).
func offDuring(t *Technician, start, end time.Time) []Period {
	var out []Period
	for _, p := range t.TimeOff {
		if overlaps(start, end, p.Start.Time, p.End.Time) {
			out = append(out, p)
		}
	}
	return out
}

// openAt says whether the site is open for all of [start, end). Hours that are
// not a timetable ("by appointment") are taken as open.
func openAt(hours string, start, end time.Time) bool {
	days, clock, ok := strings.Cut(hours, " ")
	if rest, every := strings.CutPrefix(hours, "every day "); every {
		days, clock, ok = "sun-sat", rest, true
	}
	from, to, dash := strings.Cut(clock, "-")
	first, last, isRange := strings.Cut(days, "-")
	a, b := slices.Index(weekdays, first), slices.Index(weekdays, last)
	if !isRange {
		b = a
	}
	opens, ok1 := clockOn(start, from)
	closes, ok2 := clockOn(start, to)
	if !ok || !dash || a < 0 || b < 0 || !ok1 || !ok2 {
		return true
	}
	day := int(start.Weekday())
	inside := a <= day && day <= b || a > b && (day >= a || day <= b)
	if from == "00:00" && to == "24:00" && isRange && (b-a+7)%7 == 6 {
		return true // never closes, so a visit may pass midnight
	}
	return inside && !start.Before(opens) && !end.After(closes)
}
