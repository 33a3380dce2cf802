package workorders

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// codeOf is the code of a call's refusal, or "".
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return refusalOf(err).Code
}

// TestBoundsOfBooking: each limit, on it and one step beyond.
func TestBoundsOfBooking(t *testing.T) {
	t.Parallel()
	books := map[string]direct{} // by their time
	for _, c := range []struct {
		name, now, job, technician, start, end string
		code                                   string
	}{
		{"fifteen minutes", at("01T09:00"), "1041", "T-01", at("03T15:00"), at("03T15:15"), ""},
		{"fourteen minutes", at("01T09:00"), "1041", "T-01", at("03T15:00"), at("03T15:14"), "window_invalid"},
		{"twelve hours", at("01T09:00"), "1041", "T-01", at("03T15:00"), "2026-12-04T03:00:00+01:00", "outside_shift"},
		{"over twelve hours", at("01T09:00"), "1041", "T-01", at("03T15:00"), "2026-12-04T03:01:00+01:00", "window_invalid"},
		{"no time at all", at("01T09:00"), "1041", "T-01", at("03T15:00"), at("03T15:00"), "window_invalid"},
		{"from now on", at("03T15:00"), "1041", "T-01", at("03T15:00"), at("03T16:00"), ""},
		{"from a minute ago", at("03T15:01"), "1041", "T-01", at("03T15:00"), at("03T16:00"), "window_in_past"},
		{"ninety days ahead", "2026-12-01T14:00:00+01:00", "1041", "T-01", "2027-03-01T14:00:00+01:00", "2027-03-01T15:00:00+01:00", ""},
		{"ninety days and a minute", "2026-12-01T14:00:00+01:00", "1041", "T-01", "2027-03-01T14:01:00+01:00", "2027-03-01T15:00:00+01:00", "window_too_far"},
		{"the last day of a certificate", at("05T09:00"), "1009", "T-07", "2027-03-01T16:00:00+01:00", "2027-03-01T17:00:00+01:00", ""},
		{"the day after", at("05T09:00"), "1009", "T-07", "2027-03-02T08:00:00+01:00", "2027-03-02T09:00:00+01:00", "certificate_expired"},
		{"to the end of the shift", at("01T09:00"), "1041", "T-01", at("03T16:00"), at("03T17:00"), ""},
		{"a minute over", at("01T09:00"), "1041", "T-01", at("03T16:00"), at("03T17:01"), "outside_shift"},
		{"from its beginning", at("01T09:00"), "1041", "T-01", at("04T08:00"), at("04T09:00"), ""},
		{"a minute before", at("01T09:00"), "1041", "T-01", at("04T07:59"), at("04T09:00"), "outside_shift"},
		{"to the end of on-call time", at("01T09:00"), "1044", "T-02", at("06T19:00"), at("06T20:00"), ""},
		{"a minute over it", at("01T09:00"), "1044", "T-02", at("06T19:00"), at("06T20:01"), "outside_shift"},
		{"between shift and on-call time", at("01T09:00"), "1044", "T-02", at("04T16:00"), at("04T20:00"), "outside_shift"},
		{"until a holiday begins", at("01T09:00"), "1044", "T-02", at("04T16:00"), at("04T17:00"), ""},
		{"in a holiday", at("01T09:00"), "1044", "T-02", at("07T08:00"), at("07T09:00"), "technician_off"},
		{"after a holiday", at("01T09:00"), "1044", "T-02", at("10T08:00"), at("10T09:00"), ""},
		{"in the evening where the site is an hour behind", at("01T09:00"), "1027", "T-08", "2026-12-04T15:30:00+00:00", "2026-12-04T16:00:00+00:00", ""},
		{"half an hour later there", at("01T09:00"), "1027", "T-08", "2026-12-04T15:30:00+00:00", "2026-12-04T16:30:00+00:00", "outside_shift"},
	} {
		if _, ok := books[c.now]; !ok {
			books[c.now] = newDirect(t, bookAt(t, c.now))
		}
		_, err := books[c.now].call("schedule_visit", "U-01", args{
			"work_order_id": c.job, "technician": c.technician, "start": c.start, "end": c.end, "additional": true,
		})
		if got := codeOf(err); got != c.code {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.code)
		}
	}
}

// TestVisitsOfADay: the warning comes with the first visit too many.
func TestVisitsOfADay(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for hour := 13; hour < 19; hour++ {
		var out scheduleOutput
		call(t, s, "U-01", "schedule_visit", args{
			"work_order_id": "1047", "technician": "T-10", "additional": true,
			"start": at(fmt.Sprintf("11T%d:00", hour)), "end": at(fmt.Sprintf("11T%d:00", hour+1)),
		}).into(t, &out)
		if warned := slices.Contains(codes(out.Warnings), "max_visits_per_day"); warned != (hour >= 17) {
			t.Errorf("visit at %d: %v", hour, codes(out.Warnings))
		}
	}
}

// TestFirstRuleWins: what breaks several rules is refused with the first of
// them, in the order in which they are written down.
func TestFirstRuleWins(t *testing.T) {
	t.Parallel()
	d := newDirect(t, openBook(t))
	visit := func(job, who, start, end string) args {
		return args{"work_order_id": job, "technician": who, "start": start, "end": end}
	}
	order := func(job, sku string, n int, more ...any) args {
		a := args{"work_order_id": job, "sku": sku, "quantity": n}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return a
	}
	for _, c := range []struct {
		tool string
		args args
		code string
	}{
		{"schedule_visit", visit("1999", "Zaphod", at("03T12:00"), at("03T10:00")), "work_order_not_found"},
		{"schedule_visit", visit("1010", "Zaphod", at("03T12:00"), at("03T10:00")), "work_order_closed"},
		{"schedule_visit", visit("1023", "Zaphod", at("03T12:00"), at("03T10:00")), "technician_not_found"},
		{"schedule_visit", visit("1023", "sam", at("03T12:00"), at("03T10:00")), "ambiguous_technician"},
		{"schedule_visit", visit("1023", "noor", at("03T12:00"), at("03T10:00")), "technician_inactive"},
		{"schedule_visit", visit("1018", "priya", "2026-11-30T12:00:00+01:00", "2026-11-30T10:00:00+01:00"), "window_invalid"},
		{"schedule_visit", visit("1018", "priya", "2026-11-30T10:00:00+01:00", "2026-11-30T12:00:00+01:00"), "window_in_past"},
		{"schedule_visit", visit("1018", "priya", "2027-04-01T10:00:00+02:00", "2027-04-01T12:00:00+02:00"), "window_too_far"},
		{"schedule_visit", visit("1046", "benoit", at("02T09:00"), at("02T11:00")), "skill_missing"},
		{"schedule_visit", visit("1011", "tomas", at("02T05:00"), at("02T06:00")), "certificate_expired"},
		{"schedule_visit", visit("1031", "benoit", at("02T03:00"), at("02T05:00")), "technician_off"},
		{"schedule_visit", visit("1034", "sam orrin", at("03T05:00"), at("03T10:00")), "already_scheduled"},
		{"schedule_visit", visit("1018", "sam orrin", at("03T05:00"), at("03T11:00")), "outside_shift"},

		{"order_part", order("1999", "XJ-900", 1), "work_order_not_found"},
		{"order_part", order("1003", "XJ-900", 1), "work_order_closed"},
		{"order_part", order("1060", "GB-PCB-24", 999), "part_discontinued"},
		{"order_part", order("1023", "WH-GASK-112", 4), "below_min_quantity"},
		{"order_part", order("1023", "WH-GASK-112", 51), "not_pack_multiple"},
		{"order_part", order("1031", "GB-FAN-24", 500), "above_max_quantity"},
		{"order_part", order("1031", "GB-FAN-24", 1, "max_total_minor", 1), "duplicate_order"},
		{"order_part", order("1056", "RF-COMP-CU40", 1, "max_total_minor", 1), "price_changed"},
		{"order_part", order("1056", "RF-COMP-CU40", 1), "restricted_part"},
	} {
		_, err := d.call(c.tool, "U-01", c.args)
		if got := codeOf(err); got != c.code {
			t.Errorf("%s %v: %q (%v), want %q", c.tool, c.args, got, err, c.code)
		}
	}
}

// TestBoundsOfQuantity: units, never packs; the refusal names what would do.
func TestBoundsOfQuantity(t *testing.T) {
	t.Parallel()
	d := newDirect(t, openBook(t))
	for _, c := range []struct {
		sku      string
		quantity int
		code     string
		next     any
	}{
		{"WH-GASK-112", 4, "below_min_quantity", 5}, {"WH-GASK-112", 5, "", nil}, {"WH-GASK-112", 6, "not_pack_multiple", 10},
		{"WH-GASK-112", 50, "", nil}, {"WH-GASK-112", 55, "above_max_quantity", nil},
		{"AC-FLT-G4-592", 5, "below_min_quantity", 6}, {"AC-FLT-G4-592", 12, "", nil}, {"AC-FLT-G4-592", 48, "", nil}, {"AC-FLT-G4-592", 54, "above_max_quantity", nil},
		{"LF-ROPE-8", 49, "below_min_quantity", 50}, {"LF-ROPE-8", 51, "", nil}, {"LF-ROPE-8", 400, "", nil}, {"LF-ROPE-8", 401, "above_max_quantity", nil},
		{"REF-R410-10", 2, "", nil}, {"REF-R410-10", 3, "above_max_quantity", nil},
		{"WH-ANODE-M8", 20, "", nil}, {"WH-ANODE-M8", 21, "above_max_quantity", nil},
		{"HE-3000-230", 0, "quantity_invalid", nil}, {"HE-3000-230", -1, "quantity_invalid", nil},
	} {
		_, err := d.call("quote_part", "U-01", args{"sku": c.sku, "quantity": c.quantity})
		if got := codeOf(err); got != c.code {
			t.Errorf("%d x %s: %q (%v), want %q", c.quantity, c.sku, got, err, c.code)
		} else if c.next != nil && fmt.Sprint(refusalOf(err).Details["next_valid_quantity"]) != fmt.Sprint(c.next) {
			t.Errorf("%d x %s: next is %v", c.quantity, c.sku, refusalOf(err).Details)
		}
	}
	for _, c := range []struct {
		most int
		code string
	}{{8490, ""}, {8489, "price_changed"}} {
		b := newDirect(t, openBook(t))
		_, err := b.call("order_part", "U-01", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1, "max_total_minor": c.most})
		if got := codeOf(err); got != c.code {
			t.Errorf("at most %d: %q, want %q", c.most, got, c.code)
		}
	}
}

// TestDuplicatesByStatus: whatever is still to come counts, and nothing else.
func TestDuplicatesByStatus(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	d := newDirect(t, b)
	now := b.state.Load()
	seen := map[string]bool{}
	for o := range now.partOrders.all() {
		if o.WorkOrderID == nil || now.isClosed(now.workOrders.get(*o.WorkOrderID)) || now.parts.get(o.SKU).Status != "active" {
			continue
		}
		open := false
		for _, other := range now.ordersOf(now.workOrders.get(*o.WorkOrderID)) {
			open = open || other.SKU == o.SKU && now.isOpenOrder(other)
		}
		seen[o.Status] = true
		a := args{"work_order_id": *o.WorkOrderID, "sku": o.SKU, "quantity": o.Quantity}
		if _, err := d.call("quote_part", "U-01", a); (codeOf(err) == "duplicate_order") != open {
			t.Errorf("%s (%s): %v", o.ID, o.Status, err)
		}
		a["allow_duplicate"] = true
		if _, err := d.call("quote_part", "U-01", a); codeOf(err) == "duplicate_order" {
			t.Errorf("%s (%s), allowed: %v", o.ID, o.Status, err)
		}
	}
	for _, status := range []string{"pending_approval", "approved", "ordered", "shipped", "back_ordered", "received"} {
		if !seen[status] {
			t.Errorf("no order is %s", status)
		}
	}
}

// TestBoundsOfLimits: the whole order with its fees, to the cent.
func TestBoundsOfLimits(t *testing.T) {
	t.Parallel()
	now := openBook(t).state.Load()
	for _, c := range []struct {
		user     string
		total    int64
		currency string
		role     string
	}{
		{"U-01", 50000, "EUR", roleNone}, {"U-01", 50001, "EUR", roleSenior}, {"U-01", 200000, "EUR", roleSenior}, {"U-01", 200001, "EUR", roleManage},
		{"U-02", 200000, "EUR", roleNone}, {"U-02", 200001, "EUR", roleManage}, {"U-03", 999999999, "EUR", roleNone},
		{"U-01", 1, "GBP", roleManage}, {"U-02", 1, "GBP", roleManage}, {"U-03", 1, "GBP", roleNone},
		{"", 50000, "EUR", roleNone}, {"", 50001, "EUR", roleSenior},
	} {
		v := view{contents: now.contents, now: demoNow(), caller: caller{user: c.user}}
		p := &purchase{part: &Part{SKU: "X", Currency: c.currency}, total: c.total, quantity: 1}
		v.limit(p)
		if p.role != c.role {
			t.Errorf("%s and %d %s: %s has to approve, want %s", c.user, c.total, c.currency, p.role, c.role)
		}
	}
}

// TestExpectedDay: the next working day after the cut-off, and closed days do
// not count, all in the company's zone.
func TestExpectedDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, now, want string }{
		{"before the cut-off", "2026-12-01T14:59:59+01:00", "Thu 3 Dec"},
		{"at the cut-off", "2026-12-01T15:00:00+01:00", "Thu 3 Dec"},
		{"after it", "2026-12-01T15:00:01+01:00", "Fri 4 Dec"},
		{"the same moment told in UTC", "2026-12-01T14:00:01Z", "Fri 4 Dec"},
		{"over a weekend", "2026-12-03T10:00:00+01:00", "Mon 7 Dec"},
		{"Friday after the cut-off", "2026-12-04T16:00:00+01:00", "Wed 9 Dec"},
		{"Saturday", "2026-12-05T10:00:00+01:00", "Wed 9 Dec"},
		{"Christmas Eve", "2026-12-24T10:00:00+01:00", "Tue 29 Dec"},
		{"Christmas Eve after the cut-off", "2026-12-24T15:30:00+01:00", "Wed 30 Dec"},
		{"Christmas Day", "2026-12-25T10:00:00+01:00", "Wed 30 Dec"},
		{"New Year's Eve", "2026-12-31T10:00:00+01:00", "Tue 5 Jan"},
		{"over the change of the clocks", "2027-03-26T10:00:00+01:00", "Tue 30 Mar"},
	} {
		b := bookAt(t, c.now)
		now := b.state.Load()
		if got := now.arrival(now.suppliers.get("SUP-1"), 2, b.Now()).Format("Mon 2 Jan"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestOldKeyBeforeAnyRule: the answer of a change that happened is given again
// although the rules would refuse it by now.
func TestOldKeyBeforeAnyRule(t *testing.T) {
	t.Parallel()
	now := demoNow()
	b, err := Open(t.TempDir()+"/workorders.db", Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	d := newDirect(t, b)
	booking := args{"work_order_id": "1041", "technician": "T-01", "start": at("03T15:00"), "end": at("03T16:00"), "idempotency_key": "booking-1"}
	first, err := d.call("schedule_visit", "U-01", booking)
	if err != nil {
		t.Fatal(err)
	}
	if _, code := act(t, b, "U-01", "set-status", args{"id": "1041", "status": "dispatched"}); code != "" {
		t.Fatal(code)
	}
	now = now.AddDate(0, 1, 0)
	again, err := d.call("schedule_visit", "U-01", booking)
	if err != nil || again.text != first.text {
		t.Errorf("%q %v, want %q", again.text, err, first.text)
	}
	booking["idempotency_key"] = "booking-2"
	if _, err := d.call("schedule_visit", "U-01", booking); codeOf(err) != "window_in_past" {
		t.Errorf("with a new key: %v", err)
	}
	booking["idempotency_key"], booking["technician"] = "booking-1", "T-09"
	if _, err := d.call("schedule_visit", "U-01", booking); codeOf(err) != "key_reused" {
		t.Errorf("with other arguments: %v", err)
	}
}
