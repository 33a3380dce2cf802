package offline

import (
	"slices"
	"strings"
	"time"
)

// An agenda is what get_schedule gives.
type agenda struct {
	Visits []visit `json:"visits"`
	Gaps   []struct {
		Technician person  `json:"technician"`
		Start      *moment `json:"start"`
		End        *moment `json:"end"`
	} `json:"gaps"`
	Conflicts []struct {
		Visits     []string `json:"visit_ids"`
		Technician person   `json:"technician"`
	} `json:"conflicts"`
	Off []struct {
		Technician person  `json:"technician"`
		Start      *moment `json:"start"`
		End        *moment `json:"end"`
		Reason     string  `json:"reason_text"`
	} `json:"off"`
	Total int `json:"total"`
}

// movableVisits are those that can still be moved or cancelled.
func movableVisits(visits []visit) []visit {
	return slices.DeleteFunc(slices.Clone(visits), func(v visit) bool { return v.Status != "booked" || v.ID == "" })
}

// theVisit finds the one booked visit that a request is about: by its own
// number, by its job, by its site or by its person. A nil answer means that
// there is exactly one.
func (t *turn) theVisit(r *request) (visit, *answer) {
	nothing := "Nothing was " + r.intent.write + "."
	switch {
	case r.visit != "":
		return t.visitOf(r, args{"visit_id": r.visit}, r.visit, nothing)
	case r.job != "":
		return t.visitOfJob(r, nothing)
	case r.site != "":
		return t.visitAt(r, nothing)
	case r.holder != "":
		a := args{"technician": r.holder}
		if from, to, ok := t.dayOf(r.when); ok && r.intent.name == "cancel" {
			a["from"], a["to"] = stamp(from), stamp(to)
		}
		return t.visitOf(r, a, clean(r.holder, 60), nothing)
	}
	return visit{}, &answer{
		text: lines("Which job's visit do you mean? "+nothing, t.memory.examples()),
		ask:  &question{request: r, slot: slotJob},
	}
}

// visitAt finds the visit at a place, or of a job that the words describe.
func (t *turn) visitAt(r *request, nothing string) (visit, *answer) {
	if found, done := t.call(toolAgenda, args{"site": r.site}); !done {
		return visit{}, &waits
	} else if found.fault.Code != "site_not_found" {
		return t.visitOf(r, args{"site": r.site}, quoted(r.site, 60), nothing)
	}
	if _, a := t.jobsAt(r); a != nil {
		return visit{}, a
	}
	return t.visitOfJob(r, nothing)
}

// dayOf is the day that was said, whole.
func (t *turn) dayOf(w when) (from, to time.Time, ok bool) {
	if !w.dayKnown() {
		return from, to, false
	}
	return w.day, w.day.AddDate(0, 0, 1), true
}

func (t *turn) visitOfJob(r *request, nothing string) (visit, *answer) {
	w, got, done := t.lookup(r.job)
	if !done {
		return visit{}, &waits
	}
	if !got.ok() {
		a := say(t.trouble(got, r.job), nothing)
		return visit{}, &a
	}
	if w.closed() {
		a := say(w.ID + " is " + plain(w.Status) + ". " + nothing)
		return visit{}, &a
	}
	r.unbooked = true
	for i, v := range w.Visits {
		w.Visits[i].Job, w.Visits[i].Site = w.ID, w.Site
		if slices.Contains([]string{"booked", "en_route", "on_site"}, v.Status) {
			r.unbooked = false
		}
	}
	if len(movableVisits(w.Visits)) == 0 && !r.unbooked {
		return t.visitThatRuns(w, nothing)
	}
	return t.oneVisit(r, movableVisits(w.Visits), w.ID, nothing)
}

func (t *turn) visitOf(r *request, a args, about, nothing string) (visit, *answer) {
	got, done := t.call(toolAgenda, a)
	if !done {
		return visit{}, &waits
	}
	switch {
	case got.fault.Code == "ambiguous_technician":
		return visit{}, whichPerson(r, got)
	case got.fault.Code == "ambiguous_site":
		if a := whichSite(r, got); a != nil {
			return visit{}, a
		}
	}
	if !got.ok() {
		a := say(t.trouble(got, ""), nearPeople(got.fault), nearSites(got.fault), nothing)
		return visit{}, &a
	}
	var found agenda
	got.read(&found)
	visits := found.Visits
	if r.visit != "" { // the others are its neighbours
		visits = slices.DeleteFunc(slices.Clone(visits), func(v visit) bool { return v.ID != r.visit })
	}
	if r.holder != "" && a["technician"] == nil {
		if own := slices.DeleteFunc(slices.Clone(visits), func(v visit) bool { return v.Technician.ID != r.holder && !isNamed(v.Technician.Name, r.holder) }); len(own) > 0 {
			visits = own
		}
	}
	if movable := movableVisits(visits); len(movable) > 0 || len(visits) == 0 {
		return t.oneVisit(r, movable, about, nothing)
	}
	return visit{}, cannotChange(visits[0], nothing)
}

// visitThatRuns says of a job's visit that somebody is on the way or there.
func (t *turn) visitThatRuns(w workOrder, nothing string) (visit, *answer) {
	for _, v := range w.Visits {
		if v.Status == "en_route" || v.Status == "on_site" {
			return visit{}, cannotChange(v, nothing)
		}
	}
	return visit{}, &answer{text: "There is no booked visit for " + w.ID + ". " + nothing}
}

func cannotChange(v visit, nothing string) *answer {
	how := visitWords[v.Status]
	if how == "" {
		how = plain(v.Status)
	}
	a := say("Visit " + clean(v.ID, 20) + " of " + clean(v.Job, 20) + orEmpty(" (", clean(v.Technician.Name, 60)+")", v.Technician.Name != "") + " is " + how + ", so it cannot be changed. " + nothing)
	return &a
}

// isNamed reports whether every word that was said is one of a name.
func isNamed(name, said string) bool {
	have := textWords(name)
	for _, w := range textWords(said) {
		if !slices.ContainsFunc(have, func(h string) bool { return h == w || len(w) > 2 && strings.HasPrefix(h, w) }) {
			return false
		}
	}
	return said != ""
}

// oneVisit gives the only visit, or asks.
func (t *turn) oneVisit(r *request, visits []visit, about, nothing string) (visit, *answer) {
	if w := r.current; w != nil && (w.clockKnown() || w.dayKnown() && len(visits) > 1) {
		zone := t.now.Location()
		visits = slices.DeleteFunc(slices.Clone(visits), func(v visit) bool {
			start, ok := v.Start.instant()
			return ok && !w.holds(start.In(zone))
		})
	}
	switch len(visits) {
	case 0:
		a := say("There is no booked visit for " + about + r.currentClock() + ". " + nothing)
		return visit{}, &a
	case 1:
		t.memory.setJob(visits[0].Job)
		return visits[0], nil
	}
	q := &question{request: r}
	for _, v := range visits[:min(len(visits), maxChoices)] {
		q.choices = append(q.choices, choice{
			label: visitLabel(v), words: v.ID + " " + v.Job + " " + strings.TrimPrefix(v.Job, "WO-") + " " + v.Technician.Name,
			apply: func(b *request) { b.visit, b.job, b.site = v.ID, "", "" },
		})
	}
	return visit{}, &answer{text: lines("Which visit do you mean?", q.numbered()), ask: q}
}

// currentClock says at what time the line said that the visit is.
func (r *request) currentClock() string {
	if r.current == nil || !r.current.clockKnown() {
		return ""
	}
	return " at " + clockLabel(r.current.from)
}

// holds reports whether a visit that starts then can be the one of that time.
func (w when) holds(start time.Time) bool {
	minutes := start.Hour()*60 + start.Minute()
	switch {
	case w.dayKnown() && !sameDay(start, w.day):
		return false
	case w.clockKnown() && w.window != "":
		return minutes >= w.from && minutes < w.to
	case w.clockKnown():
		return minutes == w.from
	}
	return true
}

func sameDay(a, b time.Time) bool {
	y, m, d := a.Date()
	y2, m2, d2 := b.Date()
	return y == y2 && m == m2 && d == d2
}

// visitLabel is a visit in a list of choices.
func visitLabel(v visit) string {
	label := clean(v.ID, 20)
	if v.Job != "" {
		label += " of " + clean(v.Job, 20) + orEmpty(" ", clean(v.Title, 60), v.Title != "")
	}
	return label + ", " + clean(v.Technician.Name, 60) + ", " + span(v.Start, v.End)
}
