package agent_test

import (
	"encoding/json"
	"errors"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestARuleThatCannotReadItsInputAsksAlsoForAListedTool: whatever a rule cannot
// decide, a person decides.
func TestARuleThatCannotReadItsInputAsksAlsoForAListedTool(t *testing.T) {
	policy := agenttest.NewPolicy(t, agent.PolicyConfig{
		RunWithoutApproval: []agent.QualifiedName{"shop/book"},
		Rules:              []agent.Rule{{Tool: "shop/book", When: "has(args.override)", Then: agent.DecisionAsk}},
	})
	if v := policy.Verdict(agent.PolicyInput{Tool: "shop/book", Args: json.RawMessage(`{}`)}); v.Decision != agent.DecisionRun {
		t.Fatalf("what it can read gives %+v", v)
	}
	for _, arguments := range []string{``, `[]`, `[1]`, `"text"`, `{"a":`, `{"override":`} {
		if v := policy.Verdict(agent.PolicyInput{Tool: "shop/book", Args: json.RawMessage(arguments)}); v.Decision != agent.DecisionAsk {
			t.Errorf("%s: %+v", arguments, v)
		}
	}
	preview := agenttest.NewPolicy(t, agent.PolicyConfig{
		RunWithoutApproval: []agent.QualifiedName{"shop/book"},
		Rules:              []agent.Rule{{Tool: "shop/book", When: "preview.total > 5", Then: agent.DecisionAsk}},
	})
	for _, document := range []string{``, `{"a":`, `[]`, `{}`} {
		in := agent.PolicyInput{Tool: "shop/book", Args: json.RawMessage(`{}`), Preview: json.RawMessage(document)}
		if v := preview.Verdict(in); v.Decision != agent.DecisionAsk {
			t.Errorf("preview %s: %+v", document, v)
		}
	}
}

// TestAToolThatIsGoneIsNotLookedForElsewhere: another server has a tool of that
// name, and it even has the alias.
func TestAToolThatIsGoneIsNotLookedForElsewhere(t *testing.T) {
	box := agent.NewToolbox([]agent.ServerTools{
		{Name: "shop", List: agent.ToolList{Tools: []agent.Tool{{Name: "look_up"}}}},
		{Name: "depot", List: agent.ToolList{Tools: []agent.Tool{{Name: "order"}}}},
	}, nil)
	if entry, err := box.Lookup("order"); err != nil || entry.Name != "depot/order" {
		t.Fatalf("the alias: %+v, %v", entry, err)
	}
	var gone *agent.ToolError
	if entry, err := box.Resolve("shop/order"); !errors.As(err, &gone) || gone.Code != agent.ToolGone || !gone.Resumed {
		t.Errorf("resolved to %+v, %v", entry, err)
	}
}
