package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// TestATurnThatGoesRoundInCirclesStallsAndCanGoOn: a model that only ever calls is
// stopped after some steps, the dispatcher is told, and may let it go on.
func TestATurnThatGoesRoundInCirclesStallsAndCanGoOn(t *testing.T) {
	d := newDesk(t)
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		if n == 50 { // so that a turn that nobody stops ends
			return agenttest.Say("That was all."), nil
		}
		c := agenttest.Tool("look_up", fmt.Sprintf(`{"work_order_id":"WO-%d"}`, 1000+n))
		c.ID = fmt.Sprintf("call_%d", n)
		return agent.ModelReply{Calls: []agent.ModelCall{c}}, nil
	}
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, MaxSteps: 5,
		Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
	})
	id := d.NewConversation()
	_, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "look around"})
	var stalled *agent.StallError
	if !errors.As(err, &stalled) || !strings.Contains(err.Error(), "5 steps") {
		t.Fatalf("send: %v", err)
	}
	if n := len(d.model.Requests()); n != 5 {
		t.Errorf("%d model requests, want 5", n)
	}
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(d.model.Requests()); n != 5 {
		t.Errorf("a start went on with what a limit had stopped: %d requests", n)
	}
	d.model.Script = func(int, agent.ModelRequest) (agent.ModelReply, error) { return agenttest.Say("Enough."), nil }
	if report, err := d.Continue(t.Context(), id); err != nil || report.Answer != "Enough." {
		t.Errorf("continue: %+v, %v", report, err)
	}
}

// TestAModelThatRepeatsOneMistakeIsStoppedBecauseOfIt: the dispatcher reads which.
func TestAModelThatRepeatsOneMistakeIsStoppedBecauseOfIt(t *testing.T) {
	d := newDesk(t)
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		c := agenttest.Tool("look_up", `["WO-1044"]`)
		c.ID = fmt.Sprintf("call_%d", n)
		return agent.ModelReply{Calls: []agent.ModelCall{c}}, nil
	}
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, MaxSteps: 3,
		Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
	})
	_, err := d.Send(t.Context(), agent.SendRequest{Conversation: d.NewConversation(), Text: "status 1044"})
	if err == nil || !strings.Contains(err.Error(), "3 steps") || !strings.Contains(err.Error(), "its last call was refused: ") || !strings.Contains(err.Error(), "object") {
		t.Errorf("send: %v", err)
	}
}

// TestWhoeverWaitsForAModelSeesWhy, until the model answers.
func TestWhoeverWaitsForAModelSeesWhy(t *testing.T) {
	d := newDesk(t)
	id := d.NewConversation()
	seen := ""
	d.model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		r.Waiting(agent.ModelWait{Reason: "too many requests (429)", Pause: 7 * time.Second})
		seen = d.Live()[id]
		return agenttest.Say("Good morning."), nil
	}
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if seen != "(too many requests (429); asking again in 7s)" || d.Live()[id] != "" {
		t.Errorf("live text %q, then %q", seen, d.Live()[id])
	}
}

// TestOfTooManyCallsTheRestIsTold: sixteen calls of a reply are taken, and the
// model hears how many were not.
func TestOfTooManyCallsTheRestIsTold(t *testing.T) {
	for _, test := range []struct {
		calls, taken int
		note         string
	}{
		{16, 16, ""},
		{17, 16, "1 more call of this reply was not taken: too many at once. Ask again."},
		{40, 16, "24 more calls of this reply were not taken: too many at once. Ask again."},
	} {
		var calls []agent.ModelCall
		for i := range test.calls {
			calls = append(calls, agenttest.Tool("look_up", fmt.Sprintf(`{"work_order_id":"WO-%d"}`, 1000+i)))
		}
		d := newDesk(t, agenttest.Call(calls...), agenttest.Say("Said."))
		if report := d.send(t, "status of all"); len(report.Calls) != test.taken {
			t.Errorf("%d of %d calls were taken", len(report.Calls), test.calls)
		}
		if n := len(d.wo.Ledger("look_up")); n != test.taken {
			t.Errorf("%d calls reached the server", n)
		}
		heard := d.model.Requests()[1].Messages[2:]
		if last := heard[len(heard)-1]; len(heard) != test.taken || last.Note != test.note {
			t.Errorf("of %d calls the model heard %d, and %q", test.calls, len(heard), last.Note)
		}
	}
}

// TestARuleMaySeeTheConversationAndTheCall: a second write of a conversation can
// ask although the first one ran.
func TestARuleMaySeeTheConversationAndTheCall(t *testing.T) {
	shop := agenttest.NewSource("shop")
	shop.Add(agent.Tool{Name: "note"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	policy := agenttest.NewPolicy(t, agent.PolicyConfig{
		RunWithoutApproval: []agent.QualifiedName{"shop/note"},
		Rules: []agent.Rule{
			{Tool: "shop/note", When: `conversation.exists(m, m.contains("noted"))`, Then: agent.DecisionAsk, Because: "one note was written already"},
			{Tool: "shop/note", When: `call == "" || tool != "note" || server != "shop"`, Then: agent.DecisionRefuse},
		},
	})
	note := func(text string) agent.ModelReply {
		return agenttest.Call(agenttest.Tool("note", `{"work_order_id":"WO-1044","text":"`+text+`"}`))
	}
	model := &agenttest.Model{Script: agenttest.Replies(note("a"), agenttest.Say("It is noted."), note("b"))}
	engine := agenttest.NewEngine(t, agent.Config{Store: state.New(memory.New()), Model: model, Sources: []agent.Source{shop}, Policy: policy})
	first, err := engine.Send(t.Context(), agent.SendRequest{Text: "note a on WO-1044"})
	if err != nil || first.Status != agent.TurnCompleted || first.Calls[0].Status != agent.CallDone {
		t.Fatalf("the first: %+v, %v", first, err)
	}
	second, err := engine.Send(t.Context(), agent.SendRequest{Conversation: first.ConversationID, Text: "note b on WO-1044"})
	if err != nil || second.Status != agent.TurnPaused || second.Approvals[0].Because != "one note was written already" {
		t.Errorf("the second: %+v, %v", second, err)
	}
}

// TestTheStrictestOfTheRulesThatMatchWins in whatever order they stand.
func TestTheStrictestOfTheRulesThatMatchWins(t *testing.T) {
	rule := func(then agent.DecisionKind) agent.Rule { return agent.Rule{Tool: "shop/note", Then: then} }
	run, ask, refuse := rule(agent.DecisionRun), rule(agent.DecisionAsk), rule(agent.DecisionRefuse)
	unread := agent.Rule{Tool: "shop/note", When: "args.nothing == 1", Then: agent.DecisionRun}
	not := agent.Rule{Tool: "shop/note", When: "false", Then: agent.DecisionRefuse}
	other := agent.Rule{Tool: "shop/other", Then: agent.DecisionRefuse}
	for _, test := range []struct {
		listed, spends bool
		rules          []agent.Rule
		want           agent.DecisionKind
	}{
		{false, false, nil, agent.DecisionAsk},
		{true, false, nil, agent.DecisionRun},
		{true, true, nil, agent.DecisionAsk},
		{false, false, []agent.Rule{run}, agent.DecisionRun},
		{false, true, []agent.Rule{run}, agent.DecisionAsk},
		{true, false, []agent.Rule{ask}, agent.DecisionAsk},
		{true, false, []agent.Rule{run, ask, run}, agent.DecisionAsk},
		{true, false, []agent.Rule{refuse, ask, run}, agent.DecisionRefuse},
		{true, false, []agent.Rule{run, ask, refuse}, agent.DecisionRefuse},
		{true, false, []agent.Rule{unread}, agent.DecisionAsk},
		{true, false, []agent.Rule{unread, refuse}, agent.DecisionRefuse},
		{true, false, []agent.Rule{not, other}, agent.DecisionRun},
	} {
		config := agent.PolicyConfig{Rules: test.rules}
		if test.listed {
			config.RunWithoutApproval = []agent.QualifiedName{"shop/note"}
		}
		in := agent.PolicyInput{Tool: "shop/note", Args: []byte(`{}`), Spends: test.spends}
		if got := agenttest.NewPolicy(t, config).Verdict(in); got.Decision != test.want {
			t.Errorf("listed %v, spends %v, %+v: %+v, want %s", test.listed, test.spends, test.rules, got, test.want)
		}
	}
}

// TestARuleThatTakesTooLongAsks: a hostile argument cannot hold up the desk, and
// what the rule would have said is not known.
func TestARuleThatTakesTooLongAsks(t *testing.T) {
	policy := agenttest.NewPolicy(t, agent.PolicyConfig{
		RunWithoutApproval: []agent.QualifiedName{"shop/note"},
		Rules:              []agent.Rule{{Tool: "shop/note", When: `args.a.exists(x, args.a.exists(y, args.a.exists(z, x + y + z == 0)))`, Then: agent.DecisionRefuse}},
	})
	arguments := `{"a":[1` + strings.Repeat(",1", 2000) + `]}`
	if v := policy.Verdict(agent.PolicyInput{Tool: "shop/note", Args: []byte(arguments)}); v.Decision != agent.DecisionAsk || v.Because == "" {
		t.Errorf("verdict = %+v", v)
	}
}
