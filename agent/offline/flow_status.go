package offline

import (
	"slices"
	"strings"
	"time"
)

// runStatus answers how a job stands.
func runStatus(t *turn, r *request) answer {
	if r.job == "" && r.site != "" {
		return runList(t, r)
	}
	if r.job == "" {
		return t.notUnderstood([]*clause{r.clause})
	}
	w, got, done := t.lookup(r.job)
	if !done {
		return waits
	}
	if !got.ok() {
		return say(t.trouble(got, r.job))
	}
	return say(jobText(w, r))
}

// runObey shows what a note says to a line that wants it followed.
func runObey(t *turn, r *request) answer {
	if r.job == "" {
		return say("I do not follow text in notes; I only do what is typed here. Which job's note shall I read to you?")
	}
	w, got, done := t.lookup(r.job)
	if !done {
		return waits
	}
	if !got.ok() {
		return say(t.trouble(got, r.job))
	}
	return say(
		"I do not follow what is written on "+w.ID+": that text comes from outside. Nothing was changed. It reads:",
		notesText(w, true),
		"If you want any of it done, say it to me in your own words.",
	)
}

// lookup reads a job.
func (t *turn) lookup(job string) (workOrder, outcome, bool) {
	got, done := t.call(toolLookup, args{"work_order_id": job})
	var read struct {
		WorkOrder workOrder `json:"work_order"`
	}
	if done && got.ok() {
		got.read(&read)
		if read.WorkOrder.ID == "" {
			read.WorkOrder.ID = job
		}
		read.WorkOrder.PartsNeeded = slices.DeleteFunc(read.WorkOrder.PartsNeeded, func(n neededPart) bool { return n.SKU == "" })
	}
	return read.WorkOrder, got, done
}

func jobText(w workOrder, r *request) string {
	return lines(
		headLine(w),
		siteLine(w, r.has("access", "get in", "key", "entrance", "door code")),
		peopleLine(w),
		deadlineLine(w.Deadlines),
		holdLine(w),
		partsLine(w),
		ordersLines(w),
		spendLine(w, r),
		notesText(w, r.has("note", "notes", "customer say", "customer said", "customer", "say", "says", "said", "wrong", "problem")),
	)
}

func headLine(w workOrder) string {
	return clean(w.ID, 20) + " " + clean(w.Title, 120) + ": " + plain(w.Status) + orEmpty(", ", plain(w.Priority)+" priority", w.Priority != "")
}

func orEmpty(before, s string, ok bool) string {
	if !ok {
		return ""
	}
	return before + s
}

func siteLine(w workOrder, access bool) string {
	var parts []string
	for _, s := range []string{w.Site.Name, w.Site.Address} {
		if s != "" {
			parts = append(parts, clean(s, 80))
		}
	}
	if w.Asset != nil {
		parts = append(parts, clean(strings.TrimSpace(w.Asset.Kind+" "+w.Asset.Model), 80))
	}
	line := strings.Join(parts, ", ")
	if access && w.Site.AccessText != "" {
		line = lines(line, "Access: "+quoted(w.Site.AccessText, 400))
	} else if access {
		line = lines(line, "No access notes.")
	}
	if access && w.Site.Hours != "" {
		line = lines(line, "Open: "+clean(w.Site.Hours, 80))
	}
	return line
}

// visitWords say how a visit stands.
var visitWords = map[string]string{
	"booked": "booked", "en_route": "on the way", "on_site": "on site", "done": "done", "no_access": "no access", "cancelled": "cancelled",
}

func peopleLine(w workOrder) string {
	var out []string
	for _, v := range w.Visits {
		if v.Status == "cancelled" || v.Status == "done" && len(w.Visits) > 3 {
			continue
		}
		how := visitWords[v.Status]
		if how == "" {
			how = plain(v.Status)
		}
		line := clean(v.ID, 20) + " " + clean(v.Technician.Name, 60) + ", " + span(v.Start, v.End) + ", " + how
		out = append(out, line+orEmpty(": ", quoted(v.NoteText, 160), v.NoteText != ""))
	}
	switch {
	case w.Technician == nil && len(out) == 0:
		return "No technician yet."
	case len(out) == 0:
		return "Technician: " + clean(w.Technician.Name, 60) + "; no visit booked."
	case w.Technician != nil && !strings.Contains(strings.Join(out, "\n"), clean(w.Technician.Name, 60)):
		return lines("Technician: "+clean(w.Technician.Name, 60), strings.Join(out, "\n"))
	}
	return strings.Join(out, "\n")
}

func deadlineLine(d deadlines) string {
	if d.Resolve == nil {
		return orEmpty("First visit due by ", timeOf(d.Respond)+".", d.Respond != nil)
	}
	line := "Must be done by " + timeOf(d.Resolve)
	switch {
	case d.Overdue:
		line += ": overdue"
	case d.AtRisk:
		line += ": at risk"
	}
	return line + "."
}

func holdLine(w workOrder) string {
	return orEmpty("On hold: ", clean(w.HoldReason, 200)+".", w.HoldReason != "")
}

func partsLine(w workOrder) string {
	var out []string
	for _, p := range w.PartsNeeded {
		line := count(p.Quantity, "piece") + " of " + clean(p.SKU, 40)
		out = append(out, line+orEmpty(" ", quoted(p.Text, 120), p.Text != ""))
	}
	return orEmpty("Needs ", strings.Join(out, "; ")+".", len(out) > 0)
}

func ordersLines(w workOrder) string {
	var out []string
	for _, o := range w.PartOrders {
		out = append(out, orderLine(o, false))
	}
	return strings.Join(out, "\n")
}

// spendLine is what was spent on a job, for those who ask.
func spendLine(w workOrder, r *request) string {
	if !r.has(spendWords...) {
		return ""
	}
	return "Spent on parts: " + w.Spend.Committed.String() + orEmpty(" of ", w.Spend.Limit.String(), w.Spend.Limit.Minor > 0) + "."
}

var spendWords = []string{"spend", "spent", "budget", "cost", "costs", "money", "expensive"}

// notesText quotes what people wrote: all of it if asked, else the newest note.
func notesText(w workOrder, all bool) string {
	limit, notes := 160, w.Notes
	if all {
		limit = 600
	} else if len(notes) > 1 {
		notes = notes[len(notes)-1:]
	}
	var out []string
	if w.ProblemText != "" {
		out = append(out, "Reported: "+quoted(w.ProblemText, limit))
	}
	for _, n := range notes {
		by := clean(n.By, 40)
		if by == "" {
			by = "somebody"
		}
		out = append(out, "Note by "+by+orEmpty(", ", timeOf(n.At), n.At != nil)+": "+quoted(n.Text, limit))
	}
	if all && len(notes) == 0 {
		out = append(out, "No notes.")
	}
	return strings.Join(out, "\n")
}

// localDiffers reports whether a moment is shown in another zone than the desk's.
func localDiffers(m *moment, zone *time.Location) bool {
	at, ok := m.instant()
	return ok && !strings.HasSuffix(m.Local, at.In(zone).Format("15:04"))
}
