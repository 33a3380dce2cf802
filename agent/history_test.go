package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// TestWhatAProviderWantsBackSurvivesAPauseAndARestart byte for byte, with the
// message that it came with.
func TestWhatAProviderWantsBackSurvivesAPauseAndARestart(t *testing.T) {
	const opaque = `{"call_0":{"thought_signature":"c2ln<&>","n":12345678901234567890},"b":1.50,"a":null}`
	first := agenttest.Call(orderCall)
	first.Text, first.Opaque = "I order it.", json.RawMessage(opaque)
	last := agenttest.Say("Ordered.")
	last.Opaque = json.RawMessage(`"last"`)
	d := newDesk(t, first, last, agenttest.Say("You are welcome."))
	sent := d.send(t, orderLine)
	d.reopen(t)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.reopen(t)
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "thanks"}); err != nil {
		t.Fatal(err)
	}
	for n, want := range [][]string{{""}, {"", opaque, ""}, {"", opaque, "", `"last"`, ""}} {
		var got []string
		for _, m := range d.model.Requests()[n].Messages {
			got = append(got, string(m.Opaque))
		}
		if !slices.Equal(got, want) {
			t.Errorf("request %d has %q, want %q", n, got, want)
		}
	}
}

// TestALongPastIsLeftOutByWholeTurns: neither the number nor the size of what came
// before parts a call from its result, and what waits is always there.
func TestALongPastIsLeftOutByWholeTurns(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns int
		size  int
	}{{"many turns", 100, 10}, {"large turns", 12, 20_000}, {"a turn above the budget", 1, 300_000}} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			big := agenttest.Structured(fmt.Sprintf(`{"work_order":{"id":"WO-1044","text":%q}}`, strings.Repeat("x", test.size)))
			d.wo.SetHandler("look_up", agenttest.Fixed(big))
			d.model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
				switch last := r.Messages[len(r.Messages)-1]; {
				case last.Text == orderLine:
					return agenttest.Call(lookUp, orderCall), nil
				case last.Role == agent.RoleUser:
					return agenttest.Call(lookUp), nil
				}
				return agenttest.Say("It waits."), nil
			}
			id := d.NewConversation()
			for i := range test.turns {
				if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: fmt.Sprintf("status of 1044, number %d", i)}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: orderLine}); err != nil {
				t.Fatal(err)
			}
			d.reopen(t)
			if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
				t.Fatal(err)
			}
			requests := d.model.Requests()
			last := requests[len(requests)-1].Messages
			if test.turns > 1 && len(last) >= 4*test.turns {
				t.Errorf("all %d messages were sent", len(last))
			}
			turn := last[len(last)-4:]
			if last[0].Role != agent.RoleUser || turn[0].Text != orderLine || turn[2].State != agent.CallDone || turn[3].State != agent.CallDone || turn[3].Name != "order" {
				t.Errorf("the request begins with %+v and ends with %+v", last[0], turn)
			}
			// newDesk's clean-up checks that every request is whole
		})
	}
}

// TestAResultThatLooksLikeNothingIsAResult: beside a call that waits, across a
// restart.
func TestAResultThatLooksLikeNothingIsAResult(t *testing.T) {
	for _, structured := range []string{`false`, `0`, `""`, `null`, `{}`, `[]`, ``} {
		for _, failed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q, failed %v", structured, failed), func(t *testing.T) {
				d := newDesk(t, agenttest.Call(lookUp, orderCall), agenttest.Say("Done."))
				nothing := agent.Result{Content: []json.RawMessage{}, Structured: json.RawMessage(structured), IsError: failed}
				if structured == "" {
					nothing.Structured = nil
				}
				d.wo.SetHandler("look_up", agenttest.Fixed(nothing))
				d.send(t, orderLine)
				d.reopen(t)
				if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
					t.Fatal(err)
				}
				if n := len(d.wo.Ledger("look_up")); n != 1 {
					t.Errorf("read %d times", n)
				}
				heard := d.model.Requests()[1].Messages[2]
				if heard.Result == nil || string(heard.Result.Structured) != structured || heard.Result.IsError != failed || len(heard.Result.Content) != 0 {
					t.Errorf("the model heard %+v", heard.Result)
				}
			})
		}
	}
}

// TestPeopleAndTheModelSeeTheSameCalls with the same results in the same order,
// whatever became of them, also after a kill. The engine whose turn was taken over
// finds nothing left to do, which is no error.
func TestPeopleAndTheModelSeeTheSameCalls(t *testing.T) {
	d := newOwnersDesk(t, agenttest.Call(lookUp, bookVisit, orderCall, orderTwo, callOut, tool("nothing", `{}`)))
	d.wo.SetHandler("call_out", func(context.Context, agent.CallRequest) (agent.Result, error) {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Err: errors.New("reset")}
	})
	look := d.hold("look_up")
	e, _ := d.engine(t)
	id := e.NewConversation()
	done := inTheMiddle(t, e, id, false, look)
	e, _ = d.engine(t) // the other one is dead
	if err := e.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := e.Report(t.Context(), id)
	if err != nil || len(report.Approvals) != 3 {
		t.Fatalf("report: %+v, %v", report, err)
	}
	_, denied := e.Deny(t.Context(), agent.DecideRequest{Approval: report.Approvals[0].ApprovalID})
	_, approved := e.Approve(t.Context(), agent.DecideRequest{Approval: report.Approvals[1].ApprovalID})
	_, lost := e.Approve(t.Context(), agent.DecideRequest{Approval: report.Approvals[2].ApprovalID})
	_, settled := e.Settle(t.Context(), agent.SettleRequest{Approval: report.Approvals[2].ApprovalID, As: agent.SettleHappened})
	close(look.gate)
	if err := errors.Join(denied, approved, lost, settled, <-done); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "thanks"}); err != nil {
		t.Fatal(err)
	}
	shown, err := e.Transcript(t.Context(), id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	requests := d.model.Requests()
	expectSameStory(t, shown, requests[len(requests)-1].Messages)
}

// expectSameStory compares what people see with what the model heard of it: the
// model has not heard the end.
func expectSameStory(t *testing.T, shown []agent.TranscriptEntry, heard []agent.ModelMessage) {
	t.Helper()
	var people, model []string
	for _, entry := range shown {
		people = append(people, string(entry.Message.Role)+" "+entry.Message.Text)
		for _, c := range entry.Calls {
			people = append(people, fmt.Sprintf("%s %s %s %s", c.WireID, c.Alias, c.State, c.Result.Text()))
		}
	}
	for _, m := range heard {
		if m.Role == agent.RoleTool {
			model = append(model, fmt.Sprintf("%s %s %s %s", m.CallID, m.Name, m.State, m.Result.Text()))
			continue
		}
		model = append(model, string(m.Role)+" "+m.Text)
	}
	if len(people) == 0 || len(model) < 8 || !slices.Equal(people[:min(len(people), len(model))], model) {
		t.Errorf("people see\n%s\nthe model heard\n%s", strings.Join(people, "\n"), strings.Join(model, "\n"))
	}
}

// TestTheSameStoryIsToldInTheSameOrder: nothing of it comes from the order of a
// map, neither requests nor cards nor what is sent again after a kill.
func TestTheSameStoryIsToldInTheSameOrder(t *testing.T) {
	tell := func() string {
		south, north := agenttest.NewWorkOrders("south"), agenttest.NewWorkOrders("north")
		var calls []agent.ModelCall
		for _, server := range []string{"south", "north"} {
			for i := range 3 {
				calls = append(calls, tool(server+"__order", fmt.Sprintf(`{"work_order_id":"WO-1044","sku":"P-%d","quantity":1}`, i)))
			}
		}
		model := &agenttest.Model{Script: agenttest.Replies(agenttest.Call(calls...), agenttest.Say("Ordered."))}
		config := agent.Config{Store: state.New(memory.New()), Model: model, Sources: []agent.Source{south, north}}
		engine := agenttest.NewEngine(t, config)
		report, err := engine.Send(t.Context(), agent.SendRequest{Text: orderLine})
		if err != nil {
			t.Fatal(err)
		}
		var story []string
		for _, s := range []*agenttest.WorkOrders{south, north} {
			inner := s.Handler("order")
			s.SetHandler("order", func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
				story = append(story, s.Name()+" "+string(r.Approval))
				if len(story) <= 2*len(calls) { // sent, and asked again with the key
					return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Err: errors.New("reset")}
				}
				return inner(ctx, r)
			})
		}
		for _, a := range report.Approvals {
			story = append(story, string(a.Tool)+" "+string(a.ApprovalID))
		}
		story = nil
		for _, a := range report.Approvals {
			if _, err := engine.Approve(t.Context(), agent.DecideRequest{Approval: a.ApprovalID}); err != nil {
				t.Fatal(err)
			}
		}
		engine = agenttest.NewEngine(t, config)
		if err := engine.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, r := range model.Requests() {
			for _, offer := range r.Tools {
				story = append(story, offer.Name)
			}
			for _, m := range r.Messages {
				story = append(story, m.Name+" "+string(m.State))
			}
		}
		return strings.Join(story, "\n")
	}
	want := tell()
	for range 20 {
		if got := tell(); got != want {
			t.Fatalf("told as\n%s\nand as\n%s", want, got)
		}
	}
}
