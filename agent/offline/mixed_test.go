package offline

import (
	"strings"
	"testing"

	"deskhand/agent"
)

// TestSeveralOrdersInOneLineAreNeverMixedUp: the part, the words and the number
// of one job were taken for the other, so that a wrong part stood on a card.
func TestSeveralOrdersInOneLineAreNeverMixedUp(t *testing.T) {
	for _, line := range []string{
		"order for 1044 HE-3000-230 and for 1045 HE-3000-230S",
		"order HE-3000-230 and HE-3000-230S for 1044 and 1045",
	} {
		reply, err := New().Respond(t.Context(), agent.ModelRequest{
			Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: line}},
			Tools:    []agent.ModelTool{{Name: "order_part"}, {Name: "search_parts"}, {Name: "lookup_work_order"}},
		}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Calls) != 0 || !strings.Contains(reply.Text, "may not mix them up") {
			t.Errorf("%s: %+v", line, reply)
		}
	}
}

func TestSeveralOrdersInOneLineKeepTheirJobs(t *testing.T) {
	for line, want := range map[string]string{
		"order HE-3000-230 for 1044 and HE-3000-230S for 1045":                  "WO-1044 HE-3000-230|WO-1045 HE-3000-230S",
		"order HE-3000-230 for 1044, HE-3000-400 for 1045":                      "WO-1044 HE-3000-230|WO-1045 HE-3000-400",
		"order a 3 kW heating element for WO-1044 and HE-3000-230S for WO-1045": "WO-1044 3kW heating element|WO-1045 HE-3000-230S",
		"order 1 GB-FAN-24 for 1051 and a V-belt for 1018":                      "WO-1051 1 GB-FAN-24|WO-1018 v-belt",
		"please order 2 traps for 1058 and a fan motor for job 1030":            "WO-1058 2 traps|WO-1030 fan motor",
		"order a trap and a door seal for 1058":                                 "WO-1058 trap|WO-1058 door seal",
		"order 2 traps, 3 seals and a PL-VALVE-20 for 1058":                     "WO-1058 2 traps|WO-1058 3 seals|WO-1058 PL-VALVE-20",
		"order a trap and a seal for 1058 and a fan for 1030":                   "WO-1058 trap|WO-1058 seal|WO-1030 fan",
		"order a 3 kW element for 1044 and book lukasz for 1047 friday 8-10":    "WO-1044 3kW element|WO-1047 lukasz",
		"order HE-3000-230 1044 and a fan 1045":                                 "WO-1044 HE-3000-230|WO-1045 fan",
		"order a nuts and bolts set for 1058":                                   "WO-1058 nuts bolts set",
	} {
		var got []string
		for _, c := range newTable().readLine(line, tuesday(t), nil) {
			text := strings.Join(c.ids.jobs, ",")
			if c.quantity.given {
				text += " " + c.quantity.typed
			}
			for _, m := range c.measures {
				text += " " + strings.ReplaceAll(m.String(), " ", "")
			}
			for _, list := range [][]string{c.ids.skus, c.rest} {
				for _, w := range list {
					text += " " + w
				}
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s:\n got %s\nwant %s", line, text, want)
		}
	}
}

func TestOnePartForSeveralJobsIsNoMixture(t *testing.T) {
	for _, line := range []string{
		"order a 3 kW heating element for WO-1044 and for WO-1045",
		"order HE-3000-230 for 1044 and 1045",
		"order 2 HE-3000-230 for wo 1044, wo 1045",
	} {
		reply, err := New().Respond(t.Context(), agent.ModelRequest{
			Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: line}},
			Tools:    []agent.ModelTool{{Name: "order_part"}, {Name: "search_parts"}, {Name: "lookup_work_order"}},
		}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Calls) == 0 {
			t.Errorf("%s: %+v", line, reply)
		}
	}
}
