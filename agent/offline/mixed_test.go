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
		"order HE-3000-230 for 1044 and HE-3000-230S for 1045",
		"order HE-3000-230 for 1044, HE-3000-400 for 1045",
		"order two HE-3000-230 for 1045 and one for 1044",
		"order a 3 kW heating element for WO-1044 and HE-3000-230S for WO-1045",
		"order 1 GB-FAN-24 for 1051 and a V-belt for 1018",
		"order a 3 kW heating element for WO-1044 and GB-FAN-24 for 1051",
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
