package offline

import (
	"slices"
	"strconv"
	"strings"
)

// runOrders answers where ordered parts are.
func runOrders(t *turn, r *request) answer {
	a := args{"limit": 50}
	c := r.clause
	switch {
	case len(c.ids.orders) > 0:
		a["part_order_id"] = c.ids.orders[0]
	case c.has("waiting for approval", "pending approval", "needs approval", "need approval", "to approve", "need to approve", "waiting for sign off", "need sign off", "needs sign off", "to sign off"):
		a["status"] = []string{"pending_approval"}
	case r.job == "" && c.has("back ordered", "back order", "backorder", "backordered"):
		a["status"] = []string{"back_ordered"}
	case r.job != "":
		a["work_order_id"] = r.job
	case r.sku != "":
		a["sku"] = r.sku
	default:
		a["status"] = []string{"pending_approval", "approved", "ordered", "shipped", "back_ordered"}
	}
	got, done := t.call(toolPartOrders, a)
	if !done {
		return waits
	}
	if !got.ok() {
		return say(t.trouble(got, r.job))
	}
	var list struct {
		Items []partOrder `json:"items"`
		Total int         `json:"total"`
	}
	got.read(&list)
	all := len(list.Items)
	if !t.keepPlace(r, a, &list.Items) {
		return waits
	}
	if len(list.Items) < all {
		list.Total = len(list.Items)
	}
	if r.has("late", "late parts", "overdue") && r.job == "" {
		list.Items = slices.DeleteFunc(list.Items, func(o partOrder) bool { return !o.Late })
		list.Total = len(list.Items)
	}
	if words := partWords(r); r.job == "" && r.sku == "" && len(words) > 0 && a["part_order_id"] == nil {
		if of := slices.DeleteFunc(slices.Clone(list.Items), func(o partOrder) bool { return supplierCount(o, words) == 0 }); len(of) > 0 {
			list.Items, list.Total = of, len(of)
			r.words = without(r.words, words...)
		}
	}
	if len(list.Items) == 0 {
		return say(noOrders(r))
	}
	return say(ordersText(list.Items, max(list.Total, len(list.Items)), r)...)
}

// keepPlace leaves the orders for jobs at the place that the line names, if it
// names one where there are jobs. It is false while that is asked.
func (t *turn) keepPlace(r *request, asked args, items *[]partOrder) bool {
	if r.site == "" || r.job != "" || r.sku != "" || asked["part_order_id"] != nil {
		return true
	}
	got, done := t.searchPlace(args{"limit": 50}, r.site)
	if !done {
		return false
	}
	var jobs jobList
	got.read(&jobs)
	if of := slices.DeleteFunc(slices.Clone(*items), func(o partOrder) bool {
		return !slices.ContainsFunc(jobs.Items, func(j jobItem) bool { return j.ID == o.Job })
	}); len(of) > 0 {
		*items, r.site = of, ""
	}
	return true
}

func noOrders(r *request) string {
	switch {
	case len(r.clause.ids.orders) > 0:
		return "There is no part order " + r.clause.ids.orders[0] + "."
	case r.job != "":
		return "Nothing is on order for " + r.job + "."
	}
	return "No part orders fit that."
}

// ordersText lists orders; those of the part that was asked for stand first.
func ordersText(items []partOrder, total int, r *request) []string {
	wanted := partWords(r)
	slices.SortStableFunc(items, func(a, b partOrder) int { return matchCount(b, wanted) - matchCount(a, wanted) })
	out := make([]string, 0, len(items)+2)
	if len(items) > 1 {
		out = append(out, count(total, "part order")+":", orderTable(items))
	} else {
		out = append(out, orderLine(items[0], true))
	}
	if total > len(items) {
		out = append(out, "… and "+strconv.Itoa(total-len(items))+" more.")
	}
	if len(wanted) > 0 && matchCount(items[0], wanted) == 0 {
		out = append(out, "None of these is called "+quoted(strings.Join(r.words, " "), 60)+".")
	}
	return out
}

func partWords(r *request) []string {
	return without(slices.Concat(r.words, strings.Fields(r.site)), "order", "ordered", "status", "late")
}

func matchCount(o partOrder, words []string) int {
	n, have := 0, textWords(o.Name+" "+o.SKU)
	for _, w := range words {
		if slices.ContainsFunc(have, func(h string) bool { return stem(h) == stem(w) }) {
			n++
		}
	}
	return n
}

// supplierCount is how many words are of the supplier's name.
func supplierCount(o partOrder, words []string) int {
	n, have := 0, textWords(o.Supplier.Name)
	for _, w := range words {
		if slices.Contains(have, w) {
			n++
		}
	}
	return n
}

// orderLine is one part order on one line; withJob where the job is not the
// line above.
func orderLine(o partOrder, withJob bool) string {
	line := clean(o.ID, 20) + " " + clean(o.Name, 100) + " (" + clean(o.SKU, 40) + "), " + count(o.Quantity, "piece")
	if withJob && o.Job != "" {
		line += " for " + clean(o.Job, 20)
	}
	line += ": " + orderState(o)
	if o.Total.Currency != "" {
		line += ", " + o.Total.String()
	}
	if o.Supplier.Name != "" {
		line += ", " + clean(o.Supplier.Name, 60)
	}
	return line + orEmpty(", reference ", clean(o.Reference, 40), o.Reference != "") + "."
}

// orderState says how a part order stands and when it is expected.
func orderState(o partOrder) string {
	line := plain(o.Status)
	if o.Expected != nil && o.Status != "received" && o.Status != "cancelled" && o.Status != "rejected" {
		line += ", expected " + dayOf(o.Expected)
	}
	return line + orEmpty("", ", late", o.Late)
}

func orderTable(items []partOrder) string {
	rows := make([][]string, len(items))
	for i, o := range items {
		total := ""
		if o.Total.Currency != "" {
			total = o.Total.String()
		}
		from := clean(o.Supplier.Name, 60) + orEmpty(", reference ", clean(o.Reference, 40), o.Reference != "")
		rows[i] = []string{clean(o.ID, 20), strconv.Itoa(o.Quantity) + " × " + clean(o.Name, 100) + " (" + clean(o.SKU, 40) + ")", orEmpty("for ", clean(o.Job, 20), o.Job != ""), orderState(o), total, from}
	}
	return tabled([]string{"Order", "Part", "Job", "How it stands", "Total", "From"}, rows)
}
