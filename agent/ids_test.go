package agent_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// TestTheIdOfACallIsOneOnEveryBranch: the model's id goes back to the model, ours
// is on the wire to the server, and both stand in the record, whatever becomes of
// the call.
func TestTheIdOfACallIsOneOnEveryBranch(t *testing.T) {
	answer := func(result agent.Result, err error) agenttest.Handler {
		return func(context.Context, agent.CallRequest) (agent.Result, error) { return result, err }
	}
	broken := func(outcome agent.Outcome) error {
		return &agent.CallError{Outcome: outcome, Server: "work-orders", Err: errors.New("connection reset")}
	}
	for _, test := range []struct {
		name    string
		call    agent.ModelCall
		handler agenttest.Handler // nil: the tool as it is
		decide  string
		state   agent.CallState
		sends   int
	}{
		{"success", agenttest.Tool("book", `{"work_order_id":"WO-1044"}`), nil, "", agent.CallDone, 1},
		{"a failure told to the model", agenttest.Tool("book", `{"work_order_id":"WO-1044"}`), answer(*agent.TextResult("nobody is free", true), nil), "", agent.CallFailed, 1},
		{"a server that could not be reached", agenttest.Tool("book", `{"work_order_id":"WO-1044"}`), answer(agent.Result{}, broken(agent.OutcomeNotSent)), "", agent.CallFailed, 1},
		{"an error that the server answered with", agenttest.Tool("book", `{"work_order_id":"WO-1044"}`), answer(agent.Result{}, broken(agent.OutcomeAnswered)), "", agent.CallFailed, 1},
		{"bad arguments", agenttest.Tool("order", `{"quantity":"two"}`), nil, "", agent.CallRefused, 0},
		{"no such tool", agenttest.Tool("nothing", `{}`), nil, "", agent.CallRefused, 0},
		{"approved", orderCall, nil, "approve", agent.CallDone, 1},
		{"denied", orderCall, nil, "deny", agent.CallDenied, 0},
		{"settled", orderCall, answer(agent.Result{}, broken(agent.OutcomeUnknown)), "settle", agent.CallDone, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			call := test.call
			call.ID = "model-7"
			d := newDesk(t, agent.ModelReply{Calls: []agent.ModelCall{call}}, agenttest.Say("Said."))
			if test.handler != nil {
				d.wo.SetHandler(call.Name, test.handler)
			}
			report := d.send(t, orderLine+" and book it")
			switch test.decide {
			case "approve", "settle":
				_, _ = d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
			case "deny":
				_, _ = d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
			}
			if test.decide == "settle" {
				if _, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleHappened}); err != nil {
					t.Fatal(err)
				}
			}
			end, err := d.Report(t.Context(), report.ConversationID)
			if err != nil || len(end.Calls) != 1 {
				t.Fatalf("report: %+v, %v", end, err)
			}
			c := end.Calls[0]
			if c.ID != report.Calls[0].ID || c.ID == "" || c.ModelID != "model-7" || c.Status != test.state {
				t.Errorf("call = %+v, want %s", c, test.state)
			}
			heard := d.model.Requests()[1].Messages
			if heard[1].Calls[0].ID != "model-7" || heard[2].CallID != "model-7" || heard[2].Name != call.Name || heard[2].State != test.state {
				t.Errorf("heard %+v", heard[1:])
			}
			sent := d.wo.Ledger(call.Name)
			if len(sent) != test.sends {
				t.Errorf("sent %d times, want %d", len(sent), test.sends)
			}
			for _, r := range sent {
				if r.Call != c.ID || r.Approval != c.ApprovalID {
					t.Errorf("the server got %+v", r)
				}
			}
		})
	}
}

// TestAnIdThatTheModelUsesAgainRidesOnNoEarlierApproval: in a later turn it is
// another call, with another key.
func TestAnIdThatTheModelUsesAgainRidesOnNoEarlierApproval(t *testing.T) {
	more := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":99}`)
	same := orderCall
	same.ID, more.ID = "call_1", "call_1"
	reply := func(c agent.ModelCall) agent.ModelReply { return agent.ModelReply{Calls: []agent.ModelCall{c}} }
	d := newDesk(t, reply(same), agenttest.Say("one"), reply(more), agenttest.Say("two"), reply(same), agenttest.Say("three"))
	sent := d.send(t, orderLine)
	for i, id := range []agent.ApprovalID{"A-1", "A-2", "A-3"} {
		if i > 0 {
			report, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: orderLine})
			if err != nil || report.Status != agent.TurnPaused || report.ApprovalID != id {
				t.Fatalf("send %d: %+v, %v", i, report, err)
			}
		}
		d.orders(t, i)
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: id}); err != nil {
			t.Fatal(err)
		}
		d.orders(t, i+1)
	}
	keys := map[string]bool{}
	for _, key := range d.wo.Orders() {
		keys[key] = true
	}
	if len(keys) != 3 {
		t.Errorf("keys: %v", keys)
	}
}

// TestEqualIdsInTwoConversationsAreTwoCalls: each is restored and decided alone.
func TestEqualIdsInTwoConversationsAreTwoCalls(t *testing.T) {
	other := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":2}`)
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Call(other), agenttest.Say("Not ordered."), agenttest.Say("Ordered."))
	one, two := d.send(t, orderLine), d.send(t, orderLine)
	d.reopen(t)
	if report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: two.ApprovalID}); err != nil || report.ConversationID != two.ConversationID {
		t.Fatalf("deny: %+v, %v", report, err)
	}
	if report, err := d.Report(t.Context(), one.ConversationID); err != nil || report.Status != agent.TurnPaused {
		t.Errorf("the other: %+v, %v", report, err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: one.ApprovalID}); err != nil {
		t.Fatal(err)
	}
	if sent := d.wo.Ledger("order"); len(sent) != 1 || string(sent[0].Arguments) != string(one.Approvals[0].Args) {
		t.Errorf("sent %+v", sent)
	}
}

// TestResultsOfReadsComeToTheirCallsInWhateverOrderTheyFinish: four reads are out
// at once and are answered in every order of a few.
func TestResultsOfReadsComeToTheirCallsInWhateverOrderTheyFinish(t *testing.T) {
	for round := range 20 {
		var calls []agent.ModelCall
		for i := range 4 {
			calls = append(calls, agenttest.Tool("look_up", fmt.Sprintf(`{"work_order_id":"WO-%d"}`, 1040+i)))
		}
		d := newDesk(t, agenttest.Call(calls...), agenttest.Say("Said."))
		var all sync.WaitGroup // all four are out before one is answered
		all.Add(4)
		turns := [4]chan struct{}{}
		for i := range turns {
			turns[i] = make(chan struct{})
		}
		close(turns[round%4])
		d.wo.SetHandler("look_up", func(_ context.Context, r agent.CallRequest) (agent.Result, error) {
			var n int
			if _, err := fmt.Sscanf(string(r.Arguments), `{"work_order_id":"WO-%d"}`, &n); err != nil {
				return agent.Result{}, err
			}
			all.Done()
			all.Wait()
			<-turns[n-1040]
			next := (n - 1040 + 1 + 2*(round/4%2)) % 4 // one up, or one down
			defer func() {
				if next != round%4 {
					close(turns[next])
				}
			}()
			return agenttest.Structured(string(r.Arguments)), nil
		})
		d.send(t, "status of all")
		for i, m := range d.model.Requests()[1].Messages[2:] {
			if want := fmt.Sprintf(`{"work_order_id":"WO-%d"}`, 1040+i); m.CallID != fmt.Sprintf("call_%d", i) || m.Result.Text() != want {
				t.Errorf("round %d: %s is answered by %s", round, m.CallID, m.Result.Text())
			}
		}
	}
}
