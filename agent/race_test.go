package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// raceRounds is how often each pair of verbs is let loose on one card.
func raceRounds() int {
	switch {
	case fullSweep():
		return 1000
	case raceDetector:
		return 25
	}
	return 60
}

// raceDesk is one store with two engines, each of which takes the other for
// alive. The second one's clock is past the expiry of every card.
type raceDesk struct {
	store  *state.Store
	pace   *pacedStore
	model  *agenttest.Model
	wo     *agenttest.WorkOrders
	a, b   *agent.Engine
	paused agent.Report
}

// racePolicy is compiled once: a thousand rounds need no thousand policies.
var racePolicy = sync.OnceValues(func() (*agent.Policy, error) {
	config := agenttest.Policy("work-orders")
	config.ExpiresAfter = "8h"
	return agent.NewPolicy(config)
})

func newRaceDesk(t *testing.T) *raceDesk {
	t.Helper()
	policy, err := racePolicy()
	if err != nil {
		t.Fatal(err)
	}
	pace := &pacedStore{Store: memory.New()}
	d := &raceDesk{store: state.New(pace), pace: pace, wo: agenttest.NewWorkOrders("work-orders"), model: &agenttest.Model{}}
	d.model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		runtime.Gosched()
		if r.Messages[len(r.Messages)-1].Role == agent.RoleUser {
			return agenttest.Call(orderCall), nil
		}
		return agenttest.Say("All right."), nil
	}
	config := agent.Config{Store: d.store, Model: d.model, Sources: []agent.Source{d.wo}, Policy: policy}
	d.a = agenttest.NewEngine(t, config)
	config.Now = func() time.Time { return agenttest.Now.Add(9 * time.Hour) }
	d.b = agenttest.NewEngine(t, config)
	if d.paused, err = d.a.Send(t.Context(), agent.SendRequest{Text: orderLine}); err != nil || d.paused.ApprovalID != "A-1" {
		t.Fatalf("send: %+v, %v", d.paused, err)
	}
	return d
}

// verb is one thing that a person, or the clock, does about the card A-1.
type verb struct {
	name string
	do   func(context.Context, *raceDesk) error
	// decides says that it is a decision: it must win, or be told who did.
	decides bool
}

func decideVerb(name string, engine func(*raceDesk) *agent.Engine, decide func(*agent.Engine, context.Context, agent.DecideRequest) (agent.Report, error)) verb {
	return verb{name: name, decides: true, do: func(ctx context.Context, d *raceDesk) error {
		_, err := decide(engine(d), ctx, agent.DecideRequest{Approval: "A-1", Digest: d.paused.Approvals[0].Digest})
		return err
	}}
}

var (
	first       = func(d *raceDesk) *agent.Engine { return d.a }
	second      = func(d *raceDesk) *agent.Engine { return d.b }
	approveHere = decideVerb("approve", first, (*agent.Engine).Approve)
	denyHere    = decideVerb("deny", first, (*agent.Engine).Deny)
	denyThere   = decideVerb("deny elsewhere", second, (*agent.Engine).Deny)
	editHere    = verb{name: "edit", decides: true, do: func(ctx context.Context, d *raceDesk) error {
		_, err := d.a.Edit(ctx, agent.EditRequest{Approval: "A-1", Arguments: json.RawMessage(`{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":2}`)})
		return err
	}}
	abortThere = verb{name: "abort elsewhere", do: func(ctx context.Context, d *raceDesk) error {
		_, err := d.b.Abort(ctx, d.paused.ConversationID)
		return err
	}}
	abortHere = verb{name: "abort", do: func(ctx context.Context, d *raceDesk) error {
		_, err := d.a.Abort(ctx, d.paused.ConversationID)
		return err
	}}
	expireThere = verb{name: "expire elsewhere", do: func(ctx context.Context, d *raceDesk) error { return d.b.ExpireDue(ctx) }}
)

// TestOfTwoVerbsAtOnceOneWinsAndTheOtherIsTold lets two verbs loose on one card,
// from one engine or from two on one store.
func TestOfTwoVerbsAtOnceOneWinsAndTheOtherIsTold(t *testing.T) {
	for _, pair := range [][]verb{
		{approveHere, approveHere}, {approveHere, denyHere}, {approveHere, denyThere},
		{approveHere, abortHere}, {approveHere, abortThere}, {denyThere, abortHere},
		{approveHere, expireThere}, {denyHere, expireThere}, {approveHere, editHere}, {denyThere, editHere},
	} {
		t.Run(pair[0].name+" and "+pair[1].name, func(t *testing.T) {
			won := [2]int{}
			for round := 0; round < raceRounds() && !t.Failed(); round++ {
				d := newRaceDesk(t)
				errs := d.race(t.Context(), pair, round)
				for i, err := range errs {
					if err == nil {
						won[i]++
					}
				}
				d.check(t, pair, errs)
			}
			t.Logf("%s: %d, %s: %d", pair[0].name, won[0], pair[1].name, won[1])
		})
	}
}

// race runs the verbs at once. Which is ahead, and by how many steps of the
// store, goes from round to round.
func (d *raceDesk) race(ctx context.Context, verbs []verb, round int) []error {
	errs := make([]error, len(verbs))
	late := d.pace.after(1 + (round/len(verbs))%24)
	var wait sync.WaitGroup
	for i, v := range verbs {
		wait.Go(func() {
			if i != round%len(verbs) {
				<-late
			}
			errs[i] = v.do(ctx, d)
			d.pace.after(0)
		})
	}
	wait.Wait()
	return errs
}

// pacedStore lets those who wait go when it has been used a number of times.
type pacedStore struct {
	kv.Store
	mu   sync.Mutex
	left int
	wake chan struct{}
}

// after gives a channel that is closed after n more uses of the store. Whoever
// waits for an earlier one is let go at once.
func (p *pacedStore) after(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wake != nil {
		close(p.wake)
	}
	p.left, p.wake = n, make(chan struct{})
	return p.wake
}

func (p *pacedStore) used() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left--; p.left == 0 && p.wake != nil {
		close(p.wake)
		p.wake = nil
	}
}

// Update implements kv.Store.
func (p *pacedStore) Update(ctx context.Context, fn func(kv.Tx) error) error {
	p.used()
	return p.Store.Update(ctx, fn)
}

// Get implements kv.Store.
func (p *pacedStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	p.used()
	return p.Store.Get(ctx, key)
}

// GetMany implements kv.Store.
func (p *pacedStore) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	p.used()
	return p.Store.GetMany(ctx, keys)
}

// check holds the end of a round against the promises: one word on the approval,
// told to whoever came too late, and nothing sent that was not approved.
func (d *raceDesk) check(t *testing.T, pair []verb, errs []error) {
	t.Helper()
	if err := agenttest.CheckDesk(t.Context(), d.store); err != nil {
		t.Errorf("the records disagree: %v", err)
	}
	approvals, err := d.store.Approvals(t.Context(), []agent.ApprovalID{"A-1"})
	if err != nil || len(approvals) != 1 {
		t.Fatalf("A-1: %+v, %v", approvals, err)
	}
	a := approvals[0]
	// An abort may stop an approved call before it has left.
	stopped := slices.ContainsFunc(pair, func(v verb) bool { return strings.HasPrefix(v.name, "abort") })
	sends, want := len(d.wo.Ledger("order")), boolToInt(a.State == agent.ApprovalApproved)
	if sends > want || sends < want && !stopped {
		t.Errorf("A-1 is %s, and %d orders were sent", a.State, sends)
	}
	wins := 0
	for i, err := range errs {
		var decided *agent.DecidedError
		switch {
		case err == nil:
			wins++
		case !pair[i].decides: // an abort finds nothing to abort any more
		case !errors.As(err, &decided):
			t.Errorf("%s came too late and was told %v", pair[i].name, err)
		case decided.Approval.State != a.State:
			t.Errorf("%s was told %q, and A-1 is %s", pair[i].name, err, a.State)
		}
	}
	if wins == 0 || wins == 2 && pair[0].decides && pair[1].decides {
		t.Errorf("%d verbs won: %v", wins, errs)
	}
	if n := len(d.model.Requests()); n > 2 {
		t.Errorf("the model was asked %d times", n)
	}
	for _, r := range d.model.Requests() {
		if err := agenttest.CheckRequest(r); err != nil {
			t.Error(err)
		}
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOfFiftyDecisionsOnTwoEnginesOneWins: forty-nine are told what was decided,
// and by whom.
func TestOfFiftyDecisionsOnTwoEnginesOneWins(t *testing.T) {
	var all []verb
	for i := range 50 {
		decide := (*agent.Engine).Approve
		if i%5 == 0 {
			decide = (*agent.Engine).Deny
		}
		all = append(all, decideVerb(fmt.Sprintf("decision %d", i), first, decide))
	}
	for round := 0; round < 20 && !t.Failed(); round++ {
		d := newRaceDesk(t)
		errs := d.race(t.Context(), all, round)
		won := 0
		for _, err := range errs {
			var decided *agent.DecidedError
			switch {
			case err == nil:
				won++
			case !errors.As(err, &decided) || decided.Approval.Decision == nil || decided.Approval.Decision.By.ID != "U-01":
				t.Errorf("a loser was told %v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d decisions won", won)
		}
		d.check(t, all, errs)
	}
}
