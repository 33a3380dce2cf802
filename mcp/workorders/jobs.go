package workorders

import (
	"slices"
	"time"
)

// What can be said of a job from its records and the time.

// flags of a job, in the order in which they are shown.
const (
	flagOverdue            = "overdue"
	flagAtRisk             = "at_risk"
	flagNoTechnician       = "no_technician"
	flagDoubleBooked       = "double_booked"
	flagCertificateExpired = "certificate_expired"
)

// riskAhead is how long before its deadline a job without a plan is at risk:
// seen in the morning, everything that is due by the evening of the next day.
const riskAhead = 36 * time.Hour

// visitsOf lists the job's visits, oldest first.
func (c *contents) visitsOf(w *WorkOrder) []*Visit {
	out := slices.Collect(c.visits.these(c.related(visitsByJob, w.ID)))
	slices.SortStableFunc(out, func(a, b *Visit) int { return a.Start.Compare(b.Start.Time) })
	return out
}

// ordersOf lists the job's part orders by id.
func (c *contents) ordersOf(w *WorkOrder) []*PartOrder {
	return slices.Collect(c.partOrders.these(c.related(ordersByJob, w.ID)))
}

// openVisit is the job's first visit that has not ended yet, or nil.
func (c *contents) openVisit(w *WorkOrder, now time.Time) *Visit {
	for _, v := range c.visitsOf(w) {
		if occupies(v) && v.End.After(now) {
			return v
		}
	}
	return nil
}

// committed sums what has been or will be paid for the job, fees included, in
// the company's currency. Orders in other currencies are never added to it.
func (c *contents) committed(w *WorkOrder) int64 {
	var sum int64
	for _, o := range c.ordersOf(w) {
		if o.Currency == c.company.Currency && o.Status != "cancelled" && o.Status != "rejected" {
			sum += o.Total
		}
	}
	return sum
}

func (c *contents) overdue(w *WorkOrder, now time.Time) bool {
	return !c.isClosed(w) && w.ResolveBy != nil && w.ResolveBy.Before(now)
}

// atRisk says that the deadline is still ahead but the plan does not meet it:
// the visit ends, or the part comes, after it; or there is no plan and little
// time.
func (c *contents) atRisk(w *WorkOrder, now time.Time) bool {
	if c.isClosed(w) || w.ResolveBy == nil || w.ResolveBy.Before(now) {
		return false
	}
	for _, o := range c.ordersOf(w) {
		if c.isOpenOrder(o) && o.ExpectedAt != nil && o.ExpectedAt.After(w.ResolveBy.Time) {
			return true
		}
	}
	if v := c.openVisit(w, now); v != nil {
		return v.End.After(w.ResolveBy.Time)
	}
	return w.ResolveBy.Sub(now) <= riskAhead
}

// flagsOf lists what is remarkable about the job.
func (c *contents) flagsOf(w *WorkOrder, now time.Time) []string {
	flags := []string{}
	add := func(flag string, is bool) {
		if is {
			flags = append(flags, flag)
		}
	}
	add(flagOverdue, c.overdue(w, now))
	add(flagAtRisk, c.atRisk(w, now))
	add(flagNoTechnician, !c.isClosed(w) && w.TechnicianID == nil)
	var clash, expired bool
	for _, v := range c.visitsOf(w) {
		if !occupies(v) || !v.End.After(now) {
			continue
		}
		t := c.technicians.get(v.TechnicianID)
		clash = clash || len(c.clashes(t, v.Start.Time, v.End.Time, v.ID)) > 0
		_, skill := c.lacking(t, w.RequiredSkills, v.Start.Time)
		expired = expired || skill != ""
	}
	add(flagDoubleBooked, clash)
	add(flagCertificateExpired, expired)
	return flags
}

// clashes lists the technician's open visits that overlap [start, end), other
// than the one named.
func (c *contents) clashes(t *Technician, start, end time.Time, except string) []*Visit {
	var out []*Visit
	for v := range c.visits.these(c.related(openByTechnician, t.ID)) {
		if v.ID != except && overlaps(start, end, v.Start.Time, v.End.Time) {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b *Visit) int { return a.Start.Compare(b.Start.Time) })
	return out
}

// overlaps compares half-open intervals: 8-10 and 10-12 touch and do not overlap.
func overlaps(start, end, otherStart, otherEnd time.Time) bool {
	return start.Before(otherEnd) && otherStart.Before(end)
}

// lacking names the first needed skill that the technician does not have, and
// the first whose certificate has run out by the day of at.
func (c *contents) lacking(t *Technician, needed []string, at time.Time) (missing, expired string) {
	day := at.In(c.zone).Format(time.DateOnly)
	for _, skill := range needed {
		i := slices.IndexFunc(t.Skills, func(s Certified) bool { return s.ID == skill })
		switch {
		case i < 0 && missing == "":
			missing = skill
		case i >= 0 && expired == "" && t.Skills[i].ValidUntil != "" && t.Skills[i].ValidUntil < day:
			expired = skill
		}
	}
	return missing, expired
}

// skillName is a skill for people.
func (c *contents) skillName(id string) string {
	for _, s := range c.skills {
		if s.ID == id {
			return s.Name
		}
	}
	return id
}

// regionName is a region for people.
func (c *contents) regionName(id string) string {
	for _, r := range c.regions {
		if r.ID == id {
			return r.Name
		}
	}
	return id
}
