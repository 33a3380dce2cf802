package offline

import (
	"slices"
	"strings"
	"time"
)

// maxVisits is how many visits an answer lists.
const maxVisits = 30

// runAgenda answers who is where and when: a person's day, what happens at a
// site, or everybody's visits.
func runAgenda(t *turn, r *request) answer {
	if len(r.when.days) > 0 {
		return t.askDay(r)
	}
	if !r.filled {
		r.filled = true
		if len(r.clause.ids.visits) > 0 {
			r.visit = r.clause.ids.visits[0]
		}
		switch words := joinWords(without(r.words, agendaWords...)); {
		case r.technician != "":
		case !r.clause.listed:
			r.technician = words
		case r.site == "":
			r.site = words // everybody's name is known, so it is a place
		}
	}
	a := args{}
	switch {
	case r.visit != "":
		a["visit_id"] = r.visit
	case r.job != "":
		a["work_order_id"] = r.job
	}
	if r.technician != "" {
		a["technician"] = r.technician
	}
	if r.site != "" && r.job == "" {
		a["site"] = r.site
	}
	from, to, bounded := t.agendaWindow(r, len(a) > 0 && (r.site != "" || r.job != "" || r.visit != ""))
	if bounded {
		a["from"], a["to"] = stamp(from), stamp(to)
	}
	got, done := t.call(toolAgenda, a)
	if !done {
		return waits
	}
	switch got.fault.Code {
	case "ambiguous_technician":
		return *whichPerson(r, got)
	case "ambiguous_site":
		if q := whichSite(r, got); q != nil {
			return *q
		}
	case "site_not_found":
		if shorter := lessOf(r.site); shorter != "" { // "petrel tower lifts"
			again := r.copy()
			again.site = shorter
			return runAgenda(t, again)
		}
	case "technician_not_found":
		if r.site == "" && r.job == "" { // "what is on at the bakery" without "at"
			again := r.copy()
			again.site, again.technician = r.technician, ""
			if found, done := t.call(toolAgenda, siteArgs(a, again.site)); !done {
				return waits
			} else if found.ok() {
				return t.agendaAnswer(again, found, from, to, bounded)
			}
		}
	}
	if !got.ok() {
		return say(t.trouble(got, r.job), nearPeople(got.fault), nearSites(got.fault))
	}
	return t.agendaAnswer(r, got, from, to, bounded)
}

// siteArgs are the arguments with a site in place of a person.
func siteArgs(a args, site string) args {
	out := args{"site": site}
	for k, v := range a {
		if k != "technician" {
			out[k] = v
		}
	}
	return out
}

// agendaWords belong to the question and name nobody.
var agendaWords = []string{
	"agenda", "diary", "calendar", "schedule", "double", "booked", "which", "two", "jobs", "got", "doing", "day", "visits", "plan", "plans", "week",
	"free", "whereabouts", "coming", "going", "due", "overview", "briefing", "morning", "whats", "appointments", "round", "rounds", "route", "clash", "clashes", "anybody", "anyone", "everybody", "everyone", "site", "yet", "arrived", "next", "tomorrow", "today", "good",
}

// agendaWindow is the time that was asked for: a day, a week or a part of a day;
// today where only a person was named. open says that without a time any time is
// meant.
func (t *turn) agendaWindow(r *request, open bool) (from, to time.Time, bounded bool) {
	w := r.when
	y, m, d := t.now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, t.now.Location())
	if r.has("double", "double-booked", "clash", "clashes") && !w.said() {
		return today, today.AddDate(0, 0, 7), true
	}
	switch {
	case w.now:
		return today, today.AddDate(0, 0, 1), true
	case w.week:
		return w.day, w.day.AddDate(0, 0, 7), true
	case w.clockKnown() && w.to > 0:
		day := w.day
		if !w.dayKnown() {
			day = today
		}
		start, okStart := at(day, w.from)
		end, okEnd := at(day, w.to)
		return start, end, okStart && okEnd
	case w.dayKnown():
		return w.day, w.day.AddDate(0, 0, 1), true
	case open:
		return from, to, false
	}
	return today, today.AddDate(0, 0, 1), true
}

func (t *turn) agendaAnswer(r *request, o outcome, from, to time.Time, bounded bool) answer {
	var found agenda
	o.read(&found)
	if r.visit != "" && len(found.Visits) > 1 {
		found.Visits = found.Visits[:1]
	}
	visits := slices.DeleteFunc(slices.Clone(found.Visits), func(v visit) bool { return v.Status == "cancelled" })
	who := ""
	if r.technician != "" && len(visits) > 0 {
		who = clean(visits[0].Technician.Name, 60)
		t.memory.person = visits[0].Technician
	} else if r.technician != "" {
		who = clean(r.technician, 60)
	}
	window := "from today on"
	if bounded {
		window = spanOf(from, to)
	}
	about := joined(slices.DeleteFunc([]string{who, orEmpty("", quoted(r.site, 60), r.site != ""), r.job}, func(s string) bool { return s == "" }), "and")
	var out []string
	switch {
	case len(visits) == 0 && about != "":
		out = append(out, "No visit of "+about+", "+window+".")
	case len(visits) == 0:
		out = append(out, "No visits, "+window+".")
	default:
		out = append(out, count(max(found.Total-(len(found.Visits)-len(visits)), len(visits)), "visit")+orEmpty(" of ", about, about != "")+", "+window+":")
	}
	if len(visits) == 1 {
		t.memory.visit = visits[0].ID
		t.memory.setJob(visits[0].Job)
	}
	switch {
	case len(visits) == 1:
		out = append(out, "  "+agendaLine(visits[0], r.technician == "", t.now.Location()))
	case len(visits) > 1:
		out = append(out, agendaTable(visits[:min(len(visits), maxVisits)], r.technician == "", t.now.Location()))
	}
	if more := len(visits) - maxVisits; more > 0 {
		out = append(out, "… and "+count(more, "more visit")+".")
	}
	return say(append(out, agendaRemarks(found)...)...)
}

func agendaLine(v visit, withPerson bool, zone *time.Location) string {
	line := visitTime(v, zone)
	if withPerson {
		line += ", " + clean(v.Technician.Name, 60)
	}
	line += ": " + clean(v.Job, 20) + " " + clean(v.Title, 80)
	if v.Site.Name != "" {
		line += ", " + clean(v.Site.Name, 80)
	}
	return line + " (" + visitState(v) + ")"
}

func agendaTable(visits []visit, withPerson bool, zone *time.Location) string {
	head := []string{"When", "Who", "Job", "What", "Where", "Visit"}
	rows := make([][]string, len(visits))
	day := commonDay(visits)
	for i, v := range visits {
		rows[i] = []string{strings.TrimPrefix(visitTime(v, zone), day), clean(v.Technician.Name, 60), clean(v.Job, 20), clean(v.Title, 80), clean(v.Site.Name, 80), visitState(v)}
		if !withPerson {
			rows[i] = slices.Delete(rows[i], 1, 2)
		}
	}
	if !withPerson {
		head = slices.Delete(head, 1, 2)
	}
	return tabled(head, rows)
}

// commonDay is the day of all visits, with a space; empty if they are on several.
func commonDay(visits []visit) string {
	day := dayOf(visits[0].Start)
	if day == "" || slices.ContainsFunc(visits, func(v visit) bool { return dayOf(v.Start) != day || dayOf(v.End) != day }) {
		return ""
	}
	return day + " "
}

func visitTime(v visit, zone *time.Location) string {
	when := span(v.Start, v.End)
	if localDiffers(v.Start, zone) {
		when += " (time at the site)"
	}
	return when
}

func visitState(v visit) string {
	how := visitWords[v.Status]
	if how == "" {
		how = plain(v.Status)
	}
	return clean(v.ID, 20) + ", " + how
}

// agendaRemarks are double bookings, time off and free times.
func agendaRemarks(a agenda) []string {
	var out []string
	for _, c := range a.Conflicts {
		ids := make([]string, len(c.Visits))
		for i, id := range c.Visits {
			ids[i] = clean(id, 20) + jobOf(a, id)
		}
		out = append(out, "Double booked: "+clean(c.Technician.Name, 60)+", "+joined(ids, "and")+".")
	}
	for _, f := range a.Off {
		out = append(out, "Off: "+clean(f.Technician.Name, 60)+", "+span(f.Start, f.End)+orEmpty(", ", quoted(f.Reason, 80), f.Reason != "")+".")
	}
	if n := len(a.Gaps); n > 0 && n <= 6 {
		gaps := make([]string, n)
		for i, g := range a.Gaps {
			gaps[i] = span(g.Start, g.End)
		}
		out = append(out, "Free: "+strings.Join(gaps, "; ")+".")
	}
	return out
}

func jobOf(a agenda, id string) string {
	for _, v := range a.Visits {
		if v.ID == id {
			return " (" + clean(v.Job, 20) + ")"
		}
	}
	return ""
}
