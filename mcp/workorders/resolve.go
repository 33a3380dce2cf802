package workorders

import (
	"regexp"
	"slices"
	"strings"
)

// articles are left out when a name is looked up ("the bakery").
var articles = []string{"the", "a", "an", "at", "mr", "mrs", "ms"}

var workOrderInput = regexp.MustCompile(`(?i)^\s*(?:wo[- ]?)?(\d{4,6})\s*$`)

// workOrderID completes "1044", "wo1044" and "wo-1044" to WO-1044.
func workOrderID(input string) string {
	if m := workOrderInput.FindStringSubmatch(input); m != nil {
		return "WO-" + m[1]
	}
	return strings.ToUpper(strings.TrimSpace(input))
}

// workOrder finds a job by its id, or refuses with ids that look like it.
func (c *contents) workOrder(input string) (*WorkOrder, error) {
	id := workOrderID(input)
	if w := c.workOrders.get(id); w != nil {
		return w, nil
	}
	r := refuse("work_order_not_found", "work_order_id", "There is no work order %s.", id)
	for _, near := range c.workOrders.near(id) {
		r.offer(map[string]any{"work_order": near, "title": c.workOrders.get(near).Title})
	}
	return nil, r
}

// openWorkOrder finds a job that may still be booked and ordered for.
func (c *contents) openWorkOrder(input string) (*WorkOrder, error) {
	w, err := c.workOrder(input)
	if err != nil {
		return nil, err
	}
	if c.isClosed(w) {
		return nil, refuse("work_order_closed", "work_order_id",
			"%s is %s; nothing can be booked or ordered for it.", w.ID, w.Status).never().detail("status", w.Status)
	}
	return w, nil
}

var visitInput = regexp.MustCompile(`(?i)^\s*(?:v[- ]?)?(\d{4,7})\s*$`)

// visitID completes "2019" and "v2019" to V-2019.
func visitID(input string) string {
	if m := visitInput.FindStringSubmatch(input); m != nil {
		return "V-" + m[1]
	}
	return strings.ToUpper(strings.TrimSpace(input))
}

// visit finds a visit by its id, or refuses with ids that look like it.
func (c *contents) visit(input string) (*Visit, error) {
	id := visitID(input)
	if o := c.visits.get(id); o != nil {
		return o, nil
	}
	r := refuse("visit_not_found", "visit_id", "There is no visit %s.", id)
	for _, near := range c.visits.near(id) {
		o := c.visits.get(near)
		r.offer(map[string]any{"visit": o.ID, "work_order": o.WorkOrderID})
	}
	return nil, r
}

var partOrderInput = regexp.MustCompile(`(?i)^\s*(?:po[- ]?)?(\d{3,7})\s*$`)

// partOrderID completes "3011" and "po3011" to PO-3011.
func partOrderID(input string) string {
	if m := partOrderInput.FindStringSubmatch(input); m != nil {
		return "PO-" + m[1]
	}
	return strings.ToUpper(strings.TrimSpace(input))
}

// partOrder finds a part order by its id, or refuses with ids that look like it.
func (c *contents) partOrder(input string) (*PartOrder, error) {
	id := partOrderID(input)
	if o := c.partOrders.get(id); o != nil {
		return o, nil
	}
	r := refuse("part_order_not_found", "part_order_id", "There is no part order %s.", id)
	for _, near := range c.partOrders.near(id) {
		o := c.partOrders.get(near)
		r.offer(map[string]any{"part_order": o.ID, "sku": o.SKU})
	}
	return nil, r
}

// region finds a region by id or name.
func (c *contents) region(input string) (string, error) {
	for _, r := range c.regions {
		if r.ID == input || slices.Equal(words(r.Name), words(input)) {
			return r.ID, nil
		}
	}
	return "", refuse("invalid_arguments", "region", "There is no region %q.", input).detail("allowed", idsOf(c.regions))
}

var technicianInput = regexp.MustCompile(`(?i)^t-?(\d{1,4})$`)

// technician finds a person by id or name. skills are those that a job needs;
// candidates are shown with the ones they have.
func (c *contents) technician(input string, skills []string) (*Technician, error) {
	text := strings.TrimSpace(input)
	if m := technicianInput.FindStringSubmatch(text); m != nil {
		text = "T-" + strings.Repeat("0", max(0, 2-len(m[1]))) + m[1]
	}
	return find(c.technicians, "technician", text, names[Technician]{
		whole: func(t *Technician) string { return t.Name },
		show: func(t *Technician) map[string]any {
			return map[string]any{"technician": t.ID, "name": t.Name, "skills_that_fit": fittingSkills(t, skills)}
		},
	})
}

// fittingSkills are the needed skills that t has, or all of t's if none is needed.
func fittingSkills(t *Technician, needed []string) []string {
	out := []string{}
	for _, s := range t.Skills {
		if len(needed) == 0 || slices.Contains(needed, s.ID) {
			out = append(out, s.ID)
		}
	}
	return out
}

// site finds a site by id, name or address.
func (c *contents) site(input string) (*Site, error) {
	return find(c.sites, "site", input, names[Site]{
		whole: func(s *Site) string { return s.Name },
		more: func(s *Site) []string {
			return []string{s.Address, s.Name + " " + s.Address + " " + s.Town}
		},
		show: func(s *Site) map[string]any {
			return map[string]any{"site": s.ID, "name": s.Name, "address": s.Address}
		},
	})
}

// customer finds a customer by id or name.
func (c *contents) customer(input string) (*Customer, error) {
	return find(c.customers, "customer", input, names[Customer]{
		whole: func(k *Customer) string { return k.Name },
		show:  func(k *Customer) map[string]any { return map[string]any{"customer": k.ID, "name": k.Name} },
	})
}

// supplier finds a supplier by id or name.
func (c *contents) supplier(input string) (*Supplier, error) {
	return find(c.suppliers, "supplier", input, names[Supplier]{
		whole: func(s *Supplier) string { return s.Name },
		show:  func(s *Supplier) map[string]any { return map[string]any{"supplier": s.ID, "name": s.Name} },
	})
}

// names says how the records of a table are called.
type names[T any] struct {
	whole func(*T) string
	more  func(*T) []string // further texts to look in
	show  func(*T) map[string]any
}

func (n names[T]) all(r *T) []string {
	if n.more == nil {
		return []string{n.whole(r)}
	}
	return append(n.more(r), n.whole(r))
}

// find returns the one record that the input means. Several, or none, are a
// refusal with those that it may have meant.
func find[T any](t table[T], kind, input string, n names[T]) (*T, error) {
	text := strings.TrimSpace(input)
	if r := t.get(strings.ToUpper(text)); r != nil {
		return r, nil
	}
	found := byName(t, text, n.all)
	if len(found) == 1 {
		return found[0], nil
	}
	var refusal *Refusal
	if len(found) > 1 {
		var called []string
		for _, r := range found {
			called = append(called, n.whole(r))
		}
		refusal = refuse("ambiguous_"+kind, kind, "%q can be %s.", text, list(called))
	} else {
		found = similar(t, text, n.whole)
		refusal = refuse(kind+"_not_found", kind, "There is no %s %q.", kind, text)
	}
	for _, r := range found {
		refusal.offer(n.show(r))
	}
	return nil, refusal
}

// byName finds records by the words of a name, from the strictest reading to
// the loosest, and stops at the first that finds any: the whole name, all
// words, all words as beginnings.
func byName[T any](t table[T], input string, names func(*T) []string) []*T {
	wanted := slices.DeleteFunc(words(input), func(w string) bool { return slices.Contains(articles, w) })
	if len(wanted) == 0 {
		return nil
	}
	readings := []func(have []string) bool{
		func(have []string) bool { return slices.Equal(have, wanted) },
		func(have []string) bool { return containsAll(have, wanted, func(h, w string) bool { return h == w }) },
		func(have []string) bool { return containsAll(have, wanted, strings.HasPrefix) },
	}
	for _, matches := range readings {
		var found []*T
		for r := range t.all() {
			if slices.ContainsFunc(names(r), func(n string) bool { return matches(words(n)) }) {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func containsAll(have, wanted []string, matches func(have, want string) bool) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(have, func(h string) bool { return matches(h, w) }) {
			return false
		}
	}
	return true
}

// similar finds records of which a word is nearly one of the input's.
func similar[T any](t table[T], input string, name func(*T) string) []*T {
	var found []*T
	for r := range t.all() {
		have := words(name(r))
		if slices.ContainsFunc(words(input), func(w string) bool {
			return len(w) > 2 && slices.ContainsFunc(have, func(h string) bool { return len(h) > 2 && nearly(h, w) })
		}) {
			found = append(found, r)
		}
	}
	return found
}
