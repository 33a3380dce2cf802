package console

import (
	"fmt"
	"strings"
)

// order draws the lines of a purchase. Their order is fixed, so that eyes learn
// it; everything comes from the stored arguments and the stored quote.
func (k card) order(b *box, q quote, args orderArguments) {
	s := func(text string) string { return safeLine(text, evidence) }
	b.row(paint(b.canvas.styles.strong, s(q.Part.Name)), s(q.Part.SKU))
	k.neighbour(b, q)
	k.price(b, q)
	b.row(s(q.Supplier.Name)+" · "+plural(q.LeadTime, "working day", "working days")+" · arrives "+s(q.Expected.day()), "")
	if w := q.WorkOrder; w != nil && w.ResolveBy != nil {
		b.text(indent + "job must be done by " + s(w.ResolveBy.text()) + deadline(w.DaysToDeadline))
	}
	b.row(stockLine(q), "")
	k.target(b, q, args)
	k.budget(b, q)
	k.asked(b)
	k.otherArguments(b)
	told := false // the server's own line on the order before
	for _, w := range q.Warnings {
		b.warning(s(w.Message), w.Code == "does_not_fit_asset" || w.Code == duplicateCode)
		told = told || w.Code == duplicateCode
	}
	for _, d := range q.Duplicates {
		if told {
			break
		}
		b.warning(fmt.Sprintf("Already ordered for this job: %s, %d, %s, %s", s(d.ID), d.Quantity, s(d.Status), s(d.RequestedAt.text())), true)
	}
	if k.approval.NotInRequest {
		b.warning("not in your request", true)
	}
	b.row("Recorded in the book; not sent to the supplier", paint(b.canvas.styles.faint, s(string(k.approval.Tool))))
}

const duplicateCode = "duplicate_order"

// neighbour says what sets the part apart, and whether it fits.
func (k card) neighbour(b *box, q quote) {
	left, right := "", ""
	if q.Part.DiffersBy != "" {
		left = indent + safeLine(q.Part.DiffersBy, evidence)
	}
	if q.Fits != "" {
		asset := "the asset"
		if w := q.WorkOrder; w != nil && w.AssetModel != "" {
			asset = strings.TrimSpace(safeLine(w.AssetMaker+" "+w.AssetModel, evidence))
		}
		right = "fits " + asset + ": " + strings.ReplaceAll(safeLine(q.Fits, evidence), "_", " ")
	}
	if left != "" || right != "" {
		b.row(left, right)
	}
}

// price is the arithmetic: pieces, packs, fees, total.
func (k card) price(b *box, q quote) {
	l := q.Line
	left := unitWord(q) + " × " + amount(l.UnitPrice)
	if size := q.Part.PackSize; size > 1 && l.Quantity%size == 0 {
		left += fmt.Sprintf(" (%s of %d)", plural(l.Quantity/size, "pack", "packs"), size)
	}
	total := "TOTAL  " + safeLine(l.Total.String(), evidence)
	if len(l.Fees) == 0 && l.Quantity == 1 {
		b.row(left, paint(b.canvas.styles.total, total)+" excl. tax")
		return
	}
	b.row(left, amount(l.Goods))
	for _, fee := range l.Fees {
		b.row(indent+safeLine(fee.Name, evidence), amount(fee.Amount))
	}
	b.row("", paint(b.canvas.styles.total, total)+" excl. tax")
}

func unitWord(q quote) string {
	switch unit := safeLine(q.Part.Unit, evidence); unit {
	case "", "pcs", "pc", "piece":
		return plural(q.Line.Quantity, "piece", "pieces")
	default:
		return fmt.Sprintf("%d %s", q.Line.Quantity, unit)
	}
}

// deadline compares the expected day with the job's deadline.
func deadline(days *int) string {
	switch {
	case days == nil:
		return ""
	case *days > 0:
		return ": " + plural(*days, "day", "days") + " before the deadline"
	case *days < 0:
		return ": " + plural(-*days, "day", "days") + " AFTER the deadline"
	}
	return ": on the day of the deadline"
}

// stockLine says where the part lies already: depots first, then vans.
func stockLine(q quote) string {
	depots, vans := 0, ""
	var places []string
	for _, s := range q.Stock {
		if s.Holder != "" {
			vans += fmt.Sprintf(" · van of %s %d", safeLine(s.Holder, evidence), s.Quantity)
			continue
		}
		if s.Quantity > 0 {
			places = append(places, fmt.Sprintf("%s %d", safeLine(s.Location, evidence), s.Quantity))
		}
		depots += s.Quantity
	}
	line := fmt.Sprintf("In stock: depots %d", depots)
	if len(places) > 0 {
		line += " (" + strings.Join(places, ", ") + ")"
	}
	line += vans
	if q.OnOrderElsewhere > 0 {
		line += fmt.Sprintf(" · already on order for other jobs: %d", q.OnOrderElsewhere)
	}
	return line
}

// target is the job that the part is for.
func (k card) target(b *box, q quote, args orderArguments) {
	line := "For " + safeLine(args.WorkOrder, evidence)
	if w := q.WorkOrder; w != nil {
		line += " " + safeLine(w.Title, evidence)
		if !strings.HasPrefix(w.Customer, w.Site) && !strings.HasPrefix(w.Site, w.Customer) {
			line += " · " + safeLine(w.Customer, evidence)
		}
		line += " · " + safeLine(w.Site, evidence)
		if w.Address != "" {
			line += ", " + safeLine(w.Address, evidence)
		}
		if w.AssetModel == "" && w.Asset != "" {
			line += " · " + safeLine(w.Asset, evidence)
		}
	}
	b.row(line, "")
}

// budget is the job's money and the approver's limit.
func (k card) budget(b *box, q quote) {
	var parts []string
	if w := q.Limits.WorkOrder; w != nil {
		parts = append(parts, fmt.Sprintf("Job budget %s · spent %s · left after this %s", amount(w.Limit), amount(w.Committed), amount(w.LeftAfter)))
	}
	if u := q.Limits.User; u.Limit != nil && k.needs() != "" {
		parts = append(parts, fmt.Sprintf("%s may approve up to %s", safeLine(u.Name, evidence), safeLine(u.Limit.String(), evidence)))
	}
	if len(parts) > 0 {
		b.row(strings.Join(parts, " · "), "")
	}
	if needs := k.needs(); needs != "" {
		b.warning("Needs a "+needs+": it is more than "+safeLine(k.user.DisplayName(), evidence)+" may approve.", true)
	}
}

// asked says whose line led to the call.
func (k card) asked(b *box) {
	a := k.approval
	line := "Asked by " + safeLine(a.RequestedBy.DisplayName(), evidence)
	if a.Line != "" {
		line += `: "` + safeLine(a.Line, evidence) + `"`
	}
	b.text(line)
	if a.Because != "" && a.Because != "spends money" && a.Because != "not in your request" {
		b.text("Asks because: " + safeLine(a.Because, evidence))
	}
}
