package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// follow collects what happens from now on; the result reads what has come so
// far.
func follow(t *testing.T, e *agent.Engine) func() []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	happenings := e.Follow(ctx, 100)
	return func() []string {
		var kinds []string
		for len(happenings) > 0 {
			h := <-happenings
			kinds = append(kinds, string(h.Kind))
		}
		return kinds
	}
}

func expectKinds(t *testing.T, got []string, want ...agent.HappeningKind) {
	t.Helper()
	var words []string
	for _, w := range want {
		words = append(words, string(w))
	}
	if !slices.Equal(got, words) {
		t.Errorf("happened: %v\nwant:     %v", got, words)
	}
}

func TestATurnThatRunsThroughStartsAndEndsOnce(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Say("It waits for parts."))
	happened := follow(t, d.Engine)
	d.send(t, "status 1044")
	expectKinds(t, happened(), agent.TurnStarted, agent.ToolStarted, agent.ToolFinished, agent.TurnEnded)
}

func TestAPausedTurnResumesBeforeItsToolStartsAlsoAfterARestart(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	happened := follow(t, d.Engine)
	d.send(t, orderLine)
	expectKinds(t, happened(), agent.TurnStarted, agent.TurnWaits)
	d.reopen(t)
	happened = follow(t, d.Engine)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectKinds(t, happened())
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	expectKinds(t, happened(), agent.TurnResumed, agent.ToolStarted, agent.ToolFinished, agent.TurnEnded)
}

func TestAfterOneOfTwoDecisionsTheTurnPausesAgain(t *testing.T) {
	other := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)
	d := newDesk(t, agenttest.Call(orderCall, other), agenttest.Say("Done."))
	d.send(t, orderLine)
	happened := follow(t, d.Engine)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	expectKinds(t, happened(), agent.TurnResumed, agent.ToolStarted, agent.ToolFinished, agent.TurnWaits)
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
		t.Fatal(err)
	}
	expectKinds(t, happened(), agent.TurnResumed, agent.TurnEnded)
}

func TestASlowFollowerIsToldToReadTheStore(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."), agenttest.Say("Hello."))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	happenings := d.Follow(ctx, 2)
	sent := d.send(t, orderLine) // fills the two places
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	<-happenings
	<-happenings
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if h := <-happenings; h.Kind != agent.Lagged {
		t.Errorf("after a gap came %v", h.Kind)
	}
}

func TestProgressIsShownAndOnlyTheResultIsStored(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Say("Done."))
	var seen map[agent.CallID]agent.Progress
	d.wo.Add(agent.Tool{Name: "look_up"}, func(_ context.Context, r agent.CallRequest) (agent.Result, error) {
		r.Progress(agent.Progress{Done: 1, Total: 2, Message: "half"})
		seen = d.Progress()
		return agenttest.Structured(`{"work_order":{"id":"WO-1044"}}`), nil
	})
	report := d.send(t, "status 1044")
	if p := seen[report.Calls[0].ID]; p.Message != "half" {
		t.Errorf("progress = %+v", seen)
	}
	if len(d.Progress()) != 0 {
		t.Error("the progress of a finished call is still shown")
	}
	if text := report.Calls[0].Result.Text(); strings.Contains(text, "half") {
		t.Errorf("the stored result is %q", text)
	}
}

func TestAFailureStallsTheTurnWhereTheToolSaysSo(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Say("It failed."))
	d.wo.Add(agent.Tool{Name: "look_up"}, agenttest.Fixed(*agent.TextResult("the book is locked", true)))
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
		OnError: map[agent.QualifiedName]agent.OnError{"work-orders/look_up": agent.OnErrorStall},
	})
	report, err := d.Send(t.Context(), agent.SendRequest{Text: "status 1044"})
	var stalled *agent.StallError
	if !errors.As(err, &stalled) || !strings.Contains(err.Error(), "the book is locked") {
		t.Fatalf("send: %v", err)
	}
	if n := len(d.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if r, err := d.Continue(t.Context(), report.ConversationID); err != nil || r.Answer != "It failed." {
		t.Errorf("continue: %+v, %v", r, err)
	}
}

func TestTheEnginesOwnSentencesCanBeChanged(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("So be it."))
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
		Texts: agent.Texts{DeniedSpending: "Nicht bestellt."},
	})
	d.send(t, orderLine)
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: "zu teuer"}); err != nil {
		t.Fatal(err)
	}
	requests := d.model.Requests()
	if heard := requests[1].Messages[2].Result.Text(); heard != "Nicht bestellt. Reason: zu teuer" {
		t.Errorf("the model heard %q", heard)
	}
}
