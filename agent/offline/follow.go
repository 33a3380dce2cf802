package offline

import "slices"

// followed are the requests that a short line may go on with: "and tomorrow?",
// "and priya?", "no, the 3.5". They all only read.
var followed = []string{"agenda", "availability", "send", "price", "list", "people"}

// followLeads open a line that goes on with the last one.
var followLeads = []string{"and", "what about", "how about", "no", "or", "also", "actually", "rather", "sorry", "wait", "ok and", "instead", "i meant"}

// follows makes the last reading request anew with what a line without a verb
// changes of it; nil if the line does not go on with it.
func (m *memory) follows(c *clause) *request {
	last := m.last
	if c.intent != nil && !c.corrects && c.intent.name != "agenda" {
		return nil
	}
	if last == nil || c.open > 4 || len(c.words) == 0 || len(c.rest) > 3 || !slices.Contains(followed, last.intent.name) {
		return nil
	}
	if len(c.ids.jobs)+len(c.ids.orders)+len(c.ids.visits)+len(c.ids.skus) > 0 {
		return nil
	}
	lead := startsWith(c.words, 0, followLeads)
	if who := c.somebody(); who != nil {
		return m.followsWith(who, c)
	}
	if !lead && (len(c.rest) > 0 || !c.when.said()) {
		return nil
	}
	next := last.copy()
	if c.when.said() {
		next.when = mergeWhen(next.when, c.when)
	}
	names := without(append(slices.Clone(c.site), c.rest...), "instead", "about", "how")
	measures := c.measures
	if len(last.measures) == 1 && len(measures) == 0 && c.quantity.given {
		measures = []measure{{value: plainDecimal(c.quantity.typed), unit: last.measures[0].unit}} // "the 3.5" after "3 kW"
	}
	switch last.intent.name {
	case "price":
		if len(names)+len(measures) == 0 {
			return nil
		}
		next.sku, next.needed = "", false
		if len(names) > 0 {
			next.words = names
		}
		next.measures = measures
	case "list":
		if len(names) > 0 {
			next.site = joinWords(names)
		}
	case "people":
		if len(names) > 0 {
			next.words, next.technician = names, ""
		}
	default:
		switch {
		case len(names) == 0:
		case last.intent.name != "agenda" && last.job == "" && last.technician == "" && !asksForOne(last):
			next.site = joinWords(names) // another place or region
		case last.technician == "" && last.site != "" && last.intent.name == "agenda":
			next.site = joinWords(names)
		default:
			next.technician = joinWords(names)
		}
	}
	return next
}

// followsWith makes the last reading request anew for somebody else: "and
// priya?".
func (m *memory) followsWith(who *mention, c *clause) *request {
	if len(c.site)+len(c.rest) > 0 || m.last.intent.name == "price" || m.last.intent.name == "list" {
		return nil
	}
	if name := m.last.intent.name; (name == "availability" || name == "send") && m.offerJob != "" && c.when.clockKnown() && c.plain() {
		return m.takesUp(who, c)
	}
	next := m.last.copy()
	next.technician, next.words = who.name(false), nil
	if c.when.said() {
		next.when = mergeWhen(next.when, c.when)
	}
	return next
}

// takesUp books one of the people who were just shown as free: "imke at 4 then".
func (m *memory) takesUp(who *mention, c *clause) *request {
	table := newTable()
	c.intent, c.terse, c.shaped = table.named("book"), true, false
	return &request{intent: c.intent, clause: c, terse: true, when: c.when, job: m.offerJob, technician: who.name(true)}
}
