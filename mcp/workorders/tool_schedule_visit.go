package workorders

import (
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type scheduleInput struct {
	WorkOrderID    string   `json:"work_order_id" jsonschema:"the job, like WO-1044"`
	Technician     string   `json:"technician" jsonschema:"technician id or name; several matches are refused with candidates"`
	Start          string   `json:"start" jsonschema:"RFC 3339 with offset"`
	End            string   `json:"end" jsonschema:"RFC 3339 with offset; 15 minutes to 12 hours after start"`
	Note           string   `json:"note,omitempty" jsonschema:"note for the technician"`
	Override       []string `json:"override,omitempty" jsonschema:"rules that a person said may be broken"`
	OverrideReason string   `json:"override_reason,omitempty" jsonschema:"why; required with override"`
	Additional     bool     `json:"additional,omitempty" jsonschema:"book a further visit although the job has one"`
	IdempotencyKey string   `json:"idempotency_key,omitempty" jsonschema:"the same key never books twice; it gets the first answer again"`
}

func (in scheduleInput) split() (string, any) {
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	in.WorkOrderID = workOrderID(in.WorkOrderID)
	return key, in
}

type scheduleOutput struct {
	Visit     bookedVisit `json:"visit"`
	WorkOrder bookedJob   `json:"work_order"`
	Warnings  []Warning   `json:"warnings"`
}

type bookedVisit struct {
	ID          string  `json:"id"`
	WorkOrderID string  `json:"work_order_id"`
	Status      string  `json:"status"`
	Technician  Person  `json:"technician"`
	Start       Moment  `json:"start"`
	End         Moment  `json:"end"`
	Site        SiteRef `json:"site"`
}

type bookedJob struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

func scheduleVisitTool() tool {
	return tool{
		name:  "schedule_visit",
		title: "Book a visit",
		description: "Books a technician for a work order. Refuses missing skills, expired certificates, time off, times outside shifts and double bookings, " +
			"and says who else is free. Never guess the technician or the time; use override and additional only when the dispatcher said so. " +
			"A job that already has a visit is moved with reschedule_visit instead.",
		hints: hints{idempotent: true},
		meta:  mcp.Meta{metaKind: "book_visit", metaFill: map[string]any{"idempotency_key": "key"}},
		input: input[scheduleInput](map[string]schemaEdit{
			"work_order_id": pattern(workOrderPattern), "technician": texts(1, 100), "start": moments, "end": moments,
			"note": texts(0, 500), "override": someOf(overrideShift, overrideBusy), "override_reason": texts(1, 200),
			"idempotency_key": pattern(keyPattern),
		}),
		output: schemaOf[scheduleOutput](),
		handle: write("schedule_visit", scheduleVisit),
	}
}

func scheduleVisit(d *draft, c caller, in scheduleInput) (scheduleOutput, string, string, error) {
	v := view{contents: d.contents, now: d.now, caller: c}
	b, warnings, err := v.checkBooking(in)
	if err != nil {
		return scheduleOutput{}, "", "", err
	}
	visit, job := d.book(b, c, in)
	site := v.sites.get(job.SiteID)
	zone := v.siteZone(site)
	out := scheduleOutput{
		Visit: bookedVisit{
			ID: visit.ID, WorkOrderID: job.ID, Status: visit.Status, Technician: personOf(b.technician),
			Start: moment(b.start, zone), End: moment(b.end, zone), Site: siteRef(site),
		},
		WorkOrder: bookedJob{ID: job.ID, Title: job.Title, Status: job.Status},
		Warnings:  append([]Warning{}, warnings...),
	}
	text := fmt.Sprintf("%s: %s is booked for %s at %s, %s.", visit.ID, b.technician.Name, job.ID, site.Name, span(b.start, b.end, zone))
	for _, w := range warnings {
		text += "\n" + w.Message
	}
	return out, text, visit.ID, nil
}

// checkBooking applies the rules in their fixed order.
func (v view) checkBooking(in scheduleInput) (booking, []Warning, error) {
	b := booking{overrides: in.Override, additional: in.Additional}
	var err error
	if err = reasoned(in.Override, in.OverrideReason); err != nil {
		return b, nil, err
	}
	if b.job, err = v.openWorkOrder(in.WorkOrderID); err != nil {
		return b, nil, err
	}
	if b.technician, err = v.technician(in.Technician, b.job.RequiredSkills); err != nil {
		return b, nil, err
	}
	if err = v.inactive(b.technician); err != nil {
		return b, nil, err
	}
	if b.start, b.end, err = v.window(b.job, in.Start, in.End); err != nil {
		return b, nil, err
	}
	if err = v.inTime(b); err != nil {
		return b, nil, err
	}
	warnings, err := v.allowed(b)
	return b, warnings, err
}

// book puts the visit into the draft and moves the job on: its first visit
// makes it scheduled, and what it was before is kept with it.
func (d *draft) book(b booking, c caller, in scheduleInput) (*Visit, *WorkOrder) {
	zone := d.siteZone(d.sites.get(b.job.SiteID))
	visit := &Visit{
		ID: d.contents.visits.nextID("V-"), WorkOrderID: b.job.ID, TechnicianID: b.technician.ID, SiteID: b.job.SiteID,
		Status: "booked", Start: Stamp{b.start.In(zone).Truncate(time.Second)}, End: Stamp{b.end.In(zone).Truncate(time.Second)},
		Version: 1, Overrides: in.Override, OverrideReason: in.OverrideReason, BookedBy: c.user, CallID: c.call,
	}
	if in.Note != "" {
		visit.Note = ptr(in.Note)
	}
	job := *b.job
	job.VisitIDs = append(append([]string{}, job.VisitIDs...), visit.ID)
	job.Version++
	if slices.Contains([]string{"new", "waiting_parts", "on_hold"}, job.Status) {
		job.Before = &Before{Status: job.Status, TechnicianID: job.TechnicianID, HoldReason: job.HoldReason}
		job.Status, job.HoldReason = statusScheduled, nil
	}
	if job.TechnicianID == nil || !b.additional {
		job.TechnicianID = ptr(b.technician.ID)
	}
	d.visits[visit.ID] = visit
	d.workOrders[job.ID] = &job
	return visit, &job
}
