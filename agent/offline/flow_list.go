package offline

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// filter is one way to narrow a list of jobs.
type filter struct {
	cues []string
	// title completes "3 jobs ...".
	title string
	set   func(args)
}

var filters = []filter{
	{[]string{"unassigned", "without a tech", "without tech", "without a technician", "without technician", "no tech", "no technician", "without anyone",
		"nobody on", "nobody has", "nobody is", "without anybody", "no one", "nobody yet", "noone", "needs a tech", "need a tech", "needs a technician", "not assigned", "not booked", "unbooked", "no visit", "without a visit", "unscheduled", "not scheduled", "unplanned", "still to book", "to be booked"}, "without a technician",
		func(a args) { a["unassigned"] = true }},
	{[]string{"urgent", "critical", "high priority", "high prio", "important"}, "of high or emergency priority",
		func(a args) { a["priority"] = []string{"emergency", "high"} }},
	{[]string{"low priority", "low prio"}, "of low priority", func(a args) { a["priority"] = []string{"low"} }},
	{[]string{"normal priority", "normal prio"}, "of normal priority", func(a args) { a["priority"] = []string{"normal"} }},
	{[]string{"emergency", "emergencies"}, "of emergency priority", func(a args) { a["priority"] = []string{"emergency"} }},
	{[]string{"waiting on parts", "waiting for parts", "waiting parts", "awaiting parts", "waiting on a part", "waiting for a part", "needs parts"}, "waiting for parts",
		func(a args) { a["status"] = []string{"waiting_parts"} }},
	{[]string{"on hold", "parked", "on ice", "stuck", "held up"}, "on hold", func(a args) { a["status"] = []string{"on_hold"} }},
	{[]string{"in progress", "running", "being worked on", "under way"}, "in progress", func(a args) { a["status"] = []string{"in_progress"} }},
	{[]string{"dispatched"}, "dispatched", func(a args) { a["status"] = []string{"dispatched"} }},
	{[]string{"new jobs", "new ones", "came in", "come in", "overnight"}, "new", func(a args) { a["status"] = []string{"new"} }},
}

// listCues ask for a list without narrowing it.
var listCues = []string{"open", "whats wrong", "what is wrong", "whats broken", "whats going on", "everything at", "anything at", "what jobs", "which jobs", "all jobs", "jobs at", "work orders", "whats up at", "whats up with", "whats happening at", "everything for", "anything for", "everything open", "anything open", "still open", "all the jobs", "list jobs", "show jobs", "attention", "worry about", "to worry", "at risk", "must be done", "has to be done", "jobs", "how many jobs"}

// riskCues ask for what will be late.
var riskCues = []string{"at risk", "attention", "worry about", "to worry", "in danger", "going to be late", "running late"}

var dueCues = []string{"due", "overdue", "deadline", "deadlines"}

// hasFilter reports whether a clause asks for a list of jobs. A clause that
// names a job is about that job.
func hasFilter(c *clause) bool {
	if namesJob(c) || len(c.ids.orders) > 0 {
		return false
	}
	for _, f := range filters {
		if c.has(f.cues...) {
			return true
		}
	}
	return c.has(listCues...) || c.has(dueCues...)
}

// runList answers which jobs there are.
func runList(t *turn, r *request) answer {
	a, title := args{}, []string{}
	var others []string
	for _, f := range filters {
		if r.has(f.cues...) {
			f.set(a)
			title = append(title, f.title)
		}
		for _, cue := range f.cues {
			others = append(others, strings.Fields(cue)...)
		}
	}
	if by, text, ok := t.dueBefore(r); ok {
		a["due_before"] = stamp(by)
		a["sort"] = "deadline"
		title = append(title, text)
	}
	if r.has("must be done", "has to be done", "needs to be done") && a["due_before"] == nil && r.when.dayKnown() {
		by := r.when.day.AddDate(0, 0, 1)
		a["due_before"], a["sort"] = stamp(by), "deadline"
		title = append(title, "due by "+by.Format(dayLayout+" 15:04"))
	}
	if r.has(riskCues...) {
		a["due_before"], a["sort"] = stamp(t.now.AddDate(0, 0, 14)), "deadline"
		title, r.site = append(title, "at risk"), ""
	}
	site := joinWords(without(strings.Fields(r.site), append(others, listWords...)...))
	if site == "" && len(a) == 0 {
		site = joinWords(without(r.words, append(others, listWords...)...))
	}
	if site != "" {
		a["site"] = site
	}
	if len(a) == 0 {
		return say("Which jobs: unassigned, urgent, waiting for parts, due by a time, or at a site?", t.memory.examples())
	}
	a["limit"] = 50
	return t.listJobs(r, a, site, strings.Join(title, ", "))
}

// listWords belong to the question and name no place.
var listWords = []string{"wrong", "broken", "going", "open", "left", "stuff", "jobs", "job", "many", "happening", "week", "end", "must", "done", "risk", "nobody", "status", "things", "attention", "whats", "worry", "prio", "priority", "nobody", "booked", "due", "everything", "customer", "customers", "site"}

// dueBefore reads the moment of "due by tomorrow noon"; a day alone means its
// end, unless "before" stands in front of it.
func (t *turn) dueBefore(r *request) (time.Time, string, bool) {
	w := r.when
	if r.has("overdue") {
		return t.now, "overdue", true
	}
	if !r.has(dueCues...) && !w.before {
		return time.Time{}, "", false
	}
	day := w.day
	if !w.dayKnown() {
		y, m, d := t.now.Date()
		day = time.Date(y, m, d, 0, 0, 0, 0, t.now.Location())
	}
	if len(w.days) > 0 {
		day = w.days[0]
	}
	minutes := 24 * 60
	switch {
	case w.window != "" && !w.before:
		minutes = w.to
	case w.clockKnown():
		minutes = w.from
	case w.week:
		day = day.AddDate(0, 0, 6)
	case w.before && r.has("before"):
		minutes = 0
	}
	by := time.Date(day.Year(), day.Month(), day.Day(), minutes/60, minutes%60, 0, 0, day.Location())
	return by, "due by " + by.Format(dayLayout+" 15:04"), true
}

func (t *turn) listJobs(r *request, a args, site, title string) answer {
	filter := args{}
	for k, v := range a {
		if k != "site" {
			filter[k] = v
		}
	}
	got, done := outcome{}, false
	if site == "" {
		got, done = t.call(toolSearchJobs, filter)
	} else {
		got, done = t.searchPlace(filter, site)
	}
	if !done {
		return waits
	}
	if a := whichSite(r, got); a != nil {
		return *a
	}
	if !got.ok() {
		return say(t.trouble(got, ""), nearSites(got.fault))
	}
	var list jobList
	got.read(&list)
	if r.has(riskCues...) {
		list.Items = slices.DeleteFunc(list.Items, func(j jobItem) bool {
			return !slices.Contains(j.Flags, "at_risk") && !slices.Contains(j.Flags, "overdue")
		})
		list.Total = len(list.Items)
	}
	return say(listText(list, site, title)...)
}

func nearSites(f fault) string {
	var out []string
	for _, c := range f.Candidates {
		if name := field(c, "name"); name != "" {
			out = append(out, "  "+name+orEmpty(", ", field(c, "address"), field(c, "address") != ""))
		}
	}
	return strings.Join(out, "\n")
}

func listText(list jobList, site, title string) []string {
	about := orEmpty(" ", title, title != "") + orEmpty(" at ", quoted(site, 60), site != "")
	if len(list.Items) == 0 {
		return []string{"No open job" + about + "."}
	}
	total := max(list.Total, len(list.Items))
	out := []string{count(total, "open job") + about + ":"}
	out = append(out, jobTable(list.Items))
	if total > len(list.Items) {
		out = append(out, "… and "+strconv.Itoa(total-len(list.Items))+" more.")
	}
	return out
}

// jobTable lists jobs: which, what, where, how it stands, who and when, until
// when. A cell says by itself what it is, for readers without columns.
func jobTable(items []jobItem) string {
	rows := make([][]string, len(items))
	for i, j := range items {
		rows[i] = []string{clean(j.ID, 20), clean(j.Title, 100), clean(j.Site.Name, 80), plain(j.Priority) + ", " + plain(j.Status), whoAndWhen(j), dueText(j)}
	}
	return tabled([]string{"Job", "What", "Where", "How it stands", "Who", "Until"}, rows)
}

func whoAndWhen(j jobItem) string {
	who := "no technician"
	if j.Technician != nil && j.Technician.Name != "" {
		who = clean(j.Technician.Name, 60)
	}
	if j.NextVisit != nil && j.NextVisit.Start != nil {
		who += ", " + span(j.NextVisit.Start, j.NextVisit.End)
	}
	return who
}

// dueText is the deadline with what else is to be known of the job.
func dueText(j jobItem) string {
	var parts []string
	if j.Resolve != nil {
		parts = append(parts, "due "+timeOf(j.Resolve))
	}
	for _, f := range j.Flags {
		if f != "no_technician" {
			parts = append(parts, strings.ToUpper(plain(f)))
		}
	}
	return strings.Join(parts, ", ")
}
