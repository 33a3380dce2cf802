package workorders

import (
	"fmt"
	"maps"
	"strings"
)

// orderAct names a part order, with a reason where one is wanted.
type orderAct struct {
	PartOrderID string `json:"part_order_id"`
	Reason      string `json:"reason"`
}

// split gives no key: twice is the same as once.
func (in orderAct) split() (string, any) { return "", in }

type orderActOutput struct {
	PartOrder orderActInfo `json:"part_order"`
	WorkOrder *statusRef   `json:"work_order,omitempty"`
	Changed   bool         `json:"changed"`
}

type orderActInfo struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	SKU        string `json:"sku"`
	Quantity   int    `json:"quantity"`
	Total      Money  `json:"total"`
	ApprovedBy string `json:"approved_by,omitempty"`
}

func orderActInfoOf(o *PartOrder) orderActInfo {
	return orderActInfo{
		ID: o.ID, Status: o.Status, SKU: o.SKU, Quantity: o.Quantity,
		Total: Money{Minor: o.Total, Currency: o.Currency}, ApprovedBy: deref(o.ApprovedBy),
	}
}

// describe names an order for people.
func describe(o *PartOrder) string {
	return fmt.Sprintf("%s (%d x %s, %s)", o.ID, o.Quantity, o.SKU, Money{Minor: o.Total, Currency: o.Currency})
}

// receiveGoods is the goods receipt. Only it makes an order received.
func receiveGoods(d *draft, _ caller, in orderAct) (orderActOutput, string, string, error) {
	old, err := d.partOrder(in.PartOrderID)
	if err != nil {
		return orderActOutput{}, "", "", err
	}
	switch old.Status {
	case "received":
		return orderActOutput{PartOrder: orderActInfoOf(old)}, old.ID + " was received before.", old.ID, nil
	case statusOrdered, "shipped", "back_ordered":
	default:
		return orderActOutput{}, "", "", refuse("not_on_the_way", "part_order_id", "%s is %s; only what was ordered can be received.",
			old.ID, statusWords(old.Status)).never().detail("status", old.Status)
	}
	o := *old
	o.Status = "received"
	o.Version++
	d.partOrders[o.ID] = &o
	out := orderActOutput{PartOrder: orderActInfoOf(&o), Changed: true}
	text := describe(&o) + " is received."
	if o.WorkOrderID != nil {
		ref, more := d.partsArrived(d.contents.workOrders.get(*o.WorkOrderID), &o)
		out.WorkOrder = ref
		text += more
	}
	return out, text, o.ID, nil
}

// partsArrived moves a job on that waited for this order only and has a visit.
func (d *draft) partsArrived(w *WorkOrder, received *PartOrder) (*statusRef, string) {
	ref := &statusRef{w.ID, w.Status}
	if w.Status != "waiting_parts" {
		return ref, ""
	}
	for _, o := range d.ordersOf(w) {
		if o.ID != received.ID && d.isOpenOrder(o) {
			return ref, fmt.Sprintf(" %s still waits for %s.", w.ID, o.ID)
		}
	}
	if d.openVisit(w, d.now) == nil {
		return ref, fmt.Sprintf(" %s has its parts; book a visit.", w.ID)
	}
	job := *w
	job.Status = statusScheduled
	job.Version++
	d.workOrders[job.ID] = &job
	ref.Status = job.Status
	return ref, fmt.Sprintf(" %s is scheduled.", w.ID)
}

// approveOrder settles an order of a client without a desk. Whoever approves
// must have the power that the order needed.
func approveOrder(d *draft, c caller, in orderAct) (orderActOutput, string, string, error) {
	old, err := d.pending(in.PartOrderID, "approved")
	if err != nil || old.Status != statusPending {
		return orderActOutput{PartOrder: infoIfAny(old)}, settled(old, c), idIfAny(old), err
	}
	v := view{contents: d.contents, now: d.now, caller: c}
	if r := v.mayApprove(old); r != nil {
		return orderActOutput{}, "", "", r
	}
	o := *old
	o.Status, o.ApprovedBy, o.ApprovedAt = "approved", ptr(c.user), ptr(Stamp{d.now})
	o.Rel = withoutRel(o.Rel, "approved_at")
	o.Version++
	d.partOrders[o.ID] = &o
	text := fmt.Sprintf("%s is approved by %s. It is recorded in the book and not sent to the supplier.", describe(&o), v.user(c.user).Name)
	return orderActOutput{PartOrder: orderActInfoOf(&o), Changed: true}, text, o.ID, nil
}

// rejectOrder settles an order so that it is never sent.
func rejectOrder(d *draft, c caller, in orderAct) (orderActOutput, string, string, error) {
	old, err := d.pending(in.PartOrderID, "rejected")
	if err != nil || old.Status != statusPending {
		return orderActOutput{PartOrder: infoIfAny(old)}, settled(old, c), idIfAny(old), err
	}
	o := *old
	o.Status, o.CancelReason, o.ExpectedAt = "rejected", strings.TrimSpace(in.Reason), nil
	o.Rel = withoutRel(o.Rel, "expected_at")
	o.Version++
	d.partOrders[o.ID] = &o
	return orderActOutput{PartOrder: orderActInfoOf(&o), Changed: true}, describe(&o) + " is rejected. Nothing was ordered.", o.ID, nil
}

// pending finds an order that waits for a decision, or one that was decided so
// before.
func (d *draft) pending(id, decided string) (*PartOrder, error) {
	o, err := d.partOrder(id)
	if err != nil {
		return nil, err
	}
	if o.Status == statusPending || o.Status == decided {
		return o, nil
	}
	return nil, refuse("not_pending", "part_order_id", "%s is %s; only what waits for an approval can be %s.", o.ID, statusWords(o.Status), decided).
		never().detail("status", o.Status)
}

// settled says that an order was decided before.
func settled(o *PartOrder, _ caller) string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf("%s was %s before.", o.ID, o.Status)
}

func infoIfAny(o *PartOrder) orderActInfo {
	if o == nil {
		return orderActInfo{}
	}
	return orderActInfoOf(o)
}

func idIfAny(o *PartOrder) string {
	if o == nil {
		return ""
	}
	return o.ID
}

// mayApprove compares an order that is in the book with the user's power, by
// the rules under which it would be ordered now.
func (v view) mayApprove(o *PartOrder) *Refusal {
	part := Part{SKU: o.SKU, Name: o.PartName, Price: o.UnitPrice, Currency: o.Currency, Unit: o.Unit, SupplierID: o.SupplierID}
	p := &purchase{part: &part, quantity: o.Quantity, goods: int64(o.Quantity) * o.UnitPrice, total: o.Total, order: o}
	if o.WorkOrderID != nil {
		p.job = v.workOrders.get(*o.WorkOrderID)
	}
	for _, other := range v.duplicatesOf(p) {
		if other.ID != o.ID {
			p.duplicates = append(p.duplicates, other)
		}
	}
	v.limit(p)
	return p.refusal
}

// orderText writes what a supplier needs to know.
func orderText(v view, in orderAct) (orderTextOutput, string, error) {
	o, err := v.partOrder(in.PartOrderID)
	if err != nil {
		return orderTextOutput{}, "", err
	}
	switch o.Status {
	case statusPending:
		return orderTextOutput{}, "", refuse("not_approved", "part_order_id", "%s waits for an approval; nothing is sent before.", o.ID)
	case "rejected", statusCancelled, "received":
		return orderTextOutput{}, "", refuse("order_over", "part_order_id", "%s is %s; there is nothing to send.", o.ID, o.Status).never()
	}
	supplier := v.suppliers.get(o.SupplierID)
	var b strings.Builder
	fmt.Fprintf(&b, "To: %s\nFrom: %s\nOur order number: %s\n\n", supplier.Name, v.company.Name, o.ID)
	fmt.Fprintf(&b, "Please deliver:\n\n  %d %s  %s  %s\n", o.Quantity, unitWord(o.Unit), o.SKU, o.PartName)
	fmt.Fprintf(&b, "  Unit price %s", Money{Minor: o.UnitPrice, Currency: o.Currency})
	if o.Fees > 0 {
		fmt.Fprintf(&b, ", fees %s", Money{Minor: o.Fees, Currency: o.Currency})
	}
	fmt.Fprintf(&b, ", total %s, excluding tax\n\n", Money{Minor: o.Total, Currency: o.Currency})
	fmt.Fprintf(&b, "Deliver to: %s\n", v.deliveryPlace(o))
	if o.ExpectedAt != nil {
		fmt.Fprintf(&b, "Expected: %s\n", o.ExpectedAt.In(v.zone).Format("Monday 2 January 2006"))
	}
	fmt.Fprintf(&b, "\nPlease confirm the order and the day of delivery, naming %s.\n", o.ID)
	return orderTextOutput{PartOrderID: o.ID, Supplier: Ref{supplier.ID, supplier.Name}, Text: b.String()}, b.String(), nil
}

type orderTextOutput struct {
	PartOrderID string `json:"part_order_id"`
	Supplier    Ref    `json:"supplier"`
	Text        string `json:"text"`
}

func unitWord(unit string) string {
	if unit == "m" {
		return "m of"
	}
	return "x"
}

// deliveryPlace is the address for the supplier: the site, a van's technician,
// or our depot.
func (v view) deliveryPlace(o *PartOrder) string {
	if van, ok := strings.CutPrefix(o.DeliverTo, "van:"); ok {
		if t := v.technicians.get(van); t != nil {
			return v.company.Name + ", for " + t.Name
		}
	}
	if o.DeliverTo == "site" && o.WorkOrderID != nil {
		s := v.sites.get(v.workOrders.get(*o.WorkOrderID).SiteID)
		return fmt.Sprintf("%s, %s, %s", s.Name, s.Address, s.Town)
	}
	for l := range v.locations.all() {
		if l.Region != nil {
			return v.company.Name + ", " + l.Name
		}
	}
	return v.company.Name
}

// withoutRel is the relative times without one that no longer holds.
func withoutRel(m map[string]string, key string) map[string]string {
	m = maps.Clone(m)
	delete(m, key)
	return m
}
