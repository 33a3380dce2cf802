package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

func TestCallsThatCannotRunAreToldToTheModelAndNobodyIsAsked(t *testing.T) {
	for _, test := range []struct{ name, alias, arguments, wants string }{
		{"an unknown tool", "refund_part", `{}`, "There is no tool \"refund_part\". The tools are: book, look_up, order, quote."},
		{"a tool named like a built-in", "constructor", `{}`, "There is no tool"},
		{"no name", "", `{}`, "There is no tool"},
		{"a wrong type", "order", `{"work_order_id":"WO-1044","sku":"X","quantity":"two"}`, "not valid"},
		{"a missing argument", "order", `{"work_order_id":"WO-1044"}`, "not valid"},
		{"no object", "order", `[]`, "must be a JSON object"},
		{"null", "order", `null`, "must be a JSON object"},
		{"no JSON", "order", `{"quantity":NaN}`, "not valid"},
		{"cut short", "order", `{"quantity":1`, "not valid"},
		{"a name twice", "order", `{"quantity":1,"quantity":99,"work_order_id":"WO-1044","sku":"X"}`, "stands twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, agenttest.Call(agenttest.Tool(test.alias, test.arguments)), agenttest.Say("I see."))
			report := d.send(t, orderLine)
			if report.Status != agent.TurnCompleted || report.Calls[0].Status != agent.CallRefused {
				t.Fatalf("report = %+v", report)
			}
			requests := d.model.Requests()
			if heard := requests[1].Messages[2].Result; !strings.Contains(heard.Text(), test.wants) || !heard.IsError {
				t.Errorf("the model heard %q", heard.Text())
			}
			if len(d.wo.Ledger("quote"))+len(d.wo.Ledger("order")) != 0 {
				t.Error("something was sent")
			}
		})
	}
}

func TestAToolThatIsNotListedAsks(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("refund", `{"work_order_id":"WO-1044"}`)))
	d.wo.Add(agent.Tool{Name: "refund"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	report := d.send(t, "refund WO-1044")
	if report.Status != agent.TurnPaused || report.Approvals[0].Tool != "work-orders/refund" {
		t.Fatalf("report = %+v", report)
	}
	cards, err := d.Store().Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || cards[0].Line != "refund WO-1044" {
		t.Errorf("the card does not say what was asked: %+v, %v", cards, err)
	}
	if len(d.wo.Ledger("refund")) != 0 {
		t.Error("it ran")
	}
}

func TestFilledArgumentsAreTheEnginesOwn(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("order",
		`{"quantity":1,"sku":"HE-3000-230","work_order_id":"WO-1044","idempotency_key":"mine","max_total_minor":1}`)), agenttest.Say("Ordered."))
	report := d.send(t, orderLine)
	args := string(report.Approvals[0].Args)
	if strings.Contains(args, "mine") || !strings.Contains(args, `"max_total_minor":8490`) {
		t.Errorf("args = %s", args)
	}
	for _, tool := range d.model.Requests()[0].Tools {
		if strings.Contains(string(tool.InputSchema), "idempotency_key") {
			t.Errorf("%s shows the model the key: %s", tool.Name, tool.InputSchema)
		}
	}
}

func TestParallelCallsAreDecidedOneByOneAndHeardTogetherInOrder(t *testing.T) {
	call := func(id, sku string) agent.ModelCall {
		c := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"`+sku+`","quantity":1}`)
		c.ID = id
		return c
	}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		look := agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)
		look.ID = "l"
		d := newDesk(t, agent.ModelReply{Calls: []agent.ModelCall{call("a", "P-1"), look, call("b", "P-2"), call("c", "P-3")}}, agenttest.Say("Done."))
		report := d.send(t, orderLine)
		if len(report.Approvals) != 3 || report.Calls[1].Status != agent.CallDone {
			t.Fatalf("report = %+v", report)
		}
		for step, i := range order {
			id := report.Approvals[i].ApprovalID
			var err error
			if i == 1 {
				_, err = d.Deny(t.Context(), agent.DecideRequest{Approval: id})
			} else {
				_, err = d.Approve(t.Context(), agent.DecideRequest{Approval: id})
			}
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(d.model.Requests()); asked != 1+step/2 {
				t.Errorf("after %d decisions the model was asked %d times", step+1, asked)
			}
			if step == 0 {
				d.reopen(t)
			}
		}
		heard := d.model.Requests()[1].Messages[2:]
		var ids []string
		for _, m := range heard {
			ids = append(ids, m.CallID)
		}
		if !slices.Equal(ids, []string{"a", "l", "b", "c"}) {
			t.Errorf("results in the order %v", ids)
		}
		if heard[2].State != agent.CallDenied || heard[0].State != agent.CallDone {
			t.Errorf("states: %v, %v", heard[0].State, heard[2].State)
		}
		for _, r := range d.wo.Ledger("order") {
			if strings.Contains(string(r.Arguments), "P-2") {
				t.Error("the denied call was sent")
			}
		}
		d.orders(t, 2)
	}
}

func TestTheSameCallAfterADenialIsAnsweredWithoutACardAndThenStopsTheTurn(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Call(orderCall), agenttest.Call(orderCall), agenttest.Say("never"))
	d.model.Script = func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		c := orderCall
		c.ID = string(rune('a' + n))
		return agent.ModelReply{Calls: []agent.ModelCall{c}}, nil
	}
	d.send(t, orderLine)
	_, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
	var stalled *agent.StallError
	if !errors.As(err, &stalled) || !strings.Contains(err.Error(), "declined") {
		t.Fatalf("deny: %v", err)
	}
	requests := d.model.Requests()
	if len(requests) != 3 {
		t.Errorf("%d model requests, want 3", len(requests))
	}
	if heard := requests[2].Messages[4].Result.Text(); !strings.Contains(heard, "already declined") {
		t.Errorf("the model heard %q", heard)
	}
	if waiting, _ := d.Waiting(t.Context()); len(waiting) != 0 {
		t.Errorf("another card: %+v", waiting)
	}
}

func TestIdsOfTheModelMayBeEmptyOrUsedAgain(t *testing.T) {
	look := func(id string) agent.ModelReply {
		c := agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)
		c.ID = id
		return agent.ModelReply{Calls: []agent.ModelCall{c}}
	}
	d := newDesk(t, look("x"), agenttest.Say("one"), look("x"), agenttest.Say("two"), look(""), agenttest.Say("three"), look("not legal!"), agenttest.Say("four"))
	report := d.send(t, "status 1044")
	for range 3 {
		var err error
		if report, err = d.Send(t.Context(), agent.SendRequest{Conversation: report.ConversationID, Text: "status 1044 again"}); err != nil {
			t.Fatal(err)
		}
	}
	if report.Answer != "four" || report.Calls[0].ModelID != "not legal!" {
		t.Errorf("report = %+v", report)
	}
	// newDesk's clean-up checks every request for ids that are unique and answered
}

func TestTwoCallsWithOneIdInOneReplyAreBothRefused(t *testing.T) {
	a, b := orderCall, agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":99}`)
	a.ID, b.ID = "x", "x"
	d := newDesk(t, agent.ModelReply{Calls: []agent.ModelCall{a, b}}, agenttest.Say("Sorry."))
	report := d.send(t, orderLine)
	if report.Status != agent.TurnCompleted || report.Calls[0].Status != agent.CallRefused || report.Calls[1].Status != agent.CallRefused {
		t.Errorf("report = %+v", report)
	}
}

func TestAWriteThatNoLineAskedForAsksAlsoWherePolicyWouldLetItRun(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("book", `{"work_order_id":"WO-1058"}`)))
	report := d.send(t, "what does the customer say on 1044")
	if report.Status != agent.TurnPaused || report.Approvals[0].Because != "not in your request" {
		t.Fatalf("report = %+v", report)
	}
	if len(d.wo.Ledger("book")) != 0 {
		t.Error("it ran")
	}
	asked := newDesk(t, agenttest.Call(agenttest.Tool("book", `{"work_order_id":"WO-1058"}`)), agenttest.Say("Booked."))
	if r := asked.send(t, "book somebody for 1058"); r.Status != agent.TurnCompleted {
		t.Errorf("report = %+v", r)
	}
}

func TestTwoServersWithTheSameToolNeverCross(t *testing.T) {
	for _, swap := range []bool{false, true} {
		north, south := agenttest.NewWorkOrders("north"), agenttest.NewWorkOrders("south")
		model := &agenttest.Model{Script: agenttest.Replies(
			agenttest.Call(agenttest.Tool("south__order", `{"work_order_id":"WO-1044","sku":"X","quantity":1}`)), agenttest.Say("Ordered."))}
		store := state.New(memory.New())
		policy := agenttest.NewPolicy(t, agent.PolicyConfig{})
		engine := agenttest.NewEngine(t, agent.Config{Store: store, Model: model, Sources: []agent.Source{north, south}, Policy: policy})
		if _, err := engine.Send(t.Context(), agent.SendRequest{Text: orderLine}); err != nil {
			t.Fatal(err)
		}
		sources := []agent.Source{south, north}
		if swap {
			sources = []agent.Source{north, south}
		}
		engine = agenttest.NewEngine(t, agent.Config{Store: store, Model: model, Sources: sources, Policy: policy})
		if _, err := engine.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
			t.Fatal(err)
		}
		if len(north.Orders()) != 0 || len(south.Orders()) != 1 {
			t.Errorf("north %d, south %d", len(north.Orders()), len(south.Orders()))
		}
	}
}

func TestAToolThatChangedOrMovedMakesANewCardOrNone(t *testing.T) {
	t.Run("another definition", func(t *testing.T) {
		d := newDesk(t, agenttest.Call(orderCall))
		d.send(t, orderLine)
		list, _ := d.wo.Tools(t.Context())
		for _, tool := range list.Tools {
			if tool.Name == "order" {
				tool.Description = "Orders two."
				d.wo.Add(tool, d.wo.Handler("order"))
			}
		}
		var changed *agent.ChangedError
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &changed) {
			t.Errorf("approve: %v", err)
		}
		d.orders(t, 0)
	})
	t.Run("another server under the name", func(t *testing.T) {
		d := newDesk(t, agenttest.Call(orderCall))
		d.send(t, orderLine)
		d.wo.SetIdentity("test:other")
		var changed *agent.ChangedError
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &changed) {
			t.Errorf("approve: %v", err)
		}
		d.orders(t, 0)
	})
	t.Run("gone", func(t *testing.T) {
		d := newDesk(t, agenttest.Call(orderCall))
		d.send(t, orderLine)
		d.wo.Remove("order")
		var missing *agent.ToolError
		if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &missing) || missing.Code != agent.ToolGone {
			t.Errorf("approve: %v", err)
		}
		d.orders(t, 0)
	})
}

func TestARecordThatWasChangedOnDiskDecidesNothing(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Declined."))
	d.send(t, orderLine)
	err := d.store.Update(t.Context(), func(tx agent.Tx) error {
		a, err := tx.Approval("A-1")
		if err != nil {
			return err
		}
		a.Arguments = []byte(`{"quantity":99,"sku":"HE-3000-230","work_order_id":"WO-1044"}`)
		return tx.PutApproval(a)
	})
	if err != nil {
		t.Fatal(err)
	}
	var digest *agent.DigestError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &digest) {
		t.Errorf("approve: %v", err)
	}
	d.orders(t, 0)
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Errorf("deny: %v", err)
	}
}

func TestADecisionOnSomethingElseThanWasDrawnIsRefused(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall))
	d.send(t, orderLine)
	var digest *agent.DigestError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1", Digest: "something else"}); !errors.As(err, &digest) {
		t.Errorf("approve: %v", err)
	}
	if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Digest: "something else"}); !errors.As(err, &digest) {
		t.Errorf("deny: %v", err)
	}
	d.orders(t, 0)
}

func TestAMessageIntoAPausedTurnIsRefusedOrQueued(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."), agenttest.Say("It waits for parts."))
	sent := d.send(t, orderLine)
	var busy *agent.BusyError
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "status 1044"}); !errors.As(err, &busy) {
		t.Fatalf("send: %v", err)
	}
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "status 1044", Queue: true}); err != nil {
		t.Fatal(err)
	}
	d.reopen(t)
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Answer != "It waits for parts." {
		t.Errorf("report = %+v, %v", report, err)
	}
}

// failing is a backend whose writes fail while broken is set.
type failing struct {
	kv.Store
	broken error
}

func (f *failing) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if f.broken != nil {
		return f.broken
	}
	return f.Store.Update(ctx, fn)
}

func TestAStoreThatCannotWriteShowsNoCardAndSendsNothing(t *testing.T) {
	backend := &failing{Store: memory.New()}
	wo := agenttest.NewWorkOrders("work-orders")
	full := errors.New("no space left on device")
	model := &agenttest.Model{Script: func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		if n == 0 {
			backend.broken = full
		}
		return agenttest.Call(orderCall), nil
	}}
	engine := agenttest.NewEngine(t, agent.Config{
		Store: state.New(backend), Model: model, Sources: []agent.Source{wo}, Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
	})
	if _, err := engine.Send(t.Context(), agent.SendRequest{Text: orderLine}); !errors.Is(err, full) {
		t.Errorf("send: %v", err)
	}
	if waiting, _ := engine.Waiting(t.Context()); len(waiting) != 0 {
		t.Errorf("a card that is not on disk: %+v", waiting)
	}
	if len(wo.Orders()) != 0 {
		t.Error("something was ordered")
	}
}

func TestAfterAFailedWriteTheTurnGoesOnWhenTheDiskIsBack(t *testing.T) {
	d := newDesk(t, agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Say("It waits for parts."))
	backend := &brokenAfterReply{Store: memory.New(), model: d.model}
	d.store = state.New(backend)
	d.reopen(t)
	id := d.NewConversation()
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: id, Text: "status 1044"}); !errors.Is(err, errBroken) {
		t.Fatalf("send: %v", err)
	}
	backend.mended = true
	report, err := d.Continue(t.Context(), id)
	if err != nil || report.Answer != "It waits for parts." {
		t.Errorf("continue: %+v, %v", report, err)
	}
}

func TestALineBehindAStoppedTurnIsNotSentByItself(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Status of 1044."))
	sent := d.send(t, orderLine)
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "status 1043", Queue: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Abort(t.Context(), sent.ConversationID); err != nil {
		t.Fatal(err)
	}
	report, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: "status 1044"})
	if err != nil || report.Answer != "Status of 1044." {
		t.Errorf("report = %+v, %v", report, err)
	}
	if n := len(d.model.Requests()); n != 2 {
		t.Errorf("%d model requests, want 2", n)
	}
	if text, err := d.Unqueue(t.Context(), sent.ConversationID, 0); err != nil || text != "status 1043" {
		t.Errorf("the line is lost: %q, %v", text, err)
	}
}

func TestLinesBehindATurnAreSentOneAfterTheOther(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."), agenttest.Say("One."), agenttest.Say("Two."))
	sent := d.send(t, orderLine)
	for _, line := range []string{"first", "second"} {
		if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: sent.ConversationID, Text: line, Queue: true}); err != nil {
			t.Fatal(err)
		}
	}
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Answer != "Two." {
		t.Errorf("report = %+v, %v", report, err)
	}
}
