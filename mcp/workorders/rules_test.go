package workorders

import (
	"testing"
)

// TestRules runs every refusal that the demo book can reach, in one book: a
// refused call must change nothing, so that the order of the cases is free.
func TestRules(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	before := book.state.Load()
	visit := func(job, technician, start, end string, more ...any) args {
		a := args{"work_order_id": job, "technician": technician, "start": start, "end": end}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return a
	}
	order := func(job, sku string, quantity any, more ...any) args {
		a := args{"work_order_id": job, "sku": sku, "quantity": quantity}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return a
	}
	for _, c := range []struct {
		name, user, tool string
		args             args
		code             string
	}{
		{"no such job", "U-01", "lookup_work_order", args{"work_order_id": "1999"}, "work_order_not_found"},
		{"job id of another form", "U-01", "lookup_work_order", args{"work_order_id": "job 7"}, "invalid_arguments"},
		{"argument missing", "U-01", "lookup_work_order", args{}, "invalid_arguments"},
		{"argument unknown", "U-01", "lookup_work_order", args{"work_order_id": "1044", "x": 1}, "invalid_arguments"},

		{"search without a filter", "U-01", "search_work_orders", args{"limit": 50}, "invalid_arguments"},
		{"two sites in Mill Lane", "U-01", "search_work_orders", args{"site": "mill lane"}, "ambiguous_site"},
		{"no such site", "U-01", "search_work_orders", args{"site": "Nowhere 1"}, "site_not_found"},
		{"two customers", "U-01", "search_work_orders", args{"customer": "s"}, "ambiguous_customer"},
		{"a status that is none", "U-01", "search_work_orders", args{"status": []string{"lost"}}, "invalid_arguments"},
		{"a time without a zone", "U-01", "search_work_orders", args{"due_before": "2026-12-02T12:00:00"}, "window_invalid"},
		{"a foreign cursor", "U-01", "search_work_orders", args{"unassigned": true, "cursor": "MTAuYWJj"}, "invalid_arguments"},

		{"book: no such job", "U-01", "schedule_visit", visit("1999", "T-03", at("02T13:00"), at("02T15:00")), "work_order_not_found"},
		{"book: closed job", "U-01", "schedule_visit", visit("1010", "T-08", at("04T09:00"), at("04T11:00")), "work_order_closed"},
		{"book: nobody", "U-01", "schedule_visit", visit("1018", "Zaphod", at("03T10:00"), at("03T12:00")), "technician_not_found"},
		{"book: two Sams", "U-01", "schedule_visit", visit("1018", "sam", at("03T10:00"), at("03T12:00")), "ambiguous_technician"},
		{"book: on leave", "U-01", "schedule_visit", visit("1023", "noor", at("03T09:00"), at("03T11:00")), "technician_inactive"},
		{"book: no offset", "U-01", "schedule_visit", visit("1018", "T-03", "2026-12-03T10:00:00", at("03T12:00")), "window_invalid"},
		{"book: end before start", "U-01", "schedule_visit", visit("1018", "T-03", at("03T12:00"), at("03T10:00")), "window_invalid"},
		{"book: 14 minutes", "U-01", "schedule_visit", visit("1018", "T-03", at("03T10:00"), at("03T10:14")), "window_invalid"},
		{"book: over 12 hours", "U-01", "schedule_visit", visit("1018", "T-03", at("03T08:00"), at("03T20:01")), "window_invalid"},
		{"book: yesterday", "U-01", "schedule_visit", visit("1044", "lukasz", "2026-11-30T15:00:00+01:00", "2026-11-30T16:30:00+01:00"), "window_in_past"},
		{"book: in four months", "U-01", "schedule_visit", visit("1018", "T-03", "2027-04-01T10:00:00+02:00", "2027-04-01T12:00:00+02:00"), "window_too_far"},
		{"book: wrong skill", "U-01", "schedule_visit", visit("1018", "priya", at("03T08:00"), at("03T10:00")), "skill_missing"},
		{"book: old certificate", "U-01", "schedule_visit", visit("1042", "tomas", at("01T13:00"), at("01T17:00")), "certificate_expired"},
		{"book: sick", "U-01", "schedule_visit", visit("1060", "benoit", at("02T09:00"), at("02T11:00")), "technician_off"},
		{"book: has a visit", "U-01", "schedule_visit", visit("1034", "sam orrin", at("04T08:00"), at("04T10:00")), "already_scheduled"},
		{"book: after the shift", "U-01", "schedule_visit", visit("1033", "ragnhild", at("02T15:00"), at("02T16:30")), "outside_shift"},
		{"book: into another visit", "U-01", "schedule_visit", visit("1018", "sam orrin", at("02T09:00"), at("02T11:00")), "technician_busy"},
		{"book: around another visit", "U-01", "schedule_visit", visit("1018", "sam orrin", at("03T07:30"), at("03T11:00"), "override", []string{"outside_shift"}, "override_reason", "r"), "technician_busy"},
		{"book: override without reason", "U-01", "schedule_visit", visit("1018", "T-03", at("03T10:00"), at("03T12:00"), "override", []string{"double_book"}), "invalid_arguments"},
		{"book: an override that is none", "U-01", "schedule_visit", visit("1018", "T-03", at("03T10:00"), at("03T12:00"), "override", []string{"skill_missing"}, "override_reason", "r"), "invalid_arguments"},

		{"free: for nothing", "U-01", "find_availability", args{}, "invalid_arguments"},
		{"free: 15 days", "U-01", "find_availability", args{"work_order_id": "1042", "from": at("01T09:00"), "to": at("16T09:00")}, "window_invalid"},
		{"free: yesterday", "U-01", "find_availability", args{"work_order_id": "1042", "from": "2026-11-29T09:00:00+01:00", "to": "2026-11-30T09:00:00+01:00"}, "window_in_past"},
		{"free: closed job", "U-01", "find_availability", args{"work_order_id": "1010"}, "work_order_closed"},
		{"free: unknown skill", "U-01", "find_availability", args{"skills": []string{"magic"}}, "invalid_arguments"},
		{"free: unknown region", "U-01", "find_availability", args{"region": "atlantis"}, "invalid_arguments"},

		{"order: no such job", "U-01", "order_part", order("1999", "HE-3000-230", 1), "work_order_not_found"},
		{"order: closed job", "U-01", "order_part", order("1003", "AC-BELT-A42", 2), "work_order_closed"},
		{"order: no such part", "U-01", "order_part", order("1044", "XJ-900", 1), "part_not_found"},
		{"order: SKU in another spelling", "U-01", "order_part", order("1044", "he-3000-230", 1), "part_not_found"},
		{"order: half a SKU", "U-01", "order_part", order("1044", "HE-3000", 1), "ambiguous_part"},
		{"order: discontinued", "U-01", "order_part", order("1060", "GB-PCB-24", 1), "part_discontinued"},
		{"order: none", "U-01", "order_part", order("1044", "HE-3000-230", 0), "quantity_invalid"},
		{"order: one and a half", "U-01", "order_part", order("1044", "HE-3000-230", 1.5), "quantity_invalid"},
		{"order: fewer than the minimum", "U-01", "order_part", order("1023", "WH-GASK-112", 3), "below_min_quantity"},
		{"order: broken pack", "U-01", "order_part", order("1023", "WH-GASK-112", 7), "not_pack_multiple"},
		{"order: more than the part's limit", "U-01", "order_part", order("1044", "HE-3000-230", 8), "above_max_quantity"},
		{"order: more than the usual limit", "U-01", "order_part", order("1044", "WH-ANODE-M8", 21), "above_max_quantity"},
		{"order: what hostile text asks for", "U-01", "order_part", order("1058", "RF-COMP-CU40", 10), "above_max_quantity"},
		{"order: once more", "U-01", "order_part", order("1031", "GB-FAN-24", 1), "duplicate_order"},
		{"order: dearer than thought", "U-01", "order_part", order("1044", "HE-3000-230", 1, "max_total_minor", 8489), "price_changed"},
		{"order: no refrigerant skill", "U-01", "order_part", order("1018", "REF-R410-10", 1), ""},
		{"order: over the desk's limit", "U-01", "order_part", order("1007", "HP-PCB-45", 1), "over_approval_limit"},
		{"order: over the job's budget", "U-02", "order_part", order("1059", "AP-WX-BRG", 1, "allow_duplicate", true), "over_work_order_limit"},
		{"order: in pounds", "U-02", "order_part", order("1013", "AC-CH-PCB", 1, "allow_duplicate", true), "foreign_currency"},
		{"order: no such van", "U-01", "order_part", order("1044", "HE-3000-230", 1, "deliver_to", "van:T-12"), "technician_not_found"},
		{"order: key too short", "U-01", "order_part", order("1044", "HE-3000-230", 1, "idempotency_key", "short"), "invalid_arguments"},
		{"order: key of a demo order", "U-01", "order_part", order("1044", "HE-3000-230", 1, "idempotency_key", "seed-3007"), "key_reused"},

		{"quote: as order", "U-01", "quote_part", args{"sku": "GB-FAN-24", "quantity": 1, "work_order_id": "1031"}, "duplicate_order"},
		{"quote: discontinued without a job", "U-01", "quote_part", args{"sku": "AP-WX-LOCK", "quantity": 1}, "part_discontinued"},
		{"quote: restricted", "U-01", "quote_part", args{"sku": "AC-TXV-R410", "quantity": 1, "work_order_id": "1005"}, ""},
		{"quote: restricted, skill lacking", "U-01", "quote_part", args{"sku": "GB-GASV-70", "quantity": 1, "work_order_id": "1023"}, ""},
		{"quote: refrigerant for a plumber", "U-01", "quote_part", args{"sku": "RF-COMP-CU40", "quantity": 1, "work_order_id": "1056"}, "restricted_part"},

		{"orders: no such order", "U-01", "list_part_orders", args{"part_order_id": "PO-9999"}, "part_order_not_found"},
		{"orders: no such supplier", "U-01", "list_part_orders", args{"supplier": "Acme"}, "supplier_not_found"},
		{"orders: no such part", "U-01", "list_part_orders", args{"sku": "XJ-900"}, "part_not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.tool == "order_part" && c.code == "" {
				c.tool = "quote_part" // would change the book
			}
			r := call(t, s, c.user, c.tool, c.args)
			if got := r.code(t); got != c.code {
				t.Errorf("code %q, want %q: %s", got, c.code, r.raw)
			}
			if n := len(r.refusal(t).Candidates); n > maxCandidates {
				t.Errorf("%d candidates", n)
			}
		})
	}
	if after := book.state.Load(); after != before {
		t.Error("a refused call changed the book")
	}
}

// TestCandidates checks that a refusal offers what the dispatcher can choose.
func TestCandidates(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	sams := call(t, s, "U-01", "schedule_visit", args{"work_order_id": "1018", "technician": "Sam", "start": at("03T10:00"), "end": at("03T12:00")}).refusal(t)
	if len(sams.Candidates) != 2 || sams.Candidates[0]["technician"] != "T-03" || sams.Candidates[1]["technician"] != "T-04" {
		t.Errorf("candidates %v", sams.Candidates)
	}
	if skills := sams.Candidates[0]["skills_that_fit"].([]any); len(skills) != 1 || skills[0] != "hvac" {
		t.Errorf("fitting skills of T-03: %v", skills)
	}
	busy := call(t, s, "U-01", "schedule_visit", args{"work_order_id": "1018", "technician": "T-03", "start": at("02T09:00"), "end": at("02T11:00")}).refusal(t)
	if conflicts := busy.Details["conflicts"].([]any); len(conflicts) != 2 || conflicts[0] != "V-2014" || conflicts[1] != "V-2015" {
		t.Errorf("conflicts %v", conflicts)
	}
	if len(busy.Candidates) == 0 || busy.Candidates[0]["start"] != at("02T12:30") {
		t.Errorf("candidates %v", busy.Candidates)
	}
	board := call(t, s, "U-01", "order_part", args{"work_order_id": "1060", "sku": "GB-PCB-24", "quantity": 1}).refusal(t)
	if board.Details["replaced_by"] != "GB-PCB-24E" || board.Candidates[0]["sku"] != "GB-PCB-24E" {
		t.Errorf("discontinued: %+v", board)
	}
	gasket := call(t, s, "U-01", "quote_part", args{"work_order_id": "1023", "sku": "WH-GASK-112", "quantity": 3}).refusal(t)
	if gasket.Details["next_valid_quantity"] != 5.0 || gasket.Retry != retryChange {
		t.Errorf("minimum: %+v", gasket)
	}
	near := call(t, s, "U-01", "lookup_work_order", args{"work_order_id": "1061"}).refusal(t)
	if len(near.Candidates) == 0 {
		t.Error("no near ids for WO-1061")
	}
}
