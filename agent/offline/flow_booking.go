package offline

import (
	"strings"
	"time"
)

// runBooking books a named technician for a job. Who is meant, and whether the
// name is a technician's at all, is read first; the rules of booking are the
// server's.
func runBooking(t *turn, r *request) answer {
	t.fillBooking(r)
	if a := t.bookingGap(r); a != nil {
		return *a
	}
	w, got, done := t.lookup(r.job)
	if !done {
		t.findPerson(r) // asked for in the same round
		return waits
	}
	if !got.ok() {
		return say(t.trouble(got, r.job), "Nothing was booked.")
	}
	if w.closed() {
		return say(w.ID + " is " + plain(w.Status) + ", so nobody can be booked for it. Nothing was booked.")
	}
	who, a := t.findPerson(r)
	if a != nil {
		return *a
	}
	start, end, ok := visitTimes(r.when, w.Minutes)
	switch {
	case !ok:
		return say("That hour does not exist on that day, because the clocks change. Nothing was booked.")
	case end.IsZero():
		return answer{text: "Until when? " + r.job + " has no estimate of how long it takes.", ask: &question{request: r, slot: slotTime}}
	}
	call := args{"work_order_id": r.job, "technician": who.ID, "start": stamp(start), "end": stamp(end)}
	if r.additional {
		call["additional"] = true
	}
	booked, done := t.write(toolSchedule, call, clean(who.Name, 60)+" for "+r.job+", "+spanOf(start, end))
	if !done {
		return waits
	}
	return t.bookingAnswer(r, booked, start)
}

// fillBooking takes from earlier lines what this one points at: "book her".
func (t *turn) fillBooking(r *request) {
	m := t.memory
	pronoun := r.has("her", "him", "them", "that slot", "it", "that one", "the first one")
	switch {
	case r.clause.listed && r.job == "" && r.site == "" && len(r.clause.ids.sites) == 0:
		r.site = joinWords(without(r.words, bookWords...)) // "the ice maker thursday 2-4, priya"
	case r.technician == "":
		r.technician = joinWords(r.words)
	}
	if r.technician == "" && r.site != "" && (r.job != "" || m.job != "") && !r.clause.has("at") {
		r.technician, r.site = r.site, "" // "book 1047 for priya"
		if r.job == "" {
			r.job = m.job
		}
	}
	if day, ok := m.offeredDay(t.now.Location()); ok && r.job != "" && r.job == m.offerJob && r.when.clockKnown() && !r.when.dayKnown() && len(r.when.days) == 0 {
		r.when.day = day
	}
	if r.technician != "" || !pronoun && r.slot == nil {
		return
	}
	if len(m.offered) == 1 && (r.job == "" || m.offerJob == "" || r.job == m.offerJob) {
		r.slot = &m.offered[0]
	}
	switch {
	case r.slot != nil:
		t.fillSlot(r)
	case len(m.offered) == 0:
		r.technician = m.person.ID
	}
}

// fillSlot takes what the line does not say from the free slot that it means.
func (t *turn) fillSlot(r *request) {
	if r.job == "" {
		r.job = t.memory.offerJob
	}
	r.technician = r.slot.Technician.ID
	if start, ok := r.slot.Start.instant(); ok && !r.when.said() {
		end, _ := r.slot.End.instant()
		r.when = whenOf(start.In(t.now.Location()), end.In(t.now.Location()), t.memory.wholeSlots)
	}
}

// bookingGap asks for what is missing, one thing at a time.
func (t *turn) bookingGap(r *request) *answer {
	if r.job == "" && r.site != "" {
		if _, a := t.jobsAt(r); a != nil {
			return a
		}
	}
	var a answer
	switch w := r.when; {
	case r.job == "":
		a = answer{text: "Book for which job?", ask: &question{request: r, slot: slotJob}}
	case r.technician == "", w.now:
		a = t.offerFree(r)
	case len(w.days) > 0:
		a = t.askDay(r)
	case w.unclear > 0:
		a = askHour(r)
	case !w.dayKnown():
		a = t.askWhichDay(r)
	case !w.clockKnown():
		a = t.offerFree(r)
	case w.after, w.before:
		a = t.offerFree(r)
	default:
		return nil
	}
	return &a
}

// offerFree asks who or when, with the free slots to choose from.
func (t *turn) offerFree(r *request) answer {
	offer := r.copy()
	offer.intent = t.table.named("send")
	offer.words = nil
	return runAvailability(t, offer)
}

// askDay asks which day an unclear one is.
func (t *turn) askDay(r *request) answer {
	q := &question{request: r, slot: slotTime}
	for _, d := range r.when.days {
		q.choices = append(q.choices, choice{label: d.Format(dayLayout), apply: func(b *request) { b.when.day, b.when.days = d, nil }})
	}
	return answer{text: lines("Which day is “"+clean(r.when.dayText, 40)+"”?", q.numbered()), ask: q}
}

// askWhichDay asks for the day where only a time was said.
func (t *turn) askWhichDay(r *request) answer {
	q := &question{request: r, slot: slotTime}
	y, m, d := t.now.Date()
	for i, label := range []string{"today", "tomorrow"} {
		day := time.Date(y, m, d+i, 0, 0, 0, 0, t.now.Location())
		q.choices = append(q.choices, choice{label: label + ", " + day.Format(dayLayout), apply: func(b *request) { b.when.day = day }})
	}
	text := "On which day?"
	if !r.when.clockKnown() {
		return answer{text: "When? Say a day and a time, for example “thursday 10-12”.", ask: &question{request: r, slot: slotTime}}
	}
	return answer{text: lines(text, q.numbered()), ask: q}
}

// askHour asks whether seven is in the morning or in the evening.
func askHour(r *request) answer {
	q := &question{request: r}
	for _, half := range []int{0, 12 * 60} {
		from := r.when.from%(12*60) + half
		q.choices = append(q.choices, choice{label: clockLabel(from), apply: func(b *request) {
			b.when.unclear, b.when.from = 0, from
			if b.when.to >= 0 && b.when.to <= from {
				b.when.to += 12 * 60
			}
		}})
	}
	return answer{text: lines("Morning or evening?", q.numbered()), ask: q}
}

func clockLabel(minutes int) string {
	return time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC).Format("15:04")
}

// visitTimes gives start and end; without an end the job's estimate counts. End
// is zero if there is none.
func visitTimes(w when, estimate int) (start, end time.Time, ok bool) {
	start, ok = at(w.day, w.from)
	switch {
	case !ok:
		return start, end, false
	case w.to >= 0:
		end, ok = at(w.day, w.to)
		return start, end, ok
	case w.minutes > 0:
		return start, start.Add(time.Duration(w.minutes) * time.Minute), true
	case estimate > 0:
		return start, start.Add(time.Duration(estimate) * time.Minute), true
	}
	return start, time.Time{}, true
}

// findPerson resolves the name through a search for that time, which changes
// nothing: it tells two people of one name apart from a name that is none. It
// gives the person, or the name as said if the server did not tell; or the answer
// that ends the flow.
func (t *turn) findPerson(r *request) (person, *answer) {
	start, _ := at(r.when.day, r.when.from)
	got, done := t.call(toolAvailability, args{
		"work_order_id": r.job, "technician": r.technician, "from": stamp(start), "to": stamp(start.Add(4 * time.Hour)),
	})
	if !done {
		return person{}, &waits
	}
	var free availability
	got.read(&free)
	switch {
	case got.fault.Code == "ambiguous_technician":
		return person{}, whichPerson(r, got)
	case got.fault.Code == "technician_not_found" && !r.terse:
		a := say(got.why()+" Nothing was booked.", nearPeople(got.fault))
		if q := whichPerson(r, got); q != nil && q.ask != nil {
			a = *q
			a.text = got.why() + "\n" + a.text
		}
		return person{}, &a
	case len(free.Slots) > 0 && free.Slots[0].Technician.ID != "":
		return free.Slots[0].Technician, nil
	case len(free.Excluded) > 0 && free.Excluded[0].Technician.ID != "":
		return free.Excluded[0].Technician, nil
	case r.terse:
		// Without a verb and without a person of that name it is no booking.
		a := say("I do not know what to do with that"+orEmpty(": ", got.why(), !got.ok())+" Nothing was booked.", t.memory.examples())
		return person{}, &a
	}
	return person{ID: r.technician, Name: r.technician}, nil
}

// whichPerson asks which of several people is meant.
func whichPerson(r *request, o outcome) *answer {
	said, _ := o.args["technician"].(string)
	q := &question{request: r, slot: slotTechnician}
	for _, c := range o.fault.Candidates {
		id, name := field(c, "technician"), field(c, "name")
		if id == "" {
			continue
		}
		label := name
		if skills := field(c, "skills_that_fit"); skills != "" {
			label += " (fits: " + strings.ReplaceAll(skills, "_", " ") + ")"
		}
		q.choices = append(q.choices, choice{label: label, words: name + " " + id, apply: func(b *request) { b.technician = id }})
	}
	label := "Which technician"
	if r.job != "" {
		label += " for " + r.job
	}
	a := answer{text: "Which technician do you mean by “" + clean(said, 40) + "”?", ask: q}
	if len(q.choices) > 0 {
		a.text = lines(label+"? “"+clean(said, 40)+"” could be:", q.numbered())
	}
	return &a
}

// bookWords belong to booking and name no job.
var bookWords = []string{"in", "down", "slot", "time", "pencil", "stick", "goes", "visit", "somebody", "someone"}
