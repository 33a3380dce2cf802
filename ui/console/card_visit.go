package console

import (
	"encoding/json"
	"slices"
	"time"

	"deskhand/agent"
)

// visitPreview is the preview of moving or cancelling a visit, in the shape of
// get_schedule. Every string in it is text from outside.
type visitPreview struct {
	Visits []plannedVisit `json:"visits"`
	Gaps   []struct {
		Technician named `json:"technician"`
	} `json:"gaps"`
	Off []struct {
		Technician named `json:"technician"`
		Start      when  `json:"start"`
		End        when  `json:"end"`
	} `json:"off"`
}

type plannedVisit struct {
	ID         string `json:"id"`
	Job        string `json:"work_order_id"`
	Title      string `json:"title"`
	Status     string `json:"status"`
	Technician named  `json:"technician"`
	Site       named  `json:"site"`
	Start      when   `json:"start"`
	End        when   `json:"end"`
	Informed   bool   `json:"customer_informed"`
	ResolveBy  *when  `json:"resolve_by"`
}

// visitArguments are the arguments that the card of a visit has places for.
type visitArguments struct {
	Visit      string `json:"visit_id"`
	Start      string `json:"start"`
	End        string `json:"end"`
	Technician string `json:"technician"`
	Reason     string `json:"reason"`
}

// placedOnVisits are the names of those; idempotency_key says nothing to a
// person and stands under "view all".
var placedOnVisits = map[string]bool{"visit_id": true, "start": true, "end": true, "technician": true, "reason": true, "idempotency_key": true}

// readVisit reads the preview of moving or cancelling a visit. It reports false
// if the preview has not that shape, or shows another visit: such a call gets
// the general card, which shows everything as it is.
func readVisit(a agent.Approval) (p visitPreview, v plannedVisit, args visitArguments, ok bool) {
	if a.Kind != "move_visit" && a.Kind != "cancel_visit" || a.Preview == nil {
		return p, v, args, false
	}
	if json.Unmarshal(a.Preview.Structured, &p) != nil || json.Unmarshal(a.Arguments, &args) != nil || len(p.Visits) == 0 {
		return p, v, args, false
	}
	v = p.Visits[0]
	if v.ID == "" || v.ID != args.Visit || v.Start.text() == "" {
		return p, v, args, false
	}
	if a.Kind == "move_visit" {
		_, _, ok = args.times()
		return p, v, args, ok
	}
	return p, v, args, true
}

// times are the new ones.
func (a visitArguments) times() (start, end time.Time, ok bool) {
	start, errStart := time.Parse(time.RFC3339, a.Start)
	end, errEnd := time.Parse(time.RFC3339, a.End)
	return start, end, errStart == nil && errEnd == nil
}

// visit draws the card of a visit: which it is, where it stands, where it goes.
func (k card) visit(b *box, p visitPreview, v plannedVisit, args visitArguments) {
	s := func(text string) string { return safeLine(text, evidence) }
	b.row(paint(b.canvas.styles.strong, s(v.ID)+" of "+s(v.Job)+" "+s(v.Title)), s(v.Site.Name))
	if k.approval.Kind == "move_visit" {
		start, end, _ := args.times()
		whom := args.Technician
		if whom == "" || whom == v.Technician.ID {
			whom = v.Technician.Name
		} else {
			whom = p.nameOf(whom)
		}
		b.text(indent + "now  " + spanOf(v.Start.text(), v.End.text()) + " · " + s(v.Technician.Name))
		b.text(paint(b.canvas.styles.total, indent+"then "+spanOf(start.Format("Mon 2 Jan 15:04"), end.Format("Mon 2 Jan 15:04"))+" · "+s(whom)))
		if v.ResolveBy != nil {
			line := "job must be done by " + s(v.ResolveBy.text())
			if by, err := time.Parse(time.RFC3339, v.ResolveBy.At); err == nil && end.After(by) {
				b.warning(line+": the new time is AFTER the deadline", true)
			} else {
				b.text(indent + line)
			}
		}
		for _, other := range p.overlapping(v, args, start, end) {
			b.warning(s(other.Technician.Name)+" has "+s(other.ID)+" of "+s(other.Job)+" then, "+spanOf(other.Start.text(), other.End.text()), true)
		}
	} else {
		b.text(indent + spanOf(v.Start.text(), v.End.text()) + " · " + s(v.Technician.Name) + " · " + s(v.Status))
	}
	if args.Reason != "" {
		b.text(`Reason: "` + s(args.Reason) + `"`)
	}
	k.asked(b)
	for _, m := range members(k.approval.Arguments) {
		if !placedOnVisits[m.name] {
			b.text(m.name + " (from the assistant): " + m.value)
		}
	}
	if v.Informed {
		b.warning("The customer was told this time; somebody has to tell them.", false)
	}
	for _, w := range k.approval.PreviewWarnings() {
		b.warning(s(w.Message), false)
	}
	if k.approval.NotInRequest {
		b.warning("not in your request", true)
	}
	b.row("Recorded in the book", paint(b.canvas.styles.faint, s(string(k.approval.Tool))))
}

// spanOf writes a start and an end, the day once where it is one.
func spanOf(start, end string) string {
	start, end = safeLine(start, evidence), safeLine(end, evidence)
	if n := len(start) - len("15:04"); n > 0 && len(end) == len(start) && start[:n] == end[:n] {
		return start + "–" + end[n:]
	}
	return start + " – " + end
}

// nameOf finds the name that goes with a technician's id; the id stays beside
// it.
func (p visitPreview) nameOf(id string) string {
	for _, g := range p.Gaps {
		if g.Technician.ID == id {
			return g.Technician.Name + " (" + id + ")"
		}
	}
	for _, v := range p.Visits {
		if v.Technician.ID == id {
			return v.Technician.Name + " (" + id + ")"
		}
	}
	return id
}

// overlapping are other visits of the same person at the new time.
func (p visitPreview) overlapping(v plannedVisit, args visitArguments, start, end time.Time) []plannedVisit {
	who := args.Technician
	if who == "" {
		who = v.Technician.ID
	}
	return slices.DeleteFunc(slices.Clone(p.Visits), func(o plannedVisit) bool {
		from, errFrom := time.Parse(time.RFC3339, o.Start.At)
		to, errTo := time.Parse(time.RFC3339, o.End.At)
		free := errFrom != nil || errTo != nil || !from.Before(end) || !to.After(start)
		return o.ID == v.ID || o.Technician.ID != who || o.Status == "cancelled" || free
	})
}

// orderPreview is the preview of cancelling a part order, in the shape of
// list_part_orders.
type orderPreview struct {
	Items []struct {
		ID       string      `json:"id"`
		Job      string      `json:"work_order_id"`
		SKU      string      `json:"sku"`
		Name     string      `json:"name"`
		Quantity int         `json:"quantity"`
		Total    agent.Money `json:"total"`
		Supplier named       `json:"supplier"`
		Status   string      `json:"status"`
		Expected when        `json:"expected_at"`
	} `json:"items"`
}

// cancelledOrder draws the card of cancelling a part order. It reports false if
// the preview does not show that order.
func (k card) cancelledOrder(b *box) bool {
	var p orderPreview
	var args struct {
		Order  string `json:"part_order_id"`
		Reason string `json:"reason"`
	}
	a := k.approval
	if a.Kind != "cancel_order" || a.Preview == nil || json.Unmarshal(a.Preview.Structured, &p) != nil || json.Unmarshal(a.Arguments, &args) != nil ||
		len(p.Items) != 1 || p.Items[0].ID == "" || p.Items[0].ID != args.Order {
		return false
	}
	s := func(text string) string { return safeLine(text, evidence) }
	o := p.Items[0]
	b.row(paint(b.canvas.styles.strong, s(o.ID)+" "+s(o.Name)), s(o.SKU))
	line := plural(o.Quantity, "piece", "pieces") + " · " + s(o.Status) + " · " + s(o.Supplier.Name)
	if o.Expected.text() != "" {
		line += " · expected " + s(o.Expected.day())
	}
	b.row(indent+line, paint(b.canvas.styles.total, s(o.Total.String())))
	if o.Job != "" {
		b.text("For " + s(o.Job))
	}
	if args.Reason != "" {
		b.text(`Reason: "` + s(args.Reason) + `"`)
	}
	k.asked(b)
	for _, m := range members(a.Arguments) {
		if m.name != "part_order_id" && m.name != "reason" {
			b.text(m.name + " (from the assistant): " + m.value)
		}
	}
	if a.NotInRequest {
		b.warning("not in your request", true)
	}
	b.row("Recorded in the book; the supplier has to be told", paint(b.canvas.styles.faint, s(string(a.Tool))))
	return true
}
