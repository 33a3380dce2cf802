package agent_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// ownerNumbers keeps the owners of these tests apart.
var ownerNumbers atomic.Int64

// ownersDesk is one store on which several engines work at the same time. The
// model, or a tool, can be made to hold whoever comes there first.
type ownersDesk struct {
	store *state.Store
	model *agenttest.Model
	wo    *agenttest.WorkOrders
	rules *agent.Policy
}

func newOwnersDesk(t *testing.T, reply agent.ModelReply) *ownersDesk {
	t.Helper()
	d := &ownersDesk{
		store: state.New(memory.New()), model: &agenttest.Model{}, wo: agenttest.NewWorkOrders("work-orders"),
		rules: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
	}
	d.wo.Add(agent.Tool{Name: "call_out", Description: "Sends the van."}, agenttest.Fixed(agenttest.Structured(`{"van":"out"}`)))
	d.model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		if r.Messages[len(r.Messages)-1].Role == agent.RoleUser {
			return reply, nil
		}
		return agenttest.Say("All right."), nil
	}
	return d
}

// engine starts another engine, which knows who else is alive.
func (d *ownersDesk) engine(t *testing.T, alive ...agent.OwnerID) (*agent.Engine, agent.OwnerID) {
	t.Helper()
	n := ownerNumbers.Add(1)
	owner := agent.OwnerID(fmt.Sprintf("engine-%d", n))
	var ids atomic.Int64
	e, err := agent.New(agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: d.rules, Owner: owner,
		NewID: func() string { return fmt.Sprintf("%s-id-%d", owner, ids.Add(1)) },
		User:  func() agent.User { return agent.User{ID: "U-01"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Mark(t.Context(), func(o agent.OwnerID) bool { return slices.Contains(alive, o) }); err != nil {
		t.Fatal(err)
	}
	return e, owner
}

// held is where somebody stands still until the test lets go.
type held struct {
	entered, gate chan struct{}
	taken         atomic.Bool
}

func newHeld() *held { return &held{entered: make(chan struct{}), gate: make(chan struct{})} }

func (h *held) stop() {
	if h.taken.CompareAndSwap(false, true) {
		close(h.entered)
		<-h.gate
	}
}

// hold makes the first call of a tool, or with no tool the first request to the
// model, stand still; the server has done its work by then.
func (d *ownersDesk) hold(tool string) *held {
	h := newHeld()
	if tool == "" {
		script := d.model.Script
		d.model.Script = func(n int, r agent.ModelRequest) (agent.ModelReply, error) {
			h.stop()
			return script(n, r)
		}
		return h
	}
	inner := d.wo.Handler(tool)
	d.wo.SetHandler(tool, func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
		result, err := inner(ctx, r)
		h.stop()
		return result, err
	})
	return h
}

// ownerCases are what an engine can be in the middle of.
var ownerCases = []struct {
	name, tool string
	reply      agent.ModelReply
	gated      bool
	// again is how often the tool is called in all if the engine dies there.
	again int
	after agent.TurnState
}{
	{"a model request", "", agenttest.Call(tool("look_up", `{}`)), false, 1, agent.TurnCompleted},
	{"a read", "look_up", agenttest.Call(tool("look_up", `{}`)), false, 2, agent.TurnCompleted},
	{"a free write with a key", "book", agenttest.Call(tool("book", `{"work_order_id":"WO-1044"}`)), false, 2, agent.TurnCompleted},
	{"an order with a key", "order", agenttest.Call(orderCall), true, 2, agent.TurnCompleted},
	{"a gated call without a key", "call_out", agenttest.Call(tool("call_out", `{"work_order_id":"WO-1044"}`)), true, 1, agent.TurnPaused},
}

// inTheMiddle brings an engine to the place that h holds, and gives a channel
// that ends with its verb.
func inTheMiddle(t *testing.T, e *agent.Engine, id agent.ConversationID, gated bool, h *held) chan error {
	t.Helper()
	done := make(chan error, 1)
	if gated {
		if _, err := e.Send(t.Context(), agent.SendRequest{Conversation: id, Text: orderLine}); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		var err error
		if gated {
			_, err = e.Approve(context.Background(), agent.DecideRequest{Approval: "A-1"})
		} else {
			_, err = e.Send(context.Background(), agent.SendRequest{Conversation: id, Text: orderLine})
		}
		done <- err
	}()
	<-h.entered
	return done
}

func TestALivingEnginesWorkIsNeitherMarkedNorContinuedByAnother(t *testing.T) {
	for _, test := range ownerCases {
		t.Run(test.name, func(t *testing.T) {
			d := newOwnersDesk(t, test.reply)
			h := d.hold(test.tool)
			a, owner := d.engine(t)
			id := a.NewConversation()
			done := inTheMiddle(t, a, id, test.gated, h)
			before, err := agenttest.ReadDesk(t.Context(), d.store)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := d.engine(t, owner)
			if err := b.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			after, err := agenttest.ReadDesk(t.Context(), d.store)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := *after.Heads[0].Open, *before.Heads[0].Open; got.State != want.State || got.Owner != owner || !slices.Equal(got.Batch, want.Batch) {
				t.Errorf("the turn was %+v and is %+v", want, got)
			}
			close(h.gate)
			if err := <-done; err != nil {
				t.Errorf("the engine that was left alone: %v", err)
			}
			report, err := a.Report(t.Context(), id)
			if err != nil || report.Status != agent.TurnCompleted {
				t.Errorf("report = %+v, %v", report, err)
			}
			if n := len(d.model.Requests()); n != 2 {
				t.Errorf("%d model requests, want 2", n)
			}
			if n := len(d.wo.Ledger(test.tool)); test.tool != "" && n != 1 {
				t.Errorf("%d calls, want 1", n)
			}
		})
	}
}

// TestADeadEnginesWorkIsMarkedByWhoeverOpensTheStoreAndContinuedOnlyByResume:
// marking alone sends nothing and asks nobody. The dead one's late answer, should
// it be alive after all, changes nothing that stands.
func TestADeadEnginesWorkIsMarkedByWhoeverOpensTheStoreAndContinuedOnlyByResume(t *testing.T) {
	for _, test := range ownerCases {
		t.Run(test.name, func(t *testing.T) {
			d := newOwnersDesk(t, test.reply)
			h := d.hold(test.tool)
			a, _ := d.engine(t)
			id := a.NewConversation()
			done := inTheMiddle(t, a, id, test.gated, h)
			requests, calls := len(d.model.Requests()), len(d.wo.Ledger(test.tool))
			b, _ := d.engine(t, "somebody else")
			report, err := b.Report(t.Context(), id)
			if err != nil || report.Status != agent.TurnStalled && report.Status != agent.TurnPaused {
				t.Errorf("after marking: %+v, %v", report, err)
			}
			if len(d.model.Requests()) != requests || len(d.wo.Ledger(test.tool)) != calls {
				t.Error("marking sent something")
			}
			if err := b.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if report, err = b.Report(t.Context(), id); err != nil || report.Status != test.after {
				t.Errorf("after resuming: %+v, %v", report, err)
			}
			close(h.gate)
			if err := <-done; err != nil {
				t.Errorf("the late one: %v", err)
			}
			if n := len(d.wo.Ledger(test.tool)); test.tool != "" && n != test.again {
				t.Errorf("%d calls, want %d", n, test.again)
			}
			if n := len(d.wo.Orders()); n > 1 {
				t.Errorf("%d orders", n)
			}
			if err := agenttest.CheckDesk(t.Context(), d.store); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTheCallOfALivingEngineIsNotMarkedWithTheTurnOfADeadOne: two engines have a
// call of the same reply out, and one of them dies.
func TestTheCallOfALivingEngineIsNotMarkedWithTheTurnOfADeadOne(t *testing.T) {
	d := newOwnersDesk(t, agenttest.Call(tool("call_out", `{"work_order_id":"WO-1044"}`), orderCall))
	van, order := d.hold("call_out"), d.hold("order")
	a, _ := d.engine(t)
	b, living := d.engine(t)
	sent, err := a.Send(t.Context(), agent.SendRequest{Text: orderLine}) // A-1 is the van, A-2 the order
	if err != nil {
		t.Fatal(err)
	}
	dead, alive := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := a.Approve(context.Background(), agent.DecideRequest{Approval: "A-1"})
		dead <- err
	}()
	<-van.entered
	go func() {
		_, err := b.Approve(context.Background(), agent.DecideRequest{Approval: "A-2"})
		alive <- err
	}()
	<-order.entered
	c, _ := d.engine(t, living)
	if err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := c.Report(t.Context(), sent.ConversationID)
	if err != nil || report.Calls[0].Status != agent.CallUnknown || report.Calls[1].Status != agent.CallRunning {
		t.Errorf("after marking: %+v, %v", report, err)
	}
	close(order.gate)
	if err := <-alive; err != nil {
		t.Error(err)
	}
	if report, err = c.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleHappened}); err != nil || report.Status != agent.TurnCompleted {
		t.Errorf("settle: %+v, %v", report, err)
	}
	close(van.gate)
	if err := <-dead; err != nil {
		t.Error(err)
	}
	if n := len(d.model.Requests()); n != 2 {
		t.Errorf("%d model requests, want 2", n)
	}
	if err := agenttest.CheckDesk(t.Context(), d.store); err != nil {
		t.Error(err)
	}
}

// TestTwoEnginesThatResumeTheSameTurnDoNotBothDriveIt: whoever is slower finds
// nothing to do, which is no error.
func TestTwoEnginesThatResumeTheSameTurnDoNotBothDriveIt(t *testing.T) {
	for _, test := range ownerCases[:4] {
		t.Run(test.name, func(t *testing.T) {
			for range 50 {
				d := newOwnersDesk(t, test.reply)
				h := d.hold(test.tool)
				a, _ := d.engine(t)
				id := a.NewConversation()
				done := inTheMiddle(t, a, id, test.gated, h)
				before := len(d.model.Requests())
				b, nameB := d.engine(t)
				c, _ := d.engine(t, nameB)
				var wait sync.WaitGroup
				for _, e := range []*agent.Engine{b, c} {
					wait.Go(func() {
						if err := e.Resume(t.Context()); err != nil {
							t.Errorf("resume: %v", err)
						}
					})
				}
				wait.Wait()
				report, err := b.Report(t.Context(), id)
				if err != nil || report.Status != agent.TurnCompleted {
					t.Errorf("report = %+v, %v", report, err)
				}
				want := before + 1
				if test.tool == "" {
					want++ // the reply was lost with the request
				}
				if n := len(d.model.Requests()); n != want {
					t.Errorf("%d model requests, want %d", n, want)
				}
				close(h.gate)
				<-done
				if t.Failed() {
					return
				}
			}
		})
	}
}
