package workorders

import (
	"fmt"
	"slices"
	"strings"
)

// statusInput moves a work order, a visit or a part order on.
type statusInput struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// split gives no key: the same status twice is the same as once.
func (in statusInput) split() (string, any) { return "", in }

type statusOutput struct {
	ID      string `json:"id"`
	Before  string `json:"before"`
	Status  string `json:"status"`
	Changed bool   `json:"changed"`
}

// nextStatuses says what may follow on what when a person sets it. Booking and
// cancelling visits, receipt and approval have their own ways.
var (
	nextJobStatuses = map[string][]string{
		"new":           {"on_hold", "cancelled"},
		"scheduled":     {"dispatched", "on_hold", "cancelled"},
		"dispatched":    {"in_progress", "on_hold", "cancelled"},
		"in_progress":   {"completed", "waiting_parts", "on_hold"},
		"waiting_parts": {"scheduled", "on_hold", "cancelled"},
		"on_hold":       {"new", "scheduled", "cancelled"},
		"completed":     {"closed", "in_progress"},
	}
	nextVisitStatuses = map[string][]string{
		"booked":   {"en_route"},
		"en_route": {"on_site"},
		"on_site":  {"done", "no_access"},
	}
	nextOrderStatuses = map[string][]string{
		"approved":     {"ordered"},
		"ordered":      {"shipped", "back_ordered"},
		"back_ordered": {"shipped"},
	}
)

func setStatus(d *draft, c caller, in statusInput) (statusOutput, string, string, error) {
	in.Status = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(in.Status)), " ", "_")
	id := strings.ToUpper(strings.TrimSpace(in.ID))
	var out statusOutput
	var err error
	switch {
	case strings.HasPrefix(id, "PO"):
		out, err = d.setOrderStatus(id, in.Status)
	case strings.HasPrefix(id, "V"):
		out, err = d.setVisitStatus(id, in.Status)
	default:
		out, err = d.setJobStatus(c, id, in)
	}
	if err != nil {
		return statusOutput{}, "", "", err
	}
	text := fmt.Sprintf("%s is %s, was %s.", out.ID, statusWords(out.Status), statusWords(out.Before))
	if !out.Changed {
		text = fmt.Sprintf("%s was %s before.", out.ID, statusWords(out.Status))
	}
	return out, text, out.ID, nil
}

// follows refuses a status that cannot come after the one there is.
func follows(id, from, to string, next map[string][]string, all []string, instead string) error {
	if err := allowed("status", to, all); err != nil {
		return err
	}
	if slices.Contains(next[from], to) {
		return nil
	}
	message := fmt.Sprintf("%s is %s; ", id, statusWords(from))
	if len(next[from]) == 0 {
		message += "it is not moved on by hand."
	} else {
		message += "from there it can become " + statusWords(list(next[from])) + "."
	}
	return refuse("status_not_allowed", "status", "%s", strings.TrimSpace(message+" "+instead)).detail("status", from).detail("allowed", next[from])
}

func (d *draft) setJobStatus(c caller, id string, in statusInput) (statusOutput, error) {
	old, err := d.workOrder(id)
	if err != nil {
		return statusOutput{}, err
	}
	out := statusOutput{ID: old.ID, Before: old.Status, Status: in.Status, Changed: old.Status != in.Status}
	if !out.Changed {
		return out, nil
	}
	if err := follows(old.ID, old.Status, in.Status, nextJobStatuses, workOrderStatuses, bookingHint(in.Status)); err != nil {
		return out, err
	}
	if err := d.mayBecome(c, old, in); err != nil {
		return out, err
	}
	job := *old
	job.Status, job.HoldReason = in.Status, nil
	job.Version++
	switch in.Status {
	case "on_hold":
		job.HoldReason = ptr(strings.TrimSpace(in.Reason))
	case "closed":
		job.ClosedAt = ptr(Stamp{d.now.In(d.siteZone(d.sites.get(job.SiteID)))})
	}
	d.workOrders[job.ID] = &job
	d.moveVisit(old, in.Status)
	return out, nil
}

func bookingHint(status string) string {
	if status == statusScheduled {
		return "Booking a visit makes it scheduled."
	}
	return ""
}

// mayBecome applies what else a status needs.
func (d *draft) mayBecome(c caller, w *WorkOrder, in statusInput) error {
	v := view{contents: d.contents, now: d.now, caller: c}
	switch in.Status {
	case "on_hold":
		return given("reason", in.Reason, 3)
	case statusScheduled, "dispatched":
		if v.openVisit(w, d.now) == nil {
			return refuse("no_visit", "status", "%s has no visit that is still to come; book one first.", w.ID)
		}
	case "in_progress":
		if u := v.user(c.user); w.Status == "completed" && (u == nil || rank(u.Role) < rank(roleManage)) {
			return refuse("needs_manager", "status", "%s is completed; only a manager may open it again.", w.ID).never()
		}
	case "cancelled", "completed", "closed":
		if left := d.stillToCome(w, in.Status); len(left) > 0 {
			return refuse("visits_open", "status", "%s still has %s; cancel or finish it first.", w.ID, list(left)).detail("visits", left)
		}
	}
	return nil
}

// stillToCome lists the open visits that the new status does not end itself.
func (d *draft) stillToCome(w *WorkOrder, status string) []string {
	var out []string
	for _, o := range d.visitsOf(w) {
		if occupies(o) && (status == statusCancelled || !under(o)) {
			out = append(out, o.ID)
		}
	}
	return out
}

// under says that somebody is on the way to a visit, or there.
func under(o *Visit) bool { return o.Status == "en_route" || o.Status == "on_site" }

// moveVisit lets the job's visit follow: who is sent is on the way, work in
// progress is on site, and what ends the work ends the visit.
func (d *draft) moveVisit(w *WorkOrder, status string) {
	for _, o := range d.visitsOf(w) {
		to := ""
		switch {
		case status == "dispatched" && o.Status == "booked":
			to = "en_route"
		case status == "in_progress" && (o.Status == "booked" || o.Status == "en_route") && w.Status == "dispatched":
			to = "on_site"
		case slices.Contains([]string{"completed", "waiting_parts"}, status) && under(o), status == "on_hold" && under(o) && w.Status == "in_progress":
			to = "done"
		default:
			continue
		}
		moved := *o
		moved.Status = to
		moved.Version++
		d.visits[o.ID] = &moved
		if to != "done" {
			return // only the first
		}
	}
}

func (d *draft) setVisitStatus(id, status string) (statusOutput, error) {
	old, err := d.visit(id)
	if err != nil {
		return statusOutput{}, err
	}
	out := statusOutput{ID: old.ID, Before: old.Status, Status: status, Changed: old.Status != status}
	if !out.Changed {
		return out, nil
	}
	if err := follows(old.ID, old.Status, status, nextVisitStatuses, visitStatuses, ""); err != nil {
		return out, err
	}
	o := *old
	o.Status = status
	o.Version++
	d.visits[o.ID] = &o
	return out, nil
}

func (d *draft) setOrderStatus(id, status string) (statusOutput, error) {
	old, err := d.partOrder(id)
	if err != nil {
		return statusOutput{}, err
	}
	out := statusOutput{ID: old.ID, Before: old.Status, Status: status, Changed: old.Status != status}
	if !out.Changed {
		return out, nil
	}
	instead := map[string]string{
		"approved": "Approve it with: approve " + old.ID, "rejected": "Reject it with: reject " + old.ID,
		"received": "When the goods are there: receive " + old.ID, statusCancelled: "An order is cancelled with the tool cancel_part_order.",
	}[status]
	if err := follows(old.ID, old.Status, status, nextOrderStatuses, orderStatuses, instead); err != nil {
		return out, err
	}
	o := *old
	o.Status = status
	o.Version++
	if status == statusOrdered {
		lead := 0
		if p := d.parts.get(o.SKU); p != nil {
			lead = p.LeadTimeDays
		}
		o.ExpectedAt = ptr(Stamp{d.arrival(d.suppliers.get(o.SupplierID), lead, d.now)})
		o.Rel = withoutRel(o.Rel, "expected_at")
	}
	d.partOrders[o.ID] = &o
	return out, nil
}
