package workorders

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Overrides that a person may approve, and the rules that they lift.
const (
	overrideShift = "outside_shift"
	overrideBusy  = "double_book"
)

// A booking is what a call wants to put into the calendar.
type booking struct {
	job        *WorkOrder
	technician *Technician
	start, end time.Time
	overrides  []string
	additional bool
	except     string // a visit that does not count, because it is being moved
}

// window reads a visit's start and end and checks them against the company's
// bounds. Both are meant in the zone of the job's site.
func (v view) window(w *WorkOrder, startText, endText string) (start, end time.Time, err error) {
	zone := v.siteZone(v.sites.get(w.SiteID))
	if start, err = localInstant("start", startText, zone); err != nil {
		return start, end, err
	}
	if end, err = localInstant("end", endText, zone); err != nil {
		return start, end, err
	}
	rules := v.company.WindowRules
	length := end.Sub(start)
	switch {
	case !start.Before(end):
		err = refuse("window_invalid", "end", "The visit must end after it starts.")
	case length < time.Duration(rules.MinMinutes)*time.Minute:
		err = refuse("window_invalid", "end", "A visit takes at least %d minutes.", rules.MinMinutes)
	case length > time.Duration(rules.MaxMinutes)*time.Minute:
		err = refuse("window_invalid", "end", "A visit takes at most %d hours.", rules.MaxMinutes/60)
	}
	return start, end, err
}

// inTime refuses starts in the past and too far ahead.
func (v view) inTime(b booking) error {
	if b.start.Before(v.now) {
		r := refuse("window_in_past", "start", "%s is in the past; it is %s now.",
			b.start.In(v.zone).Format(localLayout), v.now.In(v.zone).Format(localLayout))
		return r.offer(v.nextFree(b)...)
	}
	if days := v.company.WindowRules.MaxDaysAhead; b.start.After(v.now.AddDate(0, 0, days)) {
		return refuse("window_too_far", "start", "%s is more than %d days ahead.", b.start.In(v.zone).Format("Mon 2 Jan 2006"), days)
	}
	return nil
}

// allowed applies the rules about the person and the calendar, in their fixed
// order; the first that refuses wins. What an override lifts becomes a warning.
func (v view) allowed(b booking) ([]Warning, error) {
	t := b.technician
	missing, expired := v.lacking(t, b.job.RequiredSkills, b.start)
	if missing != "" {
		return nil, refuse("skill_missing", "technician", "%s does not have the skill %s, which %s needs.", t.Name, v.skillName(missing), b.job.ID).
			detail("skill", missing).offer(v.others(b)...)
	}
	if expired != "" {
		return nil, refuse("certificate_expired", "technician", "The %s certificate of %s ran out on %s.", v.skillName(expired), t.Name, validUntil(t, expired)).
			detail("skill", expired).offer(v.others(b)...)
	}
	if off := offDuring(t, b.start, b.end); len(off) > 0 {
		return nil, refuse("technician_off", "start", "%s is off %s (%s).", t.Name, span(off[0].Start.Time, off[0].End.Time, v.zone), off[0].Reason).
			offer(append(v.nextFree(b), v.others(b)...)...)
	}
	if o := v.openVisit(b.job, v.now); o != nil && !b.additional && o.ID != b.except {
		return nil, refuse("already_scheduled", "work_order_id", "%s already has visit %s %s; move that visit, or book an additional one.",
			b.job.ID, o.ID, span(o.Start.Time, o.End.Time, v.siteZone(v.sites.get(o.SiteID)))).detail("visit", o.ID)
	}
	var warnings []Warning
	if !v.works(t, b.start, b.end) {
		message := v.shiftText(t, b.start) + "."
		if !slices.Contains(b.overrides, overrideShift) {
			return nil, refuse("outside_shift", "start", "%s", message).detail("override", overrideShift).offer(append(v.nextFree(b), v.others(b)...)...)
		}
		warnings = append(warnings, Warning{"outside_shift", message})
	}
	if clashes := v.clashes(t, b.start, b.end, b.except); len(clashes) > 0 {
		message := t.Name + " has " + v.visitsText(clashes) + "."
		if !slices.Contains(b.overrides, overrideBusy) {
			var ids []string
			for _, o := range clashes {
				ids = append(ids, o.ID)
			}
			return nil, refuse("technician_busy", "start", "%s", message).detail("conflicts", ids).detail("override", overrideBusy).
				offer(append(v.nextFree(b), v.others(b)...)...)
		}
		warnings = append(warnings, Warning{"technician_busy", message})
	}
	return append(warnings, v.bookingWarnings(b)...), nil
}

// works says whether all of [start, end) is inside shifts or on-call periods.
func (c *contents) works(t *Technician, start, end time.Time) bool {
	for _, i := range c.workTime(t, start, end) {
		if !i.start.After(start) && !i.end.Before(end) {
			return true
		}
	}
	return false
}

func validUntil(t *Technician, skill string) string {
	for _, s := range t.Skills {
		if s.ID == skill {
			return s.ValidUntil
		}
	}
	return ""
}

// visitsText names visits by their job and time: "WO-1016 Wed 2 Dec 09:00-11:00".
func (c *contents) visitsText(visits []*Visit) string {
	var out []string
	for _, o := range visits {
		out = append(out, o.WorkOrderID+" "+span(o.Start.Time, o.End.Time, c.zone))
	}
	return list(out)
}

// bookingWarnings lists what speaks against the time without forbidding it.
func (v view) bookingWarnings(b booking) []Warning {
	warnings := v.timeWarnings(b.job, v.sites.get(b.job.SiteID), b.start, b.end)
	add := func(code, format string, args ...any) {
		warnings = append(warnings, Warning{code, fmt.Sprintf(format, args...)})
	}
	site := v.sites.get(b.job.SiteID)
	if !slices.Contains(b.technician.Regions, site.Region) {
		add("outside_region", "%s is not one of %s's regions.", v.regionName(site.Region), b.technician.Name)
	}
	if minutes := int(b.end.Sub(b.start).Minutes()); minutes < b.job.EstimatedMinutes {
		add("shorter_than_estimate", "The visit takes %d minutes, the job is estimated at %d.", minutes, b.job.EstimatedMinutes)
	}
	return append(warnings, v.dayWarnings(b.technician, site, b.start, b.end, b.except)...)
}

// timeWarnings compares a time with the job and the opening hours of its site.
// Either may be nil.
func (v view) timeWarnings(w *WorkOrder, site *Site, start, end time.Time) []Warning {
	var out []Warning
	add := func(code, format string, args ...any) { out = append(out, Warning{code, fmt.Sprintf(format, args...)}) }
	zone := v.zone
	if site != nil {
		zone = v.siteZone(site)
	}
	if w != nil && w.ResolveBy != nil && end.After(w.ResolveBy.Time) {
		add("after_resolve_by", "%s must be resolved by %s.", w.ID, w.ResolveBy.In(zone).Format(localLayout))
	}
	if w != nil && w.WindowStart != nil && w.WindowEnd != nil && (start.Before(w.WindowStart.Time) || end.After(w.WindowEnd.Time)) {
		add("outside_requested_window", "The customer asked for %s.", span(w.WindowStart.Time, w.WindowEnd.Time, zone))
	}
	if site != nil && !openAt(site.OpeningHours, start.In(zone), end.In(zone)) {
		add("outside_opening_hours", "%s is open %s.", site.Name, site.OpeningHours)
	}
	if v.closedDay(start) {
		add("company_closed_day", "The company is closed on %s.", start.In(v.zone).Format("Mon 2 Jan"))
	}
	return out
}

// dayWarnings looks at the technician's other visits of that day. Site may be nil.
func (v view) dayWarnings(t *Technician, site *Site, start, end time.Time, except string) []Warning {
	var out []Warning
	day := midnight(start.In(v.zone))
	visits := 1
	buffer := time.Duration(v.company.WindowRules.TravelBufferMinutes) * time.Minute
	var near *Visit
	for _, id := range v.related(visitsByDay, dayKey(t.ID, day)) {
		if id != except {
			visits++
		}
	}
	for _, o := range v.clashes(t, start.Add(-buffer), end.Add(buffer), except) {
		if (site == nil || o.SiteID != site.ID) && !overlaps(start, end, o.Start.Time, o.End.Time) {
			near = o
		}
	}
	if visits > t.MaxVisitsDaily {
		out = append(out, Warning{"max_visits_per_day", fmt.Sprintf("It would be visit %d of %s on that day, %d is the most.", visits, t.Name, t.MaxVisitsDaily)})
	}
	if near != nil {
		out = append(out, Warning{"travel_buffer", fmt.Sprintf("There are less than %d minutes between this and %s at %s.",
			v.company.WindowRules.TravelBufferMinutes, v.visitsText([]*Visit{near}), v.sites.get(near.SiteID).Name)})
	}
	return out
}

// nextFree offers the technician's next free time of the same length.
func (v view) nextFree(b booking) []map[string]any {
	from := b.start
	if from.Before(v.now) {
		from = v.now
	}
	free, ok := v.nextGap(b.technician, from, b.end.Sub(b.start), b.except)
	if !ok {
		return nil
	}
	return []map[string]any{v.candidate(b, b.technician, free.start)}
}

// others offers technicians who could come at that time.
func (v view) others(b booking) []map[string]any {
	var out []map[string]any
	site := v.sites.get(b.job.SiteID)
	for t := range v.technicians.all() {
		missing, expired := v.lacking(t, b.job.RequiredSkills, b.start)
		if t.ID == b.technician.ID || !t.Active || missing+expired != "" || !slices.Contains(t.Regions, site.Region) {
			continue
		}
		if len(offDuring(t, b.start, b.end)) == 0 && v.works(t, b.start, b.end) && len(v.clashes(t, b.start, b.end, b.except)) == 0 {
			out = append(out, v.candidate(b, t, b.start))
		}
	}
	return out
}

func (v view) candidate(b booking, t *Technician, start time.Time) map[string]any {
	zone := v.siteZone(v.sites.get(b.job.SiteID))
	return map[string]any{
		"technician": t.ID, "name": t.Name,
		"start": start.In(zone).Format(stampLayout), "end": start.Add(b.end.Sub(b.start)).In(zone).Format(stampLayout),
	}
}

// inactive refuses somebody who is on long leave or has left.
func (v view) inactive(t *Technician) error {
	if t.Active {
		return nil
	}
	reason := "is not active"
	if off := offDuring(t, v.now, v.now.Add(time.Minute)); len(off) > 0 && off[0].Reason != "" {
		reason = fmt.Sprintf("is away until %s (%s)", off[0].End.In(v.zone).Format("Mon 2 Jan 2006"), off[0].Reason)
	}
	return refuse("technician_inactive", "technician", "%s %s and cannot be booked.", t.Name, reason)
}

// reasoned refuses overrides without a reason.
func reasoned(overrides []string, reason string) error {
	if len(overrides) > 0 && strings.TrimSpace(reason) == "" {
		return refuse("invalid_arguments", "override_reason", "An override needs a reason.")
	}
	return nil
}
