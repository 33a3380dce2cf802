package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// retentionDesk has ended conversations and one that waits, each an hour after
// the one before.
func retentionDesk(t *testing.T, backend kv.Store, ended int) (*agent.Engine, agent.ConversationID) {
	t.Helper()
	wo := agenttest.NewWorkOrders("work-orders")
	model := &agenttest.Model{Script: func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case last.Role == agent.RoleTool:
			return agenttest.Say("Done."), nil
		case last.Text == orderLine:
			return agenttest.Call(orderCall), nil
		}
		return agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), nil
	}}
	passed := time.Duration(0)
	e := agenttest.NewEngine(t, agent.Config{
		Store: state.New(backend), Model: model, Sources: []agent.Source{wo}, Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")),
		Now: func() time.Time { return agenttest.Now.Add(passed) },
	})
	report, err := e.Send(t.Context(), agent.SendRequest{Text: orderLine})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ended {
		passed = time.Duration(i+1) * time.Hour
		if _, err := e.Send(t.Context(), agent.SendRequest{Text: fmt.Sprintf("status 1044, number %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	return e, report.ConversationID
}

func TestPruningKeepsTheNewestAndWhatWaits(t *testing.T) {
	for _, test := range []struct {
		name      string
		retention agent.Retention
		left      int
	}{
		{"nothing", agent.Retention{}, 11},
		{"by count", agent.Retention{MaxCount: 3}, 4},
		{"by age", agent.Retention{MaxAge: 150 * time.Minute}, 4},
		{"by both", agent.Retention{MaxCount: 1, MaxAge: 150 * time.Minute}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, waiting := retentionDesk(t, memory.New(), 10)
			removed, err := e.Prune(t.Context(), test.retention)
			if err != nil {
				t.Fatal(err)
			}
			heads, err := e.Store().Conversations(t.Context(), 0, 100)
			if err != nil || len(heads) != test.left || removed != 11-test.left {
				t.Errorf("%d left, %d removed, %v", len(heads), removed, err)
			}
			if _, err := e.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
				t.Errorf("what waited cannot be decided: %v", err)
			}
			if _, err := e.Report(t.Context(), waiting); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestACallWhoseOutcomeIsUnknownIsKeptWhenItsTurnHasEnded: until somebody has said
// what it did.
func TestACallWhoseOutcomeIsUnknownIsKeptWhenItsTurnHasEnded(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Good morning."))
	lostThen(d, "order", agent.OutcomeUnknown)
	sent := d.send(t, orderLine)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Abort(t.Context(), sent.ConversationID); err != nil {
		t.Fatal(err)
	}
	d.send(t, "good morning")
	expectPruned := func(want int) {
		t.Helper()
		if removed, err := d.Prune(t.Context(), agent.Retention{MaxCount: 1}); err != nil || removed != want {
			t.Fatalf("%d removed, %v; want %d", removed, err, want)
		}
	}
	expectPruned(0)
	d.expectUnknown(t, "its conversation was not pruned")
	if _, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-1", As: agent.SettleHappened}); err != nil {
		t.Fatal(err)
	}
	expectPruned(1)
}

// stopping is a backend whose updates fail from the n-th on.
type stopping struct {
	kv.Store
	left int
}

func (s *stopping) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if s.left == 0 {
		return errBroken
	}
	s.left--
	return s.Store.Update(ctx, fn)
}

func TestPruningThatIsCutShortGoesOnAndLeavesNothing(t *testing.T) {
	for cut := 1; ; cut++ {
		backend := &stopping{Store: memory.New(), left: -1}
		e, _ := retentionDesk(t, backend, 3)
		backend.left = cut
		_, err := e.Prune(t.Context(), agent.Retention{MaxCount: 1})
		backend.left = -1
		if err != nil && !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if _, err := e.Prune(t.Context(), agent.Retention{MaxCount: 1}); err != nil {
			t.Fatal(err)
		}
		for _, prefix := range []string{"message/", "turn/", "call/", "audit/"} {
			pairs, err := backend.Scan(t.Context(), kv.ScanOptions{Prefix: prefix})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{"message/": 5, "turn/": 2, "call/": 2, "audit/": 4}[prefix]
			if len(pairs) != want {
				t.Errorf("cut after %d updates: %d records under %s, want %d", cut, len(pairs), prefix, want)
			}
		}
		if err == nil { // the cut came after the end
			return
		}
	}
}

// TestPruningLeavesNoPartsOfLargeValues: a large value lies in parts of its own.
func TestPruningLeavesNoPartsOfLargeValues(t *testing.T) {
	backend := memory.New()
	e, _ := retentionDesk(t, backend, 0)
	for _, letter := range []string{"a", "b"} {
		if _, err := e.Send(t.Context(), agent.SendRequest{Text: strings.Repeat(letter, 150_000)}); err != nil {
			t.Fatal(err)
		}
	}
	parts := func() int {
		pairs, err := backend.Scan(t.Context(), kv.ScanOptions{Prefix: "chunk/"})
		if err != nil {
			t.Fatal(err)
		}
		return len(pairs)
	}
	before := parts()
	if removed, err := e.Prune(t.Context(), agent.Retention{MaxCount: 1}); err != nil || removed != 1 {
		t.Fatalf("%d removed, %v", removed, err)
	}
	if after := parts(); before == 0 || after*2 != before {
		t.Errorf("%d parts, and %d after half was removed", before, after)
	}
}
