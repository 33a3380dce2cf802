package workorders

import (
	"cmp"
	"fmt"
	"slices"
)

type listOrdersInput struct {
	PartOrderID string   `json:"part_order_id,omitempty" jsonschema:"one order, like PO-3007"`
	WorkOrderID string   `json:"work_order_id,omitempty" jsonschema:"orders for this job"`
	SKU         string   `json:"sku,omitempty" jsonschema:"orders of this part"`
	Status      []string `json:"status,omitempty" jsonschema:"only these states"`
	Supplier    string   `json:"supplier,omitempty" jsonschema:"supplier id or name"`
	Limit       int      `json:"limit,omitempty" jsonschema:"items on a page, 1 to 50"`
	Cursor      string   `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

type listOrdersOutput struct {
	Items      []orderItem `json:"items" jsonschema:"newest first"`
	Total      int         `json:"total"`
	NextCursor string      `json:"next_cursor,omitempty"`
}

type orderItem struct {
	ID                string  `json:"id"`
	WorkOrderID       string  `json:"work_order_id,omitempty" jsonschema:"none for stock orders"`
	SKU               string  `json:"sku"`
	Name              string  `json:"name"`
	Quantity          int     `json:"quantity"`
	Total             Money   `json:"total"`
	Supplier          Ref     `json:"supplier"`
	Status            string  `json:"status"`
	RequestedBy       *Ref    `json:"requested_by,omitempty"`
	ApprovedBy        *Ref    `json:"approved_by,omitempty"`
	RequestedAt       Moment  `json:"requested_at"`
	ExpectedAt        *Moment `json:"expected_at,omitempty"`
	Late              bool    `json:"late" jsonschema:"expected before now and not received"`
	SupplierReference string  `json:"supplier_reference,omitempty"`
}

func listPartOrdersTool() tool {
	return tool{
		name:  "list_part_orders",
		title: "List part orders",
		description: "Part orders with state, supplier, price and expected arrival, newest first: where is the part, what waits for approval, what is late. " +
			"Received is set at goods receipt; approved is not received.",
		hints: reading,
		input: input[listOrdersInput](map[string]schemaEdit{
			"part_order_id": pattern(partOrderPattern), "work_order_id": pattern(workOrderPattern), "sku": texts(1, 40),
			"status": someOf(orderStatuses...), "supplier": texts(1, 100), "limit": limited, "cursor": texts(1, 200),
		}),
		output: schemaOf[listOrdersOutput](),
		handle: read(listPartOrders),
	}
}

func listPartOrders(v view, in listOrdersInput) (listOrdersOutput, string, error) {
	from, keep, err := v.orderFilters(in)
	if err != nil {
		return listOrdersOutput{}, "", err
	}
	var found []*PartOrder
	seen := 0
	for o := range v.partOrders.these(from) {
		if err := v.passed(seen, len(from)); err != nil {
			return listOrdersOutput{}, "", err
		}
		seen++
		if !slices.ContainsFunc(keep, func(fits func(*PartOrder) bool) bool { return !fits(o) }) {
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, func(a, b *PartOrder) int {
		return cmp.Or(b.RequestedAt.Compare(a.RequestedAt.Time), compareIDs(b.ID, a.ID))
	})
	limit, cursor := in.Limit, in.Cursor
	in.Limit, in.Cursor = 0, ""
	shown, next, err := page(found, limit, cursor, in)
	if err != nil {
		return listOrdersOutput{}, "", err
	}
	out := listOrdersOutput{Items: []orderItem{}, Total: len(found), NextCursor: next}
	text := pageText(len(shown), len(found), "part order")
	for _, o := range shown {
		item := v.orderItem(o)
		out.Items = append(out.Items, item)
		text += "\n" + item.text()
	}
	return out, text, nil
}

// orderFilters says among which orders to look and what must hold of them. It
// refuses a filter that names nothing, instead of listing all.
func (v view) orderFilters(in listOrdersInput) (from []string, keep []func(*PartOrder) bool, err error) {
	from = v.partOrders.ids
	add := func(f func(*PartOrder) bool) { keep = append(keep, f) }
	if in.PartOrderID != "" {
		one, err := v.partOrder(in.PartOrderID)
		if err != nil {
			return nil, nil, err
		}
		add(func(o *PartOrder) bool { return o.ID == one.ID })
	}
	if in.WorkOrderID != "" {
		w, err := v.workOrder(in.WorkOrderID)
		if err != nil {
			return nil, nil, err
		}
		from = v.related(ordersByJob, w.ID)
	}
	if in.SKU != "" {
		if v.parts.get(in.SKU) == nil {
			return nil, nil, v.noSuchPart(in.SKU)
		}
		add(func(o *PartOrder) bool { return o.SKU == in.SKU })
	}
	if in.Supplier != "" {
		s, err := v.supplier(in.Supplier)
		if err != nil {
			return nil, nil, err
		}
		add(func(o *PartOrder) bool { return o.SupplierID == s.ID })
	}
	if len(in.Status) > 0 {
		add(func(o *PartOrder) bool { return slices.Contains(in.Status, o.Status) })
	}
	return from, keep, nil
}

func (v view) orderItem(o *PartOrder) orderItem {
	zone := v.zone
	if o.WorkOrderID != nil {
		zone = v.siteZone(v.sites.get(v.workOrders.get(*o.WorkOrderID).SiteID))
	}
	s := v.suppliers.get(o.SupplierID)
	return orderItem{
		ID: o.ID, WorkOrderID: deref(o.WorkOrderID), SKU: o.SKU, Name: o.PartName, Quantity: o.Quantity,
		Total: Money{Minor: o.Total, Currency: o.Currency}, Supplier: Ref{ID: s.ID, Name: s.Name}, Status: o.Status,
		RequestedBy: v.userRef(o.RequestedBy), ApprovedBy: v.userRef(o.ApprovedBy),
		RequestedAt: moment(o.RequestedAt.Time, zone), ExpectedAt: momentOf(o.ExpectedAt, zone),
		Late:              o.ExpectedAt != nil && o.ExpectedAt.Before(v.now) && v.isOpenOrder(o),
		SupplierReference: deref(o.SupplierReference),
	}
}

func (v view) userRef(id *string) *Ref {
	if id == nil {
		return nil
	}
	if u := v.user(*id); u != nil {
		return &Ref{ID: u.ID, Name: u.Name}
	}
	return &Ref{ID: *id, Name: *id}
}

func (o orderItem) text() string {
	text := fmt.Sprintf("%s %s: %d x %s %s, %s, %s", o.ID, o.Status, o.Quantity, o.SKU, o.Name, o.Total, o.Supplier.Name)
	if o.WorkOrderID != "" {
		text += ", for " + o.WorkOrderID
	}
	if o.ExpectedAt != nil {
		text += ", expected " + o.ExpectedAt.Local
	}
	if o.Late {
		text += " [late]"
	}
	return text
}
