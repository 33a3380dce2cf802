package agent_test

import (
	"errors"
	"fmt"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// TestEveryPathOfACallWorksUnderEveryKindOfName: that a tool works unguarded
// under its own name says nothing about the guarded path, or about a name that
// the model knows by an alias. Of all servers only the right one is called, and
// the model hears what it answered.
func TestEveryPathOfACallWorksUnderEveryKindOfName(t *testing.T) {
	for _, alias := range []string{"fit", "south__fit"} {
		for _, path := range []string{"unguarded", "approved", "denied", "approved after a restart", "denied after a restart"} {
			t.Run(alias+", "+path, func(t *testing.T) {
				south, north := agenttest.NewSource("south"), agenttest.NewSource("north")
				south.Add(agent.Tool{Name: "fit"}, agenttest.Fixed(agenttest.Structured(`{"fitted":"in the south"}`)))
				north.Add(agent.Tool{Name: "other"}, agenttest.Fixed(agenttest.Structured(`{}`)))
				if alias != "fit" {
					north.Add(agent.Tool{Name: "fit"}, agenttest.Fixed(agenttest.Structured(`{"fitted":"in the north"}`)))
				}
				policy := agent.PolicyConfig{}
				if path == "unguarded" {
					policy.RunWithoutApproval = []agent.QualifiedName{"south/fit"}
				}
				model := &agenttest.Model{Script: agenttest.Replies(agenttest.Call(agenttest.Tool(alias, `{"work_order_id":"WO-1044"}`)), agenttest.Say("Said."))}
				config := agent.Config{
					Store: state.New(memory.New()), Model: model, Sources: []agent.Source{north, south}, Policy: agenttest.NewPolicy(t, policy),
				}
				engine := agenttest.NewEngine(t, config)
				report, err := engine.Send(t.Context(), agent.SendRequest{Text: "fit it at WO-1044"})
				if err != nil {
					t.Fatal(err)
				}
				if path != "unguarded" {
					if report.Status != agent.TurnPaused || len(south.Ledger("fit")) != 0 {
						t.Fatalf("it was not held: %+v", report)
					}
					report = decideOnPath(t, engine, config, path)
				}
				sends, heard := 1, `{"fitted":"in the south"}`
				if path == "denied" || path == "denied after a restart" {
					sends, heard = 0, "Declined by the dispatcher. Nothing was changed."
				}
				if got := len(south.Ledger("fit")); got != sends || len(north.Ledger("fit")) != 0 {
					t.Errorf("south got %d calls, want %d; north %d", got, sends, len(north.Ledger("fit")))
				}
				if report.Status != agent.TurnCompleted || report.Calls[0].Tool != "south/fit" || report.Calls[0].Alias != alias {
					t.Errorf("report = %+v", report)
				}
				requests := model.Requests()
				answer := requests[len(requests)-1].Messages[2]
				if len(requests) != 2 || answer.Result.Text() != heard || answer.Name != alias || answer.CallID != "call_0" {
					t.Errorf("after %d requests the model heard %+v", len(requests), answer)
				}
			})
		}
	}
}

// decideOnPath decides on A-1, before or after a restart.
func decideOnPath(t *testing.T, engine *agent.Engine, config agent.Config, path string) agent.Report {
	t.Helper()
	if path == "approved after a restart" || path == "denied after a restart" {
		engine = agenttest.NewEngine(t, config)
	}
	decide := engine.Approve
	if path == "denied" || path == "denied after a restart" {
		decide = engine.Deny
	}
	report, err := decide(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestNamesAreLegalDistinctAndGoBackToTheirTools covers every rule of aliases:
// short where that is unique, long where not, legal, of bounded length.
func TestNamesAreLegalDistinctAndGoBackToTheirTools(t *testing.T) {
	long := fmt.Sprintf("%0120d", 7)
	servers := []agent.ServerTools{
		{Name: "a", List: agent.ToolList{Tools: tools("b_c", "b__c", "only_here", "__proto__", "1st", long, long+"x", "größe", "gr__e", "")}},
		{Name: "a_b", List: agent.ToolList{Tools: tools("c", "b__c", "same")}},
		{Name: "a__b", List: agent.ToolList{Tools: tools("c", "same", "a__b_c")}},
	}
	box := agent.NewToolbox(servers, nil)
	seen := map[string]agent.QualifiedName{}
	for name, alias := range box.Aliases() {
		if other, twice := seen[alias]; twice {
			t.Errorf("%s and %s have the alias %s", name, other, alias)
		}
		seen[alias] = name
		if !legalName.MatchString(alias) {
			t.Errorf("%s has the alias %q", name, alias)
		}
		if entry, err := box.Lookup(alias); err != nil || entry.Name != name {
			t.Errorf("%s leads to %s, %v", alias, entry.Name, err)
		}
		if entry, err := box.Resolve(name); err != nil || entry.Alias != alias {
			t.Errorf("%s has the alias %s, %v", name, entry.Alias, err)
		}
	}
	if want := 9 + 3 + 3; len(seen) != want {
		t.Errorf("%d aliases, want %d (a tool without a name cannot be called)", len(seen), want)
	}
	if seen["only_here"] != "a/only_here" || seen["same"] != "" {
		t.Errorf("aliases: %v", seen)
	}
	// A name that several tools would answer to finds none of them.
	for _, name := range []string{"same", "b__c", "a/only_here", ""} {
		var unknown *agent.ToolError
		if entry, err := box.Lookup(name); seen[name] == "" && (!errors.As(err, &unknown) || unknown.Code != agent.ToolUnmapped) {
			t.Errorf("%q leads to %s, %v", name, entry.Name, err)
		}
	}
	again := agent.NewToolbox([]agent.ServerTools{servers[2], servers[0], servers[1]}, nil).Aliases()
	for name, alias := range box.Aliases() {
		if again[name] != alias {
			t.Errorf("in another order of servers %s is %s, and was %s", name, again[name], alias)
		}
	}
}

// TestACardNamesServerAndToolAsTheyAreConfigured also where the name that the model
// uses could be split elsewhere, and what one server may do covers no other.
func TestACardNamesServerAndToolAsTheyAreConfigured(t *testing.T) {
	for _, test := range []struct {
		server, tool, alias string
		free                agent.QualifiedName
	}{
		{"parts_eu", "order_part", "order_part", "parts/eu_order_part"},
		{"parts_eu", "order_part", "parts_eu__order_part", "parts/order_part"},
		{"parts", "eu__order_part", "eu__order_part", "parts_eu/order_part"},
	} {
		t.Run(test.server+" "+test.tool, func(t *testing.T) {
			here, there := agenttest.NewSource(test.server), agenttest.NewSource(test.free.Server())
			sources := []agent.Source{here}
			here.Add(agent.Tool{Name: test.tool}, agenttest.Fixed(agenttest.Structured(`{}`)))
			if test.server != test.free.Server() {
				there.Add(agent.Tool{Name: test.free.Tool()}, agenttest.Fixed(agenttest.Structured(`{}`)))
				sources = append(sources, there)
			}
			engine := agenttest.NewEngine(t, agent.Config{
				Store: state.New(memory.New()), Sources: sources,
				Policy: agenttest.NewPolicy(t, agent.PolicyConfig{RunWithoutApproval: []agent.QualifiedName{test.free}}),
				Model:  &agenttest.Model{Script: agenttest.Replies(agenttest.Call(agenttest.Tool(test.alias, `{"work_order_id":"WO-1044"}`)))},
			})
			report, err := engine.Send(t.Context(), agent.SendRequest{Text: "order it for WO-1044"})
			if err != nil || len(report.Approvals) != 1 || report.Approvals[0].Tool != agent.Qualify(test.server, test.tool) {
				t.Errorf("report = %+v, %v", report, err)
			}
			if len(here.Ledger(test.tool))+len(there.Ledger(test.free.Tool())) != 0 {
				t.Error("something ran")
			}
		})
	}
}

func tools(names ...string) []agent.Tool {
	var out []agent.Tool
	for _, name := range names {
		out = append(out, agent.Tool{Name: name})
	}
	return out
}
