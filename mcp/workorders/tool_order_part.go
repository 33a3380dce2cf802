package workorders

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type orderInput struct {
	WorkOrderID    string `json:"work_order_id" jsonschema:"the job that the part is for, like WO-1044"`
	SKU            string `json:"sku" jsonschema:"exact SKU of the part"`
	Quantity       int    `json:"quantity" jsonschema:"number of units (pieces or metres), never packs"`
	DeliverTo      string `json:"deliver_to,omitempty" jsonschema:"depot (default), site, or van:T-01"`
	Reason         string `json:"reason,omitempty" jsonschema:"why, in one line"`
	AllowDuplicate bool   `json:"allow_duplicate,omitempty" jsonschema:"order although the same part is already on order for the job; only when the dispatcher said so"`
	MaxTotal       *int64 `json:"max_total_minor,omitempty" jsonschema:"refuse if the total with fees is more than this, in minor units"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"the same key never orders twice; it gets the first answer again"`
}

func (in orderInput) split() (string, any) {
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	in.WorkOrderID = workOrderID(in.WorkOrderID)
	return key, in
}

type orderOutput struct {
	PartOrder orderedPart `json:"part_order"`
	Warnings  []Warning   `json:"warnings"`
}

type orderedPart struct {
	ID          string  `json:"id"`
	Status      string  `json:"status" jsonschema:"ordered or pending_approval"`
	WorkOrderID string  `json:"work_order_id"`
	SKU         string  `json:"sku"`
	Name        string  `json:"name"`
	Quantity    int     `json:"quantity"`
	Total       Money   `json:"total"`
	Supplier    Ref     `json:"supplier"`
	ExpectedAt  *Moment `json:"expected_at,omitempty"`
}

const (
	statusOrdered = "ordered"
	statusPending = "pending_approval"
)

func orderPartTool() tool {
	output := schemaOf[orderOutput]()
	oneOf(statusOrdered, statusPending)(output.Properties["part_order"].Properties["status"])
	return tool{
		name:  "order_part",
		title: "Order a part",
		description: "Orders a part for a work order. THIS COSTS MONEY, and a person must approve it before it happens: " +
			"propose it only when the dispatcher asked for it, with the exact SKU, quantity and job. Quote first if any of these is in doubt. " +
			"The order is recorded in the book; nothing is sent to the supplier.",
		hints: hints{destructive: true, idempotent: true, openWorld: true},
		meta: mcp.Meta{
			metaSpends: true,
			metaKind:   "order",
			metaFill:   map[string]any{"idempotency_key": "key", "max_total_minor": "/line/total/minor"},
			metaTerms: []any{"/line/total", "/supplier/id", "/expected_on", "/fits", "/duplicates",
				"/limits/approver_needed", "/warnings"},
		},
		input: input[orderInput](map[string]schemaEdit{
			"work_order_id": pattern(workOrderPattern), "sku": texts(1, 40), "quantity": between(1, 1_000_000),
			"deliver_to": pattern(deliverPattern), "reason": texts(0, 200), "max_total_minor": between(0, 1_000_000_000_000),
			"idempotency_key": pattern(keyPattern),
		}),
		output: output,
		handle: write("order_part", orderPart),
	}
}

func orderPart(d *draft, c caller, in orderInput) (orderOutput, string, string, error) {
	v := view{contents: d.contents, now: d.now, caller: c}
	p, err := v.purchase(wish{
		workOrder: in.WorkOrderID, sku: in.SKU, quantity: in.Quantity,
		allowDuplicate: in.AllowDuplicate, maxTotal: in.MaxTotal, deliverTo: in.DeliverTo,
	})
	if err != nil {
		return orderOutput{}, "", "", err
	}
	_, desk := v.approver()
	if p.refusal != nil && desk {
		return orderOutput{}, "", "", p.refusal
	}
	o := d.newOrder(p, c, in, desk)
	out := orderOutput{
		PartOrder: orderedPart{
			ID: o.ID, Status: o.Status, WorkOrderID: p.job.ID, SKU: o.SKU, Name: o.PartName, Quantity: o.Quantity,
			Total: p.money(o.Total), Supplier: Ref{ID: p.supplier.ID, Name: p.supplier.Name}, ExpectedAt: momentOf(o.ExpectedAt, v.zone),
		},
		Warnings: append([]Warning{}, p.warnings...),
	}
	text := fmt.Sprintf("%s: ordered %d x %s for %s, %s in all, expected %s.",
		o.ID, o.Quantity, o.SKU, p.job.ID, p.money(o.Total), p.expected.Format(localLayout))
	if o.Status == statusPending {
		text = fmt.Sprintf("%s: %d x %s for %s, %s in all, is recorded and waits for a person's approval. It is not ordered yet.",
			o.ID, o.Quantity, o.SKU, p.job.ID, p.money(o.Total))
	}
	return out, text, o.ID, nil
}

// newOrder puts the order and its mark on the job into the draft. Above the
// limit of a client without a desk it waits for a person.
func (d *draft) newOrder(p *purchase, c caller, in orderInput, desk bool) *PartOrder {
	o := &PartOrder{
		ID: d.contents.partOrders.nextID("PO-"), WorkOrderID: ptr(p.job.ID), SKU: p.part.SKU, PartName: p.part.Name,
		Quantity: p.quantity, Unit: p.part.Unit, UnitPrice: p.part.Price, Fees: p.total - p.goods, Total: p.total,
		Currency: p.part.Currency, SupplierID: p.supplier.ID, Status: statusOrdered, RequestedAt: Stamp{d.now},
		IdempotencyKey: in.IdempotencyKey, Version: 1, DeliverTo: in.DeliverTo, Reason: in.Reason,
		CallID: c.call, ApprovalID: c.approval,
	}
	if desk {
		o.RequestedBy, o.ApprovedBy, o.ApprovedAt = ptr(c.user), ptr(c.user), ptr(Stamp{d.now})
	}
	if p.refusal != nil {
		o.Status = statusPending
		o.Note = ptr("Asked for by a client without a desk user: " + p.refusal.Message)
	} else {
		o.ExpectedAt = ptr(Stamp{p.expected})
	}
	d.partOrders[o.ID] = o
	job := *p.job
	job.PartOrderIDs = append(append([]string{}, job.PartOrderIDs...), o.ID)
	job.Version++
	d.workOrders[job.ID] = &job
	return o
}
