package workorders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

type availabilityInput struct {
	WorkOrderID string   `json:"work_order_id,omitempty" jsonschema:"for this job: its skills, site and estimate"`
	Site        string   `json:"site,omitempty" jsonschema:"for this site: id, name or address"`
	Region      string   `json:"region,omitempty" jsonschema:"people who work in this region, for example harbour, oldtown, airport"`
	Skills      []string `json:"skills,omitempty" jsonschema:"skills needed, all of them, for example hvac, lift, refrigerant, water_heater; default: the job's"`
	Technician  string   `json:"technician,omitempty" jsonschema:"only this person: id or name"`
	From        string   `json:"from,omitempty" jsonschema:"start of the window, RFC 3339 with offset; default now"`
	To          string   `json:"to,omitempty" jsonschema:"end of the window, at most 14 days later; default the end of the day"`
	Minutes     int      `json:"duration_minutes,omitempty" jsonschema:"time needed, 15 to 720; default the job's estimate, else 60"`
}

type availabilityOutput struct {
	Slots           []slot        `json:"slots" jsonschema:"best first"`
	Excluded        []excluded    `json:"excluded" jsonschema:"who was looked at and is not free, with the reason"`
	DurationMinutes int           `json:"duration_minutes"`
	Window          windowInfo    `json:"window"`
	WorkOrder       *availableJob `json:"work_order,omitempty"`
	SiteContext     siteContext   `json:"site_context"`
}

type slot struct {
	Technician   Person    `json:"technician"`
	Start        Moment    `json:"start" jsonschema:"earliest start"`
	End          Moment    `json:"end" jsonschema:"end of the free time inside the window"`
	SuggestedEnd Moment    `json:"suggested_end" jsonschema:"start plus duration_minutes"`
	Warnings     []Warning `json:"warnings" jsonschema:"for a visit from start to suggested_end"`

	at time.Time // start, to sort by
}

type excluded struct {
	Technician Person  `json:"technician"`
	Reason     string  `json:"reason"`
	Code       string  `json:"code"`
	NextFree   *Moment `json:"next_free,omitempty"`
}

type availableJob struct {
	ID               string  `json:"id"`
	Title            string  `json:"title"`
	ResolveBy        *Moment `json:"resolve_by,omitempty"`
	EstimatedMinutes int     `json:"estimated_minutes"`
	Site             Ref     `json:"site"`
}

type siteContext struct {
	OpenWorkOrders []JobRef `json:"open_work_orders"`
}

// Ids of regions and skills are not in the schema's enums, because the list of
// tools must not depend on the book; unknown ones are refused with the list.

func findAvailabilityTool() tool {
	return tool{
		name:  "find_availability",
		title: "Find who is free",
		description: "Who can come, for a job, a site, a region, a skill or one person, within a window. Each slot is a free time inside shifts with the skills " +
			"and certificates needed; it is at least duration_minutes long, and start to suggested_end is enough. " +
			"Everybody else is in excluded with the reason, so \"why not Sam\" has an answer. People outside their region are excluded unless named.",
		hints: reading,
		input: input[availabilityInput](map[string]schemaEdit{
			"work_order_id": pattern(workOrderPattern), "site": texts(1, 100), "region": texts(1, 40), "technician": texts(1, 100),
			"skills": func(s *jsonschema.Schema) { s.MinItems, s.UniqueItems = ptr(1), true }, "from": moments, "to": moments, "duration_minutes": between(15, 720),
		}),
		output: schemaOf[availabilityOutput](),
		handle: read(findAvailability),
	}
}

func findAvailability(v view, in availabilityInput) (availabilityOutput, string, error) {
	q, err := v.search(in)
	if err != nil {
		return availabilityOutput{}, "", err
	}
	zone := v.zone
	if q.site != nil {
		zone = v.siteZone(q.site)
	}
	out := availabilityOutput{
		Slots: []slot{}, Excluded: []excluded{}, DurationMinutes: int(q.length.Minutes()),
		Window:      windowInfo{Start: moment(q.start, zone), End: moment(q.end, zone)},
		SiteContext: siteContext{OpenWorkOrders: v.openJobsAt(q.site)},
	}
	if q.job != nil {
		out.WorkOrder = &availableJob{
			ID: q.job.ID, Title: q.job.Title, ResolveBy: momentOf(q.job.ResolveBy, zone),
			EstimatedMinutes: q.job.EstimatedMinutes, Site: Ref{ID: q.site.ID, Name: q.site.Name},
		}
	}
	for t := range v.technicians.all() {
		if q.technician == nil || q.technician.ID == t.ID {
			v.addTechnician(&out, q, t, zone)
		}
	}
	sortSlots(out.Slots, q.job)
	sortExcluded(out.Excluded)
	return out, out.text(), nil
}

// addTechnician puts t's free times into the slots, or t among the excluded.
func (v view) addTechnician(out *availabilityOutput, q search, t *Technician, zone *time.Location) {
	gaps, code, reason := v.free(q, t)
	regional := q.region == "" || slices.Contains(t.Regions, q.region)
	if code == "" && !regional && q.technician == nil {
		code = "outside_region"
		reason = fmt.Sprintf("%s is free %s, but %s is not one of the regions; a booking is possible with a warning.",
			t.Name, span(gaps[0].start, gaps[0].end, v.zone), v.regionName(q.region))
	}
	if code != "" {
		e := excluded{Technician: personOf(t), Reason: reason, Code: code}
		if code != "skill_missing" && code != "certificate_expired" && code != "technician_inactive" {
			if gap, ok := v.nextGap(t, q.start, q.length, ""); ok {
				e.NextFree = ptr(moment(gap.start, zone))
			}
		}
		out.Excluded = append(out.Excluded, e)
		return
	}
	for _, g := range gaps {
		end := g.start.Add(q.length)
		warnings := v.timeWarnings(q.job, q.site, g.start, end)
		if !regional {
			warnings = append(warnings, Warning{"outside_region", fmt.Sprintf("%s is not one of %s's regions.", v.regionName(q.region), t.Name)})
		}
		warnings = append(warnings, v.dayWarnings(t, q.site, g.start, end, "")...)
		out.Slots = append(out.Slots, slot{
			Technician: personOf(t), Start: moment(g.start, zone), End: moment(g.end, zone), SuggestedEnd: moment(end, zone),
			Warnings: append([]Warning{}, warnings...), at: g.start,
		})
	}
}

// search reads the arguments and fills in what they leave out.
func (v view) search(in availabilityInput) (search, error) {
	q := search{skills: in.Skills, length: time.Hour}
	if in.WorkOrderID == "" && in.Site == "" && in.Region == "" && in.Technician == "" && len(in.Skills) == 0 {
		return q, refuse("invalid_arguments", "", "Say for which job, site, region, skill or technician.")
	}
	if err := v.searchPlace(in, &q); err != nil {
		return q, err
	}
	for _, s := range q.skills {
		if !slices.ContainsFunc(v.skills, func(n Named) bool { return n.ID == s }) {
			return q, refuse("invalid_arguments", "skills", "There is no skill %q.", s).detail("allowed", idsOf(v.skills))
		}
	}
	if in.Technician != "" {
		t, err := v.technician(in.Technician, q.skills)
		if err != nil {
			return q, err
		}
		q.technician = t
	}
	if q.job != nil && q.job.EstimatedMinutes > 0 {
		q.length = time.Duration(q.job.EstimatedMinutes) * time.Minute
	}
	if in.Minutes > 0 {
		q.length = time.Duration(in.Minutes) * time.Minute
	}
	return q, v.searchWindow(in, &q)
}

// searchPlace finds the job, its site and the region.
func (v view) searchPlace(in availabilityInput, q *search) (err error) {
	if in.WorkOrderID != "" {
		if q.job, err = v.openWorkOrder(in.WorkOrderID); err != nil {
			return err
		}
		q.site = v.sites.get(q.job.SiteID)
		if len(q.skills) == 0 {
			q.skills = q.job.RequiredSkills
		}
	} else if in.Site != "" {
		if q.site, err = v.site(in.Site); err != nil {
			return err
		}
	}
	if q.site != nil {
		q.region = q.site.Region
	}
	if in.Region != "" {
		q.region, err = v.region(in.Region)
	}
	return err
}

func (v view) searchWindow(in availabilityInput, q *search) (err error) {
	q.start = v.now
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
	case q.end.Sub(q.start) > lookAhead:
		return refuse("window_invalid", "to", "The window may be 14 days long at most.")
	case !q.end.After(v.now):
		return refuse("window_in_past", "to", "%s is in the past.", span(q.start, q.end, v.zone))
	case q.start.After(v.now.AddDate(0, 0, v.company.WindowRules.MaxDaysAhead)):
		return refuse("window_too_far", "from", "Visits are booked at most %d days ahead.", v.company.WindowRules.MaxDaysAhead)
	}
	if !q.start.After(v.now) {
		q.start = roundUp(v.now)
	}
	return nil
}

func idsOf(all []Named) []string {
	var ids []string
	for _, n := range all {
		ids = append(ids, n.ID)
	}
	return ids
}

func (v view) openJobsAt(s *Site) []JobRef {
	out := []JobRef{}
	if s == nil {
		return out
	}
	for w := range v.workOrders.these(v.related(jobsBySite, s.ID)) {
		if !v.isClosed(w) {
			out = append(out, JobRef{ID: w.ID, Title: w.Title})
		}
	}
	return out
}

// sortSlots puts people of the region first, then the earliest, then whoever
// has the job already.
func sortSlots(slots []slot, job *WorkOrder) {
	strange := func(s slot) int {
		if slices.ContainsFunc(s.Warnings, func(w Warning) bool { return w.Code == "outside_region" }) {
			return 1
		}
		return 0
	}
	own := func(s slot) int {
		if job != nil && deref(job.TechnicianID) == s.Technician.ID {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(slots, func(a, b slot) int {
		return cmp.Or(strange(a)-strange(b), a.at.Compare(b.at), own(a)-own(b), compareIDs(a.Technician.ID, b.Technician.ID))
	})
}

// sortExcluded puts those who could come at another time first.
func sortExcluded(all []excluded) {
	slices.SortStableFunc(all, func(a, b excluded) int {
		order := []string{"technician_busy", "technician_off", "outside_shift", "outside_region", "certificate_expired", "technician_inactive", "skill_missing"}
		return cmp.Or(slices.Index(order, a.Code)-slices.Index(order, b.Code), compareIDs(a.Technician.ID, b.Technician.ID))
	})
}

func (o availabilityOutput) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Free between %s and %s for %d minutes:", o.Window.Start.Local, o.Window.End.Local, o.DurationMinutes)
	if len(o.Slots) == 0 {
		b.WriteString(" nobody.")
	}
	for _, s := range o.Slots {
		fmt.Fprintf(&b, "\n%s (%s): %s to %s", s.Technician.Name, s.Technician.ID, s.Start.Local, s.End.Local)
		for _, w := range s.Warnings {
			b.WriteString("; " + w.Message)
		}
	}
	for _, e := range o.Excluded {
		if e.Code != "skill_missing" {
			b.WriteString("\nNot free: " + e.Reason)
			if e.NextFree != nil {
				b.WriteString(" Next free: " + e.NextFree.Local + ".")
			}
		}
	}
	return b.String()
}
