package workorders

import (
	"encoding/json"
	"fmt"
	"time"
)

// stampLayout is how times stand in the book: RFC 3339 with a numeric offset,
// also for UTC, which time.Time would write as "Z".
const stampLayout = "2006-01-02T15:04:05-07:00"

// A Stamp is an instant that keeps the offset it was written with.
type Stamp struct{ time.Time }

// MarshalJSON writes the time with a numeric offset, to the second.
func (s Stamp) MarshalJSON() ([]byte, error) {
	return json.Marshal(s.Format(stampLayout))
}

// UnmarshalJSON reads an RFC 3339 time.
func (s *Stamp) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("time %q: %w", text, err)
	}
	s.Time = t
	return nil
}

// The records below have the form of the demo data, field by field, so that an
// export can be read by whatever reads the demo data. "rel" and "*_rel" fields
// are the times relative to the reference day; records made later have none.

// A Reference is the day on which the demo data is laid out.
type Reference struct {
	Day      string `json:"day"`
	Weekday  string `json:"weekday"`
	Now      Stamp  `json:"now"`
	NowRel   string `json:"now_rel"`
	Timezone string `json:"timezone"`
}

// WindowRules bound a visit. All values are minutes, except MaxDaysAhead.
type WindowRules struct {
	MinMinutes          int `json:"min_minutes"`
	MaxMinutes          int `json:"max_minutes"`
	MaxDaysAhead        int `json:"max_days_ahead"`
	TravelBufferMinutes int `json:"travel_buffer_minutes"`
}

// A Company owns the book. Timezone is the zone of shifts, cut-off times and
// everything that is not at a site; Currency is that of limits and sums.
type Company struct {
	ID            string               `json:"id"`
	Name          string               `json:"name"`
	Timezone      string               `json:"timezone"`
	Currency      string               `json:"currency"`
	CountryNote   string               `json:"country_note"`
	WorkingDays   []string             `json:"working_days"`
	ClosedDaysRel []string             `json:"closed_days_rel,omitempty"`
	NamedWindows  map[string][2]string `json:"named_windows"`
	WindowRules   WindowRules          `json:"window_rules"`
	ClosedDays    []string             `json:"closed_days"`
}

// A Named is an id with its name: a region or a skill.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A User works at the desk. A nil ApprovalLimit is no limit; it is in minor
// units of Currency.
type User struct {
	ID            string `json:"id"`
	Name          string `json:"display_name"`
	Role          string `json:"role"`
	ApprovalLimit *int64 `json:"approval_limit_minor"`
	Currency      string `json:"currency"`
}

// A Policy holds the company's rules for orders and bookings.
type Policy struct {
	OrderPart               string   `json:"order_part"`
	CancelPartOrder         string   `json:"cancel_part_order"`
	ScheduleVisit           string   `json:"schedule_visit"`
	RescheduleVisit         string   `json:"reschedule_visit"`
	CancelVisit             string   `json:"cancel_visit"`
	AddNote                 string   `json:"add_note"`
	DefaultMaxQuantity      int      `json:"default_max_quantity"`
	ApprovalExpiresMinutes  *int     `json:"approval_expires_minutes"`
	ForeignCurrencyRole     string   `json:"foreign_currency_needs_role"`
	OpenOrderStatuses       []string `json:"open_order_statuses"`
	ClosedWorkOrderStatuses []string `json:"closed_work_order_statuses"`
}

// A Certified skill is one a technician has, until ValidUntil (a date, the
// last valid day) if that is set.
type Certified struct {
	ID            string `json:"id"`
	ValidUntilRel string `json:"valid_until_rel,omitempty"`
	ValidUntil    string `json:"valid_until,omitempty"`
}

// A Shift repeats every week, in the company's zone, "HH:MM" to "HH:MM".
type Shift struct {
	Days  []string `json:"days"`
	Start string   `json:"start"`
	End   string   `json:"end"`
}

// A Period is a time off or on call.
type Period struct {
	StartRel string `json:"start_rel,omitempty"`
	EndRel   string `json:"end_rel,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Start    Stamp  `json:"start"`
	End      Stamp  `json:"end"`
}

// A Technician goes to sites.
type Technician struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Active         bool        `json:"active"`
	Skills         []Certified `json:"skills"`
	Regions        []string    `json:"regions"`
	Shifts         []Shift     `json:"shifts"`
	MaxVisitsDaily int         `json:"max_visits_per_day"`
	TimeOff        []Period    `json:"time_off"`
	OnCall         []Period    `json:"on_call"`
	StockLocation  *string     `json:"stock_location"`
	Note           *string     `json:"note"`
}

// A Customer pays. Contract is none, silver or gold.
type Customer struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Contract        string `json:"contract"`
	NeedsCustomerPO bool   `json:"needs_customer_po"`
}

// A Site is where a job is done. Timezone is the zone of its clocks.
type Site struct {
	ID           string `json:"id"`
	CustomerID   string `json:"customer_id"`
	Name         string `json:"name"`
	Address      string `json:"address"`
	Town         string `json:"town"`
	Region       string `json:"region"`
	Timezone     string `json:"timezone"`
	OpeningHours string `json:"opening_hours"`
	AccessNotes  string `json:"access_notes"`
	ContactRole  string `json:"contact_role"`
}

// An Asset is a piece of equipment at a site.
type Asset struct {
	ID               string  `json:"id"`
	SiteID           string  `json:"site_id"`
	Kind             string  `json:"kind"`
	Maker            string  `json:"maker"`
	Model            string  `json:"model"`
	Serial           string  `json:"serial"`
	Installed        string  `json:"installed"`
	WarrantyUntilRel *string `json:"warranty_until_rel"`
	Status           string  `json:"status"`
	Note             string  `json:"note"`
	WarrantyUntil    *string `json:"warranty_until"`
}

// A NeededPart is what a technician asked for on a job.
type NeededPart struct {
	SKU         string `json:"sku"`
	Quantity    int    `json:"quantity"`
	Description string `json:"description"`
}

// A Note on a job. By is technician, dispatcher or customer.
// Visibility is internal or customer; empty is internal.
type Note struct {
	AtRel      string `json:"at_rel,omitempty"`
	By         string `json:"by"`
	Text       string `json:"text"`
	At         Stamp  `json:"at"`
	ID         string `json:"id,omitempty"`
	Visibility string `json:"visibility,omitempty"`
	UserID     string `json:"user_id,omitempty"`
}

// A Before is what a job was before its first visit was booked, so that it can
// go back when that visit is cancelled.
type Before struct {
	Status       string  `json:"status"`
	TechnicianID *string `json:"technician_id"`
	HoldReason   *string `json:"hold_reason"`
}

// A WorkOrder is a job. Version grows by one with each change.
type WorkOrder struct {
	ID               string            `json:"id"`
	Title            string            `json:"title"`
	Type             string            `json:"type"`
	Status           string            `json:"status"`
	Priority         string            `json:"priority"`
	CustomerID       string            `json:"customer_id"`
	SiteID           string            `json:"site_id"`
	AssetID          *string           `json:"asset_id"`
	Problem          string            `json:"problem"`
	ReportedBy       string            `json:"reported_by"`
	RequiredSkills   []string          `json:"required_skills"`
	EstimatedMinutes int               `json:"estimated_minutes"`
	TechnicianID     *string           `json:"technician_id"`
	VisitIDs         []string          `json:"visit_ids"`
	PartOrderIDs     []string          `json:"part_order_ids"`
	HoldReason       *string           `json:"hold_reason"`
	SpendLimit       int64             `json:"spend_limit_minor"`
	Currency         string            `json:"currency"`
	PartsNeeded      []NeededPart      `json:"parts_needed"`
	CreatedAt        Stamp             `json:"created_at"`
	WindowStart      *Stamp            `json:"window_start"`
	WindowEnd        *Stamp            `json:"window_end"`
	RespondBy        *Stamp            `json:"respond_by"`
	ResolveBy        *Stamp            `json:"resolve_by"`
	ClosedAt         *Stamp            `json:"closed_at"`
	Notes            []Note            `json:"notes"`
	Version          int               `json:"version"`
	Rel              map[string]string `json:"rel,omitempty"`
	Before           *Before           `json:"before,omitempty"`
}

// A Visit puts a technician at a site for a time.
type Visit struct {
	ID               string            `json:"id"`
	WorkOrderID      string            `json:"work_order_id"`
	TechnicianID     string            `json:"technician_id"`
	SiteID           string            `json:"site_id"`
	Status           string            `json:"status"`
	Start            Stamp             `json:"start"`
	Rel              map[string]string `json:"rel,omitempty"`
	End              Stamp             `json:"end"`
	ArrivalFrom      *Stamp            `json:"arrival_from,omitempty"`
	ArrivalTo        *Stamp            `json:"arrival_to,omitempty"`
	CustomerInformed bool              `json:"customer_informed"`
	Note             *string           `json:"note"`
	Version          int               `json:"version"`
	Overrides        []string          `json:"overrides,omitempty"`
	OverrideReason   string            `json:"override_reason,omitempty"`
	BookedBy         string            `json:"booked_by,omitempty"`
	CallID           string            `json:"call_id,omitempty"`
	ChangeReason     string            `json:"change_reason,omitempty"` // why it was moved or cancelled last
}

// A Supplier sells parts in one currency; fees are minor units of it.
// OrderCutoff is "HH:MM" in the company's zone.
type Supplier struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Currency      string `json:"currency"`
	DeliveryFee   int64  `json:"delivery_fee_minor"`
	MinOrder      int64  `json:"min_order_minor"`
	SmallOrderFee int64  `json:"small_order_fee_minor"`
	OrderCutoff   string `json:"order_cutoff"`
}

// A StockLocation is a depot (with a region) or a van (without).
type StockLocation struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Region *string `json:"region"`
}

// A StockCount says how many units lie at a location.
type StockCount struct {
	LocationID string `json:"location_id"`
	Quantity   int    `json:"quantity"`
}

// A Part can be ordered. Price is for one Unit (a piece or a metre), never for
// a pack, in minor units of Currency, without tax.
type Part struct {
	SKU               string       `json:"sku"`
	Name              string       `json:"name"`
	Category          string       `json:"category"`
	Description       string       `json:"description"`
	FitsModels        []string     `json:"fits_models"`
	Unit              string       `json:"unit"`
	Price             int64        `json:"price_minor"`
	Currency          string       `json:"currency"`
	SupplierID        string       `json:"supplier_id"`
	LeadTimeDays      int          `json:"lead_time_working_days"`
	MinQuantity       int          `json:"min_quantity"`
	PackSize          int          `json:"pack_size"`
	MaxQuantity       *int         `json:"max_quantity"`
	Stock             []StockCount `json:"stock"`
	Status            string       `json:"status"`
	ReplacedBy        *string      `json:"replaced_by"`
	Substitutes       []string     `json:"substitutes"`
	RestrictedToSkill *string      `json:"restricted_to_skill"`
	Hazardous         bool         `json:"hazardous"`
}

// A PartOrder is a purchase for a job (or for stock, without one). All money
// is minor units of Currency.
type PartOrder struct {
	ID                string            `json:"id"`
	WorkOrderID       *string           `json:"work_order_id"`
	SKU               string            `json:"sku"`
	PartName          string            `json:"part_name"`
	Quantity          int               `json:"quantity"`
	Unit              string            `json:"unit"`
	UnitPrice         int64             `json:"unit_price_minor"`
	Fees              int64             `json:"fees_minor"`
	Total             int64             `json:"total_minor"`
	Currency          string            `json:"currency"`
	SupplierID        string            `json:"supplier_id"`
	Status            string            `json:"status"`
	RequestedBy       *string           `json:"requested_by"`
	RequestedAt       Stamp             `json:"requested_at"`
	Rel               map[string]string `json:"rel,omitempty"`
	ApprovedBy        *string           `json:"approved_by"`
	ApprovedAt        *Stamp            `json:"approved_at"`
	ExpectedAt        *Stamp            `json:"expected_at"`
	SupplierReference *string           `json:"supplier_reference"`
	Note              *string           `json:"note"`
	IdempotencyKey    string            `json:"idempotency_key"`
	Version           int               `json:"version"`
	DeliverTo         string            `json:"deliver_to,omitempty"`
	Reason            string            `json:"reason,omitempty"`
	CallID            string            `json:"call_id,omitempty"`
	ApprovalID        string            `json:"approval_id,omitempty"`
	CancelReason      string            `json:"cancel_reason,omitempty"`
}
