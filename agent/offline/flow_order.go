package offline

import (
	"slices"
	"strconv"
	"strings"
)

// runOrder orders a part for a job. It only asks for the call: a person decides
// on its card, and the server keeps the rules.
func runOrder(t *turn, r *request) answer {
	if a := quantityProblem(r.quantity); a != nil {
		return *a
	}
	if r.clause.mixed() || r.quantity.given && len(r.clause.ids.skus) > 1 || slices.ContainsFunc(r.clause.rest, isNumber) {
		return say("There is more than one number or part in that, and I may not mix them up. Which part is for which job? Please say one order at a time. Nothing was ordered.")
	}
	if r.needed && r.has("both", "all of them") && len(r.clause.ids.jobs) == 0 {
		return say("Which parts, and for which job? Please say one order at a time. Nothing was ordered.")
	}
	if r.needed && t.memory.sku != "" {
		r.sku, r.needed = t.memory.sku, false // "how much is GB-FAN-24", "order it"
	}
	if a := t.orderJob(r); a != nil {
		return *a
	}
	w, hits, a := t.readForOrder(r)
	if a != nil {
		return *a
	}
	s := choosePart(r, w, hits)
	if s.verdict != chosen {
		return t.askPart(r, w, s)
	}
	n, a := howMany(r, s)
	if a != nil {
		return *a
	}
	t.memory.setSKU(s.part.SKU)
	open := openOrder(w, s.part.SKU)
	if open != nil && !r.duplicate {
		// A number that could not be ordered anyway must not be offered.
		asked, done := t.call(toolQuote, args{"sku": s.part.SKU, "quantity": n, "work_order_id": r.job, "allow_duplicate": true})
		if !done {
			return waits
		}
		if slices.Contains([]string{"above_max_quantity", "below_min_quantity", "not_pack_multiple"}, asked.fault.Code) {
			return t.orderRefused(r, asked, s.part)
		}
		return askDuplicate(r, *open, s, n)
	}
	call := args{"work_order_id": r.job, "sku": s.part.SKU, "quantity": n}
	if open != nil {
		call["allow_duplicate"] = true
	}
	got, done := t.write(toolOrder, call, pieces(n, s.part.Unit)+" of "+clean(s.part.SKU, 40)+" for "+r.job)
	if !done {
		return waits
	}
	return t.orderAnswer(r, got, s.part)
}

// quantityProblem answers a number that the tool's schema would not take.
func quantityProblem(q quantity) *answer {
	var a answer
	switch {
	case q.bad:
		a = say("The quantity must be a whole number, not " + clean(q.typed, 20) + ". Nothing was ordered.")
	case q.given && q.n < 1:
		a = say("The quantity must be at least 1, not " + clean(q.typed, 20) + ". Nothing was ordered.")
	default:
		return nil
	}
	return &a
}

// orderJob makes sure that there is a job to order for. A site with several jobs
// is settled by the one whose technician needs the part.
func (t *turn) orderJob(r *request) *answer {
	if r.job != "" {
		return nil
	}
	if r.site == "" {
		return &answer{text: "For which job? Nothing was ordered yet.", ask: &question{request: r, slot: slotJob}}
	}
	items, a := t.jobsAt(r)
	if r.job != "" || len(items) == 0 {
		return a
	}
	wait := false
	var fitting []string
	for _, j := range items[:min(len(items), maxChoices)] {
		w, _, done := t.lookup(j.ID)
		wait = wait || !done
		for _, n := range w.PartsNeeded {
			if fitsWords(r, w, n.SKU+" "+n.Text, nil) && !slices.Contains(fitting, j.ID) {
				fitting = append(fitting, j.ID)
			}
		}
	}
	switch {
	case wait:
		return &waits
	case len(fitting) == 1 && !r.needed:
		r.job = fitting[0]
		return nil
	}
	return a
}

// readForOrder reads the job and the parts that the words could mean, in one
// round where it can.
func (t *turn) readForOrder(r *request) (workOrder, []part, *answer) {
	w, got, okJob := t.lookup(r.job)
	var hits []part
	okParts := true
	if !r.needed {
		hits, okParts = t.searchParts(partQuery(r), r.job)
	}
	if !okJob || !okParts {
		return w, nil, &waits
	}
	if !got.ok() {
		a := say(t.trouble(got, r.job), "Nothing was ordered.")
		return w, nil, &a
	}
	if w.closed() {
		a := say(w.ID + " is " + plain(w.Status) + ", so nothing can be ordered for it. Nothing was ordered.")
		return w, nil, &a
	}
	missing := false
	if r.sku == "" {
		// What the technician needs counts first, also where the words do not
		// find it in the catalogue; it may also be no longer made.
		for _, n := range w.PartsNeeded[:min(len(w.PartsNeeded), maxChoices)] {
			if find(hits, n.SKU).Name == "" && (r.needed || fitsWords(r, w, n.SKU+" "+n.Text, nil)) {
				more, done := t.searchParts(n.SKU, r.job)
				hits, missing = append(hits, more...), missing || !done
			}
		}
	}
	if missing {
		return w, nil, &waits
	}
	return w, hits, nil
}

// searchParts searches the catalogue, also for parts that are no longer made.
func (t *turn) searchParts(query, job string) ([]part, bool) {
	a := args{"query": clean(query, 100), "include_discontinued": true, "limit": 50}
	if job != "" {
		a["fits_work_order_id"] = job
	}
	got, done := t.call(toolSearchParts, a)
	var list partList
	if done && got.ok() {
		got.read(&list)
	}
	return slices.DeleteFunc(list.Items, func(p part) bool { return p.SKU == "" }), done
}

// partQuery is what to search for: the number, or measures and words.
func partQuery(r *request) string {
	if r.sku != "" {
		return r.sku
	}
	var out []string
	for _, m := range r.measures {
		out = append(out, m.String())
	}
	for _, w := range r.words {
		out = append(out, stem(w))
	}
	return strings.Join(out, " ")
}

// howMany settles the quantity: the number that was said; else one for "a", and
// what the technician needs for "it" and "the".
func howMany(r *request, s selection) (int, *answer) {
	q := r.quantity
	switch {
	case q.packs && s.part.Pack > 1:
		return 0, askPacks(r, s)
	case q.given:
		return q.n, nil
	case !q.article && s.needed > 0:
		return s.needed, nil
	}
	return 1, nil
}

func askPacks(r *request, s selection) *answer {
	q := &question{request: r, slot: slotQuantity}
	for _, n := range []int{r.quantity.n * s.part.Pack, r.quantity.n} {
		q.choices = append(q.choices, choice{
			label: "order " + pieces(n, s.part.Unit), words: strconv.Itoa(n),
			apply: func(b *request) { b.quantity = quantity{given: true, n: n, typed: strconv.Itoa(n)} },
		})
	}
	text := s.part.SKU + " is counted in single units, and a pack holds " + strconv.Itoa(s.part.Pack) + ". How many?"
	return &answer{text: lines(text, q.numbered()), ask: q}
}

// openOrder is an order for the same job and part that is still open.
func openOrder(w workOrder, sku string) *partOrder {
	for i, o := range w.PartOrders {
		if o.SKU == sku && slices.Contains([]string{"pending_approval", "approved", "ordered", "shipped", "back_ordered"}, o.Status) {
			return &w.PartOrders[i]
		}
	}
	return nil
}

func askDuplicate(r *request, open partOrder, s selection, n int) answer {
	q := &question{request: r, choices: []choice{
		{label: "order " + pieces(n, s.part.Unit) + " more", words: "another again second duplicate", apply: func(b *request) { b.duplicate = true }},
		{label: "leave it", leave: "Left as it is. Nothing was ordered."},
	}}
	return answer{text: lines("There is already an open order for "+r.job+": "+orderLine(open, false), "Order it again?", q.numbered()), ask: q}
}
