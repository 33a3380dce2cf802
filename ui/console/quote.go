package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"deskhand/agent"
)

// quote is the preview of an order, in the shape of quote_part. Every string in
// it is text from outside.
type quote struct {
	Part struct {
		SKU       string `json:"sku"`
		Name      string `json:"name"`
		Unit      string `json:"unit"`
		PackSize  int    `json:"pack_size"`
		DiffersBy string `json:"differs_by"`
	} `json:"part"`
	Line struct {
		UnitPrice agent.Money `json:"unit_price"`
		Quantity  int         `json:"quantity"`
		Goods     agent.Money `json:"goods"`
		Fees      []struct {
			Name   string      `json:"name"`
			Amount agent.Money `json:"amount"`
		} `json:"fees"`
		Total agent.Money `json:"total"`
	} `json:"line"`
	Supplier named `json:"supplier"`
	LeadTime int   `json:"lead_time_working_days"`
	Expected when  `json:"expected_on"`
	Stock    []struct {
		Location string `json:"location"`
		Holder   string `json:"holder"`
		Quantity int    `json:"quantity"`
	} `json:"stock"`
	Duplicates []struct {
		ID          string `json:"part_order_id"`
		WorkOrder   string `json:"work_order_id"`
		Status      string `json:"status"`
		Quantity    int    `json:"quantity"`
		RequestedAt when   `json:"requested_at"`
	} `json:"duplicates"`
	OnOrderElsewhere int    `json:"on_order_elsewhere"`
	Fits             string `json:"fits"`
	WorkOrder        *struct {
		ID             string `json:"id"`
		Title          string `json:"title"`
		Customer       string `json:"customer"`
		Site           string `json:"site"`
		Address        string `json:"address"`
		Asset          string `json:"asset"`
		AssetMaker     string `json:"asset_maker"`
		AssetModel     string `json:"asset_model"`
		ResolveBy      *when  `json:"resolve_by"`
		DaysToDeadline *int   `json:"days_to_deadline"`
	} `json:"work_order"`
	Limits struct {
		WorkOrder *struct {
			Limit     agent.Money `json:"limit"`
			Committed agent.Money `json:"committed"`
			LeftAfter agent.Money `json:"left_after"`
		} `json:"work_order"`
		User struct {
			Name  string       `json:"name"`
			Limit *agent.Money `json:"limit"`
		} `json:"user"`
		ApproverNeeded string `json:"approver_needed"`
	} `json:"limits"`
	Warnings []agent.Warning `json:"warnings"`
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// when is a time as the work-orders server writes it.
type when struct {
	At    string `json:"at"`
	Local string `json:"local"`
}

// day gives the day in the time's own zone: "Thu 3 Dec".
func (w when) day() string {
	t, err := time.Parse(time.RFC3339, w.At)
	if err != nil {
		return w.Local
	}
	return t.Format("Mon 2 Jan")
}

func (w when) text() string {
	if w.Local != "" {
		return w.Local
	}
	return w.At
}

// orderArguments are the arguments of an order that its card has places for.
type orderArguments struct {
	WorkOrder string      `json:"work_order_id"`
	SKU       string      `json:"sku"`
	Quantity  json.Number `json:"quantity"`
	Max       *int64      `json:"max_total_minor"`
}

// placed are the names of those arguments; idempotency_key says nothing to a
// person and stands under "view all".
var placed = map[string]bool{"work_order_id": true, "sku": true, "quantity": true, "max_total_minor": true, "idempotency_key": true}

// readQuote reads the preview of an order. It reports false if the preview has
// not that shape, or contradicts the arguments: such a call gets the general
// card, which shows both as they are.
func readQuote(a agent.Approval) (quote, orderArguments, bool) {
	var q quote
	var args orderArguments
	if a.Kind != "order" || a.Preview == nil {
		return q, args, false
	}
	if json.Unmarshal(a.Preview.Structured, &q) != nil || json.Unmarshal(a.Arguments, &args) != nil {
		return q, args, false
	}
	for _, m := range members(a.Arguments) { // names that differ in case only are read alike
		if !placed[m.name] && placed[strings.ToLower(m.name)] {
			return q, args, false
		}
	}
	whole := q.Part.Name != "" && q.Line.Total.Currency != "" && q.Supplier.Name != ""
	same := q.Part.SKU == args.SKU && fmt.Sprint(q.Line.Quantity) == args.Quantity.String() &&
		(q.WorkOrder == nil || q.WorkOrder.ID == args.WorkOrder) && (args.Max == nil || *args.Max == q.Line.Total.Minor)
	return q, args, whole && same && q.adds()
}

// adds reports whether goods and fees make the total, so that the card's
// arithmetic can be trusted.
func (q quote) adds() bool {
	sum := q.Line.UnitPrice.Minor * int64(q.Line.Quantity)
	if sum != q.Line.Goods.Minor {
		return false
	}
	for _, fee := range q.Line.Fees {
		if fee.Amount.Currency != q.Line.Total.Currency {
			return false
		}
		sum += fee.Amount.Minor
	}
	return sum == q.Line.Total.Minor && q.Line.UnitPrice.Currency == q.Line.Total.Currency
}

// amount writes money without its currency.
func amount(m agent.Money) string {
	return strings.TrimSuffix(m.String(), " "+m.Currency)
}

// plural writes a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
