package offline

import (
	"slices"
	"strings"
	"time"

	"deskhand/agent"
)

// runMove moves a visit to another time, or hands it to another person. It only
// asks for the call: a person decides on its card, and the server keeps the
// rules.
func runMove(t *turn, r *request) answer {
	t.fillMove(r)
	if len(r.when.days) > 0 {
		return t.askDay(r)
	}
	if r.when.unclear > 0 {
		return askHour(r)
	}
	v, a := t.theVisit(r)
	if a != nil {
		if r.unbooked && r.technician != "" && r.when.dayKnown() && r.when.clockKnown() && !r.asks {
			return t.bookInstead(r)
		}
		return *a
	}
	r.visit, r.job = v.ID, v.Job
	start, end, problem := t.newTimes(r, v)
	if problem != nil {
		return *problem
	}
	if r.asks && !r.sure {
		return t.couldMove(r, v, start, end)
	}
	call := args{"visit_id": v.ID, "start": stamp(start), "end": stamp(end)}
	whom := clean(v.Technician.Name, 60)
	if r.technician != "" {
		who, a := t.newPerson(r, v, start, end)
		if a != nil {
			return *a
		}
		if who.ID != v.Technician.ID {
			call["technician"], whom = who.ID, clean(who.Name, 60)
		}
	}
	if v.isAt(start, end) && call["technician"] == nil {
		return say(visitLabel(v) + ": it is like that already. Nothing was moved.")
	}
	if r.reason != "" {
		call["reason"] = r.reason
	}
	got, done := t.write(toolMove, call, v.ID+" to "+spanOf(start, end)+", "+whom)
	if !done {
		return waits
	}
	t.memory.visit = v.ID
	return t.moveAnswer(r, got, v, start, end, whom)
}

// bookInstead books the first visit of a job that was given to somebody for a
// time: there is nothing yet to move.
func (t *turn) bookInstead(r *request) answer {
	booking := r.copy()
	booking.intent = t.table.named("book")
	t.memory.last = booking
	return booking.intent.run(t, booking)
}

// readPeople says of everybody in the clause whether the visit is theirs or shall
// be.
func (r *request) readPeople() {
	c := r.clause
	swap := c.has("swap")
	for i, m := range c.people {
		before, open := "", ""
		if m.at > 0 {
			before = c.words[m.at-1].text
		}
		if c.open < len(c.words) {
			open = c.words[c.open].text
		}
		behind := m.end < len(c.words) && (c.words[m.end].text == "instead" || c.words[m.end].text == "to" && open == "get")
		switch {
		case m.owns && !behind, before == "from", before == "of", swap && i+1 < len(c.people):
			r.holder = m.name(false)
		case before == "to", before == "onto", before == "with", before == "by", before == "for", open == "let", behind, len(c.people) > 1:
			r.technician = m.name(true)
		case r.visit == "" && len(c.ids.jobs) == 0 && len(c.site) == 0 && len(c.rest) == 0:
			r.holder = m.name(false)
		default:
			r.technician = m.name(true)
		}
	}
}

// moveWords belong to moving and name nothing.
var moveWords = []string{
	"back", "forward", "later", "earlier", "sooner", "instead", "same", "time", "times", "over", "along", "slot", "appointment", "booking", "hour", "hours",
	"day", "days", "week", "weeks", "minute", "minutes", "possible", "chance", "handed", "reassign", "transfer", "rather", "take", "takes", "make", "be",
}

// fillMove reads what the clause says about the visit and about where it goes:
// "SUBJECT to TARGET".
func (t *turn) fillMove(r *request) {
	c := r.clause
	if r.filled {
		return
	}
	r.filled = true
	r.asks = c.has("can we", "could we", "is it possible", "any chance", "would it be possible")
	r.reason = c.reason
	if len(c.ids.visits) > 0 {
		r.visit = c.ids.visits[0]
	}
	separators := []string{"to", "onto"}
	if c.listed {
		r.readPeople()
	}
	if !c.listed && c.words[c.open].text == "let" { // "let mairead take 1056"
		name, _ := meaning(c.words[c.open+1:])
		for i, w := range name {
			if w == "take" {
				name = name[:i]
				break
			}
		}
		r.technician = joinWords(name)
		return
	}
	if c.has("swap") {
		separators = append(separators, "for", "with")
	}
	split := oldToNew(c, t.now)
	for i, w := range c.words {
		if w.as == asNothing && i > c.open && slices.Contains(separators, w.text) {
			split = i
		}
	}
	subject, target := c.words, []word(nil)
	if split >= 0 {
		subject, target = c.words[:split], c.words[split:]
		if before, after := timesIn(subject, t.now), timesIn(target, t.now); before.said() && after.said() {
			r.current, r.when = &before, after // "from thursday 9 to friday 8-10"
			target = slices.DeleteFunc(slices.Clone(target), func(w word) bool { _, day := weekdays[w.text]; return day })
		}
	}
	name, possessive := meaning(subject)
	switch {
	case r.visit != "" || len(c.ids.jobs) > 0:
	case possessive && !c.listed:
		r.holder = joinWords(name)
	case len(name) > 0 && len(c.site) == 0:
		r.site, r.job = joinWords(name), ""
	}
	for i, w := range target {
		if w.text == "instead" && i+1 < len(target) && target[i+1].text == "of" {
			target = target[:i] // "to mairead instead of sam"
			break
		}
	}
	if to, _ := meaning(target); len(to) > 0 && len(c.people) == 0 {
		r.technician = joinWords(to)
	}
	if r.holder != "" && r.technician != "" && r.when.dayKnown() && !timesIn(target, t.now).said() {
		was := r.when
		r.current, r.when = &was, when{from: -1, to: -1} // "give sam's thursday visit to benoit"
	}
	if r.visit == "" && r.job == "" && r.site == "" && r.holder == "" && c.has("her", "his", "their") && r.current != nil {
		r.holder = t.memory.person.ID // "move her 8 o'clock to 9"
	}
	if r.visit == "" && r.job == "" && r.site == "" && r.holder == "" {
		r.visit = t.memory.visit // "move it"
	}
}

// oldToNew is where "to" stands in "her 8 o'clock to 9" and "the 8 to 9:30", which
// reads like a length of time but names the visit and then its new time; -1 where
// nothing stands like that.
func oldToNew(c *clause, now time.Time) int {
	for i, w := range c.words {
		if w.as != asTime || w.text != "to" || i == 0 || i+1 >= len(c.words) {
			continue
		}
		first := i
		for first > 0 && c.words[first-1].as == asTime {
			first--
		}
		if first == 0 || !ownsTime(c.words[first-1]) {
			continue
		}
		if timesIn(c.words[first:i], now).clockKnown() && timesIn(c.words[i:], now).clockKnown() {
			return i
		}
	}
	return -1
}

// ownsTime reports whether a word before a time says whose visit it is.
func ownsTime(w word) bool {
	return w.base() != w.text || slices.Contains([]string{"her", "his", "their", "the", "that"}, w.text)
}

// meaning gives the words that nobody read and that name something; possessive
// is set for "sam's".
func meaning(words []word) (out []string, possessive bool) {
	for _, w := range words {
		if w.as == asNothing && w.text != "" && !slices.Contains(stopWords, w.text) && !slices.Contains(moveWords, w.text) {
			out = append(out, w.base())
			possessive = possessive || w.base() != w.text
		}
	}
	return out, possessive
}

// timesIn reads the times of a part of a clause anew.
func timesIn(words []word, now time.Time) when {
	fresh := slices.Clone(words)
	for i := range fresh {
		if fresh[i].as == asTime {
			fresh[i].as = asNothing
		}
	}
	return readTimes(fresh, now)
}

// newTimes gives when the visit shall be. What is not said stays: the day, the
// time of day, the length.
func (t *turn) newTimes(r *request, v visit) (start, end time.Time, problem *answer) {
	zone := t.now.Location()
	was, okStart := v.Start.instant()
	until, okEnd := v.End.instant()
	if !okStart || !okEnd {
		a := say("I cannot read when " + v.ID + " is now. Nothing was moved.")
		return start, end, &a
	}
	was, until = was.In(zone), until.In(zone)
	length := until.Sub(was)
	if minutes, days := shiftOf(r); minutes != 0 || days != 0 {
		start = was.AddDate(0, 0, days).Add(time.Duration(minutes) * time.Minute)
		return start, start.Add(length), nil
	}
	w := r.when
	switch {
	case w.now, w.before, w.after, w.week:
		r.asks, r.sure = true, false // which time of it is a question
		return was, until, nil
	case !w.dayKnown() && !w.clockKnown() && r.technician == "" && !r.has("same time", "same slot"):
		return start, end, &answer{
			text: lines("Move " + visitLabel(v) + " to when? Say a day and a time, for example “friday 8-10”."), ask: &question{request: r, slot: slotTime},
		}
	case !w.dayKnown() && !w.clockKnown():
		return was, until, nil
	}
	day, from := w.day, w.from
	if !w.dayKnown() {
		y, m, d := was.Date()
		day = time.Date(y, m, d, 0, 0, 0, 0, zone)
	}
	if !w.clockKnown() {
		from = was.Hour()*60 + was.Minute()
	}
	start, ok := at(day, from)
	end = start.Add(length)
	if w.clockKnown() && w.to >= 0 {
		var okTo bool
		end, okTo = at(day, w.to)
		ok = ok && okTo
	} else if w.minutes > 0 {
		end = start.Add(time.Duration(w.minutes) * time.Minute)
	}
	if !ok {
		a := say("That hour does not exist on that day, because the clocks change. Nothing was moved.")
		return start, end, &a
	}
	return start, end, nil
}

// shiftOf reads "back an hour", "two days later", "30 minutes earlier".
func shiftOf(r *request) (minutes, days int) {
	c := r.clause
	if r.when.clockKnown() || r.when.dayKnown() || len(r.when.days) > 0 {
		return 0, 0
	}
	for i := 0; i+1 < len(c.words); i++ {
		if unit := dayUnits[c.words[i+1].text]; unit > 0 {
			if n, ok := dayCount(c.words[i].text); ok {
				days = n * unit
			}
		}
	}
	if days == 0 && r.when.minutes > 0 && !c.has("for an hour", "for one hour", "for two hours") {
		minutes = r.when.minutes
	}
	if c.has("earlier", "forward", "sooner", "bring") {
		minutes, days = -minutes, -days
	}
	return minutes, days
}

// newPerson resolves the name of whoever shall take the visit over.
func (t *turn) newPerson(r *request, v visit, start, end time.Time) (person, *answer) {
	got, done := t.call(toolAvailability, args{"work_order_id": v.Job, "technician": r.technician, "from": stamp(start), "to": stamp(end)})
	if !done {
		return person{}, &waits
	}
	var free availability
	got.read(&free)
	switch {
	case got.fault.Code == "ambiguous_technician":
		return person{}, whichPerson(r, got)
	case got.fault.Code == "technician_not_found":
		a := say(got.why()+" Nothing was moved.", nearPeople(got.fault))
		return person{}, &a
	case len(free.Slots) > 0 && free.Slots[0].Technician.ID != "":
		return free.Slots[0].Technician, nil
	case len(free.Excluded) > 0 && free.Excluded[0].Technician.ID != "":
		return free.Excluded[0].Technician, nil
	}
	return person{ID: r.technician, Name: r.technician}, nil
}

// couldMove answers "can we move it to the afternoon": who could, and when; a
// yes moves it.
func (t *turn) couldMove(r *request, v visit, start, end time.Time) answer {
	from, to := start, end
	if w := r.when; w.clockKnown() || w.dayKnown() || w.now {
		if !w.dayKnown() && !w.now {
			y, m, d := start.Date()
			w.day = time.Date(y, m, d, 0, 0, 0, 0, start.Location())
		}
		if a, b, ok := t.window(w); ok {
			from, to = a, b
		}
	}
	if from.Before(t.now) && to.After(t.now) {
		from = t.now
	}
	who := v.Technician.ID
	if r.technician != "" {
		who = r.technician
	}
	length := end.Sub(start)
	if r.when.to >= 0 {
		length = time.Duration(0)
	}
	a := args{"work_order_id": v.Job, "technician": who, "from": stamp(from), "to": stamp(to)}
	if minutes := int(length.Minutes()); minutes >= 15 && minutes <= 720 {
		a["duration_minutes"] = minutes
	}
	got, done := t.call(toolAvailability, a)
	if !done {
		return waits
	}
	if got.fault.Code == "ambiguous_technician" {
		return *whichPerson(r, got)
	}
	if !got.ok() {
		return say(t.trouble(got, v.Job), "Nothing was moved.")
	}
	var free availability
	got.read(&free)
	head := visitLabel(v) + "."
	q := &question{request: r, slot: slotTime}
	for _, s := range free.Slots[:min(len(free.Slots), 4)] {
		begin, ok := s.Start.instant()
		if !ok {
			continue
		}
		finish, okEnd := s.End.instant()
		if suggested, ok := s.Suggested.instant(); ok && length > 0 {
			finish, okEnd = suggested, true
			s.End = s.Suggested
		}
		if !okEnd {
			continue
		}
		q.choices = append(q.choices, choice{
			label: "move it to " + span(s.Start, s.End) + ", " + clean(s.Technician.Name, 60), words: s.Technician.Name,
			apply: func(b *request) {
				b.sure, b.technician = true, s.Technician.ID
				b.when = whenOf(begin.In(t.now.Location()), finish.In(t.now.Location()), true)
			},
		})
	}
	if len(q.choices) == 0 {
		reason := "Nobody is free then."
		if len(free.Excluded) > 0 {
			reason = clean(free.Excluded[0].Reason, 200)
			if next := free.Excluded[0].NextFree; next != nil {
				reason += " Next free " + timeOf(next) + "."
			}
		}
		return answer{text: lines(head, reason, "Move it to which other time? Nothing was moved."), ask: q}
	}
	q.choices = append(q.choices, choice{label: "leave it", leave: "Left as it is. Nothing was moved."})
	return answer{text: lines(head, "That would be possible. Shall I move it?", q.numbered()), ask: q}
}

// moveAnswer says what came of a move, whoever decided.
func (t *turn) moveAnswer(r *request, o outcome, v visit, start, end time.Time, whom string) answer {
	what := v.ID + " of " + v.Job
	switch o.state {
	case agent.CallDone:
		t.memory.lastDone = true
		return say(movedText(o, what, start, end, whom))
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		return say(what + " stays where it is. " + withNothing(o, "Nothing was moved."))
	case agent.CallUnknown:
		return say("Nobody knows whether "+what+" was moved.", o.why())
	}
	switch o.fault.Code {
	case "ambiguous_technician", "technician_not_found":
		return *whichPerson(r, o)
	}
	return say(withNothing(o, "Nothing was moved."))
}

func movedText(o outcome, what string, start, end time.Time, whom string) string {
	if settledByPerson(o) {
		return what + ": " + o.why()
	}
	var moved struct {
		Visit struct {
			Before, After struct {
				Technician person  `json:"technician"`
				Start      *moment `json:"start"`
				End        *moment `json:"end"`
			}
		} `json:"visit"`
		Warnings []warning `json:"warnings"`
	}
	o.read(&moved)
	after := moved.Visit.After
	if after.Start == nil {
		return lines("Moved "+what+" to "+spanOf(start, end)+", "+whom+".", warningLines(moved.Warnings))
	}
	line := "Moved " + what + " to " + span(after.Start, after.End) + ", " + clean(after.Technician.Name, 60)
	if before := moved.Visit.Before; before.Start != nil {
		line += " (it was " + span(before.Start, before.End)
		line += orEmpty(", ", clean(before.Technician.Name, 60), before.Technician.ID != after.Technician.ID) + ")"
	}
	return lines(line+".", warningLines(moved.Warnings))
}

// noteOf is a text that a person gave as the reason.
func noteOf(r *request, otherwise string) string {
	if text := strings.TrimSpace(r.reason); len([]rune(text)) >= 3 {
		return clean(text, 200)
	}
	return otherwise
}
