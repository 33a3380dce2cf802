package console

import (
	"strings"
	"testing"

	"deskhand/agent"
)

func TestProgressLine(t *testing.T) {
	tests := []struct {
		name string
		p    agent.Progress
		want string
	}{
		{"nothing", agent.Progress{}, ""},
		{"half", agent.Progress{Done: 5, Total: 10}, "[##########..........] 50 % · 5 of 10"},
		{"more than all", agent.Progress{Done: 30, Total: 10, Message: "jobs"}, "[####################] 100 % · 30 of 10 · jobs"},
		{"no total", agent.Progress{Done: 120, Message: "jobs read"}, "120 so far · jobs read"},
		{"hostile", agent.Progress{Done: 1, Message: "a\x1b[2K\nb"}, "1 so far · a␛[2K b"},
		{"negative", agent.Progress{Done: -3, Total: 10}, "-3 so far"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := progressLine(tt.p, 80); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := progressLine(tt.p, 10); len([]rune(got)) > 10 {
				t.Errorf("too wide: %q", got)
			}
		})
	}
}

// While a call runs its line says how far it is; afterwards only what came of
// it is there.
func TestProgressOfARunningCallIsOnItsLine(t *testing.T) {
	p := newPilot(t, 80, 24)
	told, end := make(chan struct{}), make(chan struct{})
	p.source.set(func(s *scriptedSource) {
		s.answer = func(r agent.CallRequest) (agent.Result, error) {
			r.Progress(agent.Progress{Done: 3, Total: 4, Message: "places searched"})
			close(told)
			<-end
			return *agent.TextResult("WO-1043 is booked.", false), nil
		}
	})
	p.model.script(calls("lookup_work_order", `{"work_order_id":"WO-1043"}`), says("It is booked."))
	p.send("status of WO-1043")
	<-told
	p.untilText("[###############.....] 75 % · 3 of 4 · places searched")
	checkScreen(t, p)
	close(end)
	p.untilText("It is booked.")
	p.until("the bar to go", func() bool { return !strings.Contains(p.screen(), "[####") })
}

func TestWhatACallWasAboutIsSaidInShort(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"work_order_id":"WO-1043","include_history":true,"limit":50}`:        "WO-1043",
		`{"text":"leaking","open_only":true,"cursor":"x","page_size":20}`:      "leaking",
		`{"work_order_id":"WO-1","start":"2026-12-01T09:00:00+01:00"}`:         "WO-1 · Tue 1 Dec 09:00",
		`{"sku":"HE-3000-230","quantity":2,"work_order_id":"WO-1044"}`:         "WO-1044 · HE-3000-230 · quantity 2",
		`{"technician_ids":["T-01","T-02"],"day":"2026-12-01","pinned":false}`: "2026-12-01 · technician_ids [\"T-01\", \"T-02\"]",
	} {
		if got := callSummary(agent.Call{State: agent.CallDone, Requested: []byte(arguments)}); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}
