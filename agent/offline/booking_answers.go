package offline

import (
	"strings"
	"time"

	"deskhand/agent"
)

// bookingAnswer says what came of a booking.
func (t *turn) bookingAnswer(r *request, o outcome, start time.Time) answer {
	switch o.state {
	case agent.CallDone:
		t.memory.lastDone = true
		return say(bookedText(o, r, t.now.Location()))
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		return say("The visit for " + r.job + ": " + withNothing(o, "Nothing was booked."))
	case agent.CallUnknown:
		return say("Nobody knows whether the visit for "+r.job+" was booked.", o.why())
	}
	switch o.fault.Code {
	case "ambiguous_technician", "technician_not_found":
		return *whichPerson(r, o)
	case "already_scheduled":
		return t.alreadyScheduled(r, o)
	case "technician_busy", "technician_off", "outside_shift", "window_in_past", "skill_missing", "certificate_expired", "technician_inactive":
		return t.alternatives(r, o, start)
	}
	return say(withNothing(o, "Nothing was booked."))
}

func bookedText(o outcome, r *request, zone *time.Location) string {
	if settledByPerson(o) {
		return "The visit for " + r.job + ": " + o.why()
	}
	var b booking
	o.read(&b)
	v := b.Visit
	if v.ID == "" && v.Technician.Name == "" {
		return "Booked for " + r.job + ". " + o.why()
	}
	job := clean(v.Job, 20)
	if job == "" {
		job = r.job
	}
	line := "Booked " + clean(v.Technician.Name, 60) + " for " + job + orEmpty(" ", clean(b.WorkOrder.Title, 100), b.WorkOrder.Title != "") + ", " + span(v.Start, v.End)
	if localDiffers(v.Start, zone) {
		line += " (time at the site)"
	}
	line += orEmpty(", at ", clean(v.Site.Name, 80), v.Site.Name != "") + orEmpty(" (", clean(v.ID, 20)+")", v.ID != "") + "."
	return lines(line, warningLines(b.Warnings))
}

// settledByPerson reports whether a person, not the server, says that the call
// happened; there are no data then.
func settledByPerson(o outcome) bool {
	return len(o.data) == 0 && strings.Contains(o.text, "person confirmed")
}

func warningLines(warnings []warning) string {
	var out []string
	for _, w := range warnings {
		if w.Message != "" {
			out = append(out, "Note: "+clean(w.Message, 240))
		}
	}
	return strings.Join(out, "\n")
}

// withNothing gives the reason, and says that nothing happened where that is
// certain and the reason does not say it. A server that wants to be asked first
// may have done it all the same, and so may one that failed without a code.
func withNothing(o outcome, nothing string) string {
	why := o.why()
	certain := o.state != agent.CallFailed || o.fault.Code != "" && o.fault.Retry != "check_first"
	if !certain || strings.Contains(why, "Nothing was ") {
		return why
	}
	return why + " " + nothing
}

// alreadyScheduled offers a second visit beside the one that stands.
func (t *turn) alreadyScheduled(r *request, o outcome) answer {
	q := &question{request: r}
	if id := o.fault.detail("visit"); id != "" {
		q.choices = append(q.choices, choice{label: "move " + id + " there instead", words: "move reschedule instead " + id, apply: func(b *request) {
			b.intent, b.visit, b.filled, b.sure = t.table.named("move"), id, true, true
		}})
	}
	q.choices = append(q.choices, []choice{
		{label: "book a second visit as well", words: "additional another", apply: func(b *request) { b.additional = true }},
		{label: "leave it as it is", leave: "Left as it is. Nothing was booked."},
	}...)
	return answer{text: lines(withNothing(o, "Nothing was booked.")+" What shall I do?", q.numbered()), ask: q}
}

// alternatives says why a booking was refused and who could do it that day.
func (t *turn) alternatives(r *request, o outcome, start time.Time) answer {
	why := withNothing(o, "Nothing was booked.")
	if o.fault.Code == "window_in_past" && !strings.Contains(why, "past") {
		why = "That is in the past. " + why
	}
	y, m, d := start.Date()
	from := time.Date(y, m, d, 0, 0, 0, 0, start.Location())
	to := from.AddDate(0, 0, 1)
	if from.Before(t.now) {
		from = t.now
	}
	if !to.After(from) {
		to = from.Add(24 * time.Hour)
	}
	got, done := t.call(toolAvailability, args{"work_order_id": r.job, "from": stamp(from), "to": stamp(to)})
	if !done {
		return waits
	}
	var free availability
	got.read(&free)
	if !got.ok() || len(free.Slots) == 0 {
		return say(why)
	}
	out := []string{why, "Free for " + r.job + ", " + spanOf(from, to) + ":"}
	for _, s := range free.Slots[:min(len(free.Slots), 3)] {
		out = append(out, "  "+slotLine(s, t.now.Location()))
	}
	return say(out...)
}
