package offline

import (
	"strconv"

	"deskhand/agent"
)

// orderAnswer says what came of an order, whoever decided.
func (t *turn) orderAnswer(r *request, o outcome, p part) answer {
	sku, n := p.SKU, 0
	if s, ok := o.args["sku"].(string); ok {
		sku = s // a person may have edited the call
	}
	if f, ok := o.args["quantity"].(float64); ok {
		n = int(f)
	}
	what := orderedWhat(p, sku, n) + " for " + r.job
	t.memory.setSKU(sku)
	switch o.state {
	case agent.CallDone:
		t.memory.lastDone = true
		return say(orderedText(o, what))
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		return say(what + " was not ordered. " + withNothing(o, "Nothing was ordered."))
	case agent.CallUnknown:
		return say("Nobody knows yet whether "+what+" was ordered. Do not order it again before that is settled.", o.why())
	}
	if r.bypass() {
		return say(withNothing(o, "Nothing was ordered."), "I cannot skip the card: every order is put to a person.")
	}
	return t.orderRefused(r, o, p)
}

func orderedWhat(p part, sku string, n int) string {
	what := clean(sku, 40)
	if p.SKU == sku && p.Name != "" {
		what = partName(p)
	}
	if n > 0 {
		what = pieces(n, p.Unit) + " of " + what
	}
	return what
}

func orderedText(o outcome, what string) string {
	if settledByPerson(o) {
		return what + ": " + o.why()
	}
	var done placed
	o.read(&done)
	po := done.Order
	if po.ID == "" {
		return "Ordered " + what + ". " + o.why()
	}
	verb := "Ordered "
	if po.Status == "pending_approval" {
		verb = "Waiting for approval: "
	}
	line := verb + what + " as " + clean(po.ID, 20)
	if po.Total.Currency != "" {
		line += ", " + po.Total.String()
	}
	line += orEmpty(", from ", clean(po.Supplier.Name, 80), po.Supplier.Name != "")
	line += orEmpty(", expected ", dayOf(po.Expected), po.Expected != nil)
	return lines(line+".", warningLines(done.Warnings))
}

// orderRefused explains a refusal and asks what its code leaves to ask.
func (t *turn) orderRefused(r *request, o outcome, p part) answer {
	why := withNothing(o, "Nothing was ordered.")
	switch o.fault.Code {
	case "part_discontinued":
		return refusedDiscontinued(r, o, why)
	case "below_min_quantity", "not_pack_multiple", "above_max_quantity":
		if n := offeredQuantity(o.fault); n > 0 {
			return askQuantity(r, why, n, p)
		}
		return answer{text: why + " How many shall it be?", ask: &question{request: r, slot: slotQuantity}}
	case "duplicate_order":
		q := &question{request: r, choices: []choice{
			{label: "order it again", words: "another second duplicate", apply: func(b *request) { b.duplicate = true }},
			{label: "leave it", leave: "Left as it is. Nothing was ordered."},
		}}
		return answer{text: lines(why+" Order it again?", q.numbered()), ask: q}
	case "part_not_found", "ambiguous_part":
		var among []part
		for _, c := range o.fault.Candidates {
			among = append(among, part{SKU: field(c, "sku"), Name: field(c, "name")})
		}
		if len(among) > 0 {
			return askAmong(r, why+" Which one do you mean?", among)
		}
		return say(why + " Which part do you mean?")
	case "work_order_not_found":
		return say(t.trouble(o, r.job), "Nothing was ordered.")
	}
	return say(why)
}

func refusedDiscontinued(r *request, o outcome, why string) answer {
	next := part{SKU: o.fault.detail("replaced_by")}
	for _, c := range o.fault.Candidates {
		if sku := field(c, "sku"); next.SKU == "" || sku == next.SKU {
			next = part{SKU: sku, Name: field(c, "name")}
			if price := field(c, "price"); price != "" {
				next.Name += ", " + price
			}
		}
	}
	if next.SKU == "" {
		return say(why)
	}
	return offerSuccessor(r, why, next)
}

// offeredQuantity is the quantity that a refusal says would work.
func offeredQuantity(f fault) int {
	for _, name := range []string{"next_valid_quantity", "max_quantity", "min_quantity"} {
		if n, err := strconv.Atoi(f.detail(name)); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

func askQuantity(r *request, why string, n int, p part) answer {
	q := &question{request: r, slot: slotQuantity, choices: []choice{
		{label: "order " + pieces(n, p.Unit), words: strconv.Itoa(n), apply: func(b *request) {
			b.quantity = quantity{given: true, n: n, typed: strconv.Itoa(n)}
		}},
		leaveIt(),
	}}
	return answer{text: lines(why+" Order "+strconv.Itoa(n)+"?", q.numbered()), ask: q}
}
