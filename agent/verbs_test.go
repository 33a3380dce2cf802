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
)

// verbDesk is a desk whose first approval, A-1, is about a call in some state.
type verbDesk struct {
	*desk
	conversation agent.ConversationID
	now          time.Time
	release      func() // lets a call that is out be answered
	out          chan error
}

func newVerbDesk(t *testing.T) *verbDesk {
	t.Helper()
	v := &verbDesk{desk: newDesk(t), now: agenttest.Now}
	v.model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		if r.Messages[len(r.Messages)-1].Role == agent.RoleUser {
			return agenttest.Call(orderCall), nil
		}
		return agenttest.Say("All right."), nil
	}
	policy := agenttest.Policy("work-orders")
	policy.ExpiresAfter = "8h"
	v.Engine = agenttest.NewEngine(t, agent.Config{
		Store: v.store, Model: v.model, Sources: []agent.Source{v.wo}, Policy: agenttest.NewPolicy(t, policy),
		Now: func() time.Time { return v.now },
	})
	v.conversation = v.send(t, orderLine).ConversationID
	return v
}

// answers makes the order tool give one answer.
func (v *verbDesk) answers(result agent.Result, err error) {
	v.wo.SetHandler("order", func(context.Context, agent.CallRequest) (agent.Result, error) { return result, err })
}

func (v *verbDesk) approve(ctx context.Context) error {
	_, err := v.Approve(ctx, agent.DecideRequest{Approval: "A-1"})
	return err
}

// callStates are how the call of A-1 gets into each state.
var callStates = []struct {
	name  string
	reach func(*testing.T, *verbDesk)
}{
	{"waiting", func(*testing.T, *verbDesk) {}},
	{"approved", func(t *testing.T, v *verbDesk) {
		v.answers(agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Err: errors.New("refused")})
		_ = v.approve(t.Context())
		v.answers(agenttest.Structured(`{}`), nil)
	}},
	{"running", func(t *testing.T, v *verbDesk) {
		gate, entered := make(chan struct{}), make(chan struct{})
		first := true
		v.wo.SetHandler("order", func(context.Context, agent.CallRequest) (agent.Result, error) {
			if first {
				first = false
				close(entered)
				<-gate
			}
			return agenttest.Structured(`{}`), nil
		})
		v.out = approveInBackground(t, v.desk, "A-1")
		<-entered
		v.release = func() { close(gate) }
	}},
	{"unknown", func(t *testing.T, v *verbDesk) {
		v.answers(agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Err: errors.New("reset")})
		_ = v.approve(t.Context())
		v.answers(agenttest.Structured(`{}`), nil)
	}},
	{"done", func(t *testing.T, v *verbDesk) { _ = v.approve(t.Context()) }},
	{"failed", func(t *testing.T, v *verbDesk) {
		v.answers(*agent.TextResult("out of stock", true), nil)
		_ = v.approve(t.Context())
	}},
	{"denied", func(t *testing.T, v *verbDesk) {
		_, _ = v.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
	}},
	{"expired", func(t *testing.T, v *verbDesk) {
		v.now = v.now.Add(9 * time.Hour)
		_ = v.ExpireDue(t.Context())
	}},
	{"cancelled", func(t *testing.T, v *verbDesk) { _, _ = v.Abort(t.Context(), v.conversation) }},
	{"refused", func(t *testing.T, v *verbDesk) {
		quote := v.wo.Handler("quote")
		v.wo.SetHandler("quote", agenttest.Fixed(agent.Result{
			IsError: true, Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"the job is closed"}`)},
			Structured: json.RawMessage(`{"error":{"retry":"never"}}`),
		}))
		_ = v.approve(t.Context())
		v.wo.SetHandler("quote", quote)
	}},
}

// verbs are what people can do about A-1 and its conversation.
var verbs = []struct {
	name string
	do   func(context.Context, *verbDesk) error
}{
	{"approve", func(ctx context.Context, v *verbDesk) error { return v.approve(ctx) }},
	{"deny", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Deny(ctx, agent.DecideRequest{Approval: "A-1"})
		return err
	}},
	{"edit", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Edit(ctx, agent.EditRequest{Approval: "A-1", Arguments: json.RawMessage(`{"work_order_id":"WO-1044","sku":"P-2","quantity":2}`)})
		return err
	}},
	{"extend", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Extend(ctx, "A-1", time.Hour)
		return err
	}},
	{"retry", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Retry(ctx, "A-1")
		return err
	}},
	{"settle", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Settle(ctx, agent.SettleRequest{Approval: "A-1", As: agent.SettleHappened})
		return err
	}},
	{"resend", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Settle(ctx, agent.SettleRequest{Approval: "A-1", As: agent.SettleResend})
		return err
	}},
	{"continue", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Continue(ctx, v.conversation)
		return err
	}},
	{"abort", func(ctx context.Context, v *verbDesk) error {
		_, err := v.Abort(ctx, v.conversation)
		return err
	}},
	{"resume", func(ctx context.Context, v *verbDesk) error { return v.Resume(ctx) }},
}

// verbResult is what a verb says, what the call is then, and how often the order
// went out because of it.
type verbResult struct {
	says  string
	state agent.CallState
	sends int
}

// says is what each verb answers where it has nothing to do.
var says = map[string]string{
	"approve": "decided already", "deny": "decided already", "edit": "decided already", "extend": "decided already",
	"retry": "nothing to send again", "settle": "nothing to settle", "resend": "nothing to settle",
	"continue": "not stalled", "abort": "no open turn", "resume": "ok",
}

// verbResults are the pairs of state and verb that do something; in all others
// the verb answers as above, and nothing moves.
var verbResults = map[string]map[string]verbResult{
	"waiting": {
		"approve": {"ok", agent.CallDone, 1}, "deny": {"ok", agent.CallDenied, 0}, "edit": {"ok", agent.CallWaiting, 0},
		"extend": {"ok", agent.CallWaiting, 0}, "abort": {"ok", agent.CallCancelled, 0},
	},
	"approved": {
		"approve": {"ok", agent.CallDone, 1}, "retry": {"ok", agent.CallDone, 1}, "deny": {"ok", agent.CallDenied, 0},
		"abort": {"ok", agent.CallCancelled, 0},
	},
	// The call that is out is answered when the verb has returned.
	"running": {"abort": {"ok", agent.CallDone, 0}},
	"unknown": {
		"settle": {"ok", agent.CallDone, 0}, "resend": {"ok", agent.CallDone, 1}, "resume": {"ok", agent.CallDone, 1},
		"abort": {"ok", agent.CallUnknown, 0},
	},
}

// TestEveryVerbInEveryState walks all pairs of what a call may be and what people
// can do about it.
func TestEveryVerbInEveryState(t *testing.T) {
	for _, state := range callStates {
		for _, verb := range verbs {
			t.Run(verb.name+" a call that is "+state.name, func(t *testing.T) {
				v := newVerbDesk(t)
				state.reach(t, v)
				before := len(v.wo.Ledger("order"))
				err := verb.do(t.Context(), v)
				if v.release != nil {
					v.release()
					<-v.out
				}
				want, does := verbResults[state.name][verb.name]
				if !does {
					want = verbResult{says[verb.name], agent.CallState(state.name), 0}
					if v.release != nil {
						want.state = agent.CallDone
					}
				}
				calls, readErr := v.store.Calls(t.Context(), []agent.CallID{v.callOf(t)})
				if readErr != nil || len(calls) != 1 {
					t.Fatalf("%+v, %v", calls, readErr)
				}
				got := verbResult{errorKind(err), calls[0].State, len(v.wo.Ledger("order")) - before}
				if got != want {
					t.Errorf("got %+v (%v), want %+v", got, err, want)
				}
				if err := agenttest.CheckDesk(t.Context(), v.store); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func (v *verbDesk) callOf(t *testing.T) agent.CallID {
	t.Helper()
	approvals, err := v.store.Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || len(approvals) != 1 {
		t.Fatalf("A-1: %+v, %v", approvals, err)
	}
	return approvals[0].Call
}

// errorKind names the type of a verb's error.
func errorKind(err error) string {
	var (
		decided    *agent.DecidedError
		notStalled *agent.NotStalledError
	)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &decided):
		return "decided already"
	case errors.As(err, &notStalled):
		return "not stalled"
	case errors.Is(err, agent.ErrNoOpenTurn):
		return "no open turn"
	}
	for _, words := range []string{"nothing to send again", "nothing to settle"} {
		if strings.Contains(err.Error(), words) {
			return words
		}
	}
	return err.Error()
}
