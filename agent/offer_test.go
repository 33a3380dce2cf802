package agent_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// legalName is what every provider takes as the name of a tool.
var legalName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

// offered are the names of the tools in the n-th model request, from 0.
func offered(m *agenttest.Model, n int) map[string]int {
	names := map[string]int{}
	for _, tool := range m.Requests()[n].Tools {
		names[tool.Name]++
	}
	return names
}

// TestWhatServersOfferIsAskedForEachRequest: a tool that comes, or a server that
// goes, counts from the next request on, and names that the conversation uses
// stay with their tools.
func TestWhatServersOfferIsAskedForEachRequest(t *testing.T) {
	south, north := agenttest.NewSource("south"), agenttest.NewSource("north")
	south.Add(agent.Tool{Name: "fit"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	north.Add(agent.Tool{Name: "sell"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	model := &agenttest.Model{Script: agenttest.Replies(agenttest.Say("one"), agenttest.Say("two"), agenttest.Say("three"), agenttest.Say("four"))}
	config := agent.Config{Store: state.New(memory.New()), Model: model, Sources: []agent.Source{north, south}}
	engine := agenttest.NewEngine(t, config)
	id := engine.NewConversation()
	send := func(id agent.ConversationID) {
		t.Helper()
		if _, err := engine.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	send(id)
	if got := offered(model, 0); got["fit"] != 1 || got["sell"] != 1 || len(got) != 2 {
		t.Errorf("offered %v", got)
	}
	north.Add(agent.Tool{Name: "fit"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	send(id)
	if got := offered(model, 1); got["fit"] != 1 || got["north__fit"] != 1 || len(got) != 3 {
		t.Errorf("with a newcomer: %v", got)
	}
	south.SetDown(errors.New("nothing listens"))
	engine = agenttest.NewEngine(t, config)
	send(id)
	if got := offered(model, 2); got["fit"] != 1 || got["north__fit"] != 1 || len(got) != 3 {
		t.Errorf("with a server that is down: %v", got)
	}
	send(engine.NewConversation())
	if got := offered(model, 3); got["south__fit"] != 1 || got["north__fit"] != 1 || len(got) != 3 {
		t.Errorf("in a new conversation: %v", got)
	}
}

// TestWhatAToolCostsIsToldToTheModelAndOnTheCard: in the server's own words.
func TestWhatAToolCostsIsToldToTheModelAndOnTheCard(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall))
	d.send(t, orderLine)
	count := 0
	for _, tool := range d.model.Requests()[0].Tools {
		if strings.Contains(tool.Name, "order") {
			count++
			if tool.Description != "Orders a part. This costs money." {
				t.Errorf("the model reads %q", tool.Description)
			}
		}
	}
	if count != 1 {
		t.Errorf("the model is offered the order %d times", count)
	}
	approvals, err := d.store.Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || approvals[0].Description != "Orders a part. This costs money." {
		t.Errorf("the card reads %q, %v", approvals[0].Description, err)
	}
}

// TestWhyAToolWasNotFoundCanBeTold: each reason has a code of its own, and the
// error names what was looked for, what there is, and on which branch.
func TestWhyAToolWasNotFoundCanBeTold(t *testing.T) {
	box := agent.NewToolbox([]agent.ServerTools{
		{Name: "south", List: agent.ToolList{Tools: tools("fit", "sell")}},
		{Name: "north", Down: errors.New("nothing listens")},
	}, nil)
	_, unmapped := box.Lookup("south/fit")
	_, gone := box.Resolve("south/order")
	_, unknown := box.Resolve("west/fit")
	for _, test := range []struct {
		err   error
		code  agent.ToolErrorCode
		words []string
	}{
		{unmapped, agent.ToolUnmapped, []string{"south/fit", "fit, sell", "a new call"}},
		{gone, agent.ToolGone, []string{"south/order", "south/fit, south/sell", "a stored call"}},
		{unknown, agent.ServerUnknown, []string{"west", "north, south", "a stored call"}},
	} {
		var tool *agent.ToolError
		if !errors.As(test.err, &tool) || tool.Code != test.code {
			t.Errorf("%v, want the code %s", test.err, test.code)
			continue
		}
		for _, words := range test.words {
			if !strings.Contains(test.err.Error(), words) {
				t.Errorf("%q does not say %q", test.err, words)
			}
		}
	}
	var down *agent.UnreachableError
	if _, err := box.Resolve("north/fit"); !errors.As(err, &down) {
		t.Errorf("a server that is down: %v", err)
	}
}
