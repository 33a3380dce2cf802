package workorders

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type cancelOrderInput struct {
	PartOrderID string `json:"part_order_id" jsonschema:"the order to cancel, like PO-3011"`
	Reason      string `json:"reason" jsonschema:"why, in one line"`
}

// split gives no key: cancelling twice is the same as once.
func (in cancelOrderInput) split() (string, any) { return "", in }

type cancelOrderOutput struct {
	PartOrder cancelledOrder `json:"part_order"`
	Fee       *Money         `json:"fee,omitempty" jsonschema:"what the supplier asks for it, where known"`
	Changed   bool           `json:"changed" jsonschema:"false: it was cancelled before"`
}

type cancelledOrder struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	WorkOrderID string `json:"work_order_id,omitempty" jsonschema:"none for stock orders"`
}

func cancelPartOrderTool() tool {
	return tool{
		name:  "cancel_part_order",
		title: "Cancel a part order",
		description: "Cancels a part order that was not shipped yet. A person must approve it: propose it only when the dispatcher asked for it. " +
			"The cancellation is recorded in the book; the supplier has to be told.",
		hints: hints{destructive: true, idempotent: true, openWorld: true},
		meta:  mcp.Meta{metaKind: "cancel_order", metaTerms: []any{"/items/0/status", "/items/0/quantity", "/items/0/total"}},
		input: input[cancelOrderInput](map[string]schemaEdit{
			"part_order_id": pattern(partOrderPattern), "reason": texts(3, 200),
		}),
		output: schemaOf[cancelOrderOutput](),
		handle: write("cancel_part_order", cancelPartOrder),
	}
}

func cancelPartOrder(d *draft, _ caller, in cancelOrderInput) (cancelOrderOutput, string, string, error) {
	old, err := d.partOrder(in.PartOrderID)
	if err != nil {
		return cancelOrderOutput{}, "", "", err
	}
	out := cancelOrderOutput{PartOrder: cancelledOrder{ID: old.ID, Status: statusCancelled, WorkOrderID: deref(old.WorkOrderID)}}
	if old.Status == statusCancelled {
		return out, old.ID + " was cancelled before.", old.ID, nil
	}
	if err := given("reason", in.Reason, 3); err != nil {
		return cancelOrderOutput{}, "", "", err
	}
	switch old.Status {
	case "shipped", "received":
		return cancelOrderOutput{}, "", "", refuse("order_shipped", "part_order_id",
			"%s is %s and cannot be cancelled any more.", old.ID, old.Status).never().detail("status", old.Status)
	case "rejected":
		return cancelOrderOutput{}, "", "", refuse("order_rejected", "part_order_id",
			"%s was rejected; there is nothing to cancel.", old.ID).never().detail("status", old.Status)
	}
	o := *old
	o.Status, o.ExpectedAt, o.CancelReason = statusCancelled, nil, in.Reason
	o.Rel = withoutRel(o.Rel, "expected_at")
	o.Version++
	d.partOrders[o.ID] = &o
	out.Changed = true
	text := fmt.Sprintf("%s (%d x %s, %s) is cancelled.", o.ID, o.Quantity, o.SKU, Money{Minor: o.Total, Currency: o.Currency})
	if old.Status == statusOrdered || old.Status == "back_ordered" {
		text += fmt.Sprintf(" It is recorded in the book; %s has to be told.", d.suppliers.get(o.SupplierID).Name)
	}
	return out, text, o.ID, nil
}
