package offline

import (
	"slices"
	"strconv"
	"strings"
)

// runPrice answers what a part costs, where it lies and what fits.
func runPrice(t *turn, r *request) answer {
	if r.sku != "" && !r.has("compare", "difference between", "fits") {
		return t.priceOfSKU(r)
	}
	job := firstOf(r.clause.ids.jobs)
	if job == "" && len(r.words)+len(r.measures) == 0 {
		if r.site == "" && t.memory.job != "" && t.memory.sku == "" {
			job = t.memory.job
		} else if t.memory.sku != "" {
			r.sku = t.memory.sku
			return t.priceOfSKU(r)
		}
	}
	if r.has("replacement", "replacements", "replace", "substitute", "substitutes", "alternative", "alternatives") && job != "" {
		return t.replacementFor(r, job)
	}
	if job != "" && len(r.words)+len(r.measures) == 0 {
		return t.priceOfNeeded(r, job)
	}
	if len(r.words)+len(r.measures) == 0 {
		return say("Which part? Say its name or number.", t.memory.examples())
	}
	return t.searchAndList(r, job)
}

func (t *turn) priceOfSKU(r *request) answer {
	n := 1
	if r.quantity.given && r.quantity.n > 0 {
		n = r.quantity.n
	}
	a := args{"sku": r.sku, "quantity": n}
	if job := firstOf(r.clause.ids.jobs); job != "" {
		a["work_order_id"] = job
	}
	got, done := t.call(toolQuote, a)
	if !done {
		return waits
	}
	if got.ok() {
		var q quote
		got.read(&q)
		t.memory.setSKU(r.sku)
		return say(quoteText(q, r.sku))
	}
	// A part that cannot be ordered in that quantity, or at all, has a price
	// all the same.
	hits, done := t.searchParts(r.sku, firstOf(r.clause.ids.jobs))
	if !done {
		return waits
	}
	if p := find(hits, r.sku); p.Name != "" {
		t.memory.setSKU(r.sku)
		return say(got.why(), partLines([]part{p}))
	}
	return say(got.why(), partLines(hits))
}

func quoteText(q quote, sku string) string {
	if q.Part.SKU != "" {
		sku = q.Part.SKU
	}
	line := clean(strings.TrimSpace(q.Part.Name), 120) + " (" + clean(sku, 40) + "): " + q.Line.Unit.String() + " each"
	total := count(q.Line.Quantity, "piece")
	for _, f := range q.Line.Fees {
		total += " + " + clean(f.Name, 40) + " " + f.Amount.String()
	}
	total += ": total " + q.Line.Total.String() + ", without tax."
	supply := orEmpty("From ", clean(q.Supplier.Name, 80), q.Supplier.Name != "")
	supply += orEmpty(", ", count(q.LeadDays, "working day"), q.LeadDays > 0)
	supply += orEmpty(", would arrive ", dayOf(q.Expected), q.Expected != nil)
	warnings := slices.DeleteFunc(slices.Clone(q.Warnings), func(w warning) bool { return w.Code == "own_stock_available" }) // said below
	var subs []string
	for _, p := range q.Substitutes {
		subs = append(subs, partName(p)+" "+p.Price.String())
	}
	return lines(line+orEmpty("; ", clean(q.Part.DiffersBy, 80), q.Part.DiffersBy != "")+".", total, orEmpty("", supply+".", supply != ""),
		stockText(q.Stock), orEmpty("Could stand in: ", strings.Join(subs, "; ")+".", len(subs) > 0), warningLines(warnings))
}

func stockText(all []stock) string {
	var out []string
	for _, s := range all {
		if s.Quantity <= 0 {
			continue
		}
		where := clean(s.Location, 60)
		if s.Holder != "" {
			where = "van of " + clean(s.Holder, 60)
		}
		out = append(out, where+" "+strconv.FormatFloat(s.Quantity, 'f', -1, 64))
	}
	return orEmpty("In stock: ", strings.Join(out, ", ")+".", len(out) > 0)
}

// priceOfNeeded answers what the parts cost that a job's technician needs.
func (t *turn) priceOfNeeded(r *request, job string) answer {
	w, got, done := t.lookup(job)
	switch {
	case !done:
		return waits
	case !got.ok():
		return say(t.trouble(got, job))
	case len(w.PartsNeeded) == 0:
		return say("The technician has listed no part for " + w.ID + ". Which part do you mean?")
	}
	wait := false
	var found []part
	for _, n := range w.PartsNeeded[:min(len(w.PartsNeeded), maxChoices)] {
		hits, ok := t.searchParts(n.SKU, job)
		wait = wait || !ok
		if p := find(hits, n.SKU); p.Name != "" {
			found = append(found, p)
		}
	}
	if wait {
		return waits
	}
	if len(found) == 1 {
		t.memory.setSKU(found[0].SKU)
	}
	return say(headLine(w), partsLine(w), partLines(found))
}

// replacementFor answers what could stand in for a job's part.
func (t *turn) replacementFor(r *request, job string) answer {
	w, hits, a := t.readForOrder(r)
	if a != nil && a.waiting {
		return waits
	}
	if w.ID == "" && a != nil {
		return *a
	}
	s := choosePart(r, w, hits)
	p := s.part
	if p.SKU == "" && len(s.among) > 0 {
		return say("Parts that this could be:", partLines(s.among))
	}
	if p.SKU == "" {
		return say("I found no part " + quoted(wordsOf(r), 60) + " for " + job + ".")
	}
	next := without(append([]string{p.ReplacedBy}, p.Subs...), "")
	text := partName(p) + " is " + clean(p.Status, 20) + "."
	if len(next) == 0 {
		return say(text, "The catalogue names no replacement for it.", stockText(p.Stock))
	}
	more, done := t.searchParts(next[0], job)
	if !done {
		return waits
	}
	return say(text, "Replacement: "+strings.TrimSpace(partLines([]part{find(more, next[0])})))
}

func (t *turn) searchAndList(r *request, job string) answer {
	hits, done := t.searchParts(partQuery(r), job)
	if !done {
		return waits
	}
	if r.has("compare", "difference", "differences", "between") && len(hits) == 0 {
		var codes, others []string
		for _, w := range r.words {
			if hasDigit.MatchString(w) {
				codes = append(codes, w)
			} else {
				others = append(others, w)
			}
		}
		wait := false
		for _, code := range codes[:min(len(codes), 4)] { // "between A42 and A43 belts"
			more, ok := t.searchParts(stem(joinWords(append([]string{code}, others...))), job)
			hits, wait = append(hits, more...), wait || !ok
		}
		if wait {
			return waits
		}
	}
	fitting := slices.DeleteFunc(slices.Clone(hits), func(p part) bool { return !hasMeasures(p, r.measures) })
	if made := slices.DeleteFunc(slices.Clone(fitting), func(p part) bool { return p.Fits == "no" }); len(made) > 0 {
		fitting = made // the job's equipment is known, so the others are of no use
	}
	if len(fitting) == 0 && len(hits) > 0 {
		return say("Nothing is exactly "+quoted(partQuery(r), 60)+". Near it:", partLines(hits))
	}
	if len(fitting) == 0 {
		return say("I found no part " + quoted(partQuery(r), 60) + " in the catalogue. Say another word for it, or its number.")
	}
	if len(fitting) == 1 {
		t.memory.setSKU(fitting[0].SKU)
	}
	return say(partLines(fitting))
}

func hasMeasures(p part, wanted []measure) bool {
	have := measuresOf(p.Name)
	return !slices.ContainsFunc(wanted, func(m measure) bool { return !slices.Contains(have, m) })
}

// partLines lists parts: name and number, price, what sets it apart, stock.
func partLines(parts []part) string {
	if len(parts) == 1 {
		return partText(parts[0])
	}
	shown := parts[:min(len(parts), maxParts)]
	rows := make([][]string, len(shown))
	for i, p := range shown {
		rows[i] = []string{partName(p), priceText(p), clean(p.DiffersBy, 100), partState(p), orEmpty("", count(p.LeadDays, "working day"), p.LeadDays > 0), strings.TrimSuffix(stockText(p.Stock), ".")}
	}
	if len(rows) == 0 {
		return ""
	}
	out := tabled([]string{"Part", "Price", "What sets it apart", "Fits", "Delivery", "Stock"}, rows)
	return out + orEmpty("… and ", strconv.Itoa(len(parts)-maxParts)+" more.", len(parts) > maxParts)
}

// maxParts is how many parts an answer lists.
const maxParts = 10

// partText is one part with all that is to be known of it.
func partText(p part) string {
	line := partName(p) + ": " + priceText(p) + orEmpty("; ", clean(p.DiffersBy, 100), p.DiffersBy != "")
	line += orEmpty("; ", partState(p), partState(p) != "") + orEmpty("; ", count(p.LeadDays, "working day"), p.LeadDays > 0)
	return lines(line+".", orEmpty("  ", stockText(p.Stock), stockText(p.Stock) != ""))
}

func priceText(p part) string {
	return p.Price.String() + orEmpty(" per ", clean(p.Unit, 12), p.Unit != "" && p.Unit != "pcs")
}

// partState says whether a part fits and can still be had.
func partState(p part) string {
	state := map[string]string{"yes": "fits", "no": "does not fit"}[p.Fits]
	if p.active() {
		return state
	}
	gone := "discontinued" + orEmpty(", replaced by ", clean(p.ReplacedBy, 40), p.ReplacedBy != "")
	return state + orEmpty("; ", gone, state != "") + orEmpty("", gone, state == "")
}
