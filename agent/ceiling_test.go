package agent_test

import (
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// ceilingDesk has a rule that lets small orders run unasked.
func ceilingDesk(t *testing.T, rules []agent.Rule, replies ...agent.ModelReply) *desk {
	t.Helper()
	d := newDesk(t, replies...)
	policy := agenttest.Policy("work-orders")
	policy.Rules = rules
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, policy),
	})
	return d
}

func ceiling(minor, perDay int64, currency string) agent.Rule {
	return agent.Rule{Tool: "work-orders/order", Then: agent.DecisionRun,
		Ceiling: &agent.Ceiling{Minor: minor, Currency: currency, At: "/line/total", PerDay: perDay}}
}

func TestASpendingToolRunsUnaskedOnlyUnderACeilingInItsCurrency(t *testing.T) {
	for _, test := range []struct {
		name    string
		rules   []agent.Rule
		runs    bool
		because string
	}{
		{"no rule", nil, false, "spends money"},
		{"a rule without a ceiling", []agent.Rule{{Tool: "work-orders/order", Then: agent.DecisionRun}}, false, "spends money"},
		{"under the ceiling", []agent.Rule{ceiling(8490, 0, "EUR")}, true, ""},
		{"above the ceiling", []agent.Rule{ceiling(8489, 0, "EUR")}, false, "spends 84.90 EUR; up to 84.89 EUR would run by itself"},
		{"another currency", []agent.Rule{ceiling(100_000, 0, "GBP")}, false, "spends 84.90 EUR"},
		{"above the ceiling of the day", []agent.Rule{ceiling(8490, 8000, "EUR")}, false, "0.00 EUR was spent by itself today already"},
		{"a stricter rule beside it", []agent.Rule{ceiling(8490, 0, "EUR"), {Tool: "work-orders/order", When: "preview.line.quantity >= 1", Then: agent.DecisionAsk, Because: "at least one"}}, false, "at least one"},
		{"a rule that fails", []agent.Rule{ceiling(8490, 0, "EUR"), {Tool: "work-orders/order", When: "preview.nothing.here == 1", Then: agent.DecisionRun}}, false, "a rule could not be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := ceilingDesk(t, test.rules, agenttest.Call(orderCall), agenttest.Say("Done."))
			report := d.send(t, orderLine)
			if test.runs {
				d.orders(t, 1)
				if report.Status != agent.TurnCompleted || report.Ledger != "1 order placed: PO-3021, 84.90 EUR." {
					t.Errorf("report = %+v", report)
				}
				return
			}
			d.orders(t, 0)
			if report.Status != agent.TurnPaused || !strings.HasPrefix(report.Approvals[0].Because, test.because) {
				t.Errorf("report = %+v", report)
			}
		})
	}
}

func TestTheCeilingOfADayCountsAllCalls(t *testing.T) {
	other := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)
	d := ceilingDesk(t, []agent.Rule{ceiling(8490, 10_000, "EUR")}, agenttest.Call(orderCall, other))
	report := d.send(t, orderLine)
	d.orders(t, 1)
	if len(report.Approvals) != 1 || !strings.HasPrefix(report.Approvals[0].Because, "84.90 EUR was spent") {
		t.Errorf("report = %+v", report)
	}
}

func TestAnOrderThatNobodyAskedForAsksAlsoUnderACeiling(t *testing.T) {
	d := ceilingDesk(t, []agent.Rule{ceiling(100_000, 0, "EUR")}, agenttest.Call(orderCall))
	report := d.send(t, "what does the customer say on 1058")
	d.orders(t, 0)
	if report.Status != agent.TurnPaused || report.Approvals[0].Because != "not in your request" {
		t.Errorf("report = %+v", report)
	}
}

func TestARefusingRuleAboutThePreviewAsksNobody(t *testing.T) {
	d := ceilingDesk(t, []agent.Rule{{Tool: "work-orders/order", When: "preview.line.total.minor > 5000", Then: agent.DecisionRefuse, Because: "too dear"}},
		agenttest.Call(orderCall), agenttest.Say("It is too dear."))
	report := d.send(t, orderLine)
	if report.Status != agent.TurnCompleted || report.Calls[0].Status != agent.CallRefused {
		t.Errorf("report = %+v", report)
	}
	requests := d.model.Requests()
	if heard := requests[1].Messages[2].Result.Text(); !strings.Contains(heard, "too dear") {
		t.Errorf("the model heard %q", heard)
	}
}

func TestAnInvalidPolicyIsRefusedWithThePositionOfTheFault(t *testing.T) {
	for _, test := range []struct {
		name   string
		policy agent.PolicyConfig
		wants  []string
	}{
		{"no expression", agent.PolicyConfig{Rules: []agent.Rule{{}, {Tool: "a/b", When: "args.x ==", Then: "ask"}}}, []string{"policy.rules[0]"}},
		{"a broken expression", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b", When: "args.x ==", Then: "ask"}}}, []string{"policy.rules[0]", "1:"}},
		{"an unknown variable", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b", When: "arg.x", Then: "ask"}}}, []string{"undeclared reference to 'arg'"}},
		{"no bool", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b", When: "1 + 1", Then: "ask"}}}, []string{"not true or false"}},
		{"an unknown decision", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b", Then: "allow"}}}, []string{"run, ask or refuse"}},
		{"an empty decision", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b"}}}, []string{"run, ask or refuse"}},
		{"a bare tool", agent.PolicyConfig{RunWithoutApproval: []agent.QualifiedName{"order"}}, []string{"policy.runWithoutApproval[0]", "server/tool"}},
		{"a ceiling without a currency", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b", Then: "run", Ceiling: &agent.Ceiling{Minor: 1, At: "/x"}}}}, []string{"currency"}},
		{"a ceiling that asks", agent.PolicyConfig{Rules: []agent.Rule{{Tool: "a/b", Then: "ask", Ceiling: &agent.Ceiling{Minor: 1, Currency: "EUR", At: "/x"}}}}, []string{"ceiling"}},
		{"an expiry that is none", agent.PolicyConfig{ExpiresAfter: "soon"}, []string{"policy.expiresAfter"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := agent.NewPolicy(test.policy)
			if err == nil {
				t.Fatal("the policy was taken")
			}
			for _, want := range test.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}
