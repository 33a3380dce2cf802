package offline

import (
	"slices"

	"deskhand/agent"
)

// reasonNotGiven is the reason of a cancellation where the dispatcher gave none.
const reasonNotGiven = "asked for by the dispatcher"

// runCancel cancels a visit or a part order. A job alone says neither, so it
// asks which.
func runCancel(t *turn, r *request) answer {
	c := r.clause
	if !r.filled {
		r.filled = true
		r.reason = c.reason
		if len(c.ids.visits) > 0 {
			r.visit = c.ids.visits[0]
		}
		if len(c.ids.orders) > 0 {
			r.order = c.ids.orders[0]
		}
		name, possessive := meaning(c.words)
		name = without(name, "order", "orders")
		if who := c.somebody(); who != nil {
			r.holder = who.name(true)
		}
		if r.when.dayKnown() {
			said := r.when
			r.current = &said
		}
		switch {
		case r.visit != "" || r.order != "" || len(c.ids.jobs) > 0:
		case possessive && !c.listed:
			r.holder = joinWords(name)
		case len(name) > 0 && len(c.site) == 0 && !c.has("order", "orders"):
			r.site, r.job = joinWords(name), ""
		}
	}
	wantsOrder := c.has("order", "orders", "part order", "delivery") || r.order != ""
	wantsVisit := c.has("visit", "visits", "appointment", "booking", "slot") || r.visit != ""
	switch {
	case r.order != "":
		return t.cancelOrder(r)
	case wantsOrder && !wantsVisit:
		return t.whichOrder(r)
	case wantsVisit || r.holder != "" || r.site != "" && r.job == "":
		return t.cancelVisit(r)
	case r.job == "" && r.site == "" && t.memory.visit != "":
		r.visit = t.memory.visit // "cancel it"
		return t.cancelVisit(r)
	case r.job == "":
		return answer{
			text: lines("Cancel what? Say a visit, or a part order. Nothing was cancelled.", t.memory.examples()),
			ask:  &question{request: r, slot: slotJob},
		}
	}
	return t.visitOrOrder(r)
}

// visitOrOrder asks what of a job shall be cancelled.
func (t *turn) visitOrOrder(r *request) answer {
	w, got, done := t.lookup(r.job)
	if !done {
		return waits
	}
	if !got.ok() {
		return say(t.trouble(got, r.job), "Nothing was cancelled.")
	}
	q := &question{request: r}
	for _, v := range movableVisits(w.Visits) {
		v.Job = ""
		q.choices = append(q.choices, choice{
			label: "cancel the visit " + visitLabel(v), words: "visit appointment booking " + v.ID + " " + v.Technician.Name,
			apply: func(b *request) { b.visit = v.ID },
		})
	}
	for _, o := range openOrders(w.PartOrders) {
		q.choices = append(q.choices, choice{
			label: "cancel the part order " + orderLine(o, false), words: "order part " + o.ID,
			apply: func(b *request) { b.order = o.ID },
		})
	}
	head := w.ID + " " + clean(w.Title, 100) + " is " + plain(w.Status) + ". I cannot cancel a job itself; that is done in the book."
	if len(q.choices) == 0 {
		return answer{text: lines(head, "It has no booked visit and no open part order. Which visit or order do you mean? Nothing was cancelled."),
			ask: &question{request: r, slot: slotJob}}
	}
	q.choices = append(q.choices, choice{label: "leave everything as it is", leave: "Left as it is. Nothing was cancelled."})
	return answer{text: lines(head, "Which of its records shall be cancelled?", q.numbered()), ask: q}
}

// openOrders are those that could still be cancelled.
func openOrders(orders []partOrder) []partOrder {
	return slices.DeleteFunc(slices.Clone(orders), func(o partOrder) bool {
		return o.ID == "" || !slices.Contains([]string{"pending_approval", "approved", "ordered", "back_ordered"}, o.Status)
	})
}

func (t *turn) cancelVisit(r *request) answer {
	v, a := t.theVisit(r)
	if a != nil {
		return *a
	}
	r.visit, r.job = v.ID, v.Job
	what := v.ID + " of " + v.Job
	got, done := t.write(toolCancelVisit, args{"visit_id": v.ID, "reason": noteOf(r, reasonNotGiven)}, "cancelling "+what)
	if !done {
		return waits
	}
	switch got.state {
	case agent.CallDone:
		t.memory.lastDone = true
		return say("Cancelled the visit "+what+", "+clean(v.Technician.Name, 60)+", "+span(v.Start, v.End)+".", jobIsNow(got))
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		return say("The visit " + what + " stays. " + withNothing(got, "Nothing was cancelled."))
	case agent.CallUnknown:
		return say("Nobody knows whether the visit "+what+" was cancelled.", got.why())
	}
	return say(withNothing(got, "Nothing was cancelled."))
}

// jobIsNow says what a cancelled visit did to its job.
func jobIsNow(o outcome) string {
	var got struct {
		WorkOrder struct{ ID, Status string } `json:"work_order"`
	}
	o.read(&got)
	if got.WorkOrder.ID == "" || got.WorkOrder.Status == "" {
		return ""
	}
	return clean(got.WorkOrder.ID, 20) + " is " + plain(got.WorkOrder.Status) + " now."
}

// onlyOrder is the order of a result that has one.
func onlyOrder(o outcome) (partOrder, bool) {
	var list struct {
		Items []partOrder `json:"items"`
	}
	o.read(&list)
	if len(list.Items) != 1 {
		return partOrder{}, false
	}
	return list.Items[0], true
}

// whichOrder finds the order of a job, or of a part, that is meant.
func (t *turn) whichOrder(r *request) answer {
	if r.job == "" && r.sku == "" {
		if r.site != "" {
			if _, a := t.jobsAt(r); a != nil {
				return *a
			}
		} else {
			return answer{text: "Cancel which order? Say its number, or its job. Nothing was cancelled.", ask: &question{request: r, slot: slotJob}}
		}
	}
	a := args{"limit": 50}
	if r.job != "" {
		a["work_order_id"] = r.job
	}
	if r.sku != "" {
		a["sku"] = r.sku
	}
	got, done := t.call(toolPartOrders, a)
	if !done {
		return waits
	}
	if !got.ok() {
		return say(t.trouble(got, r.job), "Nothing was cancelled.")
	}
	var list struct {
		Items []partOrder `json:"items"`
	}
	got.read(&list)
	open := openOrders(list.Items)
	if words := partWords(r); len(words) > 0 {
		if named := slices.DeleteFunc(slices.Clone(open), func(o partOrder) bool { return matchCount(o, words) == 0 }); len(named) > 0 {
			open = named
		}
	}
	about := orEmpty(" for ", r.job, r.job != "")
	switch len(open) {
	case 0:
		text := "There is no part order" + about + " that could still be cancelled."
		for _, o := range list.Items[:min(len(list.Items), 5)] {
			text = lines(text, "  "+orderLine(o, false))
		}
		return say(text, "Nothing was cancelled.")
	case 1:
		r.order = open[0].ID
		return t.cancelOrder(r)
	}
	q := &question{request: r}
	for _, o := range open[:min(len(open), maxChoices)] {
		q.choices = append(q.choices, choice{label: orderLine(o, true), words: o.ID + " " + o.Name, apply: func(b *request) { b.order = o.ID }})
	}
	return answer{text: lines("Cancel which order"+about+"?", q.numbered()), ask: q}
}

func (t *turn) cancelOrder(r *request) answer {
	if found, done := t.call(toolPartOrders, args{"part_order_id": r.order}); !done {
		return waits
	} else if o, known := onlyOrder(found); known && o.Status != "" && len(openOrders([]partOrder{o})) == 0 {
		return say("The part order " + orderLine(o, true) + " It is " + plain(o.Status) + ", so it cannot be cancelled any more. Nothing was cancelled.")
	}
	got, done := t.write(toolCancelOrder, args{"part_order_id": r.order, "reason": noteOf(r, reasonNotGiven)}, "cancelling "+r.order)
	if !done {
		return waits
	}
	switch got.state {
	case agent.CallDone:
		t.memory.lastDone = true
		var cancelled struct {
			Fee *money `json:"fee"`
		}
		got.read(&cancelled)
		fee := ""
		if cancelled.Fee != nil {
			fee = "The supplier asks " + cancelled.Fee.String() + " for it."
		}
		return say("Cancelled the part order "+r.order+". The supplier has to be told.", fee)
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		return say("The part order " + r.order + " stays. " + withNothing(got, "Nothing was cancelled."))
	case agent.CallUnknown:
		return say("Nobody knows whether the part order "+r.order+" was cancelled.", got.why())
	}
	return say(withNothing(got, "Nothing was cancelled."))
}
