package workorders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

type searchJobsInput struct {
	Text       string   `json:"text,omitempty" jsonschema:"words in number, title, problem, notes, customer, site or equipment"`
	Site       string   `json:"site,omitempty" jsonschema:"site id, name or address"`
	Customer   string   `json:"customer,omitempty" jsonschema:"customer id or name"`
	AssetID    string   `json:"asset_id,omitempty" jsonschema:"equipment id, like A-504"`
	Technician string   `json:"technician,omitempty" jsonschema:"technician id or name"`
	Status     []string `json:"status,omitempty" jsonschema:"only these states; without it only open jobs"`
	Priority   []string `json:"priority,omitempty" jsonschema:"only these priorities"`
	Unassigned *bool    `json:"unassigned,omitempty" jsonschema:"true: only jobs without a technician; false: only jobs with one"`
	DueBefore  string   `json:"due_before,omitempty" jsonschema:"to be resolved at or before this time, RFC 3339 with offset"`
	From       string   `json:"from,omitempty" jsonschema:"visit or requested window from this time on, RFC 3339 with offset"`
	To         string   `json:"to,omitempty" jsonschema:"visit or requested window before this time, RFC 3339 with offset"`
	Sort       string   `json:"sort,omitempty" jsonschema:"deadline (default), priority or created (newest first)"`
	Limit      int      `json:"limit,omitempty" jsonschema:"items on a page, 1 to 50"`
	Cursor     string   `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

type searchJobsOutput struct {
	Items      []jobItem `json:"items"`
	Total      int       `json:"total"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

type jobItem struct {
	ID         string     `json:"id"`
	Title      string     `json:"title"`
	Status     string     `json:"status"`
	Priority   string     `json:"priority"`
	Site       SiteRef    `json:"site"`
	Customer   Ref        `json:"customer"`
	Technician *Person    `json:"technician,omitempty"`
	NextVisit  *nextVisit `json:"next_visit,omitempty"`
	ResolveBy  *Moment    `json:"resolve_by,omitempty"`
	Flags      []string   `json:"flags" jsonschema:"overdue, at_risk, no_technician, double_booked, certificate_expired"`
}

type nextVisit struct {
	ID    string `json:"id"`
	Start Moment `json:"start"`
	End   Moment `json:"end"`
}

func searchWorkOrdersTool() tool {
	return tool{
		name:  "search_work_orders",
		title: "Search work orders",
		description: "Lists work orders by site, customer, technician, state, priority, deadline or words; at least one filter. " +
			"Only open jobs unless status is given. Ask for up to 50 when nothing may be missed; total says how many there are.",
		hints: reading,
		input: input[searchJobsInput](map[string]schemaEdit{
			"text": texts(1, 200), "site": texts(1, 100), "customer": texts(1, 100), "technician": texts(1, 100), "asset_id": texts(1, 20),
			"status": someOf(workOrderStatuses...), "priority": someOf(priorities...),
			"due_before": moments, "from": moments, "to": moments,
			"sort": oneOf("deadline", "priority", "created"), "limit": limited, "cursor": texts(1, 200),
		}),
		output: schemaOf[searchJobsOutput](),
		handle: read(searchWorkOrders),
	}
}

func searchWorkOrders(v view, in searchJobsInput) (searchJobsOutput, string, error) {
	keep, err := v.jobFilters(in)
	if err != nil {
		return searchJobsOutput{}, "", err
	}
	var found []*WorkOrder
	seen := 0
	for w := range v.workOrders.all() {
		if err := v.passed(seen, len(v.workOrders.ids)); err != nil {
			return searchJobsOutput{}, "", err
		}
		seen++
		if !slices.ContainsFunc(keep, func(fits func(*WorkOrder) bool) bool { return !fits(w) }) {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, jobOrder(in.Sort))
	limit, cursor := in.Limit, in.Cursor
	in.Limit, in.Cursor = 0, ""
	shown, next, err := page(found, limit, cursor, in)
	if err != nil {
		return searchJobsOutput{}, "", err
	}
	out := searchJobsOutput{Items: []jobItem{}, Total: len(found), NextCursor: next}
	text := pageText(len(shown), len(found), "work order")
	for _, w := range shown {
		item := v.jobItem(w)
		out.Items = append(out.Items, item)
		text += "\n" + item.text()
	}
	return out, text, nil
}

// jobFilters turns the arguments into conditions that all must hold.
func (v view) jobFilters(in searchJobsInput) ([]func(*WorkOrder) bool, error) {
	var keep []func(*WorkOrder) bool
	add := func(f func(*WorkOrder) bool) { keep = append(keep, f) }
	if err := v.recordFilters(in, add); err != nil {
		return nil, err
	}
	if err := v.timeFilters(in, add); err != nil {
		return nil, err
	}
	if len(in.Priority) > 0 {
		add(func(w *WorkOrder) bool { return slices.Contains(in.Priority, w.Priority) })
	}
	if in.Unassigned != nil {
		add(func(w *WorkOrder) bool { return (w.TechnicianID == nil) == *in.Unassigned })
	}
	if len(in.Status) > 0 {
		add(func(w *WorkOrder) bool { return slices.Contains(in.Status, w.Status) })
	}
	wanted := words(in.Text)
	if len(keep) == 0 && len(wanted) == 0 {
		return nil, refuse("invalid_arguments", "", "Give at least one filter.")
	}
	if len(in.Status) == 0 {
		add(func(w *WorkOrder) bool { return !v.isClosed(w) })
	}
	if len(wanted) > 0 { // last, because it costs most
		add(func(w *WorkOrder) bool { return containsAll(words(v.jobText(w)), wanted, strings.HasPrefix) })
	}
	return keep, nil
}

func (v view) recordFilters(in searchJobsInput, add func(func(*WorkOrder) bool)) error {
	if in.Site != "" {
		site, err := v.site(in.Site)
		if err != nil {
			return err
		}
		add(func(w *WorkOrder) bool { return w.SiteID == site.ID })
	}
	if in.Customer != "" {
		customer, err := v.customer(in.Customer)
		if err != nil {
			return err
		}
		add(func(w *WorkOrder) bool { return w.CustomerID == customer.ID })
	}
	if in.Technician != "" {
		t, err := v.technician(in.Technician, nil)
		if err != nil {
			return err
		}
		add(func(w *WorkOrder) bool {
			return deref(w.TechnicianID) == t.ID || slices.ContainsFunc(v.visitsOf(w), func(o *Visit) bool { return occupies(o) && o.TechnicianID == t.ID })
		})
	}
	if in.AssetID != "" {
		asset := v.assets.get(strings.ToUpper(in.AssetID))
		if asset == nil {
			return refuse("asset_not_found", "asset_id", "There is no equipment %q.", in.AssetID)
		}
		add(func(w *WorkOrder) bool { return deref(w.AssetID) == asset.ID })
	}
	return nil
}

func (v view) timeFilters(in searchJobsInput, add func(func(*WorkOrder) bool)) error {
	if in.DueBefore != "" {
		due, err := instant("due_before", in.DueBefore)
		if err != nil {
			return err
		}
		add(func(w *WorkOrder) bool { return w.ResolveBy != nil && !w.ResolveBy.After(due) })
	}
	if in.From == "" && in.To == "" {
		return nil
	}
	from, to := time.Time{}, v.now.AddDate(100, 0, 0)
	var err error
	if in.From != "" {
		if from, err = instant("from", in.From); err != nil {
			return err
		}
	}
	if in.To != "" {
		if to, err = instant("to", in.To); err != nil {
			return err
		}
	}
	if !from.Before(to) {
		return refuse("window_invalid", "to", "to must be after from.")
	}
	add(func(w *WorkOrder) bool {
		if w.WindowStart != nil && w.WindowEnd != nil && overlaps(from, to, w.WindowStart.Time, w.WindowEnd.Time) {
			return true
		}
		return slices.ContainsFunc(v.visitsOf(w), func(o *Visit) bool {
			return o.Status != "cancelled" && overlaps(from, to, o.Start.Time, o.End.Time)
		})
	})
	return nil
}

// jobText is what the text filter looks in.
func (v view) jobText(w *WorkOrder) string {
	site := v.sites.get(w.SiteID)
	text := []string{w.ID, w.Title, w.Problem, site.Name, site.Address, v.customers.get(w.CustomerID).Name}
	if a := v.asset(w); a != nil {
		text = append(text, a.Kind, a.Maker, a.Model)
	}
	for _, n := range w.Notes {
		text = append(text, n.Text)
	}
	return strings.Join(text, " ")
}

// jobOrder compares by the asked-for order, then deadline, priority and id.
func jobOrder(by string) func(a, b *WorkOrder) int {
	deadline := func(a, b *WorkOrder) int {
		switch {
		case a.ResolveBy == nil && b.ResolveBy == nil:
			return 0
		case a.ResolveBy == nil:
			return 1
		case b.ResolveBy == nil:
			return -1
		}
		return a.ResolveBy.Compare(b.ResolveBy.Time)
	}
	priority := func(a, b *WorkOrder) int {
		return cmp.Compare(slices.Index(priorities, a.Priority), slices.Index(priorities, b.Priority))
	}
	return func(a, b *WorkOrder) int {
		first := 0
		switch by {
		case "priority":
			first = priority(a, b)
		case "created":
			first = b.CreatedAt.Compare(a.CreatedAt.Time)
		}
		return cmp.Or(first, deadline(a, b), priority(a, b), compareIDs(a.ID, b.ID))
	}
}

func (v view) jobItem(w *WorkOrder) jobItem {
	site, customer := v.sites.get(w.SiteID), v.customers.get(w.CustomerID)
	zone := v.siteZone(site)
	item := jobItem{
		ID: w.ID, Title: w.Title, Status: w.Status, Priority: w.Priority, Site: siteRef(site),
		Customer: Ref{ID: customer.ID, Name: customer.Name}, ResolveBy: momentOf(w.ResolveBy, zone), Flags: v.flagsOf(w, v.now),
	}
	if w.TechnicianID != nil {
		item.Technician = ptr(personOf(v.technicians.get(*w.TechnicianID)))
	}
	if o := v.openVisit(w, v.now); o != nil {
		item.NextVisit = &nextVisit{ID: o.ID, Start: moment(o.Start.Time, zone), End: moment(o.End.Time, zone)}
	}
	return item
}

func (j jobItem) text() string {
	text := fmt.Sprintf("%s %s: %s, %s, %s", j.ID, j.Title, j.Status, j.Priority, j.Site.Name)
	if j.Technician != nil {
		text += ", " + j.Technician.Name
	}
	if j.NextVisit != nil {
		text += ", visit " + j.NextVisit.Start.Local
	}
	if j.ResolveBy != nil {
		text += ", by " + j.ResolveBy.Local
	}
	if len(j.Flags) > 0 {
		text += " [" + strings.Join(j.Flags, ", ") + "]"
	}
	return text
}
