package offline

import (
	"encoding/json"
	"fmt"
	"time"
)

// The types below are what this package reads of tool results. What a result
// lacks stays empty; nothing here is trusted to be complete.

type moment struct {
	At    string `json:"at"`
	Local string `json:"local"`
	TZ    string `json:"tz"`
}

// instant is the moment as a time; ok is false if it cannot be read.
func (m *moment) instant() (time.Time, bool) {
	if m == nil {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, m.At)
	return t, err == nil
}

type money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

// String prints 8490 as "84.90 EUR"; no float comes near it.
func (m money) String() string {
	sign, minor := "", uint64(m.Minor)
	if m.Minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, minor/100, minor%100, m.Currency)
}

type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type siteRef struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Address    string `json:"address"`
	AccessText string `json:"access_text"`
	Hours      string `json:"opening_hours"`
}

type visit struct {
	ID         string  `json:"id"`
	Job        string  `json:"work_order_id"`
	Title      string  `json:"title"`
	Status     string  `json:"status"`
	Technician person  `json:"technician"`
	Start      *moment `json:"start"`
	End        *moment `json:"end"`
	NoteText   string  `json:"note_text"`
	Site       siteRef `json:"site"`
}

// isAt reports whether the visit is from start to end.
func (v visit) isAt(start, end time.Time) bool {
	from, okFrom := v.Start.instant()
	to, okTo := v.End.instant()
	return okFrom && okTo && from.Equal(start) && to.Equal(end)
}

type partOrder struct {
	ID        string  `json:"id"`
	Job       string  `json:"work_order_id"`
	SKU       string  `json:"sku"`
	Name      string  `json:"name"`
	Quantity  int     `json:"quantity"`
	Status    string  `json:"status"`
	Total     money   `json:"total"`
	Expected  *moment `json:"expected_at"`
	Requested *moment `json:"requested_at"`
	Supplier  named   `json:"supplier"`
	Late      bool    `json:"late"`
	Reference string  `json:"supplier_reference"`
}

// named is a record with a name, which some results shorten to the name.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (n *named) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &n.Name)
	}
	type plain named
	return json.Unmarshal(raw, (*plain)(n))
}

type neededPart struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
	Text     string `json:"description_text"`
}

type note struct {
	At   *moment `json:"at"`
	By   string  `json:"by"`
	Text string  `json:"note_text"`
}

type asset struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Model string `json:"model"`
}

type deadlines struct {
	Respond *moment `json:"respond_by"`
	Resolve *moment `json:"resolve_by"`
	AtRisk  bool    `json:"at_risk"`
	Overdue bool    `json:"overdue"`
}

type workOrder struct {
	ID          string       `json:"id"`
	Title       string       `json:"title"`
	Status      string       `json:"status"`
	Priority    string       `json:"priority"`
	ProblemText string       `json:"problem_text"`
	Customer    named        `json:"customer"`
	Site        siteRef      `json:"site"`
	Asset       *asset       `json:"asset"`
	Technician  *person      `json:"technician"`
	Visits      []visit      `json:"visits"`
	PartOrders  []partOrder  `json:"part_orders"`
	PartsNeeded []neededPart `json:"parts_needed"`
	Deadlines   deadlines    `json:"deadlines"`
	Window      *struct {
		Start *moment `json:"start"`
		End   *moment `json:"end"`
	} `json:"requested_window"`
	Notes      []note `json:"notes"`
	HoldReason string `json:"hold_reason"`
	Minutes    int    `json:"estimated_minutes"`
	Spend      struct {
		Limit     money `json:"limit"`
		Committed money `json:"committed"`
	} `json:"spend"`
}

// closed reports whether nothing can be booked or ordered for the job.
func (w workOrder) closed() bool {
	return w.Status == "completed" || w.Status == "closed" || w.Status == "cancelled"
}

type jobItem struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Status     string  `json:"status"`
	Priority   string  `json:"priority"`
	Site       siteRef `json:"site"`
	Customer   named   `json:"customer"`
	Technician *person `json:"technician"`
	NextVisit  *struct {
		ID    string  `json:"id"`
		Start *moment `json:"start"`
		End   *moment `json:"end"`
	} `json:"next_visit"`
	Resolve *moment  `json:"resolve_by"`
	Flags   []string `json:"flags"`
}

type jobList struct {
	Items []jobItem `json:"items"`
	Total int       `json:"total"`
}

type slot struct {
	Technician person  `json:"technician"`
	Start      *moment `json:"start"`
	End        *moment `json:"end"` // of the free time
	// Suggested is the start plus the time needed.
	Suggested *moment   `json:"suggested_end"`
	Warnings  []warning `json:"warnings"`
}

type availability struct {
	Slots    []slot `json:"slots"`
	Excluded []struct {
		Technician person  `json:"technician"`
		Reason     string  `json:"reason"`
		Code       string  `json:"code"`
		NextFree   *moment `json:"next_free"`
	} `json:"excluded"`
	Minutes int `json:"duration_minutes"`
	Job     *struct {
		ID      string  `json:"id"`
		Title   string  `json:"title"`
		Resolve *moment `json:"resolve_by"`
		Minutes int     `json:"estimated_minutes"`
		Site    siteRef `json:"site"`
	} `json:"work_order"`
	SiteContext struct {
		Open []jobItem `json:"open_work_orders"`
	} `json:"site_context"`
}

type stock struct {
	Location string  `json:"location"`
	Holder   string  `json:"holder"`
	Quantity float64 `json:"quantity"`
}

type part struct {
	SKU        string   `json:"sku"`
	Name       string   `json:"name"`
	Category   string   `json:"category"`
	Fits       string   `json:"fits"`
	Price      money    `json:"price"`
	Unit       string   `json:"unit"`
	Min        int      `json:"min_quantity"`
	Pack       int      `json:"pack_size"`
	StockTotal float64  `json:"stock_total"`
	Stock      []stock  `json:"stock"`
	LeadDays   int      `json:"lead_time_working_days"`
	Status     string   `json:"status"`
	ReplacedBy string   `json:"replaced_by"`
	Subs       []string `json:"substitutes"`
	Supplier   named    `json:"supplier"`
	DiffersBy  string   `json:"differs_by"`
}

func (p part) active() bool { return p.Status != "discontinued" }

type partList struct {
	Items []part `json:"items"`
	Total int    `json:"total"`
}

type quote struct {
	Part struct {
		SKU       string `json:"sku"`
		Name      string `json:"name"`
		Status    string `json:"status"`
		DiffersBy string `json:"differs_by"`
	} `json:"part"`
	Line struct {
		Unit     money `json:"unit_price"`
		Quantity int   `json:"quantity"`
		Fees     []struct {
			Name   string `json:"name"`
			Amount money  `json:"amount"`
		} `json:"fees"`
		Total money `json:"total"`
	} `json:"line"`
	Supplier    named     `json:"supplier"`
	LeadDays    int       `json:"lead_time_working_days"`
	Expected    *moment   `json:"expected_on"`
	Stock       []stock   `json:"stock"`
	Substitutes []part    `json:"substitutes"`
	Warnings    []warning `json:"warnings"`
}

type booking struct {
	Visit     visit     `json:"visit"`
	WorkOrder jobItem   `json:"work_order"`
	Warnings  []warning `json:"warnings"`
}

type placed struct {
	Order    partOrder `json:"part_order"`
	Warnings []warning `json:"warnings"`
}
