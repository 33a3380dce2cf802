package workorders

import (
	"fmt"
	"strings"
	"testing"
)

func visitIDs(out agendaOutput) string {
	var ids []string
	for _, o := range out.Visits {
		ids = append(ids, o.ID)
	}
	return strings.Join(ids, " ")
}

func TestGetSchedule(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for _, c := range []struct {
		name      string
		args      args
		visits    string
		gaps      string
		conflicts int
		off       string
	}{
		{"a person's day", args{"technician": "jun", "from": at("01T00:00"), "to": at("02T00:00")}, "V-2017 V-2018", "12:00-13:00", 0, ""},
		{"a person at a site", args{"technician": "sam tidewell", "site": "kestrel court"}, "V-2021", "", 0, ""},
		{"a person booked twice", args{"technician": "T-03", "from": at("02T00:00"), "to": at("03T00:00")}, "V-2014 V-2015", "08:00-09:00 12:30-17:00", 1, ""},
		{"everybody today", args{}, "V-2017 V-2020 V-2016 V-2018 V-2019", "", 0, "Noor El-Tahirah"},
		{"a job, with what was cancelled", args{"work_order_id": "1036"}, "V-2038", "", 0, ""},
		{"one visit, whoever is named", args{"visit_id": "v2014", "technician": "jun"}, "V-2014", "08:00-13:00 15:00-17:00", 1, ""},
		{"one visit that was cancelled", args{"visit_id": "V-2038"}, "V-2038", "", 0, ""},
		{"somebody who is sick", args{"technician": "benoit", "from": at("02T00:00"), "to": at("03T00:00")}, "", "", 0, "Benoît Carrowell"},
		{"an empty window", args{"site": "S-101", "from": at("05T00:00"), "to": at("06T00:00")}, "", "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out agendaOutput
			call(t, s, "U-01", "get_schedule", c.args).into(t, &out)
			if got := visitIDs(out); got != c.visits || out.Total != len(out.Visits) {
				t.Errorf("visits %s of %d, want %s", got, out.Total, c.visits)
			}
			var gaps, off []string
			for _, g := range out.Gaps {
				gaps = append(gaps, g.Start.Local[len(g.Start.Local)-5:]+"-"+g.End.Local[len(g.End.Local)-5:])
			}
			for _, o := range out.Off {
				off = append(off, o.Technician.Name)
				if o.ReasonText == "" || !o.Untrusted {
					t.Errorf("off %+v", o)
				}
			}
			if got := strings.Join(gaps, " "); c.gaps != "" && got != c.gaps {
				t.Errorf("gaps %s, want %s", got, c.gaps)
			}
			if len(out.Conflicts) != c.conflicts {
				t.Errorf("conflicts %v", out.Conflicts)
			}
			if got := strings.Join(off, " "); got != c.off {
				t.Errorf("off %s, want %s", got, c.off)
			}
		})
	}
}

// TestPreviewsOfVisits: a desk hands the arguments of a call that the preview
// tool also has; the preview must show the visit as it is, also where the call
// names another person and another time.
func TestPreviewsOfVisits(t *testing.T) {
	t.Parallel()
	properties := getScheduleTool().input.Properties
	for _, name := range []string{"start", "end", "reason", "override", "expected_version"} {
		if properties[name] != nil {
			t.Errorf("get_schedule takes %s, which means something else in a move", name)
		}
	}
	s := connect(t, serve(t, openBook(t)), "")
	var out agendaOutput
	call(t, s, "U-01", "get_schedule", args{"visit_id": "V-2014", "technician": "T-08"}).into(t, &out)
	v := out.Visits[0]
	want := "V-2014 WO-1016 booked T-03 Wed 2 Dec 09:00 informed true version 1"
	if got := fmt.Sprintf("%s %s %s %s %s informed %t version %d", v.ID, v.WorkOrderID, v.Status, v.Technician.ID, v.Start.Local, v.CustomerInformed, v.Version); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestListTechnicians(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"both Sams", args{"name": "sam"}, "T-03 T-04"},
		{"by id", args{"name": "t3"}, "T-03"},
		{"accents ignored", args{"name": "mairead"}, "T-01"},
		{"by skill", args{"skill": "lift"}, "T-05 T-06 T-11"},
		{"by skill in a region", args{"skill": "lift", "region": "farholm"}, "T-11"},
		{"a region by name", args{"skill": "lift", "region": "Farholm Island"}, "T-11"},
		{"a page of two", args{"limit": 2}, "T-01 T-02"},
	} {
		var out techniciansOutput
		call(t, s, "U-01", "list_technicians", c.args).into(t, &out)
		var ids []string
		for _, i := range out.Items {
			ids = append(ids, i.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	var out techniciansOutput
	call(t, s, "U-01", "list_technicians", args{"name": "ragnhild", "on": "2026-12-04"}).into(t, &out)
	if i := out.Items[0]; i.OffOn == nil || !i.OffOn.Untrusted || i.ShiftOn == nil {
		t.Errorf("on her day off: %+v", i)
	}
	call(t, s, "U-01", "list_technicians", args{"name": "tomas", "on": "2026-12-02"}).into(t, &out)
	for _, skill := range out.Items[0].Skills {
		if skill.ID == "lift" && (!skill.Expired || skill.ValidUntil == "") {
			t.Errorf("the lift certificate of T-06: %+v", skill)
		}
	}
}
