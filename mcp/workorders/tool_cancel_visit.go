package workorders

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type cancelVisitInput struct {
	VisitID         string `json:"visit_id" jsonschema:"the visit to cancel, like V-2026"`
	Reason          string `json:"reason" jsonschema:"why, in one line"`
	ExpectedVersion int    `json:"expected_version,omitempty" jsonschema:"refuse if the visit's version is another, because somebody changed it"`
}

// split gives no key: cancelling twice is the same as once.
func (in cancelVisitInput) split() (string, any) { return "", in }

type cancelVisitOutput struct {
	Visit     cancelledVisit `json:"visit"`
	WorkOrder statusRef      `json:"work_order"`
	Changed   bool           `json:"changed" jsonschema:"false: it was cancelled before"`
}

type cancelledVisit struct {
	ID          string `json:"id"`
	WorkOrderID string `json:"work_order_id"`
	Status      string `json:"status"`
}

type statusRef struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

const statusCancelled = "cancelled"

func cancelVisitTool() tool {
	output := schemaOf[cancelVisitOutput]()
	oneOf(statusCancelled)(output.Properties["visit"].Properties["status"])
	return tool{
		name:  "cancel_visit",
		title: "Cancel a visit",
		description: "Cancels a booked visit; the job goes back to what it was before its first visit was booked. The customer was promised this visit, " +
			"so a person must approve it: propose it only when the dispatcher asked for it. To give it another time or person, use reschedule_visit.",
		hints: hints{destructive: true, idempotent: true},
		meta:  mcp.Meta{metaKind: "cancel_visit", metaTerms: visitTerms},
		input: input[cancelVisitInput](map[string]schemaEdit{
			"visit_id": pattern(visitPattern), "reason": texts(3, 200), "expected_version": between(1, 1_000_000_000),
		}),
		output: output,
		handle: write("cancel_visit", cancelVisit),
	}
}

func cancelVisit(d *draft, c caller, in cancelVisitInput) (cancelVisitOutput, string, string, error) {
	v := view{contents: d.contents, now: d.now, caller: c}
	o, err := v.visit(in.VisitID)
	if err != nil {
		return cancelVisitOutput{}, "", "", err
	}
	job := v.workOrders.get(o.WorkOrderID)
	out := cancelVisitOutput{
		Visit:     cancelledVisit{ID: o.ID, WorkOrderID: job.ID, Status: statusCancelled},
		WorkOrder: statusRef{job.ID, job.Status},
	}
	if o.Status == statusCancelled {
		return out, o.ID + " was cancelled before.", o.ID, nil
	}
	if err := given("reason", in.Reason, 3); err != nil {
		return cancelVisitOutput{}, "", "", err
	}
	if err := v.movable(o); err != nil {
		return cancelVisitOutput{}, "", "", err
	}
	if err := expected(in.ExpectedVersion, o.Version, o.ID); err != nil {
		return cancelVisitOutput{}, "", "", err
	}
	job = d.cancelVisit(o, job, in.Reason)
	out.Changed, out.WorkOrder.Status = true, job.Status
	zone := v.siteZone(v.sites.get(o.SiteID))
	text := fmt.Sprintf("%s of %s, %s with %s, is cancelled; %s is %s.", o.ID, job.ID, span(o.Start.Time, o.End.Time, zone),
		v.technicians.get(o.TechnicianID).Name, job.ID, statusWords(job.Status))
	if o.CustomerInformed {
		text += fmt.Sprintf(" %s was told about the visit.", v.customers.get(job.CustomerID).Name)
	}
	return out, text, o.ID, nil
}

// cancelVisit puts the cancelled visit into the draft. A job without another
// open visit goes back to what it was before its first one was booked.
func (d *draft) cancelVisit(old *Visit, was *WorkOrder, reason string) *WorkOrder {
	o, job := *old, *was
	o.Status, o.ChangeReason = statusCancelled, reason
	o.Version++
	d.visits[o.ID] = &o
	job.Version++
	d.workOrders[job.ID] = &job
	for _, other := range d.visitsOf(was) {
		if other.ID == o.ID || !occupies(other) || !other.End.After(d.now) {
			continue
		}
		if deref(job.TechnicianID) == o.TechnicianID {
			job.TechnicianID = ptr(other.TechnicianID)
		}
		return &job
	}
	if job.Status != statusScheduled && job.Status != "dispatched" {
		return &job
	}
	if b := job.Before; b != nil {
		job.Status, job.TechnicianID, job.HoldReason, job.Before = b.Status, b.TechnicianID, b.HoldReason, nil
		return &job
	}
	job.Status = "new"
	if deref(job.TechnicianID) == o.TechnicianID {
		job.TechnicianID = nil
	}
	return &job
}

// given refuses a text of spaces.
func given(field, text string, least int) error {
	if len([]rune(strings.TrimSpace(text))) < least {
		return refuse("invalid_arguments", field, "The argument %s must say something.", field)
	}
	return nil
}

// statusWords is a status for people: "in progress".
func statusWords(status string) string { return strings.ReplaceAll(status, "_", " ") }
