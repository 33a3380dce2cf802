package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// maxActions bounds one history. Rapid draws the length with a long tail, and
// each step looks at all that the steps before it left: without a bound, one
// history of a thousand steps takes longer than all others together.
const maxActions = 120

// TestNoHistoryBreaksThePromises lets people, models, servers and kills do
// whatever they like, in any order, and holds the store against the server's
// ledger after each step. At the end everything that is open can be closed. The
// short form draws the same histories each time; the long one draws new ones.
func TestNoHistoryBreaksThePromises(t *testing.T) {
	checks, seed := "40", "20261201"
	switch {
	case fullSweep() && raceDetector:
		checks, seed = "100", "0" // 0 is a new one each time
	case fullSweep():
		checks, seed = "1000", "0"
	case raceDetector:
		checks = "6"
	}
	setRapid(t, "rapid.checks", checks)
	setRapid(t, "rapid.seed", seed)
	setRapid(t, "rapid.steps", "40")
	setRapid(t, "rapid.nofailfile", "true") // a failure prints its seed
	rapid.Check(t, func(rt *rapid.T) {
		w := newRandomWorld(rt)
		rt.Repeat(w.actionsByName())
		w.close()
	})
}

// actionsByName are what may happen next, by names that a failing history shows.
// What is to happen more often stands there more than once.
func (w *randomWorld) actionsByName() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){
		"send": w.send, "send 2": w.send, "approve": w.approve, "approve 2": w.approve, "approve 3": w.approve,
		"deny": w.deny, "edit": w.edit, "retry": w.retry, "settle": w.settle, "abort": w.abort,
		"continue": w.goOn, "expire": w.expire, "extend": w.extend, "old approval": w.decideAgain,
		"server": w.changeServer, "policy": w.changePolicy, "restart": w.kill, "resume": w.resume,
	}
	for name, action := range all {
		all[name] = func(rt *rapid.T) {
			if w.actions < maxActions {
				w.actions++
				action(rt)
			}
		}
	}
	all[""] = func(*rapid.T) {
		if w.actions < maxActions {
			w.check()
		}
	}
	return all
}

// TestAVerbThatGoesRoundInCirclesEndsItsHistory: a history that does not end
// would say nothing; one that fails says what happened.
func TestAVerbThatGoesRoundInCirclesEndsItsHistory(t *testing.T) {
	life := &randomLife{}
	store := state.New(mortalStore{Store: memory.New(), life: life})
	life.begin()
	for range 2 * maxVerbSteps {
		if _, err := store.Snapshot(t.Context(), "c-1"); errors.Is(err, errDead) {
			break
		}
	}
	if !life.isLost() {
		t.Error("the verb goes on for ever")
	}
}

// setRapid sets a flag of the rapid package for one test, unless the command
// line has.
func setRapid(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	if f.Value.String() != f.DefValue {
		return
	}
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}

// seldom skips an action that would otherwise end most turns before anything
// else could happen to them.
func (w *randomWorld) seldom() {
	if rapid.IntRange(0, 5).Draw(w.rt, "seldom") != 5 {
		w.rt.Skip("not now")
	}
}

// do runs a verb in a process that may die in the middle of it.
func (w *randomWorld) do(verb func(ctx context.Context) error) error {
	w.life.begin()
	defer func(life *randomLife) {
		if life.isLost() {
			w.rt.Fatal("a verb goes round in circles")
		}
	}(w.life)
	if rapid.IntRange(0, 4).Draw(w.rt, "dies") == 4 {
		w.life.dieAfter(rapid.IntRange(1, 16).Draw(w.rt, "after steps"))
	}
	err := verb(context.Background())
	w.life.dieAfter(0)
	if w.life.isDead() {
		w.restart()
		return errDead
	}
	if errors.Is(err, errDead) {
		w.rt.Fatalf("a living process says %v", err)
	}
	return err
}

// pick draws one of the things that wait in a state; the action is skipped if
// there is none.
func (w *randomWorld) pick(states ...agent.CallState) agent.ApprovalReport {
	waiting, err := w.engine.Waiting(context.Background())
	if err != nil {
		w.rt.Fatal(err)
	}
	var fit []agent.ApprovalReport
	for _, r := range waiting {
		for _, s := range states {
			if r.Status == s {
				fit = append(fit, r)
			}
		}
	}
	if len(fit) == 0 {
		w.rt.Skip("nothing waits")
	}
	return fit[rapid.IntRange(0, len(fit)-1).Draw(w.rt, "which")]
}

// conversation draws one of three.
func (w *randomWorld) conversation() agent.ConversationID {
	return agent.ConversationID(fmt.Sprintf("c-%d", rapid.IntRange(1, 3).Draw(w.rt, "conversation")))
}

func (w *randomWorld) send(*rapid.T) {
	r := agent.SendRequest{Conversation: w.conversation(), Text: orderLine, Queue: rapid.Bool().Draw(w.rt, "queue")}
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Send(ctx, r)
		return err
	})
	var busy *agent.BusyError
	var stalled *agent.StallError
	if err != nil && !errors.Is(err, errDead) && !errors.As(err, &busy) && !errors.As(err, &stalled) {
		w.rt.Fatalf("send: %v", err)
	}
}

// sendsOf counts what the server got of a call.
func (w *randomWorld) sendsOf(id agent.CallID) int {
	n := 0
	for _, r := range w.receipts {
		if r.call == id {
			n++
		}
	}
	return n
}

// known reports whether an error is one that a decision may give.
func known(err error) bool {
	var (
		decided     *agent.DecidedError
		digest      *agent.DigestError
		unreachable *agent.UnreachableError
		changed     *agent.ChangedError
		closed      *agent.ClosedError
		notSent     *agent.NotSentError
		stalled     *agent.StallError
		edited      *agent.EditError
	)
	return err == nil || errors.Is(err, errDead) || errors.As(err, &decided) || errors.As(err, &digest) ||
		errors.As(err, &unreachable) || errors.As(err, &changed) || errors.As(err, &closed) ||
		errors.As(err, &notSent) || errors.As(err, &stalled) || errors.As(err, &edited)
}

func (w *randomWorld) approve(*rapid.T) {
	a := w.pick(agent.CallWaiting)
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Approve(ctx, agent.DecideRequest{Approval: a.ApprovalID, Digest: a.Digest})
		return err
	})
	if !known(err) {
		w.rt.Fatalf("approve: %v", err)
	}
	if err == nil && w.sendsOf(a.CallID) == 0 && !agenttest.ShopReads(a.Tool.Tool()) {
		w.rt.Fatalf("%s was approved, and the server got nothing", a.ApprovalID)
	}
}

func (w *randomWorld) deny(*rapid.T) {
	a := w.pick(agent.CallWaiting, agent.CallApproved)
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Deny(ctx, agent.DecideRequest{Approval: a.ApprovalID, Digest: a.Digest, Note: "no"})
		return err
	})
	if !known(err) {
		w.rt.Fatalf("deny: %v", err)
	}
	if err == nil {
		w.expectState(a.CallID, agent.CallDenied)
	}
}

func (w *randomWorld) expectState(id agent.CallID, want agent.CallState) {
	calls, err := w.store().Calls(context.Background(), []agent.CallID{id})
	if err != nil || len(calls) != 1 || calls[0].State != want {
		w.rt.Fatalf("call %s is %+v (%v), want %s", id, calls, err, want)
	}
}

func (w *randomWorld) edit(*rapid.T) {
	a := w.pick(agent.CallWaiting)
	arguments := rapid.SampledFrom([]string{
		`{"work_order_id":"WO-1044","sku":"P-1","quantity":3}`, `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`, `{}`, `{"quantity":"x"}`,
	}).Draw(w.rt, "arguments")
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Edit(ctx, agent.EditRequest{Approval: a.ApprovalID, Digest: a.Digest, Arguments: json.RawMessage(arguments)})
		return err
	})
	if !known(err) {
		w.rt.Fatalf("edit: %v", err)
	}
}

func (w *randomWorld) retry(*rapid.T) {
	a := w.pick(agent.CallWaiting, agent.CallApproved)
	if a.Status == agent.CallWaiting && a.Reason == "" {
		w.rt.Skip("nothing to fetch")
	}
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Retry(ctx, a.ApprovalID)
		return err
	})
	if !known(err) {
		w.rt.Fatalf("retry: %v", err)
	}
}

// settle says what the server's ledger says, or asks the server by key.
func (w *randomWorld) settle(*rapid.T) {
	a := w.pick(agent.CallUnknown)
	r := agent.SettleRequest{Call: a.CallID, As: agent.SettleNot}
	if w.sendsOf(a.CallID) > 0 {
		r.As = agent.SettleHappened
	}
	if rapid.Bool().Draw(w.rt, "resend") {
		r.As = agent.SettleResend
	}
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Settle(ctx, r)
		return err
	})
	if err == nil && r.As != agent.SettleResend {
		w.expectState(a.CallID, map[agent.SettleAs]agent.CallState{agent.SettleHappened: agent.CallDone, agent.SettleNot: agent.CallFailed}[r.As])
	}
}

func (w *randomWorld) abort(*rapid.T) {
	w.seldom()
	id := w.conversation()
	_ = w.do(func(ctx context.Context) error { // nothing may be open
		_, err := w.engine.Abort(ctx, id)
		return err
	})
}

func (w *randomWorld) goOn(*rapid.T) {
	id := w.conversation()
	_ = w.do(func(ctx context.Context) error { // nothing may be stalled
		_, err := w.engine.Continue(ctx, id)
		return err
	})
}

func (w *randomWorld) expire(*rapid.T) {
	w.seldom()
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 9).Draw(w.rt, "hours")) * time.Hour)
	if err := w.do(w.expireDue); !known(err) {
		w.rt.Fatalf("expire: %v", err)
	}
}

func (w *randomWorld) extend(*rapid.T) {
	a := w.pick(agent.CallWaiting)
	if a.ExpiresAt == nil {
		w.rt.Skip("it waits for ever")
	}
	err := w.do(func(ctx context.Context) error {
		_, err := w.engine.Extend(ctx, a.ApprovalID, time.Hour)
		return err
	})
	if !known(err) {
		w.rt.Fatalf("extend: %v", err)
	}
}

func (w *randomWorld) expireDue(ctx context.Context) error { return w.engine.ExpireDue(ctx) }

// decideAgain decides on an approval of any age: what is not open any more
// decides nothing and sends nothing.
func (w *randomWorld) decideAgain(*rapid.T) {
	id := agent.NewApprovalID(rapid.IntRange(1, 12).Draw(w.rt, "approval"))
	approvals, err := w.store().Approvals(context.Background(), []agent.ApprovalID{id})
	if err != nil || len(approvals) != 1 || approvals[0].State == agent.ApprovalOpen {
		w.rt.Skip("no old approval")
	}
	calls, err := w.store().Calls(context.Background(), []agent.CallID{approvals[0].Call})
	if err != nil || len(calls) != 1 || calls[0].Held() {
		w.rt.Skip("it may still be sent")
	}
	sends := w.sendsOf(calls[0].ID)
	err = w.do(func(ctx context.Context) error {
		if rapid.Bool().Draw(w.rt, "yes") {
			_, err := w.engine.Approve(ctx, agent.DecideRequest{Approval: id})
			return err
		}
		_, err := w.engine.Deny(ctx, agent.DecideRequest{Approval: id})
		return err
	})
	var decided *agent.DecidedError
	if !errors.Is(err, errDead) && !errors.As(err, &decided) {
		w.rt.Fatalf("deciding %s (%s) again: %v", id, approvals[0].State, err)
	}
	if w.sendsOf(calls[0].ID) != sends {
		w.rt.Fatalf("deciding %s (%s) again sent something", id, approvals[0].State)
	}
}

func (w *randomWorld) changeServer(*rapid.T) {
	switch rapid.SampledFrom([]string{"down", "up", "up", "refuse", "lose", "dearer", "cheaper", "definition", "identity"}).Draw(w.rt, "change") {
	case "down":
		w.down = true
	case "up":
		w.down = false
	case "refuse":
		w.refuse = 1
	case "lose":
		w.lose = rapid.IntRange(1, 2).Draw(w.rt, "answers")
	case "dearer":
		w.price += 100
	case "cheaper":
		w.price = max(100, w.price-100)
	case "definition":
		w.description += "!"
	case "identity":
		w.identity += "'"
	}
}

func (w *randomWorld) changePolicy(*rapid.T) {
	w.seldom()
	w.policy = rapid.IntRange(0, 3).Draw(w.rt, "policy")
	w.restart()
}

func (w *randomWorld) kill(*rapid.T) {
	w.seldom()
	w.restart()
}

func (w *randomWorld) resume(*rapid.T) {
	sends, unsent := len(w.receipts), w.heldCalls()
	_ = w.do(func(ctx context.Context) error { return w.engine.Resume(ctx) }) // the server may be down
	for _, r := range w.receipts[sends:] {
		if unsent[r.call] {
			w.rt.Fatalf("resuming sent %s, which was approved and not sent", r.call)
		}
	}
}

// heldCalls are those that were approved by a person and not sent.
func (w *randomWorld) heldCalls() map[agent.CallID]bool {
	calls, err := w.store().OpenCalls(context.Background())
	if err != nil {
		w.rt.Fatal(err)
	}
	held := map[agent.CallID]bool{}
	for _, c := range calls {
		held[c.ID] = c.Held()
	}
	return held
}
