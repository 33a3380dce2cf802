package workorders

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

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

	relations relations
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
	c.relate()
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
