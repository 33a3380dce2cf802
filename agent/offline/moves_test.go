package offline

import (
	"strings"
	"testing"

	"deskhand/agent"
)

// withVisit is the canned job with a booked visit.
func withVisit(tool string, args map[string]any) (agent.CallState, string, string) {
	if tool == toolLookup {
		return agent.CallDone, strings.Replace(cannedJob, `"visits":[`, `"visits":[{"id":"V-7102","status":"booked","technician":{"id":"T-71","name":"Ada Brook"},
			"start":{"at":"2026-12-02T10:00:00+01:00","local":"Wed 2 Dec 10:00"},"end":{"at":"2026-12-02T12:00:00+01:00","local":"Wed 2 Dec 12:00"}},`, 1), "ok"
	}
	if tool == toolPartOrders {
		return agent.CallDone, strings.Replace(cannedOrders, `"shipped"`, `"ordered"`, 1), "ok"
	}
	return canned(tool, args)
}

func TestVisitsAreMovedCancelledAndNotesWritten(t *testing.T) {
	t.Parallel()
	move := func(start, end string) string {
		return `{"end":"` + end + `:00+01:00","start":"` + start + `:00+01:00","visit_id":"V-7102"}`
	}
	for _, test := range []struct {
		name, line, want string
		holds            []string
	}{
		{"to a day and time", "move 7001 to friday 8-10", move("2026-12-04T08:00", "2026-12-04T10:00"), []string{"Moved V-7102"}},
		{"to a day", "move the 7001 visit to friday", move("2026-12-04T10:00", "2026-12-04T12:00"), nil},
		{"to a time", "push 7001 to 2pm", move("2026-12-02T14:00", "2026-12-02T16:00"), nil},
		{"by its number", "reschedule V-7102 to thursday afternoon", move("2026-12-03T13:00", "2026-12-03T17:00"), nil},
		{"at a site", "move the tea hall visit to friday 9-11", move("2026-12-04T09:00", "2026-12-04T11:00"), nil},
		{"of a person", "move ada's visit to friday 9-11", move("2026-12-04T09:00", "2026-12-04T11:00"), nil},
		{"from and to", "move 7001 from wednesday 10 to friday 8-10", move("2026-12-04T08:00", "2026-12-04T10:00"), nil},
		{"its old time to a new one", "move ada's 10 o'clock to 11", move("2026-12-02T11:00", "2026-12-02T13:00"), nil},
		{"another time than it has", "move ada's 8 o'clock to 9", "", []string{"no booked visit", "at 08:00", "Nothing was moved"}},
		{"where it is already", "move 7001 to wednesday 10-12", "", []string{"like that already"}},
		{"an hour later", "push 7001 back an hour", move("2026-12-02T11:00", "2026-12-02T13:00"), nil},
		{"half an hour earlier", "move 7001 half an hour earlier", move("2026-12-02T09:30", "2026-12-02T11:30"), nil},
		{"two days later", "move 7001 two days later", move("2026-12-04T10:00", "2026-12-04T12:00"), nil},
		{"a week back", "push 7001 back a week", move("2026-12-09T10:00", "2026-12-09T12:00"), nil},
		{"brought forward", "bring 7001 forward an hour", move("2026-12-02T09:00", "2026-12-02T11:00"), nil},
		{"with a reason", "move 7001 to friday 8-10 because the key is missing",
			`{"end":"2026-12-04T10:00:00+01:00","reason":"the key is missing","start":"2026-12-04T08:00:00+01:00","visit_id":"V-7102"}`, nil},
		{"no time", "move 7001", "", []string{"to when?"}},
		{"said not to", "don't move 7001 to friday", "", []string{"Nothing was"}},
		{"on a condition", "move 7001 to friday if ada is free", "", []string{"on a condition"}},
		{"asked whether", "can we move 7001 to the afternoon", "", []string{"Shall I move it?", "1) move it to Wed 2 Dec 10:00"}},
		{"two days that could be meant", "move 7001 to next friday 8-10", "", []string{"Which day", "?"}},

		{"a visit", "cancel the 7001 visit", `{"reason":"asked for by the dispatcher","visit_id":"V-7102"}`, []string{"Cancelled the visit V-7102 of WO-7001", "WO-7001 is assigned now."}},
		{"with its reason", "cancel the 7001 visit, the customer does not need it on 9 dec", `{"reason":"the customer does not need it on 9 dec","visit_id":"V-7102"}`, nil},
		{"an order", "cancel po-7200", `{"part_order_id":"PO-7200","reason":"asked for by the dispatcher"}`, []string{"Cancelled the part order PO-7200", "5.00 EUR"}},
		{"a job alone", "cancel 7001", "", []string{"cannot cancel a job itself", "1) cancel the visit V-7102", "?"}},
		{"nothing named", "cancel it please", "", []string{"Cancel what?"}},
		{"said not to cancel", "do not cancel the 7001 visit", "", []string{"Nothing was"}},

		{"a note", "note on 7001: bring the tarp, and order nothing", `{"text":"bring the tarp, and order nothing","visibility":"internal","work_order_id":"WO-7001"}`, []string{"Noted on WO-7001: “bring the tarp, and order nothing”"}},
		{"a note that looks like requests", "add a note to 7001: customer will order a pump and book a plumber friday", `{"text":"customer will order a pump and book a plumber friday","visibility":"internal","work_order_id":"WO-7001"}`, nil},
		{"without a colon", "note 7001 ring twice", `{"text":"ring twice","visibility":"internal","work_order_id":"WO-7001"}`, nil},
		{"saying", "leave a note on 7001 saying the dog bites", `{"text":"the dog bites","visibility":"internal","work_order_id":"WO-7001"}`, nil},
		{"for the customer", "add a customer note on 7001: we come at 10", `{"text":"we come at 10","visibility":"customer","work_order_id":"WO-7001"}`, nil},
		{"no text", "add a note to 7001", "", []string{"What shall the note"}},
		{"no job", "add a note: bring a ladder", "", []string{"which job?"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.results = withVisit
			answer := d.say(test.line)
			got := ""
			for _, c := range d.wrote() {
				got += c.args
			}
			if got != test.want {
				t.Errorf("%q:\n got %s\nwant %s\n%s", test.line, got, test.want, answer)
			}
			mustHold(t, answer, test.holds...)
		})
	}
}

func TestANoteAndAnotherRequestInOneLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"note on 7001: bring the tarp too. then push it to 2pm",
		"push 7001 to 2pm and add a note: bring the tarp too.",
	} {
		d := newDesk(t)
		d.results = withVisit
		d.say(line)
		var got []string
		for _, c := range d.wrote() {
			got = append(got, c.tool)
		}
		if len(got) != 2 || !strings.Contains(strings.Join(got, " "), toolNote) || !strings.Contains(strings.Join(got, " "), toolMove) {
			t.Errorf("%q wrote %v", line, d.wrote())
		}
	}
}

func TestAHandoverResolvesTheName(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"give 7001 to bo", "hand over V-7102 to bo instead, same time", "reassign 7001 to bo because ada is ill"} {
		d := newDesk(t)
		d.results = func(tool string, args map[string]any) (agent.CallState, string, string) {
			if tool == toolAvailability {
				return agent.CallDone, strings.NewReplacer("T-71", "T-75", "Ada Brook", "Bo Lind").Replace(cannedFree), "ok"
			}
			return withVisit(tool, args)
		}
		d.say(line)
		wrote := d.wrote()
		if len(wrote) != 1 || !strings.Contains(wrote[0].args, `"technician":"T-75"`) || !strings.Contains(wrote[0].args, `"start":"2026-12-02T10:00:00+01:00"`) {
			t.Errorf("%q wrote %v", line, wrote)
		}
	}
}

func TestAVisitThatStandsCanBeMovedInsteadOfBookingASecond(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.results = func(tool string, args map[string]any) (agent.CallState, string, string) {
		if tool == toolSchedule {
			return agent.CallFailed, `{"error":{"code":"already_scheduled","message":"WO-7001 already has visit V-7102.","retry":"change_arguments","details":{"visit":"V-7102"}}}`, ""
		}
		return withVisit(tool, args)
	}
	mustHold(t, d.say("book ada for 7001 friday 8-10"), "1) move V-7102 there instead", "2) book a second visit as well", "?")
	d.say("1")
	if wrote := d.wrote(); len(wrote) != 1 || wrote[0].tool != toolMove || !strings.Contains(wrote[0].args, `"start":"2026-12-04T08:00:00+01:00"`) {
		t.Errorf("wrote %v", wrote)
	}
}
