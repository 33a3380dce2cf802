package workorders

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// stockInfo is stock of a part at one place.
type stockInfo struct {
	LocationID string `json:"location_id"`
	Location   string `json:"location"`
	Holder     string `json:"holder,omitempty" jsonschema:"who drives the van"`
	Quantity   int    `json:"quantity"`
}

// stockOf lists where the part lies: depots first, then vans with their holder.
func (c *contents) stockOf(p *Part) []stockInfo {
	depots, vans := []stockInfo{}, []stockInfo{}
	for _, s := range p.Stock {
		info := stockInfo{LocationID: s.LocationID, Location: s.LocationID, Quantity: s.Quantity}
		l := c.locations.get(s.LocationID)
		if l != nil {
			info.Location = l.Name
		}
		if holder := c.holderOf(s.LocationID); holder != nil {
			info.Holder = holder.Name
		}
		if l != nil && l.Region != nil {
			depots = append(depots, info)
		} else {
			vans = append(vans, info)
		}
	}
	return append(depots, vans...)
}

// holderOf is the technician whose van the location is, or nil.
func (c *contents) holderOf(location string) *Technician {
	for t := range c.technicians.all() {
		if t.StockLocation != nil && *t.StockLocation == location {
			return t
		}
	}
	return nil
}

func stockTotal(p *Part) int {
	total := 0
	for _, s := range p.Stock {
		total += s.Quantity
	}
	return total
}

// warnAbout adds what an approver should know, most weighty first.
func (v view) warnAbout(p *purchase) {
	for _, o := range p.duplicates {
		p.warn("duplicate_order", "%s for the same job is already %s: %d of %s, asked for on %s.",
			o.ID, strings.ReplaceAll(o.Status, "_", " "), o.Quantity, o.SKU, o.RequestedAt.In(v.zone).Format(localLayout))
	}
	a := v.asset(p.job)
	if p.fits == "no" {
		p.warn("does_not_fit_asset", "%s is not listed for %s %s; it is for %s.", p.part.SKU, a.Maker, a.Model, list(p.part.FitsModels))
	}
	if stockTotal(p.part) > 0 {
		p.warn("own_stock_available", "In our own stock: %s.", v.stockText(p.part))
	}
	if p.job == nil {
		return
	}
	v.warnAboutJob(p)
	if a != nil && a.WarrantyUntil != nil && *a.WarrantyUntil >= v.now.In(v.zone).Format(time.DateOnly) {
		p.warn("warranty", "The %s is under warranty until %s; the supplier may owe the part.", a.Kind, *a.WarrantyUntil)
	}
}

func (v view) warnAboutJob(p *purchase) {
	for _, o := range v.ordersOf(p.job) {
		if o.SKU == p.part.SKU && o.Status == "received" {
			p.warn("already_received", "%s for this job has already arrived: %d of %s.", o.ID, o.Quantity, o.SKU)
		}
	}
	i := slices.IndexFunc(p.job.PartsNeeded, func(n NeededPart) bool { return n.SKU == p.part.SKU })
	if i >= 0 && p.job.PartsNeeded[i].Quantity != p.quantity {
		p.warn("quantity_differs", "The technician asked for %d, this is %d.", p.job.PartsNeeded[i].Quantity, p.quantity)
	}
	if p.job.Status == "on_hold" {
		p.warn("work_order_on_hold", "%s is on hold.", p.job.ID)
	}
	if p.job.ResolveBy != nil && p.expected.After(p.job.ResolveBy.Time) {
		p.warn("arrives_after_deadline", "It arrives on %s; %s must be done by %s.",
			p.expected.Format(localLayout), p.job.ID, p.job.ResolveBy.In(v.zone).Format(localLayout))
	}
	if k := v.customers.get(p.job.CustomerID); k.NeedsCustomerPO {
		p.warn("customer_po_missing", "%s wants its own order number on purchases; there is none.", k.Name)
	}
}

func (c *contents) stockText(p *Part) string {
	var out []string
	for _, s := range c.stockOf(p) {
		switch {
		case s.Quantity == 0:
		case s.Holder != "":
			out = append(out, fmt.Sprintf("%d in the van of %s", s.Quantity, s.Holder))
		default:
			out = append(out, fmt.Sprintf("%d at %s", s.Quantity, s.Location))
		}
	}
	return list(out)
}
