package workorders

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

type quoteInput struct {
	SKU            string `json:"sku" jsonschema:"exact SKU of the part"`
	Quantity       int    `json:"quantity" jsonschema:"number of units (pieces or metres), never packs"`
	WorkOrderID    string `json:"work_order_id,omitempty" jsonschema:"the job that the part is for, like WO-1044"`
	DeliverTo      string `json:"deliver_to,omitempty" jsonschema:"depot, site, or van:T-01"`
	AllowDuplicate bool   `json:"allow_duplicate,omitempty" jsonschema:"quote although the same part is already on order for the job"`
}

type quoteOutput struct {
	QuoteID          string       `json:"quote_id"`
	ValidUntil       Moment       `json:"valid_until"`
	Part             quotedPart   `json:"part"`
	Line             quotedLine   `json:"line"`
	Supplier         Ref          `json:"supplier"`
	LeadTimeDays     int          `json:"lead_time_working_days"`
	ExpectedOn       Moment       `json:"expected_on"`
	Stock            []stockInfo  `json:"stock" jsonschema:"our own stock: depots first, then vans"`
	Substitutes      []substitute `json:"substitutes"`
	Duplicates       []duplicate  `json:"duplicates" jsonschema:"open orders of this part for this job"`
	OnOrderElsewhere int          `json:"on_order_elsewhere" jsonschema:"units on order for other jobs"`
	Fits             string       `json:"fits" jsonschema:"yes, no, not_listed or unknown"`
	WorkOrder        *quotedJob   `json:"work_order,omitempty"`
	Limits           quotedLimits `json:"limits"`
	Warnings         []Warning    `json:"warnings"`
}

type quotedPart struct {
	SKU             string `json:"sku"`
	Name            string `json:"name"`
	Unit            string `json:"unit"`
	Status          string `json:"status"`
	MinQuantity     int    `json:"min_quantity"`
	PackSize        int    `json:"pack_size"`
	MaxQuantity     int    `json:"max_quantity"`
	DiffersBy       string `json:"differs_by,omitempty" jsonschema:"what sets it apart from the part most like it"`
	DescriptionText string `json:"description_text,omitempty"`
	Untrusted       bool   `json:"untrusted"`
}

type quotedLine struct {
	UnitPrice Money `json:"unit_price"`
	Quantity  int   `json:"quantity"`
	Goods     Money `json:"goods"`
	Fees      []fee `json:"fees"`
	Total     Money `json:"total"`
}

type substitute struct {
	SKU   string `json:"sku"`
	Name  string `json:"name"`
	Price Money  `json:"price"`
}

type duplicate struct {
	PartOrderID string `json:"part_order_id"`
	WorkOrderID string `json:"work_order_id"`
	Status      string `json:"status"`
	Quantity    int    `json:"quantity"`
	RequestedAt Moment `json:"requested_at"`
}

type quotedJob struct {
	ID             string  `json:"id"`
	Title          string  `json:"title"`
	Status         string  `json:"status"`
	Customer       string  `json:"customer"`
	Site           string  `json:"site"`
	Address        string  `json:"address"`
	Asset          string  `json:"asset,omitempty"`
	AssetMaker     string  `json:"asset_maker,omitempty"`
	AssetModel     string  `json:"asset_model,omitempty"`
	ResolveBy      *Moment `json:"resolve_by,omitempty"`
	DaysToDeadline *int    `json:"days_to_deadline,omitempty" jsonschema:"days from arrival to the deadline; negative is late"`
}

type quotedLimits struct {
	WorkOrder      *budget   `json:"work_order,omitempty"`
	User           *userInfo `json:"user,omitempty" jsonschema:"whose limit applies"`
	ApproverNeeded string    `json:"approver_needed" jsonschema:"none, or the lowest role that may approve"`
}

type budget struct {
	Limit     Money `json:"limit"`
	Committed Money `json:"committed"`
	LeftAfter Money `json:"left_after"`
}

const deliverPattern = `^(depot|site|van:T-[0-9]{2,4})$`

func quotePartTool() tool {
	output := schemaOf[quoteOutput]()
	oneOf("yes", "no", "not_listed", "unknown")(output.Properties["fits"])
	oneOf(roleNone, roleSenior, roleManage)(output.Properties["limits"].Properties["approver_needed"])
	return tool{
		name:  "quote_part",
		title: "Quote a part",
		description: "The price of a part with fees and total, supplier, expected day, own stock, fit, budget, who must approve, and warnings. " +
			"Orders nothing. Applies every rule of order_part, so it refuses what could not be ordered. Needs the exact SKU; find it with search_parts.",
		hints: hints{readOnly: true, idempotent: true, openWorld: true},
		input: input[quoteInput](map[string]schemaEdit{
			"sku": texts(1, 40), "quantity": between(1, 1_000_000), "work_order_id": pattern(workOrderPattern), "deliver_to": pattern(deliverPattern),
		}),
		output: output,
		handle: read(quotePart),
	}
}

func quotePart(v view, in quoteInput) (quoteOutput, string, error) {
	p, err := v.purchase(wish{
		workOrder: in.WorkOrderID, sku: in.SKU, quantity: in.Quantity,
		allowDuplicate: in.AllowDuplicate, deliverTo: in.DeliverTo,
	})
	if err != nil {
		return quoteOutput{}, "", err
	}
	out := v.quote(p)
	text := fmt.Sprintf("%d x %s %s: %s in all, from %s, expected %s. Nothing was ordered.",
		p.quantity, p.part.SKU, p.part.Name, out.Line.Total, p.supplier.Name, out.ExpectedOn.Local)
	for _, w := range out.Warnings {
		text += "\n" + w.Message
	}
	return out, text, nil
}

func (v view) quote(p *purchase) quoteOutput {
	out := quoteOutput{
		QuoteID:    quoteID(p),
		ValidUntil: moment(v.cutoff(p.supplier, v.now), v.zone),
		Part: quotedPart{
			SKU: p.part.SKU, Name: p.part.Name, Unit: p.part.Unit, Status: p.part.Status,
			MinQuantity: p.part.MinQuantity, PackSize: p.part.PackSize, MaxQuantity: v.maxQuantity(p.part),
			DiffersBy: v.index().notThe(p.part.SKU), DescriptionText: p.part.Description, Untrusted: true,
		},
		Line: quotedLine{
			UnitPrice: p.money(p.part.Price), Quantity: p.quantity, Goods: p.money(p.goods), Fees: p.fees, Total: p.money(p.total),
		},
		Supplier: Ref{ID: p.supplier.ID, Name: p.supplier.Name}, LeadTimeDays: p.part.LeadTimeDays,
		ExpectedOn: moment(p.expected, v.zone), Stock: v.stockOf(p.part),
		Substitutes: []substitute{}, Duplicates: []duplicate{}, Fits: p.fits,
		Limits:   quotedLimits{ApproverNeeded: p.role},
		Warnings: append([]Warning{}, p.warnings...),
	}
	for _, sku := range v.alternativesTo(p.part) {
		s := v.parts.get(sku)
		out.Substitutes = append(out.Substitutes, substitute{SKU: s.SKU, Name: s.Name, Price: Money{Minor: s.Price, Currency: s.Currency}})
	}
	for _, o := range p.duplicates {
		out.Duplicates = append(out.Duplicates, duplicate{
			PartOrderID: o.ID, WorkOrderID: deref(o.WorkOrderID), Status: o.Status, Quantity: o.Quantity,
			RequestedAt: moment(o.RequestedAt.Time, v.zone),
		})
	}
	for o := range v.partOrders.these(v.related(ordersBySKU, p.part.SKU)) {
		if v.isOpenOrder(o) && (p.job == nil || deref(o.WorkOrderID) != p.job.ID) {
			out.OnOrderElsewhere += o.Quantity
		}
	}
	if u, _ := v.approver(); u != nil {
		out.Limits.User = ptr(userInfoOf(u))
	}
	if p.job != nil {
		v.quoteJob(&out, p)
	}
	return out
}

func (v view) quoteJob(out *quoteOutput, p *purchase) {
	w := p.job
	site := v.sites.get(w.SiteID)
	zone := v.siteZone(site)
	job := &quotedJob{
		ID: w.ID, Title: w.Title, Status: w.Status, Customer: v.customers.get(w.CustomerID).Name,
		Site: site.Name, Address: site.Address, ResolveBy: momentOf(w.ResolveBy, zone),
	}
	if a := v.asset(w); a != nil {
		job.Asset, job.AssetMaker, job.AssetModel = a.Kind+" "+a.Model, a.Maker, a.Model
	}
	if w.ResolveBy != nil {
		job.DaysToDeadline = ptr(daysBetween(p.expected.In(zone), w.ResolveBy.In(zone)))
	}
	out.WorkOrder = job
	spent := v.committed(w)
	left := w.SpendLimit - spent
	if p.part.Currency == w.Currency {
		left -= p.total
	}
	money := func(minor int64) Money { return Money{Minor: minor, Currency: w.Currency} }
	out.Limits.WorkOrder = &budget{Limit: money(w.SpendLimit), Committed: money(spent), LeftAfter: money(left)}
}

// daysBetween counts dates, not hours: today to tomorrow is one day.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)).Hours() / 24)
}

// quoteID names the terms: the same terms have the same id.
func quoteID(p *purchase) string {
	job := ""
	if p.job != nil {
		job = p.job.ID
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%d|%s|%d|%s|%s", p.part.SKU, p.quantity, job, p.total, p.part.Currency, p.expected.Format(time.DateOnly)))
	return "Q-" + hex.EncodeToString(sum[:5])
}
