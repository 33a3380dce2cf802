package workorders

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// newJobInput is what is known when somebody calls. Times may have an offset;
// without one they are meant at the site.
type newJobInput struct {
	Title          string   `json:"title"`
	Site           string   `json:"site"`
	Problem        string   `json:"problem"`
	Type           string   `json:"type"`
	Priority       string   `json:"priority"`
	Asset          string   `json:"asset"`
	Skills         []string `json:"skills"`
	Technician     string   `json:"technician"`
	Minutes        int      `json:"minutes"`
	Due            string   `json:"due"`
	Respond        string   `json:"respond"`
	ReportedBy     string   `json:"reported_by"`
	Budget         *int64   `json:"budget_minor"`
	IdempotencyKey string   `json:"idempotency_key"`
}

func (in newJobInput) split() (string, any) {
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	return key, in
}

type newJobOutput struct {
	WorkOrder newJobInfo `json:"work_order"`
}

type newJobInfo struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	Status    string  `json:"status"`
	Priority  string  `json:"priority"`
	Site      SiteRef `json:"site"`
	ResolveBy *Moment `json:"resolve_by,omitempty"`
	Budget    Money   `json:"budget"`
}

var jobTypes = []string{"repair", "maintenance", "inspection", "installation"}

func newJob(d *draft, c caller, in newJobInput) (newJobOutput, string, string, error) {
	none := func(err error) (newJobOutput, string, string, error) { return newJobOutput{}, "", "", err }
	if err := given("title", in.Title, 1); err != nil {
		return none(err)
	}
	in.Type, in.Priority = or(in.Type, "repair"), or(in.Priority, "normal")
	if err := allowed("type", in.Type, jobTypes); err != nil {
		return none(err)
	}
	if err := allowed("priority", in.Priority, priorities); err != nil {
		return none(err)
	}
	for _, skill := range in.Skills {
		if err := allowed("skills", skill, idsOf(d.skills)); err != nil {
			return none(err)
		}
	}
	if in.Minutes < 0 || in.Minutes > 10_000 {
		return none(refuse("invalid_arguments", "minutes", "The estimate must be minutes, 0 or more."))
	}
	if in.Budget != nil && (*in.Budget < 0 || *in.Budget > 1_000_000_000_000) {
		return none(refuse("invalid_arguments", "budget", "The budget must be 0 or more."))
	}
	site, err := d.site(in.Site)
	if err != nil {
		return none(err)
	}
	w := &WorkOrder{
		ID: d.contents.workOrders.nextID("WO-"), Title: strings.TrimSpace(in.Title), Type: in.Type, Status: "new", Priority: in.Priority,
		CustomerID: site.CustomerID, SiteID: site.ID, Problem: in.Problem, ReportedBy: or(in.ReportedBy, "phone"),
		RequiredSkills: append([]string{}, in.Skills...), EstimatedMinutes: in.Minutes, VisitIDs: []string{}, PartOrderIDs: []string{},
		SpendLimit: d.usualBudget(), Currency: d.company.Currency, PartsNeeded: []NeededPart{}, Notes: []Note{}, Version: 1,
	}
	zone := d.siteZone(site)
	w.CreatedAt = Stamp{d.now.In(zone).Truncate(time.Second)}
	if in.Minutes == 0 {
		w.EstimatedMinutes = 60
	}
	if in.Budget != nil {
		w.SpendLimit = *in.Budget
	}
	if w.AssetID, err = d.assetAt(site, in.Asset); err != nil {
		return none(err)
	}
	if in.Technician != "" {
		t, err := d.technician(in.Technician, in.Skills)
		if err != nil {
			return none(err)
		}
		w.TechnicianID = ptr(t.ID)
	}
	if w.ResolveBy, err = siteTime("due", in.Due, zone); err != nil {
		return none(err)
	}
	if w.RespondBy, err = siteTime("respond", in.Respond, zone); err != nil {
		return none(err)
	}
	d.workOrders[w.ID] = w
	out := newJobOutput{WorkOrder: newJobInfo{
		ID: w.ID, Title: w.Title, Status: w.Status, Priority: w.Priority, Site: siteRef(site), ResolveBy: momentOf(w.ResolveBy, zone),
		Budget: Money{Minor: w.SpendLimit, Currency: w.Currency},
	}}
	text := fmt.Sprintf("%s: %s, %s at %s, %s.", w.ID, w.Title, w.Type, site.Name, site.Address)
	if w.ResolveBy != nil {
		text += " Due " + w.ResolveBy.In(zone).Format(localLayout) + "."
	}
	return out, text, w.ID, nil
}

// usualBudget is what a job may cost if nobody says: the lowest limit of the
// desk, above which somebody else is asked anyway.
func (d *draft) usualBudget() int64 {
	u := view{contents: d.contents}.lowestUser()
	if u == nil || u.ApprovalLimit == nil {
		return 0
	}
	return *u.ApprovalLimit
}

// assetAt finds a site's piece of equipment by id, model or kind; none if
// nothing was asked for.
func (d *draft) assetAt(site *Site, input string) (*string, error) {
	if strings.TrimSpace(input) == "" {
		return nil, nil
	}
	a, err := find(d.assets, "asset", input, names[Asset]{
		whole: func(a *Asset) string { return a.Model },
		more:  func(a *Asset) []string { return []string{a.Kind + " " + a.Model, a.Serial} },
		show: func(a *Asset) map[string]any {
			return map[string]any{"asset": a.ID, "kind": a.Kind, "model": a.Model, "site": a.SiteID}
		},
	})
	if err != nil {
		return nil, err
	}
	if a.SiteID != site.ID {
		return nil, refuse("asset_elsewhere", "asset", "%s (%s %s) is at %s, not at %s.", a.ID, a.Kind, a.Model, d.sites.get(a.SiteID).Name, site.Name)
	}
	return ptr(a.ID), nil
}

// siteTime reads a time as a person writes it; nil if there is none.
func siteTime(field, text string, zone *time.Location) (*Stamp, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	t, err := parseTime(text, zone)
	if err != nil {
		return nil, refuse("window_invalid", field, "%s: %v.", field, err)
	}
	return &Stamp{t.In(zone).Truncate(time.Second)}, nil
}

func allowed(field, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return refuse("invalid_arguments", field, "%q is none of %s.", value, list(values)).detail("allowed", values)
}
