package workorders

import (
	"slices"
	"time"
)

// relations are the ways from one record to others, kept so that a look-up
// costs the same in a large book as in a small one. Each maps a key to ids in
// natural order.
type relations [relationCount]overlay[[]string]

type relation int

const (
	visitsByJob relation = iota
	visitsByDay          // technician and day of the start, without cancelled ones
	openByTechnician
	ordersByJob
	ordersBySKU
	ordersByKey
	jobsBySite
	relationCount
)

// A place of a record in the relations.
type membership struct {
	relation relation
	key      string
}

func dayKey(technician string, day time.Time) string {
	return technician + " " + day.Format(time.DateOnly)
}

func (c *contents) visitMemberships(v *Visit) []membership {
	out := []membership{{visitsByJob, v.WorkOrderID}}
	if v.Status != statusCancelled {
		out = append(out, membership{visitsByDay, dayKey(v.TechnicianID, v.Start.In(c.zone))})
	}
	if occupies(v) {
		out = append(out, membership{openByTechnician, v.TechnicianID})
	}
	return out
}

func (c *contents) orderMemberships(o *PartOrder) []membership {
	out := []membership{{ordersBySKU, o.SKU}}
	if o.WorkOrderID != nil {
		out = append(out, membership{ordersByJob, *o.WorkOrderID})
	}
	if o.IdempotencyKey != "" {
		out = append(out, membership{ordersByKey, o.IdempotencyKey})
	}
	return out
}

func (c *contents) jobMemberships(w *WorkOrder) []membership {
	return []membership{{jobsBySite, w.SiteID}}
}

// relate fills the relations of new contents. Records come in natural order,
// so that the lists are in order too.
func (c *contents) relate() {
	for i := range c.relations {
		c.relations[i].base = map[string][]string{}
	}
	add := func(id string, members []membership) {
		for _, m := range members {
			base := c.relations[m.relation].base
			base[m.key] = append(base[m.key], id)
		}
	}
	for w := range c.workOrders.all() {
		add(w.ID, c.jobMemberships(w))
	}
	for v := range c.visits.all() {
		add(v.ID, c.visitMemberships(v))
	}
	for o := range c.partOrders.all() {
		add(o.ID, c.orderMemberships(o))
	}
}

// related lists the ids under a key. The slice must not be changed.
func (c *contents) related(r relation, key string) []string {
	ids, _ := c.relations[r].get(key)
	return ids
}

// A relating collects changed lists, to publish them together.
type relating struct {
	c       *contents
	changed [relationCount]map[string][]string
}

func (r *relating) list(m membership) []string {
	if ids, ok := r.changed[m.relation][m.key]; ok {
		return ids
	}
	return slices.Clone(r.c.related(m.relation, m.key))
}

func (r *relating) put(m membership, ids []string) {
	if r.changed[m.relation] == nil {
		r.changed[m.relation] = map[string][]string{}
	}
	r.changed[m.relation][m.key] = ids
}

// move takes the record out of the lists it was in and puts it into those it
// belongs to now.
func (r *relating) move(id string, from, to []membership) {
	for _, m := range from {
		if !slices.Contains(to, m) {
			r.put(m, slices.DeleteFunc(r.list(m), func(other string) bool { return other == id }))
		}
	}
	for _, m := range to {
		if slices.Contains(from, m) {
			continue
		}
		ids := r.list(m)
		i, _ := slices.BinarySearchFunc(ids, id, compareIDs)
		r.put(m, slices.Insert(ids, i, id))
	}
}

// relationsAfter are the relations of the contents after the draft's changes.
func (d *draft) relationsAfter() relations {
	r := &relating{c: d.contents}
	for id, w := range d.workOrders {
		r.move(id, ifAny(d.contents.workOrders.get(id), d.jobMemberships), d.jobMemberships(w))
	}
	for id, v := range d.visits {
		r.move(id, ifAny(d.contents.visits.get(id), d.visitMemberships), d.visitMemberships(v))
	}
	for id, o := range d.partOrders {
		r.move(id, ifAny(d.contents.partOrders.get(id), d.orderMemberships), d.orderMemberships(o))
	}
	out := d.relations
	for i, changed := range r.changed {
		if len(changed) > 0 {
			out[i] = out[i].with(changed)
		}
	}
	return out
}

func ifAny[T any](record *T, members func(*T) []membership) []membership {
	if record == nil {
		return nil
	}
	return members(record)
}
