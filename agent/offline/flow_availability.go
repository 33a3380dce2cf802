package offline

import (
	"slices"
	"strings"
	"time"
)

const (
	// lookAhead is how far "who can go" looks if no time is said.
	lookAhead = 3 * 24 * time.Hour
	// maxSlots is how many free slots an answer lists.
	maxSlots = 8
)

// runAvailability answers who is free: for a job, a site, a region or a skill.
func runAvailability(t *turn, r *request) answer {
	if len(r.when.days) > 0 {
		return t.askDay(r)
	}
	a := whereAndWho(r)
	if len(a) == 0 {
		return answer{text: "Free for which job, site or skill?", ask: &question{request: r, slot: slotJob}}
	}
	from, to, wait, problem := t.searchWindow(r)
	if wait || problem != nil {
		if wait {
			return waits
		}
		return *problem
	}
	a["from"], a["to"] = stamp(from), stamp(to)
	if r.when.minutes > 0 {
		a["duration_minutes"] = min(max(r.when.minutes, 15), 720)
	}
	got, done := t.searchFree(r, a)
	if !done {
		return waits
	}
	if a := whichSite(r, got); a != nil {
		return *a
	}
	if got.fault.Code == "ambiguous_technician" {
		return *whichPerson(r, got)
	}
	if got.fault.Code == "site_not_found" && r.job == "" { // "for the fishmarket floor drain" is a job
		described := r.copy()
		if _, a := t.jobsAt(described); described.job != "" {
			described.site = ""
			return runAvailability(t, described)
		} else if a != nil && (a.waiting || a.ask != nil) {
			return *a
		}
	}
	if !got.ok() {
		return say(t.trouble(got, r.job), knownSkills(got.fault), nearSites(got.fault), nearPeople(got.fault))
	}
	var free availability
	got.read(&free)
	t.memory.wholeSlots = r.when.window != "" || r.when.to >= 0
	if len(free.Slots) > 0 && onePerson(free.Slots) {
		t.memory.person = free.Slots[0].Technician
	}
	text := freeText(free, r, from, to, t.now.Location())
	if r.intent.name == "send" && len(free.Slots) > 0 && r.job != "" {
		return offerSlots(t, r, free.Slots, text)
	}
	return say(text)
}

func onePerson(slots []slot) bool {
	return !slices.ContainsFunc(slots, func(s slot) bool { return s.Technician.ID != slots[0].Technician.ID })
}

// whereAndWho says for what somebody should be free. Whether words are a
// region, a site or a skill only the server knows; see [turn.searchFree].
func whereAndWho(r *request) args {
	a := args{}
	switch {
	case r.job != "":
		a["work_order_id"] = r.job
	case r.site != "":
		a["region"] = r.site
	}
	words := without(r.words, fillerNames...)
	switch {
	case r.technician != "":
		a["technician"] = r.technician
	case len(words) == 0 || len(words) > 4:
	case asksForOne(r):
		a["technician"] = joinWords(words)
	case r.job == "":
		a["skills"] = []string{skillID(words)}
	}
	return a
}

// asksForOne reports whether a question is about one person: "is mairead free".
func asksForOne(r *request) bool {
	return (r.has("is", "isnt", "why") || startsWith(r.clause.words, r.clause.open, []string{"can", "could", "would"})) && r.clause.isQuestion() && !r.has("who", "whos", "anyone", "anybody", "someone", "somebody", "people")
}

// fillerNames are words of availability questions that name nothing.
var fillerNames = []string{"do", "make", "take", "get", "cant", "cannot", "in", "fit", "manage", "reach", "handle", "fix", "repair", "could", "anything", "got", "whos", "available", "availability", "free", "time", "able", "else", "emergency", "deadline", "work", "come", "slot", "slots", "spare", "hour", "gap", "gaps", "tech", "techs", "technician", "technicians"}

// skillID spells words as an identifier: "heat pumps" is heat_pump.
func skillID(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = stem(w)
	}
	return strings.Join(out, "_")
}

// searchFree looks for free people. Words that were tried as a region may be a
// site, and words that were tried as one skill may hold another; the server's
// refusal says what there is.
func (t *turn) searchFree(r *request, a args) (outcome, bool) {
	for range 4 {
		got, done := t.call(toolAvailability, a)
		if !done || got.ok() || got.fault.Code != "invalid_arguments" {
			return got, done
		}
		next := args{}
		for k, v := range a {
			next[k] = v
		}
		delete(next, got.fault.Field)
		switch got.fault.Field {
		case "region":
			next["site"] = r.site
		case "skills":
			if skills := skillsNamed(got.fault.list("allowed"), r.words); len(skills) > 0 {
				next["skills"] = skills
			} else if next["site"] == nil && next["region"] == nil && next["work_order_id"] == nil {
				return got, true
			}
		default:
			return got, true
		}
		a = next
	}
	return outcome{}, true
}

// skillsNamed are those of the known skills that words name: all of it, else the
// only one of which they name a part ("a gas job").
func skillsNamed(known, words []string) []string {
	skills := slices.DeleteFunc(slices.Clone(known), func(s string) bool { return !names(s, words) })
	if partly := slices.DeleteFunc(slices.Clone(known), func(s string) bool { return !partlyNames(s, words) }); len(skills) == 0 && len(partly) == 1 {
		return partly
	}
	return narrowest(skills)
}

// names reports whether words spell an identifier such as water_heater.
func names(id string, words []string) bool {
	for _, part := range strings.Split(id, "_") {
		if !slices.ContainsFunc(words, func(w string) bool { return stem(w) == stem(part) }) {
			return false
		}
	}
	return true
}

// partlyNames reports whether one of the words begins an identifier.
func partlyNames(id string, words []string) bool {
	first, _, _ := strings.Cut(id, "_")
	return slices.ContainsFunc(words, func(w string) bool {
		w = stem(w)
		return w == first || len(w) > 4 && (strings.HasPrefix(w, first) || strings.HasPrefix(first, w) || strings.HasPrefix(w, strings.TrimSuffix(first, "ing")) && len(first) > 6)
	})
}

// narrowest leaves "lift" out where "lift_door" was said.
func narrowest(skills []string) []string {
	return slices.DeleteFunc(slices.Clone(skills), func(s string) bool {
		return slices.ContainsFunc(skills, func(o string) bool { return o != s && strings.HasPrefix(o, s+"_") })
	})
}

// searchWindow turns what was said of time into the window to search.
func (t *turn) searchWindow(r *request) (from, to time.Time, wait bool, problem *answer) {
	w := r.when
	if w.deadline && r.job != "" {
		job, got, done := t.lookup(r.job)
		if !done {
			return from, to, true, nil
		}
		if !got.ok() {
			a := say(t.trouble(got, r.job))
			return from, to, false, &a
		}
		if by, ok := job.Deadlines.Resolve.instant(); ok && by.After(t.now) {
			return t.now, by.In(t.now.Location()), false, nil
		}
		return t.now, t.now.Add(lookAhead), false, nil
	}
	from, to, ok := t.window(w)
	if !ok {
		a := say("That hour does not exist on that day, because the clocks change.")
		return from, to, false, &a
	}
	if from.Before(t.now) && to.After(t.now) {
		from = t.now
	}
	return from, to, false, nil
}

// window gives the window to search for a time phrase.
func (t *turn) window(w when) (from, to time.Time, ok bool) {
	y, m, d := t.now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, t.now.Location())
	day := w.day
	switch {
	case w.now:
		return t.now, today.AddDate(0, 0, 1), true
	case !w.dayKnown() && !w.clockKnown():
		return t.now, t.now.Add(lookAhead), true
	case !w.dayKnown():
		day = today
		if end, _ := at(today, max(w.from, w.to)); !end.After(t.now) {
			day = today.AddDate(0, 0, 1)
		}
	}
	if w.week {
		return day, day.AddDate(0, 0, 7), true
	}
	if !w.clockKnown() {
		return day, day.AddDate(0, 0, 1), true
	}
	start, okStart := at(day, w.from)
	if w.before {
		if w.dayKnown() && day.Equal(today) || !w.dayKnown() {
			return t.now, start, okStart
		}
		return day, start, okStart
	}
	if w.after {
		return start, day.AddDate(0, 0, 1), okStart
	}
	if w.to < 0 {
		return start, start.Add(max(2*time.Hour, time.Duration(w.minutes)*time.Minute)), okStart
	}
	end, okEnd := at(day, w.to)
	return start, end, okStart && okEnd
}

func freeText(free availability, r *request, from, to time.Time, zone *time.Location) string {
	about := r.job
	if free.Job != nil && free.Job.Title != "" {
		about = clean(free.Job.ID, 20) + " " + clean(free.Job.Title, 100)
	} else if about == "" {
		about = strings.TrimSpace(joinWords(slices.Concat(r.words, strings.Fields(r.site))))
	}
	if about == "" {
		about = r.technician
	}
	var out []string
	if len(free.Slots) == 0 {
		out = append(out, orEmpty("", "Nobody is free for "+about+", "+spanOf(from, to)+".", !asksForOne(r))+
			orEmpty("No free time, ", spanOf(from, to)+".", asksForOne(r)))
	} else {
		out = append(out, "Free for "+about+", "+spanOf(from, to)+":")
	}
	for i, s := range free.Slots {
		if i == maxSlots {
			out = append(out, "  … and "+count(len(free.Slots)-i, "more slot")+".")
			break
		}
		out = append(out, "  "+slotLine(s, zone))
	}
	shown := 0
	for _, x := range free.Excluded {
		if x.Code == "skill_missing" && r.technician == "" && !asksForOne(r) || shown == maxSlots {
			continue
		}
		shown++
		line := "Not free: "
		if name := clean(x.Technician.Name, 60); !strings.Contains(x.Reason, name) {
			line += name + ": "
		}
		line += clean(x.Reason, 200)
		out = append(out, line+orEmpty(" Next free ", timeOf(x.NextFree)+".", x.NextFree != nil && x.Code != "outside_region"))
	}
	if free.Job != nil && free.Job.Resolve != nil {
		out = append(out, "Must be done by "+timeOf(free.Job.Resolve)+".")
	}
	for _, j := range free.SiteContext.Open {
		if r.job == "" {
			out = append(out, "Open there: "+clean(j.ID, 20)+" "+clean(j.Title, 100))
		}
	}
	return strings.Join(out, "\n")
}

func slotLine(s slot, zone *time.Location) string {
	line := clean(s.Technician.Name, 60) + ", " + span(s.Start, s.End)
	if localDiffers(s.Start, zone) {
		line += " (time at the site)"
	}
	for _, w := range s.Warnings {
		line += "; " + strings.TrimSuffix(clean(w.Message, 160), ".")
	}
	return line
}

// offerSlots asks which of the first free people to send.
func offerSlots(t *turn, r *request, slots []slot, text string) answer {
	q := &question{}
	booking := r.copy()
	booking.intent = t.table.named("book")
	q.request = booking
	for _, s := range firstOfEach(slots) {
		start, ok := s.Start.instant()
		if !ok || s.Technician.ID == "" {
			continue
		}
		if !t.memory.wholeSlots && s.Suggested != nil {
			s.End = s.Suggested
		}
		end, ok := s.End.instant()
		q.choices = append(q.choices, choice{
			label: "book " + clean(s.Technician.Name, 60) + ", " + span(s.Start, s.End), words: s.Technician.Name,
			apply: func(b *request) {
				b.technician = s.Technician.ID
				b.when = whenOf(start.In(t.now.Location()), end.In(t.now.Location()), ok)
			},
		})
	}
	if len(q.choices) == 0 {
		return say(text)
	}
	q.choices = append(q.choices, choice{label: "book nobody", leave: "Nobody was booked."})
	return answer{text: lines(text, "Whom shall I book for "+r.job+"?", q.numbered()), ask: q}
}

// firstOfEach is the best slot of each technician; if there is only one, the
// best slots of that one.
func firstOfEach(slots []slot) []slot {
	if onePerson(slots) {
		return slots[:min(len(slots), 4)]
	}
	var out []slot
	for _, s := range slots {
		if len(out) < 4 && !slices.ContainsFunc(out, func(o slot) bool { return o.Technician.ID == s.Technician.ID }) {
			out = append(out, s)
		}
	}
	return out
}

// whenOf is a time that was chosen, not typed. The end counts only where a
// whole part of a day was asked for; else the job's own length does.
func whenOf(start, end time.Time, whole bool) when {
	y, m, d := start.Date()
	w := when{day: time.Date(y, m, d, 0, 0, 0, 0, start.Location()), from: start.Hour()*60 + start.Minute(), to: -1}
	if whole && end.After(start) && end.Sub(start) <= 12*time.Hour {
		w.to = w.from + int(end.Sub(start).Minutes())
	}
	return w
}

func knownSkills(f fault) string {
	if f.Field != "skills" {
		return ""
	}
	return orEmpty("Skills: ", strings.ReplaceAll(strings.Join(f.list("allowed"), ", "), "_", " ")+".", len(f.list("allowed")) > 0)
}

func nearPeople(f fault) string {
	var out []string
	for _, c := range f.Candidates {
		if id := field(c, "technician"); id != "" && field(c, "name") != "" {
			out = append(out, "  "+field(c, "name"))
		}
	}
	return strings.Join(out, "\n")
}
