package offline

import (
	"slices"
	"strings"
	"time"
)

// staleAfter is how many lines later a job, part or person that nobody
// mentioned again is no longer meant by "it".
const staleAfter = 3

// memory is what earlier lines left. It is rebuilt from the messages for every
// request.
type memory struct {
	job    string
	jobAge int
	sku    string
	skuAge int
	person person
	// people is who works here; nil until it was read.
	people   directory
	offered  []slot // free slots of the newest answer that showed some
	offerJob string
	offerAge int
	// askedFrom and askedTo are the time in which those slots were looked for.
	askedFrom, askedTo time.Time
	// wholeSlots says that the slots were asked for as one part of a day, so
	// that "book her" means the whole slot.
	wholeSlots bool
	list       []jobItem
	// visit is the last visit that was booked, moved or looked at alone.
	visit string

	// last is the newest request, lastDone whether it changed something, and
	// lastPlaced how its write ended.
	last     *request
	lastDone bool
	// pending is this model's own open question; it lasts for one line.
	pending *question
	// seen are jobs named in the conversation, newest last, for examples.
	seen []string
}

// nextLine ages what is known by one line.
func (m *memory) nextLine() {
	m.jobAge++
	m.skuAge++
	m.offerAge++
	if m.jobAge > staleAfter {
		m.job, m.visit = "", ""
	}
	if m.skuAge > staleAfter {
		m.sku = ""
	}
	if m.offerAge > staleAfter {
		m.offered, m.person = nil, person{}
	}
}

func (m *memory) setJob(id string) {
	m.job, m.jobAge = id, 0
	if id != "" && !slices.Contains(m.seen, id) {
		m.seen = append(m.seen, id)
	}
}

func (m *memory) setSKU(sku string) { m.sku, m.skuAge = sku, 0 }

// observe learns from a call, whoever asked for it.
func (m *memory) observe(o outcome) {
	if !o.ok() {
		return
	}
	switch o.tool {
	case toolLookup:
		var got struct {
			WorkOrder workOrder `json:"work_order"`
		}
		o.read(&got)
		if got.WorkOrder.ID != "" {
			m.setJob(got.WorkOrder.ID)
			m.list = nil
			m.sku = ""
		}
	case toolSearchJobs:
		var got jobList
		o.read(&got)
		m.list = got.Items
		if len(got.Items) == 1 {
			m.setJob(got.Items[0].ID)
		} else {
			m.job = ""
		}
	case toolAvailability:
		var got availability
		o.read(&got)
		m.offered, m.offerAge = got.Slots, 0
		m.askedFrom, m.askedTo = timeIn(o.args, "from"), timeIn(o.args, "to")
		m.offerJob = ""
		if got.Job != nil && got.Job.ID != "" {
			m.setJob(got.Job.ID)
			m.offerJob = got.Job.ID
		}
	case toolMove:
		var got struct {
			Visit visit `json:"visit"`
		}
		o.read(&got)
		if got.Visit.ID != "" {
			m.visit = got.Visit.ID
			m.setJob(got.Visit.Job)
		}
	case toolTechnicians:
		m.observePeople(o)
	case toolSchedule:
		var got booking
		o.read(&got)
		m.person, m.offered = got.Visit.Technician, nil
		m.visit = got.Visit.ID
	}
}

// offeredDay is the day of the free slots that the answer just before showed, if
// they were all on one, else the day for which it found none: "book sam 8-10"
// means that day.
func (m *memory) offeredDay(zone *time.Location) (time.Time, bool) {
	first, last := m.askedFrom, m.askedTo.Add(-time.Minute)
	if len(m.offered) > 0 {
		first, _ = m.offered[0].Start.instant()
		last = first
	}
	for _, s := range m.offered {
		if start, ok := s.Start.instant(); !ok || !sameDay(start.In(zone), first.In(zone)) {
			return time.Time{}, false
		}
	}
	if m.offerAge != 1 || first.IsZero() || !sameDay(first.In(zone), last.In(zone)) {
		return time.Time{}, false
	}
	y, mon, d := first.In(zone).Date()
	return time.Date(y, mon, d, 0, 0, 0, 0, zone), true
}

// timeIn is a time among a call's arguments; zero if there is none.
func timeIn(a map[string]any, name string) time.Time {
	text, _ := a[name].(string)
	at, _ := time.Parse(time.RFC3339, text) // zero where it is none
	return at
}

// fillJob finds the job that a request without one means: one of the list that
// was shown, or the last job.
func (m *memory) fillJob(r *request) {
	if r.site != "" || !r.intent.context {
		return
	}
	if m.fromSlots(r) {
		return
	}
	if id := m.fromList(r); id != "" {
		r.job = id
		return
	}
	if m.job != "" {
		r.job = m.job
	}
}

var ordinals = map[string]int{"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}

// ordinalIn is which of so many things "the first one" or "the last job" means,
// and the word that says it; -1 for none.
func ordinalIn(r *request, of int) (int, string) {
	for word, i := range ordinals {
		if !r.has("the "+word, word+" one", word+" job", word+" slot") {
			continue
		}
		if i < 0 {
			i = of - 1
		}
		if i < of {
			return i, word
		}
	}
	return -1, ""
}

// fromSlots understands "book the second one" right after free slots were shown:
// the slot is meant, whatever was listed before.
func (m *memory) fromSlots(r *request) bool {
	if r.intent.name != "book" || m.offerAge != 1 || m.offerJob == "" || r.technician != "" {
		return false
	}
	i, word := ordinalIn(r, len(m.offered))
	if i < 0 || len(without(r.words, word, "one", "slot", "option")) > 0 {
		return false
	}
	r.words, r.job, r.slot = nil, m.offerJob, &m.offered[i]
	return true
}

// fromList understands "the emergency one", "the first one", "the lift job", if
// exactly one job of the list that was shown fits.
func (m *memory) fromList(r *request) string {
	if len(m.list) < 2 || !r.has("one", "job") {
		return ""
	}
	if i, word := ordinalIn(r, len(m.list)); i >= 0 {
		r.words = without(r.words, word)
		return m.list[i].ID
	}
	return describedJob(m.list, r.words)
}

// listed reports whether a job of a list is described by all the words.
func listed(j jobItem, words []string) bool {
	if len(words) == 0 {
		return false
	}
	have := textWords(strings.Join([]string{j.Priority, j.Title, j.Site.Name, j.Site.Address, j.Status}, " "))
	for _, w := range words {
		if !slices.ContainsFunc(have, func(h string) bool { return stem(h) == stem(w) }) {
			return false
		}
	}
	return true
}
