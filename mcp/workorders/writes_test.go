package workorders

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
)

func codes(warnings []Warning) []string {
	out := []string{}
	for _, w := range warnings {
		out = append(out, w.Code)
	}
	return out
}

// TestTheQuoteOfTheDemo is the card of the first demo: every number on it.
func TestTheQuoteOfTheDemo(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	var q quoteOutput
	call(t, s, "U-01", "quote_part", args{"sku": "HE-3000-230", "quantity": 1, "work_order_id": "WO-1044"}).into(t, &q)
	if q.Line.Total != (Money{8490, "EUR"}) || q.Line.Goods != q.Line.Total || len(q.Line.Fees) != 0 {
		t.Errorf("line %+v", q.Line)
	}
	if q.ExpectedOn.At != at("03T12:00") || q.ExpectedOn.Local != "Thu 3 Dec 12:00" || q.LeadTimeDays != 2 {
		t.Errorf("expected on %+v", q.ExpectedOn)
	}
	if q.Supplier != (Ref{"SUP-1", "Tandrel Thermal Supply"}) || q.Fits != "yes" || q.OnOrderElsewhere != 0 {
		t.Errorf("supplier %v, fits %s, elsewhere %d", q.Supplier, q.Fits, q.OnOrderElsewhere)
	}
	want := []stockInfo{{"DEPOT-C", "Central Depot", "", 0}, {"VAN-09", "Van of T-09", "Benoît Carrowell", 1}}
	if !slices.Equal(q.Stock, want) {
		t.Errorf("stock %+v", q.Stock)
	}
	if q.Part.DiffersBy != "not the 3.5 kW (HE-3500-230)" {
		t.Errorf("differs by %q", q.Part.DiffersBy)
	}
	w := q.WorkOrder
	if w == nil || w.Customer != "Sandpiper Rest Hotels" || w.Site != "Sandpiper Rest Hotel" || w.Address != "Quay Road 5" ||
		w.Asset != "commercial water heater CW-300" || w.AssetMaker != "Thermavox" || w.AssetModel != "CW-300" ||
		w.ResolveBy.Local != "Fri 4 Dec 12:00" || *w.DaysToDeadline != 1 {
		t.Errorf("work order %+v", w)
	}
	if l := q.Limits; l.WorkOrder.LeftAfter.Minor != 51510 || l.User.Limit.Minor != 50000 || l.ApproverNeeded != roleNone {
		t.Errorf("limits %+v", l)
	}
	if !slices.Equal(codes(q.Warnings), []string{"own_stock_available"}) || len(q.Duplicates) != 0 {
		t.Errorf("warnings %v", q.Warnings)
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for _, c := range []struct {
		name, job, sku string
		quantity       int
		total          Money
		expected       string
		approver, fits string
		warnings       []string
	}{
		{"small order fee", "1023", "WH-GASK-112", 5, Money{2350, "EUR"}, "Wed 2 Dec", "none", "yes", []string{"own_stock_available"}},
		{"pounds and delivery", "", "LF-GOV-P13", 1, Money{97500, "GBP"}, "Tue 12 Jan", "manager", "unknown", []string{"foreign_currency"}},
		{"above the desk's limit", "1007", "HP-PCB-45", 1, Money{64500, "EUR"}, "Mon 14 Dec", "senior_dispatcher", "yes", []string{"arrives_after_deadline", "over_approval_limit"}},
		{"does not fit", "1023", "HE-3000-230", 1, Money{8490, "EUR"}, "Thu 3 Dec", "none", "no", []string{"does_not_fit_asset", "own_stock_available"}},
		{"other quantity than noted", "1045", "HE-3000-230", 1, Money{8490, "EUR"}, "Thu 3 Dec", "none", "yes", []string{"own_stock_available", "quantity_differs"}},
		{"warranty", "1047", "AP-PF-HUM", 1, Money{8300, "EUR"}, "Fri 4 Dec", "none", "yes", []string{"arrives_after_deadline", "warranty"}},
		{"arrived before", "1032", "HE-2000-230", 1, Money{5400, "EUR"}, "Thu 3 Dec", "none", "yes", []string{"own_stock_available", "already_received"}},
		{"no technician yet", "1009", "REF-R290-05", 1, Money{14500, "EUR"}, "Mon 7 Dec", "none", "yes", []string{"restricted_part", "own_stock_available", "arrives_after_deadline", "warranty"}},
		{"customer's own number", "1016", "AC-CAP-45", 1, Money{1450, "EUR"}, "Wed 2 Dec", "none", "yes", []string{"own_stock_available", "customer_po_missing", "warranty"}},
		{"fits no model by name", "1008", "PL-BALL-22", 21, Money{0, ""}, "", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := args{"sku": c.sku, "quantity": c.quantity}
			if c.job != "" {
				a["work_order_id"] = c.job
			}
			r := call(t, s, "U-01", "quote_part", a)
			if c.total.Currency == "" {
				if r.code(t) != "above_max_quantity" {
					t.Errorf("code %q", r.code(t))
				}
				return
			}
			var q quoteOutput
			r.into(t, &q)
			if q.Line.Total != c.total || q.ExpectedOn.Local != c.expected+" 12:00" || q.Limits.ApproverNeeded != c.approver || q.Fits != c.fits {
				t.Errorf("total %v, expected %s, approver %s, fits %s", q.Line.Total, q.ExpectedOn.Local, q.Limits.ApproverNeeded, q.Fits)
			}
			if !slices.Equal(codes(q.Warnings), c.warnings) {
				t.Errorf("warnings %v, want %v", codes(q.Warnings), c.warnings)
			}
		})
	}
}

// TestLimits: the same order by different users.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, user, status, code string
		args                     args
	}{
		{"dispatcher", "U-01", "", "over_approval_limit", args{"work_order_id": "1007", "sku": "HP-PCB-45", "quantity": 1}},
		{"senior dispatcher", "U-02", statusOrdered, "", args{"work_order_id": "1007", "sku": "HP-PCB-45", "quantity": 1}},
		{"client without a desk", "", statusPending, "", args{"work_order_id": "1007", "sku": "HP-PCB-45", "quantity": 1}},
		{"user that nobody knows", "U-99", statusPending, "", args{"work_order_id": "1007", "sku": "HP-PCB-45", "quantity": 1}},
		{"without a desk, within the limit", "", statusOrdered, "", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1}},
		{"pounds, without a desk", "", statusPending, "", args{"work_order_id": "1013", "sku": "AC-CH-PCB", "quantity": 1, "allow_duplicate": true}},
		{"pounds, manager", "U-03", statusOrdered, "", args{"work_order_id": "1013", "sku": "AC-CH-PCB", "quantity": 1, "allow_duplicate": true}},
		{"budget, without a desk", "", statusPending, "", args{"work_order_id": "1059", "sku": "AP-WX-BRG", "quantity": 1, "allow_duplicate": true}},
		{"budget, manager", "U-03", statusOrdered, "", args{"work_order_id": "1059", "sku": "AP-WX-BRG", "quantity": 1, "allow_duplicate": true}},
		{"duplicate above the lowest limit", "U-02", "", "over_work_order_limit", args{"work_order_id": "1038", "sku": "HP-COMP-16", "quantity": 1, "allow_duplicate": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, serve(t, openBook(t)), "")
			r := call(t, s, c.user, "order_part", c.args)
			if r.code(t) != c.code {
				t.Fatalf("code %q, want %q: %s", r.code(t), c.code, r.raw)
			}
			if c.code != "" {
				return
			}
			var out orderOutput
			r.into(t, &out)
			if out.PartOrder.Status != c.status || (out.PartOrder.ExpectedAt == nil) != (c.status == statusPending) {
				t.Errorf("order %+v", out.PartOrder)
			}
			var listed listOrdersOutput
			call(t, s, "", "list_part_orders", args{"part_order_id": out.PartOrder.ID}).into(t, &listed)
			if o := listed.Items[0]; c.user == "" && (o.RequestedBy != nil || o.ApprovedBy != nil) {
				t.Errorf("listed as by %v and %v", o.RequestedBy, o.ApprovedBy)
			}
		})
	}
}

// TestSplitting: two orders that are each within the limit and together above
// it are one order above it.
func TestSplitting(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	order := args{"work_order_id": "1049", "sku": "AC-CONT-40", "quantity": 6}
	if r := call(t, s, "U-01", "order_part", order); r.IsError {
		t.Fatalf("%s", r.raw)
	}
	order["allow_duplicate"] = true
	if r := call(t, s, "U-01", "order_part", order); r.code(t) != "over_approval_limit" {
		t.Errorf("code %q", r.code(t))
	}
	if r := call(t, s, "U-02", "order_part", order); r.IsError {
		t.Errorf("another user: %s", r.raw)
	}
}

func TestSameKeyIsOneOrder(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	order := func(quantity int) args {
		return args{"work_order_id": "WO-1044", "sku": "HE-3000-230", "quantity": quantity, "idempotency_key": "desk-key-0001"}
	}
	const calls = 20
	answers := make([][]byte, calls)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() { answers[i] = call(t, s, "U-01", "order_part", order(1)).raw })
	}
	wg.Wait()
	for _, a := range answers {
		if !bytes.Equal(a, answers[0]) {
			t.Errorf("answers differ:\n%s\n%s", a, answers[0])
		}
	}
	if n := len(book.state.Load().partOrders.ids); n != 21 {
		t.Errorf("%d part orders, want 21", n)
	}
	if r := call(t, s, "U-01", "order_part", order(2)); r.code(t) != "key_reused" {
		t.Errorf("other arguments: %q", r.code(t))
	}
	other := order(1)
	other["work_order_id"] = "1044" // the same job, written otherwise
	if r := call(t, s, "U-01", "order_part", other); !bytes.Equal(r.raw, answers[0]) {
		t.Errorf("the same arguments, written otherwise: %s", r.raw)
	}
	visit := args{"work_order_id": "1042", "technician": "T-05", "start": at("01T10:00"), "end": at("01T12:00"), "idempotency_key": "desk-key-0001"}
	if r := call(t, s, "U-01", "schedule_visit", visit); r.code(t) != "key_reused" {
		t.Errorf("another tool: %q", r.code(t))
	}
}

// TestRefusalsAreNotKept: after a refusal the same key may still do it.
func TestRefusalsAreNotKept(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	order := args{"work_order_id": "1007", "sku": "HP-PCB-45", "quantity": 1, "idempotency_key": "desk-key-0002"}
	if r := call(t, s, "U-01", "order_part", order); r.code(t) != "over_approval_limit" {
		t.Fatalf("code %q", r.code(t))
	}
	if r := call(t, s, "U-02", "order_part", order); r.IsError {
		t.Errorf("%s", r.raw)
	}
}

func TestConcurrentOrdersGetDistinctIDs(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			r := call(t, s, "U-01", "order_part", args{"work_order_id": "1044", "sku": "WH-THERM-70", "quantity": 1,
				"allow_duplicate": true, "idempotency_key": fmt.Sprintf("desk-key-%04d", i)})
			if r.IsError {
				t.Errorf("%s", r.raw)
			}
		})
	}
	wg.Wait()
	if n := len(book.state.Load().partOrders.ids); n != 30 {
		t.Errorf("%d part orders, want 30", n)
	}
	if w := book.state.Load().workOrders.get("WO-1044"); len(w.PartOrderIDs) != 10 || w.Version != 11 {
		t.Errorf("the job has %v, version %d", w.PartOrderIDs, w.Version)
	}
}

func TestBookings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, job, technician, start, end string
		more                              args
		who                               string
		warnings                          []string
	}{
		{"by first name", "1047", "Priya", at("02T10:00"), at("02T12:00"), nil, "T-07", []string{"travel_buffer"}},
		{"emergency", "1042", "ragnhild", at("01T10:00"), at("01T12:00"), nil, "T-05", nil},
		{"accents left out", "1044", "lukasz", at("04T08:30"), at("04T10:00"), nil, "T-02", nil},
		{"family name, accents left out", "1042", "odegarth", at("01T10:00"), at("01T12:00"), nil, "T-05", nil},
		{"touching another visit", "1018", "sam orrin", at("03T10:00"), at("03T12:00"), nil, "T-03", []string{"travel_buffer"}},
		{"outside the region", "1014", "T-11", at("03T14:30"), at("03T15:30"), nil, "T-11", []string{"outside_region"}},
		{"shorter than estimated", "1047", "T-07", at("02T10:00"), at("02T11:00"), nil, "T-07", []string{"shorter_than_estimate", "travel_buffer"}},
		{"after the deadline", "1047", "T-07", at("02T14:00"), at("02T16:00"), nil, "T-07", []string{"after_resolve_by", "outside_requested_window", "outside_opening_hours"}},
		{"on call at the weekend", "1044", "T-02", at("05T09:00"), at("05T10:30"), nil, "T-02", []string{"after_resolve_by"}},
		{"over the shift's end, approved", "1033", "ragnhild", at("02T13:30"), at("02T15:00"), args{"override": []string{"outside_shift"}, "override_reason": "agreed"}, "T-05", []string{"outside_shift"}},
		{"over another visit, approved", "1018", "sam orrin", at("03T09:00"), at("03T11:00"), args{"override": []string{"double_book"}, "override_reason": "agreed"}, "T-03", []string{"technician_busy"}},
		{"a second visit", "1034", "sam orrin", at("04T08:00"), at("04T10:00"), args{"additional": true}, "T-03", []string{"outside_requested_window"}},
		{"closed day", "1018", "T-03", at("25T08:00"), at("25T10:00"), nil, "T-03", []string{"after_resolve_by", "outside_requested_window", "company_closed_day"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, serve(t, openBook(t)), "")
			a := args{"work_order_id": c.job, "technician": c.technician, "start": c.start, "end": c.end}
			for k, v := range c.more {
				a[k] = v
			}
			r := call(t, s, "U-01", "schedule_visit", a)
			if r.IsError {
				t.Fatalf("%s", r.raw)
			}
			var out scheduleOutput
			r.into(t, &out)
			if out.Visit.ID != "V-2042" || out.Visit.Technician.ID != c.who || out.Visit.Start.At != c.start || out.WorkOrder.Status != "scheduled" {
				t.Errorf("booked %+v, %+v", out.Visit, out.WorkOrder)
			}
			if c.warnings == nil {
				c.warnings = []string{}
			}
			if !slices.Equal(codes(out.Warnings), c.warnings) {
				t.Errorf("warnings %v, want %v", codes(out.Warnings), c.warnings)
			}
			var job lookupOutput
			call(t, s, "U-01", "lookup_work_order", args{"work_order_id": c.job}).into(t, &job)
			if v := job.WorkOrder.Visits[len(job.WorkOrder.Visits)-1]; v.ID != "V-2042" || job.WorkOrder.Technician.ID != c.who || job.WorkOrder.Version != 2 {
				t.Errorf("the job has %+v", job.WorkOrder)
			}
		})
	}
}

// TestBookingRemembersWhatWas: a job on hold can go back when its visit is
// cancelled.
func TestBookingRemembersWhatWas(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	r := call(t, s, "U-01", "schedule_visit", args{"work_order_id": "1057", "technician": "jun", "start": at("10T08:00"), "end": at("10T12:00")})
	if r.IsError {
		t.Fatalf("%s", r.raw)
	}
	w := book.state.Load().workOrders.get("WO-1057")
	want := &Before{Status: "on_hold", HoldReason: ptr("landlord's permission missing")}
	if w.Status != "scheduled" || w.HoldReason != nil || !reflect.DeepEqual(w.Before, want) {
		t.Errorf("job %+v, before %+v", w, w.Before)
	}
}
