package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"pgregory.net/rapid"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// goodCalls are what models ask for, badCalls what they ask for in error.
var (
	goodCalls = []agent.ModelCall{
		tool("order", `{"work_order_id":"WO-1044","sku":"P-1","quantity":1}`),
		tool("order", `{"quantity":1,"sku":"P-1","work_order_id":"WO-1044"}`), // the same
		tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":2}`),
		tool("order", `{"work_order_id":"WO-1044","sku":"P-3","quantity":1,"idempotency_key":"mine","max_total_minor":1}`),
		tool("call_out", `{"work_order_id":"WO-1044"}`),
		tool("call_out", `{"work_order_id":"WO-1058"}`),
		tool("book", `{"work_order_id":"WO-1044"}`),
		tool("book", `{"work_order_id":"WO-1058"}`),
		tool("note", `{"work_order_id":"WO-1044","text":"a"}`),
		tool("look_up", `{}`),
	}
	badCalls = []agent.ModelCall{
		tool("order", `{"work_order_id":"WO-1044","sku":"P-1","quantity":"one"}`),
		tool("order", `{"work_order_id":`),
		tool("order", `{"sku":"P-1","sku":"P-2"}`),
		tool("note", `[1]`),
		tool("refund", `{}`),
	}
)

// drawCall draws a call; one in eight is bad, and one in eight has a bad id.
func drawCall(rt *rapid.T, place int) agent.ModelCall {
	from, id := goodCalls, fmt.Sprintf("call_%d", place)
	if rapid.IntRange(0, 7).Draw(rt, "bad") == 7 {
		from = badCalls
	}
	call := rapid.SampledFrom(from).Draw(rt, "call")
	if rapid.IntRange(0, 7).Draw(rt, "bad id") == 7 {
		id = rapid.SampledFrom([]string{"call_0", "", "not a legal id"}).Draw(rt, "id")
	}
	call.ID, call.Arguments = id, append(json.RawMessage(nil), call.Arguments...)
	return call
}

// drawReply draws what a model says. A calm one only talks.
func drawReply(rt *rapid.T, r agent.ModelRequest, calm bool) (agent.ModelReply, error) {
	if calm {
		return agenttest.Say("All right."), nil
	}
	steps := 0
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != agent.RoleUser; i-- {
		if r.Messages[i].Role == agent.RoleAssistant {
			steps++
		}
	}
	switch kind := rapid.IntRange(0, 15).Draw(rt, "reply"); {
	case kind == 15:
		return agent.ModelReply{}, errors.New("500 from the provider")
	case kind == 14:
		return agent.ModelReply{}, nil // empty
	case kind > 11 || steps > 3:
		return agenttest.Say("All right."), nil
	}
	var reply agent.ModelReply
	reads := 0
	for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
		call := drawCall(rt, i)
		if call.Name == "look_up" {
			// Two reads of one reply race for the store, so that a history
			// could not be told again.
			if reads++; reads > 1 {
				continue
			}
		}
		reply.Calls = append(reply.Calls, call)
	}
	return reply, nil
}

// close ends everything that is open, with a server that works and a person who
// denies, and makes sure that every conversation is usable.
func (w *randomWorld) close() {
	w.calm, w.down, w.refuse, w.lose = true, false, 0, 0
	w.restart()
	_ = w.engine.Resume(context.Background()) // what it cannot do, the person does below
	w.check()
	for range 100 {
		if !w.closeOne() {
			break
		}
		w.check()
	}
	heads, err := w.store().OpenTurns(context.Background())
	if err != nil || len(heads) != 0 {
		w.rt.Fatalf("turns that nobody can close: %+v, %v", heads, err)
	}
	all, err := w.store().Conversations(context.Background(), 0, 10)
	if err != nil {
		w.rt.Fatal(err)
	}
	for _, h := range all {
		report, err := w.engine.Send(context.Background(), agent.SendRequest{Conversation: h.Conversation, Text: lastLine})
		if err != nil || report.Status != agent.TurnCompleted {
			w.rt.Fatalf("%s is not usable: %+v, %v", h.Conversation, report, err)
		}
	}
}

// closeOne does one thing about what is open; false if nothing is.
func (w *randomWorld) closeOne() bool {
	ctx := context.Background()
	w.life.begin()
	waiting, err := w.engine.Waiting(ctx)
	if err != nil {
		w.rt.Fatal(err)
	}
	if len(waiting) > 0 {
		a := waiting[0]
		switch a.Status {
		case agent.CallUnknown:
			as := agent.SettleNot
			if w.sendsOf(a.CallID) > 0 {
				as = agent.SettleHappened
			}
			_, err = w.engine.Settle(ctx, agent.SettleRequest{Call: a.CallID, As: as})
		default:
			_, err = w.engine.Deny(ctx, agent.DecideRequest{Approval: a.ApprovalID})
		}
		var stalled *agent.StallError
		if err != nil && !errors.As(err, &stalled) {
			w.rt.Fatalf("closing %+v: %v", a, err)
		}
		return true
	}
	heads, err := w.store().OpenTurns(ctx)
	if err != nil {
		w.rt.Fatal(err)
	}
	if len(heads) == 0 {
		return false
	}
	if _, err := w.engine.Continue(ctx, heads[0].Conversation); err != nil {
		w.rt.Fatalf("continuing %+v: %v", heads[0], err)
	}
	return true
}
