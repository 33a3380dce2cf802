package workorders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// defaultMaxQuantity is the limit of a part without one, if the policy has none.
const defaultMaxQuantity = 20

// A wish is what a call wants to buy.
type wish struct {
	workOrder      string // empty only for a quote
	sku            string
	quantity       int
	allowDuplicate bool
	maxTotal       *int64 // minor units of the part's currency
	deliverTo      string
}

// A purchase is a wish that no rule refuses, with everything that follows.
type purchase struct {
	part       *Part
	entry      *partEntry
	supplier   *Supplier
	job        *WorkOrder // nil without a work order
	order      *PartOrder // if it is in the book already
	quantity   int
	goods      int64 // minor units of the part's currency, like fees and total
	fees       []fee
	total      int64
	expected   time.Time
	duplicates []*PartOrder
	fits       string
	warnings   []Warning
	role       string // who has to approve: roleNone, or the lowest role that may
	refusal    *Refusal
}

type fee struct {
	Name   string `json:"name"`
	Amount Money  `json:"amount"`
}

// Roles, from the one with the lowest limit.
const (
	roleNone   = "none"
	roleSenior = "senior_dispatcher"
	roleManage = "manager"
)

func (p *purchase) money(minor int64) Money { return Money{Minor: minor, Currency: p.part.Currency} }

func (p *purchase) warn(code, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{Code: code, Message: fmt.Sprintf(format, args...)})
}

// purchase applies the rules for ordering, in their fixed order; the first
// that refuses wins. Quotes and orders go through the same rules, so that
// nobody is asked to approve what must fail.
func (v view) purchase(w wish) (*purchase, error) {
	p := &purchase{quantity: w.quantity}
	var err error
	if w.workOrder != "" {
		if p.job, err = v.openWorkOrder(w.workOrder); err != nil {
			return nil, err
		}
	}
	if p.part, err = v.orderable(w.sku); err != nil {
		return nil, err
	}
	p.entry = v.index().bySKU[p.part.SKU]
	p.supplier = v.suppliers.get(p.part.SupplierID)
	if err := v.quantityFits(p.part, w.quantity); err != nil {
		return nil, err
	}
	if p.duplicates = v.duplicatesOf(p); len(p.duplicates) > 0 && !w.allowDuplicate {
		return nil, duplicateRefusal(p)
	}
	p.price()
	if w.maxTotal != nil && p.total > *w.maxTotal {
		return nil, refuse("price_changed", "max_total_minor", "The total is %s, more than %s.", p.money(p.total), p.money(*w.maxTotal)).
			detail("total", p.money(p.total))
	}
	p.expected = v.arrival(p.supplier, p.part.LeadTimeDays, v.now)
	p.fits = v.fitOf(p)
	if err := v.restricted(p); err != nil {
		return nil, err
	}
	if err := v.deliverable(w.deliverTo); err != nil {
		return nil, err
	}
	v.warnAbout(p)
	v.limit(p)
	return p, nil
}

// orderable finds a part by its exact SKU, which must still be sold.
func (v view) orderable(sku string) (*Part, error) {
	part := v.parts.get(sku)
	if part == nil {
		return nil, v.noSuchPart(sku)
	}
	if part.Status != "discontinued" {
		return part, nil
	}
	r := refuse("part_discontinued", "sku", "%s (%s) is no longer sold.", part.SKU, part.Name).
		detail("replaced_by", deref(part.ReplacedBy)).detail("substitutes", append([]string{}, part.Substitutes...))
	if part.ReplacedBy == nil {
		delete(r.Details, "replaced_by")
		if len(part.Substitutes) == 0 {
			return nil, r.never()
		}
	} else {
		r.Message = fmt.Sprintf("%s (%s) is no longer sold; it was replaced by %s.", part.SKU, part.Name, *part.ReplacedBy)
	}
	for _, sku := range v.alternativesTo(part) {
		other := v.parts.get(sku)
		r.offer(map[string]any{"sku": other.SKU, "name": other.Name, "price": Money{Minor: other.Price, Currency: other.Currency}})
	}
	return nil, r
}

// alternativesTo lists the successor and the substitutes that exist, each once.
func (v view) alternativesTo(part *Part) []string {
	var out []string
	for _, sku := range append([]string{deref(part.ReplacedBy)}, part.Substitutes...) {
		if v.parts.get(sku) != nil && !slices.Contains(out, sku) {
			out = append(out, sku)
		}
	}
	return out
}

// noSuchPart offers what the text may have meant. Only an exact SKU buys
// anything, so that rules about a SKU cannot be passed by another spelling.
func (v view) noSuchPart(sku string) error {
	hits := v.index().search(sku)
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(b.score-a.score, strings.Compare(a.part.SKU, b.part.SKU)) })
	r := refuse("part_not_found", "sku", "There is no part %q; give the exact SKU.", sku)
	if len(hits) > 1 && hits[0].score < exactSKU {
		r = refuse("ambiguous_part", "sku", "%q can be several parts; give the exact SKU.", sku)
	}
	for _, h := range hits {
		r.offer(map[string]any{"sku": h.part.SKU, "name": h.part.Name})
	}
	return r
}

// quantityFits checks minimum, pack and maximum. Quantities are units, never packs.
func (v view) quantityFits(p *Part, quantity int) error {
	pack, least := max(1, p.PackSize), max(1, p.MinQuantity)
	next := (max(quantity, least) + pack - 1) / pack * pack
	switch {
	case quantity < 1:
		return refuse("quantity_invalid", "quantity", "The quantity must be a whole number of units, 1 or more.")
	case quantity < least:
		return refuse("below_min_quantity", "quantity", "%s is sold from %d %s; the next quantity is %d.", p.SKU, least, p.Unit, next).
			detail("min_quantity", least).detail("pack_size", pack).detail("next_valid_quantity", next)
	case quantity%pack != 0:
		return refuse("not_pack_multiple", "quantity", "%s is sold in packs of %d; the next quantity is %d.", p.SKU, pack, next).
			detail("min_quantity", least).detail("pack_size", pack).detail("next_valid_quantity", next)
	}
	if most := v.maxQuantity(p); quantity > most {
		return refuse("above_max_quantity", "quantity", "At most %d %s of %s can be ordered at once.", most, p.Unit, p.SKU).
			detail("max_quantity", most)
	}
	return nil
}

func (c *contents) maxQuantity(p *Part) int {
	if p.MaxQuantity != nil {
		return *p.MaxQuantity
	}
	if c.policy.DefaultMaxQuantity > 0 {
		return c.policy.DefaultMaxQuantity
	}
	return defaultMaxQuantity
}

// duplicatesOf lists the open orders of the same part for the same job.
func (v view) duplicatesOf(p *purchase) []*PartOrder {
	var out []*PartOrder
	if p.job == nil {
		return out
	}
	for _, o := range v.ordersOf(p.job) {
		if o.SKU == p.part.SKU && v.isOpenOrder(o) {
			out = append(out, o)
		}
	}
	return out
}

func duplicateRefusal(p *purchase) error {
	var ids []string
	for _, o := range p.duplicates {
		ids = append(ids, fmt.Sprintf("%s (%d, %s)", o.ID, o.Quantity, o.Status))
	}
	r := refuse("duplicate_order", "sku", "%s is already on order for %s: %s.", p.part.SKU, p.job.ID, list(ids))
	var open []string
	for _, o := range p.duplicates {
		open = append(open, o.ID)
	}
	return r.detail("part_orders", open).detail("override", "allow_duplicate")
}

// price sums goods and fees. Quantities are bounded by now, so nothing overflows.
func (p *purchase) price() {
	p.goods = int64(p.quantity) * p.part.Price
	p.fees = []fee{}
	if p.supplier.DeliveryFee > 0 {
		p.fees = append(p.fees, fee{"Delivery", p.money(p.supplier.DeliveryFee)})
	}
	if p.supplier.SmallOrderFee > 0 && p.goods < p.supplier.MinOrder {
		p.fees = append(p.fees, fee{"Small order", p.money(p.supplier.SmallOrderFee)})
	}
	p.total = p.goods
	for _, f := range p.fees {
		p.total += f.Amount.Minor
	}
}

// asset is the equipment of the job, or nil.
func (v view) asset(w *WorkOrder) *Asset {
	if w == nil || w.AssetID == nil {
		return nil
	}
	return v.assets.get(*w.AssetID)
}

// fitOf compares the part with the job's equipment: yes, no, not_listed (the
// part names no models) or unknown (no equipment).
func (v view) fitOf(p *purchase) string {
	a := v.asset(p.job)
	switch {
	case a == nil:
		return "unknown"
	case len(p.part.FitsModels) == 0:
		return "not_listed"
	case slices.Contains(p.part.FitsModels, a.Model):
		return "yes"
	}
	return "no"
}

// restricted refuses a part that the job's technician may not handle.
func (v view) restricted(p *purchase) error {
	if p.part.RestrictedToSkill == nil || p.job == nil {
		return nil
	}
	skill := v.skillName(*p.part.RestrictedToSkill)
	if p.job.TechnicianID == nil {
		p.warn("restricted_part", "%s is only for technicians with the skill %s; %s has no technician yet.", p.part.SKU, skill, p.job.ID)
		return nil
	}
	t := v.technicians.get(*p.job.TechnicianID)
	missing, expired := v.lacking(t, []string{*p.part.RestrictedToSkill}, v.now)
	if missing == "" && expired == "" {
		return nil
	}
	return refuse("restricted_part", "sku", "%s is only for technicians with the skill %s; %s, who has %s, does not have it.",
		p.part.SKU, skill, t.Name, p.job.ID).detail("skill", *p.part.RestrictedToSkill).detail("technician", t.ID)
}

// deliverable checks a van as the place of delivery.
func (v view) deliverable(to string) error {
	id, van := strings.CutPrefix(to, "van:")
	if !van {
		return nil
	}
	if t := v.technicians.get(id); t == nil || t.StockLocation == nil {
		return refuse("technician_not_found", "deliver_to", "There is no van of %s.", id)
	}
	return nil
}
