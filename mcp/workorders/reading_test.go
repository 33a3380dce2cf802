package workorders

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHostileTextComesOutAsItWentIn: escapes, fake cards and direction marks
// are data. They are returned unchanged, in fields that say so, and never bare
// in the text of an answer.
func TestHostileTextComesOutAsItWentIn(t *testing.T) {
	t.Parallel()
	l, err := demoLedger()
	if err != nil {
		t.Fatal(err)
	}
	for era, protocol := range eras {
		s := connect(t, serve(t, openBook(t)), protocol)
		for _, w := range l.WorkOrders {
			if era == "legacy" && w.ID < "WO-1054" {
				continue // the texts that are hard stand behind it
			}
			r := call(t, s, "U-01", "lookup_work_order", args{"work_order_id": w.ID})
			var out lookupOutput
			r.into(t, &out)
			if out.WorkOrder.ProblemText != w.Problem || !out.WorkOrder.Untrusted {
				t.Errorf("%s %s: %q, want %q", era, w.ID, out.WorkOrder.ProblemText, w.Problem)
			}
			for i, n := range w.Notes {
				if got := out.WorkOrder.Notes[i]; got.NoteText != n.Text || !got.Untrusted {
					t.Errorf("%s %s: note %q, want %q", era, w.ID, got.NoteText, n.Text)
				}
			}
			text, err := json.Marshal(r.Content)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `\u001b`) || strings.Contains(string(text), "\u202e") || !utf8.Valid(text) {
				t.Errorf("%s %s: control characters in the text of the answer", era, w.ID)
			}
		}
	}
}

// TestAvailability are the questions of dispatchers about who is free.
func TestAvailability(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for _, c := range []struct {
		name  string
		args  args
		slots string // "T-07 10:00-12:00", best first
		who   map[string]string
	}{
		{"Harbour Street tomorrow morning", args{"site": "Harbour Street", "from": at("02T08:00"), "to": at("02T12:00")},
			"T-01 08:00-12:00, T-02 08:00-12:00, T-03 08:00-09:00, T-05 08:00-12:00, T-11 08:00-12:00, T-07 10:00-12:00",
			map[string]string{"T-09": "technician_off", "T-06": "outside_shift", "T-12": "technician_inactive", "T-08": "outside_region"}},
		{"1047 tomorrow morning", args{"work_order_id": "1047", "from": at("02T08:00"), "to": at("02T12:00")},
			"T-07 10:00-12:00", map[string]string{"T-10": "outside_shift", "T-01": "skill_missing"}},
		{"1042 right now", args{"work_order_id": "1042"},
			"T-05 09:00-14:00, T-11 13:00-17:00", map[string]string{"T-06": "certificate_expired"}},
		{"1033 today", args{"work_order_id": "1033"}, "T-05 09:00-14:00, T-11 13:00-17:00", nil},
		{"lift people on Friday", args{"skills": []string{"lift"}, "from": at("04T00:00"), "to": at("05T00:00")},
			"T-11 08:00-09:00, T-11 12:00-13:00, T-11 16:00-17:00", map[string]string{"T-05": "technician_off"}},
		{"Mairéad on Thursday 1-3", args{"technician": "mairead", "from": at("03T13:00"), "to": at("03T15:00")},
			"", map[string]string{"T-01": "technician_busy"}},
		{"refrigerant at the airport", args{"skills": []string{"refrigerant"}, "region": "airport", "from": at("01T13:00"), "to": at("01T17:00")},
			"T-03 15:00-17:00", map[string]string{"T-08": "technician_busy", "T-07": "outside_region"}},
		{"1030 before its deadline", args{"work_order_id": "1030", "to": at("02T08:00")},
			"", map[string]string{"T-08": "technician_busy", "T-03": "outside_region"}},
		{"1014 on Thursday, late", args{"work_order_id": "1014", "from": at("03T14:30"), "to": at("03T17:00")},
			"", map[string]string{"T-05": "outside_shift", "T-11": "outside_region", "T-06": "certificate_expired"}},
		{"heat pump on Farholm", args{"work_order_id": "1027", "from": at("07T10:00"), "to": at("11T18:00")}, "", nil},
		{"somebody of another region, by name", args{"work_order_id": "1014", "technician": "dov", "from": at("03T14:30"), "to": at("03T17:00")},
			"T-11 14:30-17:00", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out availabilityOutput
			r := call(t, s, "U-01", "find_availability", c.args)
			r.into(t, &out)
			var slots []string
			for _, o := range out.Slots {
				slots = append(slots, o.Technician.ID+" "+o.Start.Local[len(o.Start.Local)-5:]+"-"+o.End.Local[len(o.End.Local)-5:])
			}
			if got := strings.Join(slots, ", "); got != c.slots {
				t.Errorf("slots %s\nwant  %s", got, c.slots)
			}
			for id, code := range c.who {
				i := slices.IndexFunc(out.Excluded, func(e excluded) bool { return e.Technician.ID == id })
				if i < 0 || out.Excluded[i].Code != code {
					t.Errorf("%s is not excluded with %s: %+v", id, code, out.Excluded)
				}
			}
		})
	}
	var out availabilityOutput
	call(t, s, "U-01", "find_availability", args{"technician": "mairead", "from": at("03T13:00"), "to": at("03T15:00")}).into(t, &out)
	if e := out.Excluded[0]; !strings.Contains(e.Reason, "WO-1032") || e.NextFree.At != at("03T15:00") {
		t.Errorf("excluded %+v", e)
	}
	call(t, s, "U-01", "find_availability", args{"site": "S-101"}).into(t, &out)
	if len(out.SiteContext.OpenWorkOrders) != 3 || out.DurationMinutes != 60 || out.Window.End.At != at("02T00:00") {
		t.Errorf("context %+v, %d minutes, window %+v", out.SiteContext, out.DurationMinutes, out.Window)
	}
}

func TestSearchParts(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for query, want := range map[string]string{
		"3 kW heating element":      "HE-3000-230 HE-3000-230S HE-3000-400",
		"3kw elements":              "HE-3000-230 HE-3000-230S HE-3000-400",
		"3000 W element":            "HE-3000-230 HE-3000-230S HE-3000-400",
		"3.5kw":                     "HE-3500-230",
		"3,5 kW heating element":    "HE-3500-230",
		"400V element":              "HE-3000-400",
		"stainless element":         "HE-3000-230S",
		"4 kW element":              "",
		"A42 belts":                 "AC-BELT-A42",
		"oven element top":          "AP-OVEL-18",
		"washer lock":               "AP-WX-LOCK",
		"xj-900":                    "",
		"he-3500":                   "HE-3500-230",
		"HE-3000-230":               "HE-3000-230 HE-3000-230S",
		"GB-PCB-24":                 "GB-PCB-24 GB-PCB-24E",
		"door belt P8":              "LF-DBELT-P8",
		"dichtungssatz fur platten": "GB-DICHT-20",
		"45 uF capacitor":           "AC-CAP-45",
		"drain pumps":               "AP-DW-DRAIN",
		"8mm rope":                  "LF-ROPE-8",
		"magnesium anodes":          "WH-ANODE-M8",
	} {
		var out searchPartsOutput
		call(t, s, "U-01", "search_parts", args{"query": query}).into(t, &out)
		var got []string
		for _, i := range out.Items {
			got = append(got, i.SKU)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q found %v, want %s", query, got, want)
		}
	}
	var out searchPartsOutput
	call(t, s, "U-01", "search_parts", args{"query": "heating element", "fits_work_order_id": "WO-1044"}).into(t, &out)
	var fits []string
	for _, i := range out.Items {
		fits = append(fits, i.SKU+" "+i.Fits)
	}
	if got := strings.Join(fits, ", "); got != "HE-3000-230 yes, HE-3000-230S yes, HE-2000-230 no, HE-3000-400 no, HE-3500-230 no" {
		t.Error(got)
	}
	if out.Items[0].DiffersBy != `3 kW, not 3.5 kW (HE-3500-230); 230 V, not 400 V (HE-3000-400); 1½" thread, not stainless for hard water (HE-3000-230S)` {
		t.Errorf("differs by %s", out.Items[0].DiffersBy)
	}
	call(t, s, "U-01", "search_parts", args{"query": "control board G24", "include_discontinued": true}).into(t, &out)
	if out.Total != 2 {
		t.Errorf("with discontinued parts: %d", out.Total)
	}
}

// TestDiffersBy: what sets near-identical parts apart is read from their names.
func TestDiffersBy(t *testing.T) {
	t.Parallel()
	x := openBook(t).state.Load().index()
	for sku, want := range map[string]string{
		"HE-3000-230":  "not the 3.5 kW (HE-3500-230)",
		"HE-3500-230":  "not the 3 kW (HE-3000-230)",
		"HE-3000-400":  "not the 230 V (HE-3000-230)",
		"HE-3000-230S": `not the 1½" thread (HE-3000-230)`,
		"AC-BELT-A42":  "not the A43 (AC-BELT-A43)",
		"LF-DBELT-P8":  "not the P6 (LF-DBELT-P6)",
		"GB-PCB-24E":   "not the revision C (GB-PCB-24)",
		"AP-OVEL-18":   "not the 2.4 kW (AP-OVEL-24)",
		"GB-FAN-24":    "",
	} {
		if got := x.notThe(sku); got != want {
			t.Errorf("%s: %q, want %q", sku, got, want)
		}
	}
}

func TestSearchWorkOrders(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"urgent, without a technician", args{"unassigned": true, "priority": []string{"emergency", "high"}, "status": []string{"new"}},
			"WO-1042 WO-1030 WO-1024 WO-1055 WO-1047 WO-1033 WO-1039"},
		{"waiting for parts", args{"status": []string{"waiting_parts"}}, "WO-1008 WO-1045 WO-1044 WO-1023 WO-1031 WO-1038 WO-1020"},
		{"open at the bakery", args{"site": "the bakery"}, "WO-1043 WO-1047 WO-1040"},
		{"at an address", args{"site": "Mill Lane 3"}, "WO-1042"},
		{"of a customer", args{"customer": "aerie", "status": []string{"scheduled"}}, "WO-1016 WO-1021"},
		{"words of the problem", args{"text": "proofer humid"}, "WO-1047"},
		{"by technician", args{"technician": "tomas"}, "WO-1052"},
		{"by equipment", args{"asset_id": "A-504"}, "WO-1044"},
		{"in a time", args{"from": at("02T17:00"), "to": at("02T18:00")}, "WO-1052"},
		{"nothing", args{"text": "zeppelin"}, ""},
	} {
		var out searchJobsOutput
		c.args["limit"] = 50
		call(t, s, "U-01", "search_work_orders", c.args).into(t, &out)
		var got []string
		for _, i := range out.Items {
			got = append(got, i.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	flags := map[string]string{"WO-1042": "at_risk no_technician", "WO-1016": "double_booked", "WO-1052": "certificate_expired", "WO-1038": "at_risk"}
	for id, want := range flags {
		var out lookupOutput
		call(t, s, "U-01", "lookup_work_order", args{"work_order_id": id}).into(t, &out)
		if got := strings.Join(out.WorkOrder.Flags, " "); got != want {
			t.Errorf("%s: flags %s, want %s", id, got, want)
		}
	}
}

// TestPaging walks through all pages and must see everything once.
func TestPaging(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	var all searchJobsOutput
	call(t, s, "", "search_work_orders", args{"status": anys(workOrderStatuses), "limit": 50}).into(t, &all)
	if all.Total != 60 || len(all.Items) != 50 {
		t.Fatalf("%d of %d", len(all.Items), all.Total)
	}
	var seen []string
	a := args{"status": anys(workOrderStatuses), "limit": 7}
	for range 10 {
		var out searchJobsOutput
		call(t, s, "", "search_work_orders", a).into(t, &out)
		for _, i := range out.Items {
			seen = append(seen, i.ID)
		}
		if out.NextCursor == "" {
			break
		}
		a["cursor"] = out.NextCursor
	}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 60 {
		t.Errorf("%d jobs seen", len(seen))
	}
	a["text"] = "other question"
	if r := call(t, s, "", "search_work_orders", a); r.code(t) != "invalid_arguments" {
		t.Errorf("cursor of another search: %q", r.code(t))
	}
}

func TestListPartOrders(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"status": []string{"pending_approval"}}, "PO-3017 PO-3013"},
		{args{"work_order_id": "1008"}, "PO-3004"},
		{args{"part_order_id": "po-3011"}, "PO-3011"},
		{args{"supplier": "isle"}, "PO-3013"},
		{args{"sku": "HE-3000-230"}, ""},
	} {
		var out listOrdersOutput
		call(t, s, "", "list_part_orders", c.args).into(t, &out)
		var got []string
		for _, i := range out.Items {
			got = append(got, i.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.args, got, c.want)
		}
	}
	var out listOrdersOutput
	call(t, s, "", "list_part_orders", args{}).into(t, &out)
	if out.Total != 20 || len(out.Items) != 10 || out.NextCursor == "" {
		t.Errorf("%d of %d, cursor %q", len(out.Items), out.Total, out.NextCursor)
	}
}

// TestSiteZone: what is at a site is shown in the site's zone.
func TestSiteZone(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	var out lookupOutput
	call(t, s, "", "lookup_work_order", args{"work_order_id": "1026"}).into(t, &out)
	if v := out.WorkOrder.Visits[0].Start; v != (Moment{"2026-12-01T08:00:00+00:00", "Tue 1 Dec 08:00", "Europe/London"}) {
		t.Errorf("start %+v", v)
	}
}
