package workorders

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// head reads what is no list of records, and fills in what the files leave
// out: from the book when rows are added, else from the options and the usual.
func (in *importing) head() error {
	heads := in.src.heads()
	if in.opt.Add {
		if len(heads) > 0 || in.src.has(bucketKeys) || in.src.has(bucketJournal) {
			return fmt.Errorf("%s describes a whole company; it can replace the book, not be added to it", in.src.json.name)
		}
		c := in.have
		in.ledger = &ledger{Reference: c.reference, Company: c.company, Regions: slices.Clone(c.regions), Skills: slices.Clone(c.skills), Users: c.users, Policy: c.policy}
		in.knowBook()
	} else {
		l, err := usualHead(in.opt.Company, in.now)
		if err != nil {
			return err
		}
		in.ledger = l
		for key, into := range map[string]any{
			"reference": &l.Reference, "company": &l.Company, "regions": &l.Regions, "skills": &l.Skills, "users": &l.Users, "policy": &l.Policy,
		} {
			if raw, ok := heads[key]; ok {
				if err := json.Unmarshal(raw, into); err != nil {
					return &ImportErrors{Rows: []RowError{{in.src.json.name, 0, key, "it cannot be read: " + err.Error()}}}
				}
			}
		}
	}
	zone, err := time.LoadLocation(in.ledger.Company.Timezone)
	if err != nil || in.ledger.Company.Timezone == "" {
		return fmt.Errorf("the company's time zone %q is not known; write one like Europe/Brussels", in.ledger.Company.Timezone)
	}
	in.zone = zone
	for _, s := range in.ledger.Skills {
		in.known.skills[s.ID] = true
	}
	for _, r := range in.ledger.Regions {
		in.known.regions[r.ID] = true
	}
	return nil
}

// usualHead is what a company gets that has only spreadsheets: the bounds and
// words of the demo, and one user who may approve everything.
func usualHead(o CompanyOptions, now time.Time) (*ledger, error) {
	demo, err := demoLedger()
	if err != nil {
		return nil, err
	}
	c := demo.Company
	c.ID, c.Name, c.CountryNote = "company", or(o.Name, "Our company"), ""
	c.Timezone, c.Currency = or(o.Timezone, "UTC"), or(o.Currency, "EUR")
	c.ClosedDays, c.ClosedDaysRel = []string{}, nil
	return &ledger{
		Reference: Reference{Day: now.Format(time.DateOnly), Weekday: weekday(now), Now: Stamp{now}, NowRel: "D+0T" + now.Format("15:04"), Timezone: c.Timezone},
		Company:   c, Regions: []Named{}, Skills: []Named{}, Policy: demo.Policy,
		Users: []User{{ID: "U-01", Name: "Dispatch", Role: roleManage, Currency: c.Currency}},
	}, nil
}

// knowBook makes what the book has known to the rows that are added.
func (in *importing) knowBook() {
	c, k := in.have, in.known
	in.old = map[string]map[string]bool{}
	know := func(kind string, ids []string) {
		in.old[kind] = map[string]bool{}
		for _, id := range ids {
			in.old[kind][id], k.ids[kind][id] = true, true
		}
	}
	know(bucketTechnicians, c.technicians.ids)
	know(bucketCustomers, c.customers.ids)
	know(bucketSites, c.sites.ids)
	know(bucketAssets, c.assets.ids)
	know(bucketSuppliers, c.suppliers.ids)
	know(bucketLocations, c.locations.ids)
	know(bucketParts, c.parts.ids)
	know(bucketWorkOrders, c.workOrders.ids)
	know(bucketVisits, c.visits.ids)
	know(bucketPartOrders, c.partOrders.ids)
	for s := range c.sites.all() {
		k.zones[s.ID], k.customers[s.ID] = c.siteZone(s), s.CustomerID
		k.name(bucketSites, s.ID, s.Name)
	}
	for t := range c.technicians.all() {
		k.name(bucketTechnicians, t.ID, t.Name)
	}
	for r := range c.customers.all() {
		k.name(bucketCustomers, r.ID, r.Name)
	}
	for r := range c.suppliers.all() {
		k.name(bucketSuppliers, r.ID, r.Name)
	}
	for a := range c.assets.all() {
		k.assets[a.ID] = a.SiteID
	}
	for w := range c.workOrders.all() {
		k.jobs[w.ID] = w.SiteID
	}
}

// name notes what a record is called, so that rows may refer to it so.
func (k known) name(kind, id, name string) {
	key := fold(name)
	if other, ok := k.names[kind][key]; ok && other != id {
		id = ""
	}
	k.names[kind][key] = id
}

// knowName adds a skill or region that the files name and nobody described.
func (in *importing) knowName(known map[string]bool, list *[]Named, id string) {
	if !known[id] {
		known[id] = true
		*list = append(*list, Named{ID: id, Name: id})
	}
}

// described says whether the files describe what they name: then a name that
// is not among them is a mistake.
func (in *importing) described(key string) bool {
	_, ok := in.src.heads()[key]
	return ok
}

// implies notes a customer or supplier that is only named, where the files
// have no list of them.
func (in *importing) implies(kind, id string) bool {
	if _, named := in.known.names[kind][fold(id)]; named || in.src.has(kind) || in.known.ids[kind][id] {
		return false
	}
	in.known.ids[kind][id] = true
	in.known.implied[kind] = append(in.known.implied[kind], id)
	return true
}

// putImplied writes the customers and suppliers that were only named, once all
// rows that name them have been seen.
func (in *importing) putImplied(kind string) error {
	after := map[string]string{bucketSites: bucketCustomers, bucketParts: bucketSuppliers}[kind]
	implied := slices.Sorted(maps.Keys(set(in.known.implied[after])))
	if after == "" {
		return nil
	}
	for _, id := range implied {
		in.count[after]++
		var record any = &Customer{ID: id, Name: id, Contract: "none"}
		if after == bucketSuppliers {
			record = &Supplier{ID: id, Name: id, Currency: in.ledger.Company.Currency}
		}
		if !in.write {
			continue
		}
		if err := in.put(after, id, record); err != nil {
			return err
		}
	}
	return nil
}

func set(all []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		out[s] = true
	}
	return out
}
