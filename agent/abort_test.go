package agent_test

import (
	"context"
	"errors"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// expectStopped sends another line and looks at what the model hears of the calls
// that an abort ended: a word of its own, and no empty success.
func expectStopped(t *testing.T, d *desk, id agent.ConversationID) {
	t.Helper()
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	requests := d.model.Requests()
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role == agent.RoleTool && (m.State != agent.CallCancelled || m.Result.Text() != "The dispatcher stopped this before it was done. Nothing was sent.") {
			t.Errorf("of %s the model hears %s %q", m.CallID, m.State, m.Result.Text())
		}
	}
}

// TestAnAbortEndsAllCardsOfTheTurn: none of them comes up afterwards.
func TestAnAbortEndsAllCardsOfTheTurn(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall, orderTwo, callOut), agenttest.Say("Hello."))
	d.wo.Add(agent.Tool{Name: "call_out"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	sent := d.send(t, orderLine)
	report, err := d.Abort(t.Context(), sent.ConversationID)
	if err != nil || report.Status != agent.TurnAborted {
		t.Fatalf("abort: %+v, %v", report, err)
	}
	for _, reopened := range []bool{false, true} {
		if reopened {
			d.reopen(t)
			if err := d.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if waiting, err := d.Waiting(t.Context()); err != nil || len(waiting) != 0 {
			t.Errorf("reopened %v: %+v, %v", reopened, waiting, err)
		}
	}
	for _, card := range sent.Approvals {
		var decided *agent.DecidedError
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: card.ApprovalID}); !errors.As(err, &decided) || decided.Approval.State != agent.ApprovalCancelled {
			t.Errorf("approve %s: %v", card.ApprovalID, err)
		}
	}
	if len(d.wo.Ledger("order"))+len(d.wo.Ledger("call_out")) != 0 {
		t.Error("something was sent")
	}
	expectStopped(t, d, sent.ConversationID)
}

// TestAnAbortDuringTheOnlyReadEndsIt: the read is told to stop, and the
// conversation can be used at once.
func TestAnAbortDuringTheOnlyReadEndsIt(t *testing.T) {
	d := newDesk(t, agenttest.Call(lookUp), agenttest.Say("Hello."))
	entered := make(chan struct{})
	d.wo.SetHandler("look_up", func(ctx context.Context, _ agent.CallRequest) (agent.Result, error) {
		close(entered)
		<-ctx.Done()
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: "work-orders", Err: ctx.Err()}
	})
	id, done := d.NewConversation(), make(chan error, 1)
	go func() {
		_, err := d.Send(context.Background(), agent.SendRequest{Conversation: id, Text: "status 1044"})
		done <- err
	}()
	<-entered
	report, err := d.Abort(t.Context(), id)
	if err != nil || report.Status != agent.TurnAborted || report.Calls[0].Status != agent.CallCancelled {
		t.Errorf("abort: %+v, %v", report, err)
	}
	if err := <-done; err != nil {
		t.Errorf("the turn that was stopped: %v", err)
	}
	expectStopped(t, d, id)
}
