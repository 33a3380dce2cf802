package workorders

import (
	"path/filepath"
	"testing"
	"time"
)

// TestClockChanges: in 2027 the clocks of Brussels go forward on 28 March at
// 02:00 and back on 31 October at 03:00, those of London an hour later by UTC
// the same.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, wall, want string
		ok                     bool
	}{
		{"a usual day", "Europe/Brussels", "2026-12-02 10:00", "2026-12-02T10:00:00+01:00", true},
		{"before the missing hour", "Europe/Brussels", "2027-03-28 01:59", "2027-03-28T01:59:00+01:00", true},
		{"the missing hour begins", "Europe/Brussels", "2027-03-28 02:00", "2027-03-28T03:00:00+02:00", false},
		{"in the missing hour", "Europe/Brussels", "2027-03-28 02:59", "2027-03-28T03:00:00+02:00", false},
		{"after the missing hour", "Europe/Brussels", "2027-03-28 03:00", "2027-03-28T03:00:00+02:00", true},
		{"before the doubled hour", "Europe/Brussels", "2027-10-31 01:59", "2027-10-31T01:59:00+02:00", true},
		{"the first of the doubled hour", "Europe/Brussels", "2027-10-31 02:00", "2027-10-31T02:00:00+02:00", true},
		{"late in the doubled hour", "Europe/Brussels", "2027-10-31 02:59", "2027-10-31T02:59:00+02:00", true},
		{"after the doubled hour", "Europe/Brussels", "2027-10-31 03:00", "2027-10-31T03:00:00+01:00", true},
		{"London, missing", "Europe/London", "2027-03-28 01:30", "2027-03-28T02:00:00+01:00", false},
		{"London, doubled", "Europe/London", "2027-10-31 01:30", "2027-10-31T01:30:00+01:00", true},
		{"no changes at all", "UTC", "2027-03-28 02:30", "2027-03-28T02:30:00+00:00", true},
		{"a zone that skipped a day", "Pacific/Apia", "2011-12-30 12:00", "2011-12-31T00:00:00+14:00", false},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		wall, err := time.Parse("2006-01-02 15:04", c.wall)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := wallTime(wall, zone)
		if text := got.In(zone).Format(stampLayout); ok != c.ok || text != c.want {
			t.Errorf("%s: %s %t, want %s %t", c.name, text, ok, c.want, c.ok)
		}
	}
}

// TestShiftsOverClockChanges: a shift keeps its hours by the clock, so that it
// is an hour shorter or longer in the night of the change.
func TestShiftsOverClockChanges(t *testing.T) {
	t.Parallel()
	c := *openBook(t).state.Load().contents
	night := &Technician{Shifts: []Shift{{Days: []string{"sat"}, Start: "22:00", End: "06:00"}, {Days: []string{"sun"}, Start: "02:30", End: "12:00"}}}
	for day, want := range map[string]string{
		"2027-03-20": "2027-03-20T22:00:00+01:00 8h0m0s",
		"2027-03-27": "2027-03-27T22:00:00+01:00 7h0m0s",
		"2027-10-30": "2027-10-30T22:00:00+02:00 9h0m0s",
	} {
		d, err := time.ParseInLocation(time.DateOnly, day, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		i := shiftOn(d, night.Shifts[0])
		if got := i.start.Format(stampLayout) + " " + i.length().String(); got != want {
			t.Errorf("%s: %s, want %s", day, got, want)
		}
	}
	sunday := time.Date(2027, 3, 28, 0, 0, 0, 0, c.zone)
	if got := shiftOn(sunday, night.Shifts[1]).start.Format(stampLayout); got != "2027-03-28T03:00:00+02:00" {
		t.Errorf("a shift that begins in the missing hour begins at %s", got)
	}
}

// TestTimesOfTwoZones: shifts are compared in the company's zone, and what is
// at a site is shown in the site's.
func TestTimesOfTwoZones(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	var out agendaOutput
	call(t, s, "U-01", "get_schedule", args{"visit_id": "V-2020"}).into(t, &out)
	if v := out.Visits[0]; v.Start != (Moment{"2026-12-01T08:00:00+00:00", "Tue 1 Dec 08:00", "Europe/London"}) {
		t.Errorf("the visit starts %+v", v.Start)
	}
	for _, g := range out.Gaps {
		if g.Start.TZ != "Europe/Brussels" {
			t.Errorf("a gap is shown in %s", g.Start.TZ)
		}
	}
	// Until 17:00 in Brussels is until 16:00 on the island.
	late := args{"work_order_id": "1027", "technician": "dov", "start": "2026-12-07T15:30:00Z", "end": "2026-12-07T16:30:00Z", "override": []string{"double_book"}, "override_reason": "test"}
	if code := call(t, s, "U-01", "schedule_visit", late).code(t); code != "outside_shift" && code != "skill_missing" {
		t.Errorf("code %q", code)
	}
}

// bookAt is the demo book at another time.
func bookAt(t *testing.T, now string) *Book {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(filepath.Join(t.TempDir(), "workorders.db"), Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestBookingsInTheNightOfTheChange: a time that the site's clocks skip is
// refused, never shifted; of the doubled hour the offset says which is meant.
func TestBookingsInTheNightOfTheChange(t *testing.T) {
	t.Parallel()
	spring := connect(t, serve(t, bookAt(t, "2027-03-20T09:00:00+01:00")), "")
	autumn := connect(t, serve(t, bookAt(t, "2027-10-20T09:00:00+02:00")), "")
	for _, c := range []struct {
		name       string
		s          session
		job        string
		start, end string
		code, note string
	}{
		{"start is skipped", spring, "1041", "2027-03-28T02:30:00+01:00", "2027-03-28T05:00:00+02:00", "window_invalid", "There is no Sun 28 Mar 02:30 in Europe/Brussels: the clocks go forward then. The next time is 2027-03-28T03:00:00+02:00."},
		{"start is skipped, new offset", spring, "1041", "2027-03-28T02:30:00+02:00", "2027-03-28T05:00:00+02:00", "window_invalid", ""},
		{"end is skipped", spring, "1041", "2027-03-28T01:00:00+01:00", "2027-03-28T02:15:00+01:00", "window_invalid", "There is no Sun 28 Mar 02:15 in Europe/Brussels: the clocks go forward then. The next time is 2027-03-28T03:00:00+02:00."},
		{"skipped on the island", spring, "1026", "2027-03-28T01:30:00+00:00", "2027-03-28T03:30:00+01:00", "window_invalid", "There is no Sun 28 Mar 01:30 in Europe/London: the clocks go forward then. The next time is 2027-03-28T02:00:00+01:00."},
		{"the same instant, in UTC", spring, "1041", "2027-03-28T01:30:00Z", "2027-03-28T03:00:00Z", "", "Sun 28 Mar 03:30"},
		{"into the doubled hour", autumn, "1041", "2027-10-31T01:30:00+02:00", "2027-10-31T02:30:00+02:00", "", "Sun 31 Oct 01:30"},
		{"the first of the doubled hour", autumn, "1041", "2027-10-31T02:30:00+02:00", "2027-10-31T02:45:00+02:00", "", "Sun 31 Oct 02:30"},
		{"the second of the doubled hour", autumn, "1041", "2027-10-31T02:30:00+01:00", "2027-10-31T02:45:00+01:00", "", "Sun 31 Oct 02:30"},
		{"from the first to the second", autumn, "1041", "2027-10-31T02:45:00+02:00", "2027-10-31T02:30:00+01:00", "", "Sun 31 Oct 02:45"},
	} {
		r := call(t, c.s, "U-01", "schedule_visit", args{
			"work_order_id": c.job, "technician": "T-01", "start": c.start, "end": c.end,
			"override": []string{"outside_shift"}, "override_reason": "test", "additional": true,
		})
		if got := r.code(t); got != c.code {
			t.Errorf("%s: code %q (%s), want %q", c.name, got, r.refusal(t).Message, c.code)
			continue
		}
		if c.code != "" {
			if r.refusal(t).Field == "" || c.note != "" && r.refusal(t).Message != c.note {
				t.Errorf("%s: %+v", c.name, r.refusal(t))
			}
			continue
		}
		var out scheduleOutput
		r.into(t, &out)
		want, err := time.Parse(time.RFC3339, c.start)
		if err != nil {
			t.Fatal(err)
		}
		got, err := time.Parse(time.RFC3339, out.Visit.Start.At)
		if err != nil || !got.Equal(want) || out.Visit.Start.Local != c.note {
			t.Errorf("%s: booked %+v, want %s", c.name, out.Visit.Start, c.start)
		}
	}
}
