package workorders

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// act carries out a person's command and gives the text or the refusal's code.
func act(t *testing.T, b *Book, user, command string, a args) (text, code string) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	done, err := b.Do(t.Context(), Act{Command: command, User: user, Arguments: raw})
	var r *Refusal
	if errors.As(err, &r) {
		return r.Message, r.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return done.Text, ""
}

// TestWhatPeopleDo runs what people do on one demo book, in order; a refusal
// changes nothing, and the book stays consistent.
func TestWhatPeopleDo(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	job := func(more ...any) args {
		a := args{"title": "Oven", "site": "S-101"}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return a
	}
	set := func(id, status string) args { return args{"id": id, "status": status} }
	po := func(id string) args { return args{"part_order_id": id} }
	for _, c := range []struct {
		name, user, command string
		args                args
		code, text          string
	}{
		{"unknown command", "U-01", "erase", args{}, "unknown_command", ""},
		{"unknown user", "U-99", "receive", po("PO-3004"), "user_not_found", ""},

		{"new", "", "new", job("due", "2026-12-04 12:00", "asset", "deck oven"), "", "WO-1061: Oven, repair at Saltgrain Bakery, Harbour Street 12. Due Fri 4 Dec 12:00."},
		{"new, no title", "", "new", job("title", " "), "invalid_arguments", ""},
		{"new, no such site", "", "new", job("site", "Moon Street"), "site_not_found", ""},
		{"new, two sites", "", "new", job("site", "mill lane"), "ambiguous_site", ""},
		{"new, type", "", "new", job("type", "party"), "invalid_arguments", ""},
		{"new, priority", "", "new", job("priority", "soon"), "invalid_arguments", ""},
		{"new, skill", "", "new", job("skills", []string{"juggling"}), "invalid_arguments", ""},
		{"new, equipment elsewhere", "", "new", job("asset", "A-516"), "asset_elsewhere", ""},
		{"new, nobody", "", "new", job("technician", "Zaphod"), "technician_not_found", ""},
		{"new, a time that is none", "", "new", job("due", "tomorrow"), "window_invalid", ""},
		{"new, the missing hour", "", "new", job("due", "2027-03-28 02:30"), "window_invalid", ""},
		{"new, the doubled hour", "", "new", job("due", "2027-10-31 02:30"), "", "WO-1062: Oven, repair at Saltgrain Bakery, Harbour Street 12. Due Sun 31 Oct 02:30."},
		{"new, negative budget", "", "new", job("budget_minor", -1), "invalid_arguments", ""},

		{"the next but one", "U-01", "set-status", set("WO-1061", "completed"), "status_not_allowed", ""},
		{"no such status", "U-01", "set-status", set("WO-1061", "lost"), "invalid_arguments", ""},
		{"no such job", "U-01", "set-status", set("WO-1999", "on_hold"), "work_order_not_found", ""},
		{"on hold without a reason", "U-01", "set-status", set("1061", "on hold"), "invalid_arguments", ""},
		{"on hold", "U-01", "set-status", args{"id": "1061", "status": "on hold", "reason": "no key"}, "", "WO-1061 is on hold, was new."},
		{"scheduled without a visit", "U-01", "set-status", set("1061", "scheduled"), "no_visit", ""},
		{"back to new", "U-01", "set-status", set("1061", "new"), "", "WO-1061 is new, was on hold."},
		{"cancelled", "U-01", "set-status", set("1061", "cancelled"), "", "WO-1061 is cancelled, was new."},
		{"after the end", "U-01", "set-status", set("1061", "new"), "status_not_allowed", ""},
		{"cancelled with a visit", "U-01", "set-status", set("WO-1043", "cancelled"), "visits_open", ""},
		{"dispatched", "U-01", "set-status", set("WO-1043", "dispatched"), "", "WO-1043 is dispatched, was scheduled."},
		{"at work", "U-01", "set-status", set("WO-1043", "in_progress"), "", "WO-1043 is in progress, was dispatched."},
		{"done", "U-01", "set-status", set("WO-1043", "completed"), "", "WO-1043 is completed, was in progress."},
		{"opened again by a dispatcher", "U-02", "set-status", set("WO-1043", "in_progress"), "needs_manager", ""},
		{"opened again by the manager", "U-03", "set-status", set("WO-1043", "in_progress"), "", "WO-1043 is in progress, was completed."},
		{"done again", "U-01", "set-status", set("WO-1043", "completed"), "", "WO-1043 is completed, was in progress."},
		{"closed", "U-01", "set-status", set("WO-1043", "closed"), "", "WO-1043 is closed, was completed."},
		{"twice", "U-01", "set-status", set("WO-1043", "closed"), "", "WO-1043 was closed before."},
		{"a visit", "U-01", "set-status", set("V-2029", "en_route"), "", "V-2029 is en route, was booked."},
		{"a visit, the next but one", "U-01", "set-status", set("V-2029", "done"), "status_not_allowed", ""},
		{"no such visit", "U-01", "set-status", set("V-9999", "done"), "visit_not_found", ""},

		{"above the limit", "U-01", "approve", po("PO-3013"), "over_work_order_limit|foreign_currency", ""},
		{"pounds need the manager", "U-02", "approve", po("PO-3013"), "over_work_order_limit|foreign_currency", ""},
		{"the manager", "U-03", "approve", po("PO-3013"), "", "PO-3013 (1 x AC-CH-PCB, 1135.00 GBP) is approved by"},
		{"approved before", "U-03", "approve", po("PO-3013"), "", "PO-3013 was approved before."},
		{"rejected after that", "U-03", "reject", po("PO-3013"), "not_pending", ""},
		{"approving is not receiving", "U-03", "receive", po("PO-3013"), "not_on_the_way", ""},
		{"not by hand", "U-03", "set-status", set("PO-3013", "received"), "status_not_allowed", ""},
		{"sent", "U-01", "set-status", set("PO-3013", "ordered"), "", "PO-3013 is ordered, was approved."},
		{"on its way", "U-01", "set-status", set("PO-3013", "shipped"), "", "PO-3013 is shipped, was ordered."},
		{"there", "U-01", "receive", po("PO-3013"), "", "PO-3013 (1 x AC-CH-PCB, 1135.00 GBP) is received."},
		{"there before", "U-01", "receive", po("PO-3013"), "", "PO-3013 was received before."},
		{"within the limit", "U-01", "approve", po("PO-3017"), "", "is approved by Dispatch Desk 1. It is recorded in the book and not sent to the supplier."},
		{"what was ordered", "U-01", "approve", po("PO-3007"), "not_pending", ""},
		{"no such order", "U-01", "approve", po("PO-9999"), "part_order_not_found", ""},
		{"a part for a job that waits", "U-01", "receive", po("PO-3004"), "", "WO-1008"},
	} {
		before := b.state.Load()
		text, code := act(t, b, c.user, c.command, c.args)
		if code != c.code && !(strings.Contains(c.code, "|") && strings.Contains(c.code, code) && code != "") || !strings.Contains(text, c.text) {
			t.Errorf("%s: %s %q, want %s %q", c.name, code, text, c.code, c.text)
		}
		if code != "" && b.state.Load() != before {
			t.Errorf("%s: it was refused and changed the book", c.name)
		}
	}
	now := b.state.Load()
	if w := now.workOrders.get("WO-1043"); w.ClosedAt == nil {
		t.Error("the closed job has no time of closing")
	}
	for _, o := range now.visitsOf(now.workOrders.get("WO-1043")) {
		if o.Status != "done" {
			t.Errorf("%s of the finished job is %s", o.ID, o.Status)
		}
	}
	if w := now.workOrders.get("WO-1062"); w.ResolveBy.Format(stampLayout) != "2027-10-31T02:30:00+02:00" || w.SpendLimit != 50000 {
		t.Errorf("of the doubled hour not the first, or another budget: %+v", w)
	}
	checked(t, b)
}

// TestLimitsOfApproval: what a client without a desk ordered is approved under
// the limits that an order of the user would have, splitting and budget with it.
func TestLimitsOfApproval(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	s := connect(t, serve(t, b), "")
	pending := func(a args) string {
		t.Helper()
		var out orderOutput
		call(t, s, "", "order_part", a).into(t, &out)
		if out.PartOrder.Status != statusPending {
			t.Fatalf("%+v", out)
		}
		return out.PartOrder.ID
	}
	dear := pending(args{"work_order_id": "1007", "sku": "HP-PCB-45", "quantity": 1})
	budget := pending(args{"work_order_id": "1059", "sku": "AP-WX-BRG", "quantity": 1, "allow_duplicate": true})
	for _, c := range []struct{ order, user, code string }{
		{dear, "U-01", "over_approval_limit"},
		{dear, "U-02", ""},
		{budget, "U-02", "over_work_order_limit"},
		{budget, "U-03", ""},
	} {
		if text, code := act(t, b, c.user, "approve", args{"part_order_id": c.order}); code != c.code {
			t.Errorf("%s by %s: %s %q, want %s", c.order, c.user, code, text, c.code)
		}
	}
	checked(t, b)
}

// TestPeopleOverHTTP: whoever holds the book does it for other processes of the
// home; the token that clients have does not open this door.
func TestPeopleOverHTTP(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	srv := NewServer(b, ServerOptions{Token: testToken, PeopleToken: "of-the-home"})
	hs := httptest.NewServer(srv.Handler())
	t.Cleanup(func() { _ = srv.Close(t.Context()); hs.Close() })
	raw := json.RawMessage(`{"part_order_id":"PO-3017"}`)
	approve := Act{Command: "approve", User: "U-01", Arguments: raw}
	client := Holder{Endpoint: hs.URL + "/mcp", Token: testToken, PeopleToken: testToken}
	if _, err := client.Do(t.Context(), approve); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a client's token: %v", err)
	}
	var copied bytes.Buffer
	if err := client.Backup(t.Context(), &copied); err == nil {
		t.Error("a client's token gives a backup")
	}
	home := Holder{Endpoint: hs.URL + "/mcp", Token: testToken, PeopleToken: "of-the-home"}
	var r *Refusal
	if _, err := home.Do(t.Context(), Act{Command: "receive", Arguments: raw}); !errors.As(err, &r) || r.Code != "not_on_the_way" {
		t.Errorf("%v", err)
	}
	done, err := home.Do(t.Context(), approve)
	if err != nil || !strings.Contains(string(done.Result), `"status":"approved"`) {
		t.Errorf("%s %v", done.Result, err)
	}
	if err := home.Backup(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(writeFiles(t, map[string]string{"copy.db": copied.String()}), "copy.db")
	again, err := Open(path, Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if exportText(t, again) != exportText(t, b) {
		t.Error("the backup is another book")
	}
}
