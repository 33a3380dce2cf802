package workorders

import (
	"fmt"
	"slices"
	"time"
)

// startStep is what the earliest start of a free time that begins now is
// rounded up to.
const startStep = 5 * time.Minute

// lookAhead is how far the next free time of somebody is looked for.
const lookAhead = 14 * 24 * time.Hour

// A search looks for people who are free.
type search struct {
	job        *WorkOrder  // may be nil
	site       *Site       // may be nil
	region     string      // may be empty
	skills     []string    // all are needed
	technician *Technician // only this one, if set
	start, end time.Time
	length     time.Duration
}

// free is what technician t has left of the search's window: the gaps that are
// long enough, or why there is none.
func (v view) free(q search, t *Technician) (gaps []interval, code, reason string) {
	if err := v.inactive(t); err != nil {
		return nil, "technician_inactive", err.Error()
	}
	missing, expired := v.lacking(t, q.skills, q.start)
	if missing != "" {
		return nil, "skill_missing", fmt.Sprintf("%s does not have the skill %s.", t.Name, v.skillName(missing))
	}
	if expired != "" {
		return nil, "certificate_expired", fmt.Sprintf("The %s certificate of %s ran out on %s.", v.skillName(expired), t.Name, validUntil(t, expired))
	}
	work := v.workTime(t, q.start, q.end)
	if len(longer(work, q.length)) == 0 {
		if off := offDuring(t, q.start, q.end); len(off) > 0 && len(work) > 0 {
			return nil, "technician_off", v.offText(t, off)
		}
		return nil, "outside_shift", v.shiftText(t, q.start) + "."
	}
	off := offDuring(t, q.start, q.end)
	var away []interval
	for _, p := range off {
		away = append(away, interval{p.Start.Time, p.End.Time})
	}
	present := without(work, away)
	if len(longer(present, q.length)) == 0 {
		return nil, "technician_off", v.offText(t, off)
	}
	clashes := v.clashes(t, q.start, q.end, "")
	var taken []interval
	for _, o := range clashes {
		taken = append(taken, interval{o.Start.Time, o.End.Time})
	}
	gaps = longer(without(present, taken), q.length)
	if len(gaps) == 0 {
		return nil, "technician_busy", t.Name + " has " + v.visitsText(clashes) + "."
	}
	return gaps, "", ""
}

func (v view) offText(t *Technician, off []Period) string {
	return fmt.Sprintf("%s is off %s (%s).", t.Name, span(off[0].Start.Time, off[0].End.Time, v.zone), off[0].Reason)
}

func longer(all []interval, least time.Duration) []interval {
	return slices.DeleteFunc(slices.Clone(all), func(i interval) bool { return i.length() < least })
}

// nextGap is the technician's next free time of that length from then on,
// whatever the skills, within the next two weeks. A visit being moved does not
// count.
func (v view) nextGap(t *Technician, from time.Time, length time.Duration, except string) (interval, bool) {
	if !t.Active {
		return interval{}, false
	}
	if from.Before(v.now) {
		from = v.now
	}
	from = roundUp(from)
	end := from.Add(lookAhead)
	var taken []interval
	for _, p := range offDuring(t, from, end) {
		taken = append(taken, interval{p.Start.Time, p.End.Time})
	}
	for _, o := range v.clashes(t, from, end, except) {
		taken = append(taken, interval{o.Start.Time, o.End.Time})
	}
	gaps := longer(without(v.workTime(t, from, end), taken), length)
	if len(gaps) == 0 {
		return interval{}, false
	}
	return gaps[0], true
}

func roundUp(t time.Time) time.Time {
	if rounded := t.Truncate(startStep); rounded.Before(t) {
		return rounded.Add(startStep)
	}
	return t
}
