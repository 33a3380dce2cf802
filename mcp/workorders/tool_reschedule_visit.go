package workorders

import (
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type rescheduleInput struct {
	VisitID         string   `json:"visit_id" jsonschema:"the visit to move, like V-2019"`
	Start           string   `json:"start" jsonschema:"RFC 3339 with offset"`
	End             string   `json:"end" jsonschema:"RFC 3339 with offset; 15 minutes to 12 hours after start"`
	Technician      string   `json:"technician,omitempty" jsonschema:"hand the visit to this person: id or name; default whoever has it"`
	Reason          string   `json:"reason,omitempty" jsonschema:"why, in one line; required with override"`
	Override        []string `json:"override,omitempty" jsonschema:"rules that a person said may be broken"`
	ExpectedVersion int      `json:"expected_version,omitempty" jsonschema:"refuse if the visit's version is another, because somebody changed it"`
	IdempotencyKey  string   `json:"idempotency_key,omitempty" jsonschema:"the same key never moves twice; it gets the first answer again"`
}

func (in rescheduleInput) split() (string, any) {
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	in.VisitID = visitID(in.VisitID)
	return key, in
}

type rescheduleOutput struct {
	Visit    movedVisit `json:"visit"`
	Warnings []Warning  `json:"warnings"`
}

type movedVisit struct {
	ID          string `json:"id"`
	WorkOrderID string `json:"work_order_id"`
	Status      string `json:"status"`
	Before      place  `json:"before"`
	After       place  `json:"after"`
}

// A place is who comes when.
type place struct {
	Technician Person `json:"technician"`
	Start      Moment `json:"start"`
	End        Moment `json:"end"`
}

// visitTerms are what of a visit's preview a person consents to. The version
// stands for everything else: a visit that somebody moved, to whenever, is
// asked about again.
var visitTerms = []any{"/visits/0/status", "/visits/0/technician/id", "/visits/0/start", "/visits/0/end", "/visits/0/version"}

func rescheduleVisitTool() tool {
	return tool{
		name:  "reschedule_visit",
		title: "Move a visit",
		description: "Moves a booked visit to another time or hands it to another technician, under the rules of schedule_visit. " +
			"The customer was promised the old time, so a person must approve it: propose it only when the dispatcher asked for it. " +
			"Find the visit with get_schedule. Without an end that was asked for, keep the visit's length.",
		hints: hints{destructive: true, idempotent: true},
		meta:  mcp.Meta{metaKind: "move_visit", metaFill: map[string]any{"idempotency_key": "key"}, metaTerms: visitTerms},
		input: input[rescheduleInput](map[string]schemaEdit{
			"visit_id": pattern(visitPattern), "start": moments, "end": moments, "technician": texts(1, 100), "reason": texts(0, 200),
			"override": someOf(overrideShift, overrideBusy), "expected_version": between(1, 1_000_000_000), "idempotency_key": pattern(keyPattern),
		}),
		output: schemaOf[rescheduleOutput](),
		handle: write("reschedule_visit", rescheduleVisit),
	}
}

func rescheduleVisit(d *draft, c caller, in rescheduleInput) (rescheduleOutput, string, string, error) {
	v := view{contents: d.contents, now: d.now, caller: c}
	old, b, warnings, err := v.checkMove(in)
	if err != nil {
		return rescheduleOutput{}, "", "", err
	}
	moved := d.move(old, b, in)
	zone := v.siteZone(v.sites.get(old.SiteID))
	out := rescheduleOutput{
		Visit: movedVisit{
			ID: moved.ID, WorkOrderID: moved.WorkOrderID, Status: moved.Status,
			Before: v.placeOf(old), After: v.placeOf(moved),
		},
		Warnings: append([]Warning{}, warnings...),
	}
	text := fmt.Sprintf("%s of %s is moved from %s, %s, to %s, %s.", moved.ID, moved.WorkOrderID,
		out.Visit.Before.Technician.Name, span(old.Start.Time, old.End.Time, zone), b.technician.Name, span(b.start, b.end, zone))
	for _, w := range warnings {
		text += "\n" + w.Message
	}
	return out, text, moved.ID, nil
}

func (v view) placeOf(o *Visit) place {
	zone := v.siteZone(v.sites.get(o.SiteID))
	return place{Technician: personOf(v.technicians.get(o.TechnicianID)), Start: moment(o.Start.Time, zone), End: moment(o.End.Time, zone)}
}

// checkMove applies the rules of booking to the new time, without the visit
// itself.
func (v view) checkMove(in rescheduleInput) (old *Visit, b booking, warnings []Warning, err error) {
	if len(in.Override) > 0 && in.Reason == "" {
		return nil, b, nil, refuse("invalid_arguments", "reason", "An override needs a reason.")
	}
	if old, err = v.visit(in.VisitID); err != nil {
		return nil, b, nil, err
	}
	if err = v.movable(old); err != nil {
		return nil, b, nil, err
	}
	b = booking{job: v.workOrders.get(old.WorkOrderID), overrides: in.Override, additional: true, except: old.ID}
	if b.technician, err = v.technician(or(in.Technician, old.TechnicianID), b.job.RequiredSkills); err != nil {
		return nil, b, nil, err
	}
	if err = v.inactive(b.technician); err != nil {
		return nil, b, nil, err
	}
	if b.start, b.end, err = v.window(b.job, in.Start, in.End); err != nil {
		return nil, b, nil, err
	}
	if old.TechnicianID == b.technician.ID && old.Start.Equal(b.start) && old.End.Equal(b.end) {
		return nil, b, nil, refuse("nothing_changed", "start", "%s is already %s with %s.",
			old.ID, span(b.start, b.end, v.siteZone(v.sites.get(old.SiteID))), b.technician.Name).never()
	}
	if err = v.inTime(b); err != nil {
		return nil, b, nil, err
	}
	if warnings, err = v.allowed(b); err != nil {
		return nil, b, nil, err
	}
	if err = expected(in.ExpectedVersion, old.Version, old.ID); err != nil {
		return nil, b, nil, err
	}
	return old, b, append(warnings, v.promiseWarnings(old, b)...), nil
}

// movable refuses visits that the console cannot change any more.
func (v view) movable(o *Visit) error {
	if _, err := v.openWorkOrder(o.WorkOrderID); err != nil {
		return err
	}
	if o.Status != "booked" {
		return refuse("visit_not_booked", "visit_id", "%s is %s; only booked visits can be moved or cancelled.", o.ID, statusWords(o.Status)).
			never().detail("status", o.Status)
	}
	return nil
}

// expected refuses a record that was changed since the caller read it.
func expected(want, have int, id string) error {
	if want == 0 || want == have {
		return nil
	}
	return refuse("version_conflict", "expected_version", "%s was changed meanwhile: it has version %d, not %d. Look at it again.", id, have, want).
		detail("version", have)
}

// promiseWarnings says who has to be told about the new time.
func (v view) promiseWarnings(old *Visit, b booking) []Warning {
	if !old.CustomerInformed || old.Start.Equal(b.start) && old.End.Equal(b.end) {
		return nil
	}
	site := v.sites.get(old.SiteID)
	return []Warning{{"customer_informed", fmt.Sprintf("%s was told %s; somebody has to tell them the new time.",
		v.customers.get(b.job.CustomerID).Name, span(old.Start.Time, old.End.Time, v.siteZone(site)))}}
}

// move puts the moved visit into the draft. The job follows the person if it
// was theirs. What was said of the old time no longer holds.
func (d *draft) move(old *Visit, b booking, in rescheduleInput) *Visit {
	zone := d.siteZone(d.sites.get(old.SiteID))
	moved := *old
	moved.TechnicianID = b.technician.ID
	if !old.Start.Equal(b.start) || !old.End.Equal(b.end) {
		moved.Start, moved.End = Stamp{b.start.In(zone).Truncate(time.Second)}, Stamp{b.end.In(zone).Truncate(time.Second)}
		moved.Rel, moved.ArrivalFrom, moved.ArrivalTo = nil, nil, nil
		moved.CustomerInformed = false
	}
	moved.Overrides, moved.OverrideReason = slices.Clone(in.Override), ""
	if len(in.Override) > 0 {
		moved.OverrideReason = in.Reason
	}
	moved.ChangeReason = in.Reason
	moved.Version++
	d.visits[moved.ID] = &moved
	if deref(b.job.TechnicianID) == old.TechnicianID && old.TechnicianID != moved.TechnicianID {
		job := *b.job
		job.TechnicianID = ptr(moved.TechnicianID)
		job.Version++
		d.workOrders[job.ID] = &job
	}
	return &moved
}
