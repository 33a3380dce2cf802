package workorders

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A table holds the records of one kind. It is never changed once it has been
// published; with makes a changed copy.
type table[T any] struct {
	byID map[string]*T
	ids  []string // in natural order
}

func newTable[T any](records []T, id func(*T) string) table[T] {
	t := table[T]{byID: make(map[string]*T, len(records))}
	for i := range records {
		t.byID[id(&records[i])] = &records[i]
	}
	t.ids = slices.SortedFunc(maps.Keys(t.byID), compareIDs)
	return t
}

// compareIDs puts WO-999 before WO-1000: shorter ids of the same prefix first.
func compareIDs(a, b string) int {
	pa, na := splitID(a)
	pb, nb := splitID(b)
	if pa != pb || na == "" || nb == "" {
		return strings.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(len(na), len(nb)), strings.Compare(na, nb))
}

func splitID(id string) (prefix, digits string) {
	i := len(id)
	for i > 0 && id[i-1] >= '0' && id[i-1] <= '9' {
		i--
	}
	return id[:i], id[i:]
}

func (t table[T]) get(id string) *T { return t.byID[id] }

// near lists ids that differ from id in one digit, lowest first and few.
func (t table[T]) near(id string) []string {
	var out []string
	for i := range len(id) {
		if id[i] < '0' || id[i] > '9' {
			continue
		}
		for d := byte('0'); d <= '9'; d++ {
			if other := id[:i] + string(d) + id[i+1:]; other != id && t.get(other) != nil {
				out = append(out, other)
			}
		}
	}
	slices.SortFunc(out, compareIDs)
	return out[:min(len(out), maxCandidates)]
}

func (t table[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, id := range t.ids {
			if !yield(t.byID[id]) {
				return
			}
		}
	}
}

func (t table[T]) values() []T {
	out := make([]T, 0, len(t.ids))
	for r := range t.all() {
		out = append(out, *r)
	}
	return out
}

func (t table[T]) with(changed map[string]*T) table[T] {
	if len(changed) == 0 {
		return t
	}
	out := table[T]{byID: maps.Clone(t.byID), ids: t.ids}
	maps.Copy(out.byID, changed)
	if len(out.byID) != len(t.byID) {
		out.ids = slices.SortedFunc(maps.Keys(out.byID), compareIDs)
	}
	return out
}

// nextID is the id after the highest numbered one with that prefix.
func (t table[T]) nextID(prefix string) string {
	highest := 0
	for id := range t.byID {
		var n int
		if _, err := fmt.Sscanf(id, prefix+"%d", &n); err == nil {
			highest = max(highest, n)
		}
	}
	return fmt.Sprintf("%s%d", prefix, highest+1)
}

// contents is the whole book at one moment, with its records decoded. It is
// immutable: rules read it without locks, and a change makes a new one.
type contents struct {
	reference   Reference
	company     Company
	regions     []Named
	skills      []Named
	users       []User
	policy      Policy
	technicians table[Technician]
	customers   table[Customer]
	sites       table[Site]
	assets      table[Asset]
	workOrders  table[WorkOrder]
	visits      table[Visit]
	suppliers   table[Supplier]
	locations   table[StockLocation]
	parts       table[Part]
	partOrders  table[PartOrder]

	zone  *time.Location            // the company's
	zones map[string]*time.Location // the sites', by name
	index func() *partIndex         // made when it is first asked for; parts do not change
}

// newContents decodes a ledger into tables and checks what the rules rely on.
func newContents(l *ledger) (*contents, error) {
	c := &contents{
		reference: l.Reference, company: l.Company, regions: l.Regions,
		skills: l.Skills, users: l.Users, policy: l.Policy,
		technicians: newTable(l.Technicians, func(r *Technician) string { return r.ID }),
		customers:   newTable(l.Customers, func(r *Customer) string { return r.ID }),
		sites:       newTable(l.Sites, func(r *Site) string { return r.ID }),
		assets:      newTable(l.Assets, func(r *Asset) string { return r.ID }),
		workOrders:  newTable(l.WorkOrders, func(r *WorkOrder) string { return r.ID }),
		visits:      newTable(l.Visits, func(r *Visit) string { return r.ID }),
		suppliers:   newTable(l.Suppliers, func(r *Supplier) string { return r.ID }),
		locations:   newTable(l.StockLocations, func(r *StockLocation) string { return r.ID }),
		parts:       newTable(l.Parts, func(r *Part) string { return r.SKU }),
		partOrders:  newTable(l.PartOrders, func(r *PartOrder) string { return r.ID }),
		zones:       map[string]*time.Location{},
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.index = sync.OnceValue(func() *partIndex { return newPartIndex(c) })
	return c, nil
}

// check loads the zones and makes sure that references lead somewhere, so that
// the rules need not look for missing records at every step.
func (c *contents) check() error {
	zone, err := time.LoadLocation(c.company.Timezone)
	if err != nil || c.company.Timezone == "" {
		return fmt.Errorf("company: zone %q is not known", c.company.Timezone)
	}
	c.zone = zone
	for s := range c.sites.all() {
		if c.zones[s.Timezone] == nil {
			if c.zones[s.Timezone], err = time.LoadLocation(s.Timezone); err != nil {
				return fmt.Errorf("site %s: zone %q is not known", s.ID, s.Timezone)
			}
		}
		if c.customers.get(s.CustomerID) == nil {
			return fmt.Errorf("site %s: no customer %s", s.ID, s.CustomerID)
		}
	}
	for w := range c.workOrders.all() {
		if c.sites.get(w.SiteID) == nil || c.customers.get(w.CustomerID) == nil {
			return fmt.Errorf("work order %s: no site %s or no customer %s", w.ID, w.SiteID, w.CustomerID)
		}
		if w.TechnicianID != nil && c.technicians.get(*w.TechnicianID) == nil {
			return fmt.Errorf("work order %s: no technician %s", w.ID, *w.TechnicianID)
		}
		if w.AssetID != nil && c.assets.get(*w.AssetID) == nil {
			return fmt.Errorf("work order %s: no asset %s", w.ID, *w.AssetID)
		}
	}
	for v := range c.visits.all() {
		if c.workOrders.get(v.WorkOrderID) == nil || c.technicians.get(v.TechnicianID) == nil || c.sites.get(v.SiteID) == nil {
			return fmt.Errorf("visit %s: no work order, technician or site", v.ID)
		}
	}
	return c.checkParts()
}

func (c *contents) checkParts() error {
	for p := range c.parts.all() {
		if c.suppliers.get(p.SupplierID) == nil {
			return fmt.Errorf("part %s: no supplier %s", p.SKU, p.SupplierID)
		}
	}
	for o := range c.partOrders.all() {
		if c.suppliers.get(o.SupplierID) == nil {
			return fmt.Errorf("part order %s: no supplier %s", o.ID, o.SupplierID)
		}
		if o.WorkOrderID != nil && c.workOrders.get(*o.WorkOrderID) == nil {
			return fmt.Errorf("part order %s: no work order %s", o.ID, *o.WorkOrderID)
		}
	}
	return nil
}

// ledger is the way back, for storing and exporting.
func (c *contents) ledger() *ledger {
	return &ledger{
		Reference: c.reference, Company: c.company, Regions: c.regions,
		Skills: c.skills, Users: c.users, Policy: c.policy,
		Technicians: c.technicians.values(), Customers: c.customers.values(),
		Sites: c.sites.values(), Assets: c.assets.values(),
		WorkOrders: c.workOrders.values(), Visits: c.visits.values(),
		Suppliers: c.suppliers.values(), StockLocations: c.locations.values(),
		Parts: c.parts.values(), PartOrders: c.partOrders.values(),
	}
}

// siteZone is the zone of a site's clocks.
func (c *contents) siteZone(s *Site) *time.Location { return c.zones[s.Timezone] }

// user finds a desk user, or nil.
func (c *contents) user(id string) *User {
	i := slices.IndexFunc(c.users, func(u User) bool { return u.ID == id })
	if i < 0 {
		return nil
	}
	return &c.users[i]
}

// isClosed says whether nothing may be booked or ordered for the job any more.
func (c *contents) isClosed(w *WorkOrder) bool {
	return slices.Contains(c.policy.ClosedWorkOrderStatuses, w.Status)
}

// isOpenOrder says whether the part is still to come.
func (c *contents) isOpenOrder(o *PartOrder) bool {
	return slices.Contains(c.policy.OpenOrderStatuses, o.Status)
}

// occupies says whether the visit takes the technician's time.
func occupies(v *Visit) bool {
	return v.Status == "booked" || v.Status == "en_route" || v.Status == "on_site"
}
