package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// vanDesk is a desk with one gated tool that keeps no keys; the answers to its
// first sends are lost.
func vanDesk(t *testing.T, timeout time.Duration, lost int) (*agent.Engine, *agenttest.Model, *agenttest.Source) {
	t.Helper()
	vans := agenttest.NewSource("vans")
	sends := 0
	vans.Add(agent.Tool{Name: "send_van"}, func(context.Context, agent.CallRequest) (agent.Result, error) {
		if sends++; sends <= lost {
			return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: "vans", Err: errors.New("connection reset")}
		}
		return agenttest.Structured(`{"van":{"status":"on its way"}}`), nil
	})
	model := &agenttest.Model{Script: agenttest.Replies(agenttest.Call(agenttest.Tool("send_van", `{"work_order_id":"WO-1044"}`)), agenttest.Say("I see."))}
	engine := agenttest.NewEngine(t, agent.Config{
		Store: state.New(memory.New()), Model: model, Sources: []agent.Source{vans}, CallTimeout: timeout,
	})
	if _, err := engine.Send(t.Context(), agent.SendRequest{Text: "send a van to WO-1044"}); err != nil {
		t.Fatal(err)
	}
	report, err := engine.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Status != agent.TurnPaused || report.Calls[0].Status != agent.CallUnknown {
		t.Fatalf("approve: %+v, %v", report, err)
	}
	return engine, model, vans
}

// TestAPersonSettlesWhatNobodyKnows: the model hears what the person said, with
// the note, and nothing is sent.
func TestAPersonSettlesWhatNobodyKnows(t *testing.T) {
	for _, test := range []struct {
		as    agent.SettleAs
		state agent.CallState
		heard string
	}{
		{agent.SettleHappened, agent.CallDone, "A person confirmed that this happened; the server's own answer is not known. Note: saw it leave"},
		{agent.SettleNot, agent.CallFailed, "A person confirmed that this did not happen. Nothing was done by this call. Note: saw it leave"},
	} {
		t.Run(string(test.as), func(t *testing.T) {
			engine, model, vans := vanDesk(t, 0, 1)
			report, err := engine.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: test.as, Note: "saw it leave"})
			if err != nil || report.Status != agent.TurnCompleted || report.Calls[0].Status != test.state {
				t.Fatalf("settle: %+v, %v", report, err)
			}
			if heard := model.Requests()[1].Messages[2].Result; heard.Text() != test.heard || heard.IsError {
				t.Errorf("the model heard %q", heard.Text())
			}
			if _, err := engine.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleNot}); err == nil {
				t.Error("it was settled twice")
			}
			if n := len(vans.Ledger("send_van")); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

// TestWithoutAKeyACallIsSentAgainOnlyAfterItsDeadline: until then the first send
// may still be at work.
func TestWithoutAKeyACallIsSentAgainOnlyAfterItsDeadline(t *testing.T) {
	again := agent.SettleRequest{Approval: "A-1", As: agent.SettleResend}
	engine, _, vans := vanDesk(t, time.Hour, 1)
	if err := engine.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Settle(t.Context(), again); err == nil || !strings.Contains(err.Error(), "may still be running") {
		t.Errorf("resend: %v", err)
	}
	if n := len(vans.Ledger("send_van")); n != 1 {
		t.Errorf("sent %d times", n)
	}

	engine, _, vans = vanDesk(t, time.Millisecond, 1)
	for begun := time.Now(); ; {
		report, err := engine.Settle(t.Context(), again)
		if err == nil {
			if report.Calls[0].Status != agent.CallDone {
				t.Errorf("report = %+v", report)
			}
			break
		}
		if !strings.Contains(err.Error(), "may still be running") || time.Since(begun) > 30*time.Second {
			t.Fatal(err)
		}
	}
	if sent := vans.Ledger("send_van"); len(sent) != 2 || sent[0].Call != sent[1].Call {
		t.Errorf("sent %+v", sent)
	}
}

// TestAWordOnlySettlesWhatIsUnknown: "it happened" about a card that waits is no
// decision.
func TestAWordOnlySettlesWhatIsUnknown(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall))
	d.send(t, orderLine)
	for _, as := range []agent.SettleAs{agent.SettleHappened, agent.SettleNot, agent.SettleResend, "perhaps", ""} {
		if _, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: as}); err == nil {
			t.Errorf("%q settled a card", as)
		}
	}
	waiting, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallWaiting {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
	d.orders(t, 0)
}

// TestACardWithoutItsPreviewCannotBeApproved: also when the server is back; what
// it costs has to be seen first.
func TestACardWithoutItsPreviewCannotBeApproved(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	quote := d.wo.Handler("quote")
	d.wo.SetHandler("quote", func(context.Context, agent.CallRequest) (agent.Result, error) {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: "work-orders", Err: errors.New("connection refused")}
	})
	d.send(t, orderLine)
	for _, back := range []bool{false, true} {
		if back {
			d.wo.SetHandler("quote", quote)
		}
		var unreachable *agent.UnreachableError
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &unreachable) {
			t.Errorf("approve, server back %v: %v", back, err)
		}
		d.orders(t, 0)
	}
	if _, err := d.Retry(t.Context(), "A-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}

// TestArgumentsArriveAsTheyWereDrawn: numbers keep their decimal text, null stays
// null, and what is drawn is what is sent, byte for byte.
func TestArgumentsArriveAsTheyWereDrawn(t *testing.T) {
	vans := agenttest.NewSource("vans")
	vans.Add(agent.Tool{Name: "send_van"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	arguments := `{"work_order_id":"WO-1044","big":12345678901234567890,"price":84.90,"tiny":1E-7,"none":null,"text":"a\nb é 天 \u2028 <b> & co","nested":{"b":[1.0,2],"a":""}}`
	want := `{"big":12345678901234567890,"nested":{"a":"","b":[1.0,2]},"none":null,"price":84.90,"text":"a\nb é 天 \u2028 <b> & co","tiny":1E-7,"work_order_id":"WO-1044"}`
	store := state.New(memory.New())
	engine := agenttest.NewEngine(t, agent.Config{
		Store: store, Sources: []agent.Source{vans},
		Model: &agenttest.Model{Script: agenttest.Replies(agenttest.Call(agenttest.Tool("send_van", arguments)), agenttest.Say("Sent."))},
	})
	report, err := engine.Send(t.Context(), agent.SendRequest{Text: "send a van to WO-1044"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	if drawn := report.Approvals[0].Args; string(drawn) != want {
		t.Errorf("drawn %s\nwant  %s", drawn, want)
	}
	if sent := vans.Ledger("send_van")[0].Arguments; string(sent) != want {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
	calls, err := store.Calls(t.Context(), []agent.CallID{report.Calls[0].ID})
	if err != nil || !json.Valid(calls[0].Proposed) {
		t.Errorf("what the model wrote is not kept: %+v, %v", calls, err)
	}
}
