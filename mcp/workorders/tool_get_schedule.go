package workorders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The window's arguments are not called start and end: a desk hands arguments
// of the same name from a call to the tool that previews it, and a visit that
// is to be moved must be shown where it is, not where it shall be.

type agendaInput struct {
	Technician  string `json:"technician,omitempty" jsonschema:"visits of this person: id or name; with visit_id: whose free times are shown"`
	Site        string `json:"site,omitempty" jsonschema:"visits at this site: id, name or address"`
	WorkOrderID string `json:"work_order_id,omitempty" jsonschema:"visits of this job, like WO-1044"`
	VisitID     string `json:"visit_id,omitempty" jsonschema:"this visit, like V-2019, whatever the time"`
	From        string `json:"from,omitempty" jsonschema:"start of the window, RFC 3339 with offset; default the start of today"`
	To          string `json:"to,omitempty" jsonschema:"end of the window, at most 31 days later; default the end of the day of from, or 31 days when from is left out too"`
}

type agendaOutput struct {
	Visits    []agendaVisit    `json:"visits" jsonschema:"by start; the visit asked for by its id comes first"`
	Gaps      []agendaGap      `json:"gaps" jsonschema:"free working time of the person asked for, at most a week of it"`
	Conflicts []agendaConflict `json:"conflicts" jsonschema:"open visits of one person that overlap"`
	Off       []agendaOff      `json:"off" jsonschema:"time off in the window"`
	Total     int              `json:"total" jsonschema:"visits that were found; at most 200 are shown"`
}

type agendaVisit struct {
	ID               string  `json:"id"`
	WorkOrderID      string  `json:"work_order_id"`
	Title            string  `json:"title"`
	Status           string  `json:"status"`
	Technician       Person  `json:"technician"`
	Site             SiteRef `json:"site"`
	Start            Moment  `json:"start"`
	End              Moment  `json:"end"`
	CustomerInformed bool    `json:"customer_informed"`
	ResolveBy        *Moment `json:"resolve_by,omitempty"`
	Version          int     `json:"version" jsonschema:"for expected_version"`
}

type agendaGap struct {
	Technician Person `json:"technician"`
	Start      Moment `json:"start"`
	End        Moment `json:"end"`
}

type agendaConflict struct {
	VisitIDs   []string `json:"visit_ids"`
	Technician Person   `json:"technician"`
}

type agendaOff struct {
	Technician Person `json:"technician"`
	Start      Moment `json:"start"`
	End        Moment `json:"end"`
	ReasonText string `json:"reason_text"`
	Untrusted  bool   `json:"untrusted"`
}

const (
	agendaMost    = 200                 // visits in one answer
	agendaLongest = 31 * 24 * time.Hour // and an hour, for a month in which the clocks change
	gapsAhead     = 7 * 24 * time.Hour
)

func getScheduleTool() tool {
	return tool{
		name:  "get_schedule",
		title: "Show the schedule",
		description: "Visits of a person, at a site, of a job, or one visit, in a window of at most 31 days, with free times, double bookings and time off. " +
			"Without a filter everybody's visits of today. Use it for \"what has Jun today\" and \"when is somebody at the baths\"; for who could come, use find_availability.",
		hints: reading,
		input: input[agendaInput](map[string]schemaEdit{
			"technician": texts(1, 100), "site": texts(1, 100), "work_order_id": pattern(workOrderPattern),
			"visit_id": pattern(visitPattern), "from": moments, "to": moments,
		}),
		output: schemaOf[agendaOutput](),
		handle: read(getSchedule),
	}
}

// An agenda is what a call wants to see.
type agenda struct {
	visit      *Visit
	technician *Technician
	site       *Site
	job        *WorkOrder
	start, end time.Time // zero: any time
}

func getSchedule(v view, in agendaInput) (agendaOutput, string, error) {
	q, err := v.agenda(in)
	if err != nil {
		return agendaOutput{}, "", err
	}
	found := v.agendaVisits(q)
	out := agendaOutput{Visits: []agendaVisit{}, Gaps: []agendaGap{}, Conflicts: v.conflictsOf(found), Off: []agendaOff{}, Total: len(found)}
	for _, o := range found[:min(len(found), agendaMost)] {
		out.Visits = append(out.Visits, v.agendaVisit(o))
	}
	v.addPeople(&out, q, found)
	return out, out.text(), nil
}

// agenda resolves the arguments. One that names nothing is refused.
func (v view) agenda(in agendaInput) (q agenda, err error) {
	if in.VisitID != "" {
		if q.visit, err = v.visit(in.VisitID); err != nil {
			return q, err
		}
	}
	if in.Technician != "" {
		if q.technician, err = v.technician(in.Technician, nil); err != nil {
			return q, err
		}
	}
	if in.Site != "" {
		if q.site, err = v.site(in.Site); err != nil {
			return q, err
		}
	}
	if in.WorkOrderID != "" {
		if q.job, err = v.workOrder(in.WorkOrderID); err != nil {
			return q, err
		}
	}
	return q, v.agendaWindow(in, &q)
}

func (v view) agendaWindow(in agendaInput, q *agenda) (err error) {
	today := midnight(v.now.In(v.zone))
	if in.From == "" && in.To == "" {
		switch {
		case q.visit != nil:
			q.start = midnight(q.visit.Start.In(v.zone))
			q.end = nextDay(midnight(q.visit.End.In(v.zone)))
		case q.job != nil: // all its visits
		case q.technician != nil || q.site != nil:
			q.start, q.end = today, today.AddDate(0, 0, 31)
		default:
			q.start, q.end = today, nextDay(today)
		}
		return nil
	}
	q.start = today
	if in.From != "" {
		if q.start, err = instant("from", in.From); err != nil {
			return err
		}
	}
	q.end = nextDay(midnight(q.start.In(v.zone)))
	if in.To != "" {
		if q.end, err = instant("to", in.To); err != nil {
			return err
		}
	}
	switch {
	case !q.start.Before(q.end):
		return refuse("window_invalid", "to", "to must be after from.")
	case q.end.Sub(q.start) > agendaLongest+time.Hour:
		return refuse("window_invalid", "to", "The window may be 31 days long at most.")
	}
	return nil
}

// agendaVisits finds the visits; cancelled ones only when asked for by job or id.
func (v view) agendaVisits(q agenda) []*Visit {
	if q.visit != nil {
		return []*Visit{q.visit}
	}
	from := v.visits.ids
	if q.job != nil {
		from = v.related(visitsByJob, q.job.ID)
	}
	var found []*Visit
	for o := range v.visits.these(from) {
		switch {
		case q.technician != nil && o.TechnicianID != q.technician.ID,
			q.site != nil && o.SiteID != q.site.ID,
			q.job == nil && o.Status == "cancelled",
			!q.end.IsZero() && !overlaps(q.start, q.end, o.Start.Time, o.End.Time):
			continue
		}
		found = append(found, o)
	}
	slices.SortStableFunc(found, func(a, b *Visit) int {
		return cmp.Or(a.Start.Compare(b.Start.Time), compareIDs(a.ID, b.ID))
	})
	return found
}

func (v view) agendaVisit(o *Visit) agendaVisit {
	site, job := v.sites.get(o.SiteID), v.workOrders.get(o.WorkOrderID)
	zone := v.siteZone(site)
	return agendaVisit{
		ID: o.ID, WorkOrderID: o.WorkOrderID, Title: job.Title, Status: o.Status, Technician: personOf(v.technicians.get(o.TechnicianID)),
		Site: siteRef(site), Start: moment(o.Start.Time, zone), End: moment(o.End.Time, zone),
		CustomerInformed: o.CustomerInformed, ResolveBy: momentOf(job.ResolveBy, zone), Version: o.Version,
	}
}

// conflictsOf lists each pair of open visits of one person that overlap, of
// which at least one was found.
func (c *contents) conflictsOf(found []*Visit) []agendaConflict {
	out := []agendaConflict{}
	seen := map[string]bool{}
	for _, o := range found {
		if !occupies(o) {
			continue
		}
		t := c.technicians.get(o.TechnicianID)
		for _, other := range c.clashes(t, o.Start.Time, o.End.Time, o.ID) {
			pair := []string{o.ID, other.ID}
			slices.SortFunc(pair, compareIDs)
			if key := strings.Join(pair, " "); !seen[key] {
				seen[key] = true
				out = append(out, agendaConflict{VisitIDs: pair, Technician: personOf(t)})
			}
		}
	}
	return out
}

// addPeople adds free times and time off of the person asked for, or of those
// whose visits were found.
func (v view) addPeople(out *agendaOutput, q agenda, found []*Visit) {
	if q.end.IsZero() {
		return
	}
	people := map[string]bool{}
	for _, o := range found {
		people[o.TechnicianID] = true
	}
	one := q.technician
	if one == nil && q.visit != nil {
		one = v.technicians.get(q.visit.TechnicianID)
	}
	everybody := q.visit == nil && q.technician == nil && q.site == nil && q.job == nil
	for t := range v.technicians.all() {
		if one != nil && t.ID != one.ID || one == nil && !everybody && !people[t.ID] {
			continue
		}
		for _, p := range offDuring(t, q.start, q.end) {
			i := v.offInfo(p)
			out.Off = append(out.Off, agendaOff{Technician: personOf(t), Start: i.Start, End: i.End, ReasonText: i.ReasonText, Untrusted: true})
		}
	}
	if one == nil || !one.Active {
		return
	}
	for _, g := range v.freeTimes(one, q.start, q.end) {
		out.Gaps = append(out.Gaps, agendaGap{Technician: personOf(one), Start: moment(g.start, v.zone), End: moment(g.end, v.zone)})
	}
}

// freeTimes is what t's shifts and on-call periods leave beside visits and time
// off, from now on and for a week at most.
func (v view) freeTimes(t *Technician, start, end time.Time) []interval {
	if start.Before(v.now) {
		start = roundUp(v.now)
	}
	if week := start.Add(gapsAhead); end.After(week) {
		end = week
	}
	var taken []interval
	for _, p := range offDuring(t, start, end) {
		taken = append(taken, interval{p.Start.Time, p.End.Time})
	}
	for _, o := range v.clashes(t, start, end, "") {
		taken = append(taken, interval{o.Start.Time, o.End.Time})
	}
	least := time.Duration(v.company.WindowRules.MinMinutes) * time.Minute
	return longer(without(v.workTime(t, start, end), taken), least)
}

func (o agendaOutput) text() string {
	var b strings.Builder
	b.WriteString(pageText(len(o.Visits), o.Total, "visit"))
	for _, i := range o.Visits {
		fmt.Fprintf(&b, "\n%s %s %s - %s: %s %s, %s, %s", i.ID, i.Status, i.Start.Local, i.End.Local, i.WorkOrderID, i.Title, i.Technician.Name, i.Site.Name)
	}
	for _, c := range o.Conflicts {
		fmt.Fprintf(&b, "\nDouble booking of %s: %s.", c.Technician.Name, list(c.VisitIDs))
	}
	for _, i := range o.Off {
		fmt.Fprintf(&b, "\n%s is off %s - %s.", i.Technician.Name, i.Start.Local, i.End.Local)
	}
	for _, g := range o.Gaps {
		fmt.Fprintf(&b, "\n%s is free %s - %s.", g.Technician.Name, g.Start.Local, g.End.Local)
	}
	return b.String()
}
