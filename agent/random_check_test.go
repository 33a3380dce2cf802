package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state/kv"
)

// promisedTransitions is the table of a call's life as it was promised: what a
// call may be after one step. It is not the engine's own table.
var promisedTransitions = map[agent.CallState][]agent.CallState{
	"":                 {agent.CallProposed},
	agent.CallProposed: {agent.CallApproved, agent.CallWaiting, agent.CallRefused, agent.CallCancelled},
	agent.CallWaiting:  {agent.CallApproved, agent.CallDenied, agent.CallExpired, agent.CallCancelled, agent.CallWaiting, agent.CallRefused},
	agent.CallApproved: {agent.CallRunning, agent.CallWaiting, agent.CallRefused, agent.CallDenied, agent.CallCancelled},
	agent.CallRunning:  {agent.CallDone, agent.CallFailed, agent.CallApproved, agent.CallUnknown},
	agent.CallUnknown:  {agent.CallDone, agent.CallFailed, agent.CallRunning, agent.CallApproved},
}

// mayBecome reports whether one commit may take a call from a state to another:
// it may hold two steps (decided and sent; a read sent and answered).
func mayBecome(from, to agent.CallState) bool {
	if from == to {
		return true
	}
	for _, next := range promisedTransitions[from] {
		if next == to || slices.Contains(promisedTransitions[next], to) {
			return true
		}
	}
	return false
}

// recordedStore looks at every commit: calls move along the table, and what an
// approval asked, and how it was answered, never changes.
type recordedStore struct {
	kv.Store
	fault func(string, ...any)

	mu        sync.Mutex
	states    map[agent.CallID]agent.CallState
	approvals map[agent.ApprovalID]agent.Approval
}

// Update implements kv.Store.
func (s *recordedStore) Update(ctx context.Context, fn func(kv.Tx) error) error {
	written := map[string][]byte{}
	err := s.Store.Update(ctx, func(tx kv.Tx) error {
		clear(written)
		return fn(recordedTx{tx, written})
	})
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for key, value := range written {
			s.look(key, value)
		}
	}
	return err
}

func (s *recordedStore) look(key string, value []byte) {
	switch {
	case strings.HasPrefix(key, "call/"):
		var c agent.Call
		if err := json.Unmarshal(value, &c); err != nil {
			s.fault("%s: %v", key, err)
			return
		}
		if before := s.states[c.ID]; !mayBecome(before, c.State) {
			s.fault("call %s went from %q to %q", c.ID, before, c.State)
		}
		s.states[c.ID] = c.State
	case strings.HasPrefix(key, "approval/"):
		var a agent.Approval
		if err := json.Unmarshal(value, &a); err != nil {
			s.fault("%s: %v", key, err)
			return
		}
		before, known := s.approvals[a.ID]
		switch {
		case known && before.Digest != a.Digest:
			s.fault("%s has a new digest", a.ID)
		case known && before.State != agent.ApprovalOpen && before.State != a.State:
			s.fault("%s was %s and is %s", a.ID, before.State, a.State)
		case !known && a.State != agent.ApprovalOpen:
			s.fault("%s begins as %s", a.ID, a.State)
		}
		s.approvals[a.ID] = a
	}
}

type recordedTx struct {
	kv.Tx
	written map[string][]byte
}

// Put implements kv.Tx.
func (t recordedTx) Put(key string, value []byte) error {
	t.written[key] = slices.Clone(value)
	return t.Tx.Put(key, value)
}

// checkReceived is asked by the server in the moment in which a write arrives:
// the store must say already that it was sent, and who allowed it.
func (w *randomWorld) checkReceived(ctx context.Context, r agent.CallRequest) {
	calls, err := w.store().Calls(ctx, []agent.CallID{r.Call})
	if err != nil || len(calls) != 1 {
		w.fault("the server got %s of %s, and the store has %v, %v", r.Call, r.Tool, calls, err)
		return
	}
	c := calls[0]
	if c.State != agent.CallRunning || c.Attempt < 1 || string(c.Arguments) != string(r.Arguments) || c.Tool.Tool() != r.Tool {
		w.fault("the server got %s %s, and the call is %s, %s %s", r.Tool, r.Arguments, c.State, c.Tool, c.Arguments)
	}
	if c.Approval == "" {
		if !runsUnasked(w.policy, r.Tool, r.Arguments) && c.Attempt == 1 {
			w.fault("the server got %s %s, which nobody was asked about", r.Tool, r.Arguments)
		}
		return
	}
	approvals, err := w.store().Approvals(ctx, []agent.ApprovalID{c.Approval})
	if err != nil || len(approvals) != 1 {
		w.fault("%s is missing: %v", c.Approval, err)
		return
	}
	a := approvals[0]
	list, _ := randomServer{w, &randomLife{}}.Tools(ctx)
	for _, tool := range list.Tools {
		if tool.Name == r.Tool && c.Attempt == 1 && (tool.Hash() != a.Definition || list.Identity != a.ServerIdentity) {
			w.fault("%s was about another tool or server than the one that was called", a.ID)
		}
	}
	if r.Approval != a.ID || a.State != agent.ApprovalApproved || agenttest.Digest(a) != a.Digest || a.Call != c.ID || string(a.Arguments) != string(r.Arguments) {
		w.fault("the server got %s %s under %s, which is %s about %s", r.Tool, r.Arguments, r.Approval, a.State, a.Arguments)
	}
}

// check holds the world against the promises between two actions.
func (w *randomWorld) check() {
	ctx := context.Background()
	w.mu.Lock()
	faults := w.faults
	w.mu.Unlock()
	if len(faults) > 0 {
		w.rt.Fatal(strings.Join(faults, "\n"))
	}
	desk, err := agenttest.ReadDesk(ctx, w.store())
	if err != nil {
		w.rt.Fatal(err)
	}
	if err := desk.Check(ctx, w.store()); err != nil {
		w.rt.Fatalf("the records disagree: %v", err)
	}
	for _, h := range desk.Heads {
		if h.Open != nil && (h.Open.State == agent.TurnThinking || h.Open.State == agent.TurnActing) {
			w.rt.Fatalf("every verb has returned, and the turn of %s is stuck: %+v", h.Conversation, *h.Open)
		}
	}
	w.checkLedger(desk)
	for _, turn := range desk.Turns {
		w.checkLine(desk, turn)
	}
}

// checkLedger compares the ends of all calls with what the server did.
func (w *randomWorld) checkLedger(desk agenttest.Desk) {
	worked, sends, keys := map[agent.CallID]int{}, map[agent.CallID]int{}, map[agent.CallID]string{}
	for _, r := range w.receipts {
		sends[r.call]++
		if r.worked {
			worked[r.call]++
		}
		if before, known := keys[r.call]; known && (before == "" || before != r.key) {
			w.rt.Fatalf("%s was sent with key %q and then with %q", r.call, before, r.key)
		}
		keys[r.call] = r.key
	}
	for _, c := range desk.Calls {
		if c.ReadOnly {
			continue
		}
		if worked[c.ID] > 1 {
			w.rt.Fatalf("the work of %s was done %d times", c.ID, worked[c.ID])
		}
		bySettling := c.Settlement != nil
		switch c.State {
		case agent.CallDone:
			if worked[c.ID] == 0 && !bySettling {
				w.rt.Fatalf("%s is done, and the server did not do it", c.ID)
			}
		case agent.CallUnknown, agent.CallRunning:
		default: // among them approved and not sent
			if sends[c.ID] > 0 && !bySettling {
				w.rt.Fatalf("%s is %s, and was sent %d times", c.ID, c.State, sends[c.ID])
			}
		}
	}
}

// checkLine compares the line under an answer with what the server did.
func (w *randomWorld) checkLine(desk agenttest.Desk, turn agent.Turn) {
	if turn.End != agent.TurnCompleted {
		return
	}
	orders, gated := 0, false
	for _, c := range desk.Calls {
		if c.Turn != turn.ID {
			continue
		}
		if c.Settlement != nil {
			return // the line says what a person said
		}
		gated = gated || c.Approval != ""
		for _, r := range w.receipts {
			if r.call == c.ID && r.worked && r.tool == "order" {
				orders++
			}
		}
	}
	claims := 0
	if m := ordersPlaced.FindStringSubmatch(turn.Ledger); m != nil {
		claims, _ = strconv.Atoi(m[1]) // digits
	}
	if claims != orders || gated && turn.Ledger == "" {
		w.rt.Fatalf("the ledger line is %q, and the server has %d orders of the turn", turn.Ledger, orders)
	}
}

// String prints the world for a failing history.
func (w *randomWorld) String() string {
	return fmt.Sprintf("life %d, policy %d, down %v, price %d", w.lives, w.policy, w.down, w.price)
}
