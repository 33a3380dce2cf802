package workorders

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

type lookupInput struct {
	WorkOrderID string `json:"work_order_id" jsonschema:"work order id, like WO-1044 or 1044"`
}

type lookupOutput struct {
	WorkOrder jobDetail `json:"work_order"`
}

type jobDetail struct {
	ID               string       `json:"id"`
	Title            string       `json:"title"`
	Status           string       `json:"status"`
	Priority         string       `json:"priority"`
	Type             string       `json:"type"`
	ProblemText      string       `json:"problem_text" jsonschema:"what was reported, in the reporter's words"`
	Untrusted        bool         `json:"untrusted"`
	Customer         customerInfo `json:"customer"`
	Site             siteInfo     `json:"site"`
	Asset            *assetInfo   `json:"asset,omitempty"`
	Technician       *Person      `json:"technician,omitempty"`
	Visits           []visitInfo  `json:"visits" jsonschema:"oldest first"`
	PartOrders       []orderInfo  `json:"part_orders"`
	PartsNeeded      []neededInfo `json:"parts_needed"`
	Deadlines        deadlines    `json:"deadlines"`
	RequestedWindow  *windowInfo  `json:"requested_window,omitempty"`
	Spend            spendInfo    `json:"spend"`
	Notes            []noteInfo   `json:"notes" jsonschema:"oldest first"`
	HoldReason       string       `json:"hold_reason,omitempty"`
	EstimatedMinutes int          `json:"estimated_minutes"`
	RequiredSkills   []string     `json:"required_skills"`
	Version          int          `json:"version"`
	Flags            []string     `json:"flags"`
}

type customerInfo struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Contract string `json:"contract"`
}

type siteInfo struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Address      string `json:"address"`
	Region       string `json:"region"`
	TZ           string `json:"tz"`
	AccessText   string `json:"access_text"`
	Untrusted    bool   `json:"untrusted"`
	OpeningHours string `json:"opening_hours"`
}

type assetInfo struct {
	ID            string `json:"id"`
	Kind          string `json:"kind"`
	Model         string `json:"model"`
	Serial        string `json:"serial"`
	WarrantyUntil string `json:"warranty_until,omitempty" jsonschema:"last day of the warranty"`
}

type visitInfo struct {
	ID               string `json:"id"`
	Status           string `json:"status"`
	Technician       Person `json:"technician"`
	Start            Moment `json:"start"`
	End              Moment `json:"end"`
	CustomerInformed bool   `json:"customer_informed"`
	NoteText         string `json:"note_text,omitempty"`
	Untrusted        bool   `json:"untrusted"`
}

type orderInfo struct {
	ID         string  `json:"id"`
	SKU        string  `json:"sku"`
	Name       string  `json:"name"`
	Quantity   int     `json:"quantity"`
	Status     string  `json:"status"`
	Total      Money   `json:"total"`
	ExpectedAt *Moment `json:"expected_at,omitempty"`
	Supplier   string  `json:"supplier"`
}

type neededInfo struct {
	SKU             string `json:"sku"`
	Quantity        int    `json:"quantity"`
	DescriptionText string `json:"description_text"`
	Untrusted       bool   `json:"untrusted"`
}

type deadlines struct {
	RespondBy *Moment `json:"respond_by,omitempty"`
	ResolveBy *Moment `json:"resolve_by,omitempty"`
	AtRisk    bool    `json:"at_risk"`
	Overdue   bool    `json:"overdue"`
}

type windowInfo struct {
	Start Moment `json:"start"`
	End   Moment `json:"end"`
}

type spendInfo struct {
	Limit     Money `json:"limit"`
	Committed Money `json:"committed"`
}

type noteInfo struct {
	At         Moment `json:"at"`
	By         string `json:"by"`
	NoteText   string `json:"note_text"`
	Untrusted  bool   `json:"untrusted"`
	Visibility string `json:"visibility,omitempty" jsonschema:"customer: the customer sees it"`
}

func lookupWorkOrderTool() tool {
	return tool{
		name:  "lookup_work_order",
		title: "Look up a work order",
		description: "Everything about one work order: status, customer, site with access notes, equipment, technician, visits, " +
			"parts needed and ordered, deadlines, budget and notes. Use it whenever a job number is named.",
		hints:  reading,
		input:  input[lookupInput](map[string]schemaEdit{"work_order_id": pattern(workOrderPattern)}),
		output: schemaOf[lookupOutput](),
		handle: read(lookupWorkOrder),
	}
}

func lookupWorkOrder(v view, in lookupInput) (lookupOutput, string, error) {
	w, err := v.workOrder(in.WorkOrderID)
	if err != nil {
		return lookupOutput{}, "", err
	}
	job := v.jobDetail(w)
	return lookupOutput{WorkOrder: job}, job.text(), nil
}

func (v view) jobDetail(w *WorkOrder) jobDetail {
	site, customer := v.sites.get(w.SiteID), v.customers.get(w.CustomerID)
	zone := v.siteZone(site)
	job := jobDetail{
		ID: w.ID, Title: w.Title, Status: w.Status, Priority: w.Priority, Type: w.Type,
		ProblemText: w.Problem, Untrusted: true,
		Customer: customerInfo{ID: customer.ID, Name: customer.Name, Contract: customer.Contract},
		Site: siteInfo{
			ID: site.ID, Name: site.Name, Address: site.Address, Region: site.Region, TZ: site.Timezone,
			AccessText: site.AccessNotes, Untrusted: true, OpeningHours: site.OpeningHours,
		},
		Visits: []visitInfo{}, PartOrders: []orderInfo{}, PartsNeeded: []neededInfo{}, Notes: []noteInfo{},
		Deadlines: deadlines{
			RespondBy: momentOf(w.RespondBy, zone), ResolveBy: momentOf(w.ResolveBy, zone),
			AtRisk: v.atRisk(w, v.now), Overdue: v.overdue(w, v.now),
		},
		Spend: spendInfo{
			Limit:     Money{Minor: w.SpendLimit, Currency: w.Currency},
			Committed: Money{Minor: v.committed(w), Currency: v.company.Currency},
		},
		EstimatedMinutes: w.EstimatedMinutes, RequiredSkills: append([]string{}, w.RequiredSkills...),
		Version: w.Version, Flags: v.flagsOf(w, v.now),
	}
	if w.AssetID != nil {
		a := v.assets.get(*w.AssetID)
		job.Asset = &assetInfo{ID: a.ID, Kind: a.Kind, Model: a.Model, Serial: a.Serial, WarrantyUntil: deref(a.WarrantyUntil)}
	}
	if w.TechnicianID != nil {
		job.Technician = ptr(personOf(v.technicians.get(*w.TechnicianID)))
	}
	if w.WindowStart != nil && w.WindowEnd != nil {
		job.RequestedWindow = &windowInfo{Start: moment(w.WindowStart.Time, zone), End: moment(w.WindowEnd.Time, zone)}
	}
	job.HoldReason = deref(w.HoldReason)
	v.addLists(&job, w, zone)
	return job
}

func (v view) addLists(job *jobDetail, w *WorkOrder, zone *time.Location) {
	for _, visit := range v.visitsOf(w) {
		job.Visits = append(job.Visits, visitInfo{
			ID: visit.ID, Status: visit.Status, Technician: personOf(v.technicians.get(visit.TechnicianID)),
			Start: moment(visit.Start.Time, zone), End: moment(visit.End.Time, zone),
			CustomerInformed: visit.CustomerInformed, NoteText: deref(visit.Note), Untrusted: true,
		})
	}
	for _, o := range v.ordersOf(w) {
		job.PartOrders = append(job.PartOrders, orderInfo{
			ID: o.ID, SKU: o.SKU, Name: o.PartName, Quantity: o.Quantity, Status: o.Status,
			Total: Money{Minor: o.Total, Currency: o.Currency}, ExpectedAt: momentOf(o.ExpectedAt, zone),
			Supplier: v.suppliers.get(o.SupplierID).Name,
		})
	}
	for _, p := range w.PartsNeeded {
		job.PartsNeeded = append(job.PartsNeeded, neededInfo{SKU: p.SKU, Quantity: p.Quantity, DescriptionText: p.Description, Untrusted: true})
	}
	for _, n := range w.Notes {
		job.Notes = append(job.Notes, noteInfo{At: moment(n.At.Time, zone), By: n.By, NoteText: n.Text, Untrusted: true, Visibility: n.Visibility})
	}
}

// text is the job in a few lines. What people wrote is quoted, so that it can
// neither look like a line of ours nor move a cursor.
func (j jobDetail) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s, %s priority. %s, %s (%s).", j.ID, j.Title, j.Status, j.Priority, j.Customer.Name, j.Site.Name, j.Site.Address)
	if j.Technician != nil {
		fmt.Fprintf(&b, " Technician %s (%s).", j.Technician.Name, j.Technician.ID)
	} else {
		b.WriteString(" No technician.")
	}
	for _, visit := range j.Visits {
		fmt.Fprintf(&b, "\n%s %s: %s - %s, %s.", visit.ID, visit.Status, visit.Start.Local, visit.End.Local, visit.Technician.Name)
	}
	for _, o := range j.PartOrders {
		fmt.Fprintf(&b, "\n%s %s: %d x %s, %s.", o.ID, o.Status, o.Quantity, o.SKU, o.Total)
	}
	for _, p := range j.PartsNeeded {
		fmt.Fprintf(&b, "\nNeeds %d x %s (%s).", p.Quantity, p.SKU, strconv.Quote(p.DescriptionText))
	}
	if j.Deadlines.ResolveBy != nil {
		fmt.Fprintf(&b, "\nTo be resolved by %s.", j.Deadlines.ResolveBy.Local)
	}
	if len(j.Flags) > 0 {
		fmt.Fprintf(&b, "\nFlags: %s.", strings.Join(j.Flags, ", "))
	}
	fmt.Fprintf(&b, "\nReported (quoted): %s", strconv.Quote(j.ProblemText))
	for _, n := range j.Notes {
		fmt.Fprintf(&b, "\nNote by %s, %s (quoted): %s", n.By, n.At.Local, strconv.Quote(n.NoteText))
	}
	return b.String()
}

// or is the first text, or the second where the first is empty.
func or(first, second string) string {
	if first == "" {
		return second
	}
	return first
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
