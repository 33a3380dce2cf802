package agent

import (
	"encoding/json"
	"fmt"
	"time"
)

// Summary says in a few words what the approval is about. What it says of
// records comes from the preview, never from a model's text; where the preview
// does not tell, it is the tool with its arguments.
func (a *Approval) Summary() string {
	text := ""
	if a.Preview != nil {
		switch a.Kind {
		case kindOrder:
			text = a.orderSummary()
		case kindMoveVisit, kindCancelVisit:
			text = a.visitSummary()
		case kindCancelOrder:
			text = a.cancelledOrderSummary()
		}
	}
	if text == "" {
		return fmt.Sprintf("%s %s", a.Tool, a.Arguments)
	}
	return text
}

// argument reads one argument as text.
func (a *Approval) argument(name string) string {
	text, _ := pointerText(a.Arguments, "/"+name)
	return text
}

// shown reads one text of the preview.
func (a *Approval) shown(pointer string) string {
	text, _ := pointerText(a.Preview.Structured, pointer)
	return text
}

func (a *Approval) orderSummary() string {
	var args struct {
		Quantity json.Number `json:"quantity"`
	}
	var total Money
	raw, _ := Pointer(a.Preview.Structured, "/line/total")
	name := a.shown("/part/name")
	if json.Unmarshal(a.Arguments, &args) != nil || json.Unmarshal(raw, &total) != nil || name == "" {
		return ""
	}
	return fmt.Sprintf("order %v × %s (%s) for %s, %s in total, from %s", args.Quantity, name, a.shown("/part/sku"), a.argument("work_order_id"), total, a.shown("/supplier/name"))
}

func (a *Approval) visitSummary() string {
	id := a.argument("visit_id")
	if id == "" || a.shown("/visits/0/id") != id {
		return ""
	}
	visit := fmt.Sprintf("%s of %s, %s with %s", id, a.shown("/visits/0/work_order_id"), a.shown("/visits/0/start/local"), a.shown("/visits/0/technician/name"))
	if a.Kind == kindCancelVisit {
		return "cancel " + visit
	}
	start, err := time.Parse(time.RFC3339, a.argument("start"))
	end, errEnd := time.Parse(time.RFC3339, a.argument("end"))
	if err != nil || errEnd != nil {
		return ""
	}
	to := start.Format("Mon 2 Jan 15:04") + "–" + end.Format("15:04")
	if whom := a.argument("technician"); whom != "" && whom != a.shown("/visits/0/technician/id") {
		to += ", " + whom
	}
	return "move " + visit + ", to " + to
}

func (a *Approval) cancelledOrderSummary() string {
	id := a.argument("part_order_id")
	if id == "" || a.shown("/items/0/id") != id {
		return ""
	}
	return fmt.Sprintf("cancel %s, %s (%s)", id, a.shown("/items/0/name"), a.shown("/items/0/sku"))
}
