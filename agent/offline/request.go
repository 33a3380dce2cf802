package offline

import "slices"

// request is one thing to do, with its slots. It is built from a clause and
// completed from what was said before or from the answer to a question.
type request struct {
	intent *intent
	clause *clause

	job  string
	site string
	// sku, words and measures say which part; needed stands for "it" and "the
	// part": whatever the job needs.
	sku      string
	words    []string
	measures []measure
	needed   bool
	quantity quantity
	// duplicate and additional are overrides that the dispatcher asked for.
	duplicate, additional bool
	// unfit is set once the dispatcher chose a part that does not fit.
	unfit bool

	// technician is a name as said, or an id.
	technician string
	// slot is the free one, of those just shown, that the line means.
	slot  *slot
	when  when
	terse bool

	// visit and order are records that shall change; holder is who has the
	// visit now; reason is why, and note what shall be written down.
	visit, order, holder, reason, note string
	// unbooked says that the job was read and nobody has a visit of it.
	unbooked bool
	// current is when the visit is now, where the line says that too; else nil.
	current *when
	// asks says that the line asks whether something is possible; sure that the
	// answer was yes.
	asks, sure bool
	// filled says that the clause has been read into the request.
	filled bool
}

// newRequests makes the requests of a clause: one, or one for each job.
func newRequests(c *clause, m *memory) []*request {
	r := &request{
		intent: c.intent, clause: c, terse: c.terse, when: c.when, quantity: c.quantity,
		site: joinWords(c.site), words: c.rest, measures: c.measures,
		duplicate: c.has("another", "anyway", "again", "one more", "a second", "second one", "as well"),
	}
	if len(c.ids.sites) > 0 {
		r.site = c.ids.sites[0]
	}
	if len(c.ids.skus) > 0 {
		r.sku = c.ids.skus[0]
	}
	if len(c.ids.technicians) > 0 {
		r.technician = c.ids.technicians[0]
	}
	if who := c.somebody(); who != nil && r.technician == "" && c.intent.name != "move" && c.intent.name != "cancel" {
		r.technician = who.name(c.intent.write != "")
	}
	r.needed = r.sku == "" && len(r.words) == 0 && len(r.measures) == 0
	if len(c.ids.jobs) > 1 && c.intent.many && !c.mixed() {
		return eachJob(r, c.ids.jobs)
	}
	if len(c.ids.skus) > 1 && c.intent.name == "order" && !r.quantity.given {
		return m.eachSKU(r, c.ids.skus)
	}
	if len(c.ids.jobs) > 0 {
		r.job = c.ids.jobs[0]
	} else if !c.unsure {
		m.fillJob(r)
	}
	return []*request{r}
}

// maxJobs bounds the jobs of one clause; every one is at least a call.
const maxJobs = 5

func eachJob(r *request, jobs []string) []*request {
	var out []*request
	for _, id := range jobs[:min(len(jobs), maxJobs)] {
		one := *r
		one.job = id
		out = append(out, &one)
	}
	return out
}

// eachSKU makes one order of each part number: "order A and B for 1044".
func (m *memory) eachSKU(r *request, skus []string) []*request {
	if len(r.clause.ids.jobs) > 0 {
		r.job = r.clause.ids.jobs[0]
	} else {
		m.fillJob(r)
	}
	var out []*request
	for _, sku := range skus[:min(len(skus), maxJobs)] {
		one := *r
		one.sku = sku
		out = append(out, &one)
	}
	return out
}

// copy gives a request of its own, to be changed.
func (r *request) copy() *request {
	out := *r
	return &out
}

// has reports whether the words of the request's clause hold a phrase.
func (r *request) has(phrases ...string) bool { return r.clause.has(phrases...) }

// bypass reports whether the line wants an order without a decision.
func (r *request) bypass() bool {
	return r.has("pre-approved", "preapproved", "pre approved", "skip the card", "no card", "without the card", "without asking", "already approved", "dont ask", "approved by")
}

func joinWords(words []string) string {
	out := ""
	for i, w := range words {
		if i > 0 {
			out += " "
		}
		out += w
	}
	return out
}

// without gives the words that are not among the others.
func without(words []string, others ...string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(others, w) {
			out = append(out, w)
		}
	}
	return out
}
