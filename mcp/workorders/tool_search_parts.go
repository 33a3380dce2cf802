package workorders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

type searchPartsInput struct {
	Query               string `json:"query" jsonschema:"words, an SKU or part of one, sizes with units: 3 kW heating element"`
	FitsWorkOrderID     string `json:"fits_work_order_id,omitempty" jsonschema:"mark what fits the equipment of this job, fitting parts first"`
	IncludeDiscontinued bool   `json:"include_discontinued,omitempty" jsonschema:"also parts that are no longer sold"`
	Limit               int    `json:"limit,omitempty" jsonschema:"items, 1 to 50"`
}

type searchPartsOutput struct {
	Items []partItem `json:"items" jsonschema:"best first"`
	Total int        `json:"total"`
}

type partItem struct {
	SKU          string      `json:"sku"`
	Name         string      `json:"name"`
	Category     string      `json:"category"`
	Fits         string      `json:"fits" jsonschema:"yes, no or unknown"`
	Price        Money       `json:"price" jsonschema:"for one unit, without tax"`
	Unit         string      `json:"unit"`
	MinQuantity  int         `json:"min_quantity"`
	PackSize     int         `json:"pack_size"`
	StockTotal   int         `json:"stock_total"`
	Stock        []stockInfo `json:"stock"`
	LeadTimeDays int         `json:"lead_time_working_days"`
	Status       string      `json:"status" jsonschema:"active or discontinued"`
	ReplacedBy   string      `json:"replaced_by,omitempty"`
	Substitutes  []string    `json:"substitutes"`
	Supplier     string      `json:"supplier"`
	DiffersBy    string      `json:"differs_by,omitempty" jsonschema:"what sets it apart from parts like it"`
}

func searchPartsTool() tool {
	output := schemaOf[searchPartsOutput]()
	oneOf("yes", "no", "unknown")(output.Properties["items"].Items.Properties["fits"])
	return tool{
		name:  "search_parts",
		title: "Search parts",
		description: "Finds parts by words, SKU and size, with price, stock, lead time and fit. A size with a unit matches exactly: 3 kW does not find 3.5 kW. " +
			"differs_by tells near-identical parts apart; read it before choosing.",
		hints: reading,
		input: input[searchPartsInput](map[string]schemaEdit{
			"query": texts(1, 100), "fits_work_order_id": pattern(workOrderPattern), "limit": limited,
		}),
		output: output,
		handle: read(searchParts),
	}
}

func searchParts(v view, in searchPartsInput) (searchPartsOutput, string, error) {
	var asset *Asset
	if in.FitsWorkOrderID != "" {
		w, err := v.workOrder(in.FitsWorkOrderID)
		if err != nil {
			return searchPartsOutput{}, "", err
		}
		asset = v.asset(w)
	}
	hits := soldFirst(v.index().search(in.Query), in.IncludeDiscontinued)
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(
			fitRank(a.part, asset)-fitRank(b.part, asset),
			b.score-a.score,
			strings.Compare(a.part.SKU, b.part.SKU))
	})
	out := searchPartsOutput{Items: []partItem{}, Total: len(hits)}
	if in.Limit == 0 {
		in.Limit = defaultLimit
	}
	hits = hits[:min(in.Limit, len(hits))]
	text := pageText(len(hits), out.Total, "part")
	for _, h := range hits {
		item := v.partItem(h.part, asset)
		out.Items = append(out.Items, item)
		text += "\n" + item.text()
	}
	return out, text, nil
}

// soldFirst leaves out what is no longer sold, unless it was asked for by its
// SKU or nothing else is left: "no such part" would be untrue.
func soldFirst(hits []hit, all bool) []hit {
	sold := slices.DeleteFunc(slices.Clone(hits), func(h hit) bool {
		return h.part.Status == "discontinued" && h.score < exactSKU
	})
	if all || len(sold) == 0 {
		return hits
	}
	return sold
}

// partFit says whether the part is listed for the equipment.
func partFit(p *Part, a *Asset) string {
	switch {
	case a == nil || len(p.FitsModels) == 0:
		return "unknown"
	case slices.Contains(p.FitsModels, a.Model):
		return "yes"
	}
	return "no"
}

func fitRank(p *Part, a *Asset) int {
	return slices.Index([]string{"yes", "unknown", "no"}, partFit(p, a))
}

func (v view) partItem(p *Part, a *Asset) partItem {
	return partItem{
		SKU: p.SKU, Name: p.Name, Category: p.Category, Fits: partFit(p, a),
		Price: Money{Minor: p.Price, Currency: p.Currency}, Unit: p.Unit, MinQuantity: p.MinQuantity, PackSize: p.PackSize,
		StockTotal: stockTotal(p), Stock: v.stockOf(p), LeadTimeDays: p.LeadTimeDays, Status: p.Status,
		ReplacedBy: deref(p.ReplacedBy), Substitutes: append([]string{}, p.Substitutes...),
		Supplier: v.suppliers.get(p.SupplierID).Name, DiffersBy: v.index().differsBy(p.SKU),
	}
}

func (i partItem) text() string {
	text := fmt.Sprintf("%s %s: %s a piece, %d in stock, %s", i.SKU, i.Name, i.Price, i.StockTotal, plural(i.LeadTimeDays, "working day"))
	if i.Unit != "pcs" {
		text = strings.Replace(text, "a piece", "per "+i.Unit, 1)
	}
	if i.Fits != "unknown" {
		text += ", fits: " + i.Fits
	}
	if i.Status != "active" {
		text += ", " + i.Status
	}
	if i.ReplacedBy != "" {
		text += ", replaced by " + i.ReplacedBy
	}
	if i.DiffersBy != "" {
		text += " (" + i.DiffersBy + ")"
	}
	return text
}
