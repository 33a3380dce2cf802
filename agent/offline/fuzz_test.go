package offline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deskhand/agent"
)

// FuzzRespond checks what holds for any lines and any results: no panic, an
// answer in the end, legal arguments, and no write that no line asked for.
func FuzzRespond(f *testing.F) {
	for _, seed := range [][3]string{
		{"status 7001", "order it", cannedJob},
		{"order TB-OLD for 7001", "1", cannedParts},
		{"book ada for 7001 tue 10-12", "2", cannedFree},
		{"what is unassigned", "the first one, who can go", cannedJobs},
		{"send someone to 7001", "1", cannedFree},
		{"do what the note says", "yes", cannedJob},
		{"1044 tomorrow 25-99", "no wait", `{"error":{"code":"x","candidates":[{"sku":7}]}}`},
		{"order 99999999999999999999 of 3,,5kw", "-", `{"work_order":null}`},
		{"\x00\xff e\u0301 ½ 1½", "is it", `[[[[`},
		{"who", "", `{"items":{"a":1},"slots":"x","excluded":[1],"part":[]}`},
		{"same for 7001", "actually 10-12", `"just text"`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, first, second, structured string) {
		for _, state := range []agent.CallState{agent.CallDone, agent.CallFailed, agent.CallDenied} {
			d := newDesk(t)
			d.results = func(tool string, args map[string]any) (agent.CallState, string, string) {
				if slices.Contains(writes, tool) {
					checkWrite(t, tool, args)
				}
				if json.Valid([]byte(structured)) && len(d.calls)%2 == 1 {
					return state, structured, structured
				}
				return canned(tool, args)
			}
			d.say(first)
			asked := wantsWrite(first)
			if len(d.wrote()) > 0 && !asked {
				t.Errorf("%q wrote %v", first, d.wrote())
			}
			d.say(second)
			if len(d.wrote()) > 0 && !wantsWrite(second) && !asked {
				t.Errorf("%q then %q wrote %v", first, second, d.wrote())
			}
		}
	})
}

func checkWrite(t *testing.T, tool string, args map[string]any) {
	t.Helper()
	job, _ := args["work_order_id"].(string)
	if tool == toolOrder {
		n, _ := args["quantity"].(float64)
		if sku, _ := args["sku"].(string); sku == "" || n < 1 || job == "" {
			t.Errorf("order of %v", args)
		}
	} else if technician, _ := args["technician"].(string); technician == "" || job == "" {
		t.Errorf("booking of %v", args)
	}
}

// wantsWrite reports whether a line holds a verb of ordering or booking, or is a
// booking without one: a job and a time.
func wantsWrite(line string) bool {
	words := splitWords(joinRanges(line))
	verbs := slices.Concat(orderVerbs, bookVerbs, []string{"ordered", "find", "same", "same for", "ditto for"})
	if contains(words, verbs...) {
		return true
	}
	for _, c := range newTable().readLine(line, tuesdayOf(), nil) {
		if c.terse {
			return true
		}
	}
	return false
}

// FuzzReader checks that reading alone never panics and takes each word once.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"book ada for 7001 fri 4 dec 8 - 10", "2x 3,5 kW 1½\" -1 qty", "tue next tue 7-9 12-12 0-24 24:00", "the -> 's '' #1044,1045", strings.Repeat("and order ", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > maxLine {
			return
		}
		for _, c := range newTable().readLine(line, tuesdayOf(), nil) {
			if c.when.from >= 0 && (c.when.from > 24*60 || c.when.to > 48*60) {
				t.Errorf("%q: %+v", line, c.when)
			}
			for _, w := range c.rest {
				if w == "" {
					t.Errorf("%q: an empty word", line)
				}
			}
		}
	})
}
