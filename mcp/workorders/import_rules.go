package workorders

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// What a row must hold, kind by kind. Checks run in both passes; ids are
// collected in the first and may be there in the second.

// statusScheduled is what a job is that somebody comes for.
const statusScheduled = "scheduled"

var currencies = regexp.MustCompile(`^[A-Z]{3}$`)

// presetRecord fills a record with what a row that leaves a field out gets.
func presetRecord(r any, c Company, now Stamp) {
	switch r := r.(type) {
	case *Technician:
		*r = Technician{Active: true, Skills: []Certified{}, Regions: []string{}, Shifts: usualShifts(c), MaxVisitsDaily: 6, TimeOff: []Period{}, OnCall: []Period{}}
	case *Customer:
		r.Contract = "none"
	case *Site:
		r.Timezone = c.Timezone
	case *Part:
		*r = Part{Unit: "pcs", Currency: c.Currency, MinQuantity: 1, PackSize: 1, Status: "active", FitsModels: []string{}, Stock: []StockCount{}, Substitutes: []string{}}
	case *Supplier:
		r.Currency = c.Currency
	case *WorkOrder:
		*r = WorkOrder{
			Type: "repair", Status: "new", Priority: "normal", RequiredSkills: []string{}, EstimatedMinutes: 60, VisitIDs: []string{}, PartOrderIDs: []string{},
			Currency: c.Currency, PartsNeeded: []NeededPart{}, CreatedAt: now, Notes: []Note{}, Version: 1,
		}
	case *Visit:
		*r = Visit{Status: "booked", Version: 1}
	case *PartOrder:
		*r = PartOrder{Unit: "pcs", Currency: c.Currency, Version: 1, RequestedAt: now}
	}
}

func usualShifts(c Company) []Shift {
	return []Shift{{Days: slices.Clone(c.WorkingDays), Start: "08:00", End: "17:00"}}
}

func (r *row[T]) oneOf(column, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		r.bad(column, "%q is none of %s", value, list(allowed))
	}
}

func (r *row[T]) needs(column, value string) {
	if value == "" {
		r.bad(column, "it is empty")
	}
}

func (r *row[T]) atLeast(column string, value, least int64) {
	if value < least {
		r.bad(column, "it is %d; the least is %d", value, least)
	}
}

func (r *row[T]) currency(column, value string) {
	if !currencies.MatchString(value) {
		r.bad(column, "%q is no currency; write one like EUR", value)
	}
}

// skill checks that a skill is known. Where nobody described the skills,
// whoever has one makes it known, and in a new book also whatever needs it.
func (r *row[T]) skill(column, id string) {
	if r.in.known.skills[id] {
		return
	}
	if r.in.described("skills") || r.in.opt.Add && r.kind != bucketTechnicians {
		r.bad(column, "there is no skill %q", id)
		return
	}
	r.in.knowName(r.in.known.skills, &r.in.ledger.Skills, id)
}

func (r *row[T]) region(column, id string) {
	if r.in.known.regions[id] {
		return
	}
	if r.in.described("regions") {
		r.bad(column, "there is no region %q", id)
		return
	}
	r.in.knowName(r.in.known.regions, &r.in.ledger.Regions, id)
}

func checkTechnician(r *row[Technician]) {
	t := r.r
	r.id("id", &t.ID)
	r.needs("name", t.Name)
	r.in.known.name(r.kind, t.ID, t.Name)
	for _, s := range t.Skills {
		r.skill("skills", s.ID)
		if _, err := time.Parse(time.DateOnly, s.ValidUntil); s.ValidUntil != "" && err != nil {
			r.bad("skills", "%q is no day; write one like 2026-12-31", s.ValidUntil)
		}
	}
	for _, region := range t.Regions {
		r.region("regions", region)
	}
	for _, s := range t.Shifts {
		day := r.in.now
		_, ok1 := clockOn(day, s.Start)
		_, ok2 := clockOn(day, s.End)
		if !ok1 || !ok2 {
			r.bad("shifts", "%s-%s are no hours; write them like 08:00", s.Start, s.End)
		}
		for _, d := range s.Days {
			if !slices.Contains(weekdays, d) {
				r.bad("shifts", "%q is no weekday; write mon to sun", d)
			}
		}
	}
	for column, periods := range map[string][]Period{"time_off": t.TimeOff, "on_call": t.OnCall} {
		for _, p := range periods {
			if !p.Start.Before(p.End.Time) {
				r.bad(column, "it ends before it starts")
			}
		}
	}
}

func checkCustomer(r *row[Customer]) {
	r.id("id", &r.r.ID)
	r.needs("name", r.r.Name)
	r.in.known.name(r.kind, r.r.ID, r.r.Name)
}

func checkSite(r *row[Site]) {
	s := r.r
	r.id("id", &s.ID)
	r.needs("name", s.Name)
	r.in.known.name(r.kind, s.ID, s.Name)
	s.CustomerID = or(s.CustomerID, s.Name)
	if s.CustomerID != "" && !r.in.implies(bucketCustomers, s.CustomerID) {
		r.refers("customer_id", bucketCustomers, &s.CustomerID)
	}
	if s.Region != "" {
		r.region("region", s.Region)
	}
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil || s.Timezone == "" || s.Timezone == "Local" {
		r.bad("timezone", "%q is no time zone; write one like Europe/Brussels", s.Timezone)
		zone = r.in.zone
	}
	r.in.known.zones[s.ID], r.in.known.customers[s.ID] = zone, s.CustomerID
}

func checkAsset(r *row[Asset]) {
	a := r.r
	r.id("id", &a.ID)
	r.refers("site_id", bucketSites, &a.SiteID)
	r.in.known.assets[a.ID] = a.SiteID
	if a.WarrantyUntil != nil {
		if _, err := time.Parse(time.DateOnly, *a.WarrantyUntil); err != nil {
			r.bad("warranty_until", "%q is no day; write one like 2026-12-31", *a.WarrantyUntil)
		}
	}
}

func checkSupplier(r *row[Supplier]) {
	s := r.r
	r.id("id", &s.ID)
	r.needs("name", s.Name)
	r.in.known.name(r.kind, s.ID, s.Name)
	r.currency("currency", s.Currency)
	r.atLeast("delivery_fee_minor", s.DeliveryFee, 0)
	r.atLeast("min_order_minor", s.MinOrder, 0)
	r.atLeast("small_order_fee_minor", s.SmallOrderFee, 0)
	if _, ok := clockOn(r.in.now, s.OrderCutoff); s.OrderCutoff != "" && !ok {
		r.bad("order_cutoff", "%q is no time of day; write one like 15:00", s.OrderCutoff)
	}
}

func checkLocation(r *row[StockLocation]) {
	r.id("id", &r.r.ID)
	r.needs("name", r.r.Name)
}

func checkPart(r *row[Part]) {
	p := r.r
	r.id("sku", &p.SKU)
	r.needs("name", p.Name)
	r.oneOf("status", p.Status, []string{"active", "discontinued"})
	r.currency("currency", p.Currency)
	r.atLeast("price_minor", p.Price, 0)
	r.atLeast("lead_time_working_days", int64(p.LeadTimeDays), 0)
	r.atLeast("min_quantity", int64(p.MinQuantity), 1)
	r.atLeast("pack_size", int64(p.PackSize), 1)
	p.SupplierID = or(p.SupplierID, "Supplier")
	if !r.in.implies(bucketSuppliers, p.SupplierID) {
		r.refers("supplier_id", bucketSuppliers, &p.SupplierID)
	}
	for _, s := range p.Stock {
		r.atLeast("stock", int64(s.Quantity), 0)
	}
	if p.RestrictedToSkill != nil {
		r.skill("restricted_to_skill", *p.RestrictedToSkill)
	}
}

func checkJob(r *row[WorkOrder]) {
	w, k := r.r, r.in.known
	r.id("id", &w.ID)
	r.needs("title", w.Title)
	r.oneOf("status", w.Status, workOrderStatuses)
	r.oneOf("priority", w.Priority, priorities)
	r.currency("currency", w.Currency)
	r.atLeast("spend_limit_minor", w.SpendLimit, 0)
	r.atLeast("estimated_minutes", int64(w.EstimatedMinutes), 0)
	r.atLeast("version", int64(w.Version), 1)
	r.refers("site_id", bucketSites, &w.SiteID)
	if w.CustomerID == "" {
		w.CustomerID = k.customers[w.SiteID]
	} else {
		r.refers("customer_id", bucketCustomers, &w.CustomerID)
	}
	if w.AssetID != nil && r.refers("asset_id", bucketAssets, w.AssetID) {
		if site := k.assets[*w.AssetID]; site != w.SiteID {
			r.bad("asset_id", "%s is at site %s, not at %s", *w.AssetID, site, w.SiteID)
		}
	}
	r.refersIfAny("technician_id", bucketTechnicians, w.TechnicianID)
	for _, skill := range w.RequiredSkills {
		r.skill("required_skills", skill)
	}
	if w.WindowStart != nil && w.WindowEnd != nil && !w.WindowStart.Before(w.WindowEnd.Time) {
		r.bad("window_end", "it is not after window_start")
	}
	k.jobs[w.ID] = w.SiteID
	if r.in.first {
		return // visits and orders come later
	}
	if k.planned[w.ID] && !r.given("status") {
		w.Status = statusScheduled
	}
	w.VisitIDs = r.members("visit_ids", w.VisitIDs, k.visits[w.ID])
	w.PartOrderIDs = r.members("part_order_ids", w.PartOrderIDs, k.orders[w.ID])
}

// members compares a job's list with the rows that name the job; an empty one
// is filled from them.
func (r *row[T]) members(column string, listed, found []string) []string {
	if len(listed) == 0 {
		return append(listed, found...)
	}
	a, b := slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(found))
	if !slices.Equal(a, b) {
		r.bad(column, "it lists %s, and those that name the job are %s", list(listed), list(found))
	}
	return listed
}

func checkVisit(r *row[Visit]) {
	v, k := r.r, r.in.known
	r.id("id", &v.ID)
	if r.refers("work_order_id", bucketWorkOrders, &v.WorkOrderID) {
		v.SiteID = or(v.SiteID, k.jobs[v.WorkOrderID])
	}
	r.refers("technician_id", bucketTechnicians, &v.TechnicianID)
	r.refers("site_id", bucketSites, &v.SiteID)
	r.oneOf("status", v.Status, visitStatuses)
	r.atLeast("version", int64(v.Version), 1)
	switch {
	case v.Start.IsZero():
		r.bad("start", "it is empty")
	case v.End.IsZero():
		r.bad("end", "it is empty")
	case !v.Start.Before(v.End.Time):
		r.bad("end", "it is not after start")
	}
	if occupies(v) {
		k.planned[v.WorkOrderID] = true
	}
	if r.in.first {
		k.visits[v.WorkOrderID] = append(k.visits[v.WorkOrderID], v.ID)
	}
}

func checkOrder(r *row[PartOrder]) {
	o, k := r.r, r.in.known
	r.id("id", &o.ID)
	r.needs("sku", o.SKU)
	r.oneOf("status", o.Status, orderStatuses)
	r.currency("currency", o.Currency)
	r.atLeast("quantity", int64(o.Quantity), 1)
	r.atLeast("unit_price_minor", o.UnitPrice, 0)
	r.atLeast("fees_minor", o.Fees, 0)
	r.atLeast("version", int64(o.Version), 1)
	if sum := int64(o.Quantity)*o.UnitPrice + o.Fees; o.Total != sum {
		r.bad("total_minor", "it is %d; quantity times price plus fees is %d", o.Total, sum)
	}
	r.refers("supplier_id", bucketSuppliers, &o.SupplierID)
	if o.WorkOrderID == nil {
		return
	}
	if r.refers("work_order_id", bucketWorkOrders, o.WorkOrderID) && r.in.first {
		k.orders[*o.WorkOrderID] = append(k.orders[*o.WorkOrderID], o.ID)
	}
}

func checkKey(r *row[keptAnswer]) {
	r.needs("key", r.r.Key)
	ids := r.in.known.ids
	if id := r.r.Record; !ids[bucketPartOrders][id] && !ids[bucketVisits][id] && !ids[bucketWorkOrders][id] && !strings.HasPrefix(id, "N-") {
		r.bad("record", "there is no %q", id)
	}
	r.r.Answer = compacted(r.r.Answer)
}

func checkEntry(r *row[Entry]) {
	e := r.r
	if e.Number != r.in.entries+1 {
		r.bad("number", "it is %d after %d", e.Number, r.in.entries)
	}
	r.in.entries = e.Number
	for i := range e.Changes {
		for name, v := range e.Changes[i].Fields {
			e.Changes[i].Fields[name] = Values{compacted(v.Before), compacted(v.After)}
		}
	}
}

// compacted takes the spaces out that an export put between values.
func compacted(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}
