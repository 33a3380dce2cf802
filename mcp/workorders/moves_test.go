package workorders

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestRulesOfChanges runs every refusal of moving, cancelling and noting, and
// of the tools that look at them, in one book that no refused call changes.
func TestRulesOfChanges(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	before := book.state.Load()
	move := func(visit, start, end string, more ...any) args {
		a := args{"visit_id": visit, "start": start, "end": end}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return a
	}
	for _, c := range []struct {
		name, tool string
		args       args
		code       string
	}{
		{"move: no such visit", "reschedule_visit", move("V-2999", at("04T08:00"), at("04T10:00")), "visit_not_found"},
		{"move: no visit id", "reschedule_visit", move("WO-1034", at("04T08:00"), at("04T10:00")), "invalid_arguments"},
		{"move: somebody is there", "reschedule_visit", move("V-2017", at("01T13:00"), at("01T15:00")), "visit_not_booked"},
		{"move: on the way", "reschedule_visit", move("V-2016", at("01T13:00"), at("01T15:00")), "visit_not_booked"},
		{"move: job closed", "reschedule_visit", move("V-2003", at("04T08:00"), at("04T10:00")), "work_order_closed"},
		{"move: cancelled", "reschedule_visit", move("V-2038", at("04T08:00"), at("04T10:00")), "work_order_closed"},
		{"move: nobody", "reschedule_visit", move("V-2029", at("04T08:00"), at("04T10:00"), "technician", "Zaphod"), "technician_not_found"},
		{"move: two Sams", "reschedule_visit", move("V-2029", at("04T08:00"), at("04T10:00"), "technician", "sam"), "ambiguous_technician"},
		{"move: on leave", "reschedule_visit", move("V-2029", at("04T08:00"), at("04T10:00"), "technician", "noor"), "technician_inactive"},
		{"move: no offset", "reschedule_visit", move("V-2029", "2026-12-04T08:00:00", at("04T10:00")), "window_invalid"},
		{"move: end before start", "reschedule_visit", move("V-2029", at("04T10:00"), at("04T08:00")), "window_invalid"},
		{"move: 14 minutes", "reschedule_visit", move("V-2029", at("04T10:00"), at("04T10:14")), "window_invalid"},
		{"move: over 12 hours", "reschedule_visit", move("V-2029", at("04T08:00"), at("04T20:15")), "window_invalid"},
		{"move: into the past", "reschedule_visit", move("V-2029", at("01T08:00"), at("01T10:00")), "window_in_past"},
		{"move: in four months", "reschedule_visit", move("V-2029", "2027-04-01T10:00:00+02:00", "2027-04-01T12:00:00+02:00"), "window_too_far"},
		{"move: wrong skill", "reschedule_visit", move("V-2029", at("04T08:00"), at("04T10:00"), "technician", "priya"), "skill_missing"},
		{"move: certificate ran out", "reschedule_visit", move("V-2026", at("03T17:00"), at("03T19:00")), "certificate_expired"},
		{"move: holiday", "reschedule_visit", move("V-2028", at("02T08:00"), at("02T12:00")), "technician_off"},
		{"move: after the shift", "reschedule_visit", move("V-2029", at("03T16:00"), at("03T18:00")), "outside_shift"},
		{"move: into another visit", "reschedule_visit", move("V-2029", at("02T11:00"), at("02T13:00")), "technician_busy"},
		{"move: around another visit", "reschedule_visit", move("V-2029", at("02T08:00"), at("02T13:00")), "technician_busy"},
		{"move: override without reason", "reschedule_visit", move("V-2029", at("02T11:00"), at("02T13:00"), "override", []string{"double_book"}), "invalid_arguments"},
		{"move: to where it is", "reschedule_visit", move("V-2029", at("03T08:00"), at("03T10:00")), "nothing_changed"},
		{"move: changed meanwhile", "reschedule_visit", move("V-2029", at("04T08:00"), at("04T10:00"), "expected_version", 2), "version_conflict"},
		{"move: the rule before the version", "reschedule_visit", move("V-2029", at("02T11:00"), at("02T13:00"), "expected_version", 2), "technician_busy"},

		{"cancel: no such visit", "cancel_visit", args{"visit_id": "V-2999", "reason": "sold the house"}, "visit_not_found"},
		{"cancel: no reason", "cancel_visit", args{"visit_id": "V-2029"}, "invalid_arguments"},
		{"cancel: two letters", "cancel_visit", args{"visit_id": "V-2029", "reason": "no"}, "invalid_arguments"},
		{"cancel: a reason of spaces", "cancel_visit", args{"visit_id": "V-2029", "reason": "    "}, "invalid_arguments"},
		{"cancel: running", "cancel_visit", args{"visit_id": "V-2017", "reason": "sold the house"}, "visit_not_booked"},
		{"cancel: done", "cancel_visit", args{"visit_id": "V-2011", "reason": "sold the house"}, "visit_not_booked"},
		{"cancel: job closed", "cancel_visit", args{"visit_id": "V-2003", "reason": "sold the house"}, "work_order_closed"},
		{"cancel: changed meanwhile", "cancel_visit", args{"visit_id": "V-2029", "reason": "sold the house", "expected_version": 7}, "version_conflict"},

		{"order: no such order", "cancel_part_order", args{"part_order_id": "PO-9999", "reason": "not needed"}, "part_order_not_found"},
		{"order: no reason", "cancel_part_order", args{"part_order_id": "PO-3011"}, "invalid_arguments"},
		{"order: shipped", "cancel_part_order", args{"part_order_id": "PO-3004", "reason": "not needed"}, "order_shipped"},
		{"order: received", "cancel_part_order", args{"part_order_id": "PO-3001", "reason": "not needed"}, "order_shipped"},
		{"order: rejected", "cancel_part_order", args{"part_order_id": "PO-3006", "reason": "not needed"}, "order_rejected"},

		{"note: no such job", "add_note", args{"work_order_id": "1999", "text": "hello"}, "work_order_not_found"},
		{"note: nothing", "add_note", args{"work_order_id": "1043", "text": ""}, "invalid_arguments"},
		{"note: spaces", "add_note", args{"work_order_id": "1043", "text": " \n "}, "invalid_arguments"},
		{"note: too long", "add_note", args{"work_order_id": "1043", "text": strings.Repeat("x", 2001)}, "invalid_arguments"},
		{"note: for everybody", "add_note", args{"work_order_id": "1043", "text": "x", "visibility": "public"}, "invalid_arguments"},

		{"schedule: no such visit", "get_schedule", args{"visit_id": "V-2999"}, "visit_not_found"},
		{"schedule: two Sams", "get_schedule", args{"technician": "sam"}, "ambiguous_technician"},
		{"schedule: two sites", "get_schedule", args{"site": "mill lane"}, "ambiguous_site"},
		{"schedule: 32 days", "get_schedule", args{"technician": "T-03", "from": at("01T00:00"), "to": "2027-01-02T00:00:00+01:00"}, "window_invalid"},
		{"schedule: backwards", "get_schedule", args{"technician": "T-03", "from": at("02T00:00"), "to": at("01T00:00")}, "window_invalid"},
		{"technicians: nobody", "list_technicians", args{"name": "Zaphod"}, "technician_not_found"},
		{"technicians: no such skill", "list_technicians", args{"skill": "magic"}, "invalid_arguments"},
		{"technicians: no such region", "list_technicians", args{"region": "atlantis"}, "invalid_arguments"},
		{"technicians: no day", "list_technicians", args{"on": "tomorrow"}, "invalid_arguments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call(t, s, "U-01", c.tool, c.args)
			if got := r.code(t); got != c.code {
				t.Errorf("code %q, want %q: %s", got, c.code, r.raw)
			}
		})
	}
	if book.state.Load() != before {
		t.Error("a refused call changed the book")
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, visit, start, end string
		more                    args
		who                     string
		warnings                []string
	}{
		{"to another day", "V-2029", at("04T08:00"), at("04T10:00"), nil, "T-03", []string{"outside_requested_window", "customer_informed"}},
		{"an hour later", "2019", at("01T14:00"), at("01T16:00"), nil, "T-03", []string{"outside_requested_window", "outside_opening_hours", "customer_informed"}},
		{"onto its own old time", "V-2019", at("01T14:30"), at("01T16:30"), nil, "T-03", []string{"outside_requested_window", "outside_opening_hours", "customer_informed"}},
		{"to somebody else", "V-2014", at("02T09:00"), at("02T11:00"), args{"technician": "jun"}, "T-08", nil},
		{"to touch another visit", "V-2029", at("02T12:30"), at("02T14:30"), nil, "T-03", []string{"outside_requested_window", "travel_buffer", "customer_informed"}},
		{"shorter than estimated", "V-2029", at("04T08:00"), at("04T08:30"), nil, "T-03", []string{"outside_requested_window", "shorter_than_estimate", "customer_informed"}},
		{"over another visit, approved", "V-2029", at("02T11:00"), at("02T13:00"), args{"override": []string{"double_book"}, "reason": "both are at the airport"}, "T-03", []string{"technician_busy", "outside_requested_window", "travel_buffer", "customer_informed"}},
		{"with its version", "V-2029", at("04T08:00"), at("04T10:00"), args{"expected_version": 1}, "T-03", []string{"outside_requested_window", "customer_informed"}},
		{"in the site's zone", "V-2029", "2026-12-04T07:00:00Z", "2026-12-04T09:00:00Z", nil, "T-03", []string{"outside_requested_window", "customer_informed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			book := openBook(t)
			s := connect(t, serve(t, book), "")
			a := args{"visit_id": c.visit, "start": c.start, "end": c.end}
			for k, v := range c.more {
				a[k] = v
			}
			id := visitID(c.visit)
			old := book.state.Load().visits.get(id)
			var out rescheduleOutput
			call(t, s, "U-01", "reschedule_visit", a).into(t, &out)
			m := out.Visit
			if m.ID != id || m.Status != "booked" || m.Before.Technician.ID != old.TechnicianID || m.After.Technician.ID != c.who {
				t.Errorf("moved %+v", m)
			}
			if got := codes(out.Warnings); !slices.Equal(got, append([]string{}, c.warnings...)) {
				t.Errorf("warnings %v, want %v", got, c.warnings)
			}
			now := book.state.Load()
			if v := now.visits.get(id); v.Version != 2 || v.CustomerInformed == slices.Contains(c.warnings, "customer_informed") {
				t.Errorf("visit %+v", v)
			}
			if w := now.workOrders.get(old.WorkOrderID); *w.TechnicianID != c.who || w.Status != "scheduled" {
				t.Errorf("job %+v", w)
			}
			checked(t, book)
		})
	}
}

// TestCancelledVisits: the job goes back to what it was.
func TestCancelledVisits(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	cancel := func(visit string) cancelVisitOutput {
		var out cancelVisitOutput
		call(t, s, "U-01", "cancel_visit", args{"visit_id": visit, "reason": "no lift certificate"}).into(t, &out)
		return out
	}
	want := cancelVisitOutput{Visit: cancelledVisit{"V-2026", "WO-1052", "cancelled"}, WorkOrder: statusRef{"WO-1052", "new"}, Changed: true}
	if got := cancel("V-2026"); got != want {
		t.Errorf("cancelled %+v", got)
	}
	if w := book.state.Load().workOrders.get("WO-1052"); w.TechnicianID != nil {
		t.Errorf("the job still has %s", *w.TechnicianID)
	}
	before := book.state.Load()
	want.Changed = false
	if got := cancel("v2026"); got != want || book.state.Load() != before {
		t.Errorf("cancelled again %+v", got)
	}
	book1057(t, s, book, cancel)
	additional(t, s, book, cancel)
	checked(t, book)
}

// book1057 books a job that was on hold and cancels the visit.
func book1057(t *testing.T, s session, book *Book, cancel func(string) cancelVisitOutput) {
	t.Helper()
	was := book.state.Load().workOrders.get("WO-1057")
	call(t, s, "U-01", "schedule_visit", args{"work_order_id": "1057", "technician": "jun", "start": at("10T08:00"), "end": at("10T12:00")})
	if got := cancel("V-2042"); got.WorkOrder.Status != "on_hold" {
		t.Errorf("a job that was on hold: %+v", got)
	}
	now := *book.state.Load().workOrders.get("WO-1057")
	now.Version, now.VisitIDs = was.Version, was.VisitIDs
	if !reflect.DeepEqual(&now, was) {
		t.Errorf("the job was %+v and is %+v", was, &now)
	}
}

// additional cancels the first of two visits: the job stays scheduled, with the
// other's technician.
func additional(t *testing.T, s session, book *Book, cancel func(string) cancelVisitOutput) {
	t.Helper()
	call(t, s, "U-01", "schedule_visit", args{"work_order_id": "1034", "technician": "jun", "start": at("10T13:00"), "end": at("10T15:00"), "additional": true})
	if got := cancel("V-2029"); got.WorkOrder.Status != "scheduled" {
		t.Errorf("a job with another visit: %+v", got)
	}
	if w := book.state.Load().workOrders.get("WO-1034"); *w.TechnicianID != "T-08" {
		t.Errorf("the job has %s", *w.TechnicianID)
	}
	if got := cancel("V-2043"); got.WorkOrder.Status != "new" {
		t.Errorf("after the last visit: %+v", got)
	}
}

func TestCancelledOrders(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	for id, job := range map[string]string{"PO-3011": "WO-1005", "3010": "WO-1038", "PO-3013": "WO-1013", "PO-3020": "WO-1015"} {
		for _, changed := range []bool{true, false} {
			var out cancelOrderOutput
			call(t, s, "U-01", "cancel_part_order", args{"part_order_id": id, "reason": "found one in the van"}).into(t, &out)
			if want := (cancelOrderOutput{PartOrder: cancelledOrder{partOrderID(id), "cancelled", job}, Changed: changed}); out != want {
				t.Errorf("cancelled %+v, want %+v", out, want)
			}
		}
	}
	var quote quoteOutput
	call(t, s, "U-01", "quote_part", args{"work_order_id": "1005", "sku": "AC-FLT-F7-592", "quantity": 6}).into(t, &quote)
	if quote.Limits.WorkOrder.Committed.Minor != 0 {
		t.Errorf("a cancelled order counts: %+v", quote.Limits.WorkOrder)
	}
	checked(t, book)
}

// TestNotes: text comes out exactly as it went in, marked untrusted, and the
// same key writes once.
func TestNotes(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	texts := []string{"bring the tarp too", "\x1b[2Jyes <b>&\u202e\u200b", "{\"tool\":\"order_part\"}\r\nline", "天安a门 e\u0301", strings.Repeat("ü", 2000)}
	for i, text := range texts {
		a := args{"work_order_id": "1010", "text": text, "idempotency_key": strings.Repeat(string(rune('a'+i)), 8)}
		var first, again noteOutput
		call(t, s, "U-01", "add_note", a).into(t, &first)
		call(t, s, "U-01", "add_note", a).into(t, &again)
		if first != again || first.Note.By != byDispatcher || first.Note.Visibility != "internal" || first.Note.WorkOrderID != "WO-1010" {
			t.Errorf("note %+v, again %+v", first, again)
		}
		a["text"] = "other words"
		if code := call(t, s, "U-01", "add_note", a).code(t); code != "key_reused" {
			t.Errorf("code %q for other words under the key", code)
		}
	}
	var job lookupOutput
	call(t, s, "U-01", "lookup_work_order", args{"work_order_id": "1010"}).into(t, &job)
	notes := job.WorkOrder.Notes[len(job.WorkOrder.Notes)-len(texts):]
	for i, n := range notes {
		if n.NoteText != texts[i] || !n.Untrusted {
			t.Errorf("note %d is %q", i, n.NoteText)
		}
	}
	a := args{"work_order_id": "1043", "text": "we come at two", "visibility": "customer"}
	call(t, s, "", "add_note", a)
	call(t, s, "U-01", "lookup_work_order", args{"work_order_id": "1043"}).into(t, &job)
	if n := job.WorkOrder.Notes[len(job.WorkOrder.Notes)-1]; n.Visibility != "customer" {
		t.Errorf("note %+v", n)
	}
}

// TestKeysOfMoves: a move under a key happens once.
func TestKeysOfMoves(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	s := connect(t, serve(t, book), "")
	a := args{"visit_id": "V-2029", "start": at("04T08:00"), "end": at("04T10:00"), "idempotency_key": "key-of-a-move"}
	first := call(t, s, "U-01", "reschedule_visit", a)
	a["visit_id"] = "2029" // the same, written otherwise
	again := call(t, s, "U-01", "reschedule_visit", a)
	if first.IsError || string(first.raw) != string(again.raw) {
		t.Errorf("%s, then %s", first.raw, again.raw)
	}
	a["end"] = at("04T10:30")
	if code := call(t, s, "U-01", "reschedule_visit", a).code(t); code != "key_reused" {
		t.Errorf("code %q", code)
	}
	if v := book.state.Load().visits.get("V-2029"); v.Version != 2 {
		t.Errorf("version %d", v.Version)
	}
}
