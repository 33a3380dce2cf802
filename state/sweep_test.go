package state_test

import (
	"context"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// large is a text that lies in three chunks.
func large(fill string) string { return strings.Repeat(fill, 150_000) }

// putLarge writes a call whose result is a large text; an empty one is small.
func putLarge(t *testing.T, s *state.Store, id agent.CallID, text string) {
	t.Helper()
	update(t, s, func(tx agent.Tx) error {
		return tx.PutCall(agent.Call{Version: 1, ID: id, State: agent.CallDone, Result: agent.TextResult(text, false)})
	})
}

func expectText(t *testing.T, s *state.Store, id agent.CallID, want string) {
	t.Helper()
	calls, err := s.Calls(t.Context(), []agent.CallID{id})
	if err != nil || len(calls) != 1 || calls[0].Result.Text() != want {
		t.Errorf("%s cannot be read any more: %d records, %v", id, len(calls), err)
	}
}

func chunks(t *testing.T, backend kv.Store) int {
	t.Helper()
	pairs, err := backend.Scan(t.Context(), kv.ScanOptions{Prefix: "chunk/"})
	if err != nil {
		t.Fatal(err)
	}
	return len(pairs)
}

func sweep(t *testing.T, s *state.Store, want int) {
	t.Helper()
	if removed, err := s.Sweep(t.Context()); err != nil || removed != want {
		t.Errorf("the sweep removed %d values (%v), want %d", removed, err, want)
	}
}

func TestPartsThatNoRecordNamesAreSwept(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		sweep(t, s, 0)
		putLarge(t, s, "kept", large("a"))
		putLarge(t, s, "rewritten", large("b"))
		sweep(t, s, 0)
		before := chunks(t, backend)
		putLarge(t, s, "rewritten", "small now")
		sweep(t, s, 1)
		if after := chunks(t, backend); after >= before || after == 0 {
			t.Errorf("%d chunks, and %d after the sweep", before, after)
		}
		expectText(t, s, "kept", large("a"))
		// What was swept is written again where it comes back.
		putLarge(t, s, "rewritten", large("b"))
		expectText(t, s, "rewritten", large("b"))
		sweep(t, state.New(backend), 0)
		expectText(t, s, "rewritten", large("b"))
	})
}

func TestNothingIsSweptBehindADamagedName(t *testing.T) {
	backend := memory.New()
	s := state.New(backend)
	putLarge(t, s, "big", large("a"))
	rawPut(t, backend, "call/big", []byte("\x01{\"hash\":"))
	before := chunks(t, backend)
	sweep(t, s, 0)
	if after := chunks(t, backend); after != before {
		t.Errorf("%d chunks, and %d after the sweep", before, after)
	}
}

// meanwhile is a backend on which something happens once: right after the first
// commit that writes chunks, or right before the first that names them.
type meanwhile struct {
	kv.Store
	prefix string
	before bool
	do     func()
}

// Update implements kv.Store.
func (m *meanwhile) Update(ctx context.Context, fn func(kv.Tx) error) error {
	touched := false
	run := func(tx kv.Tx) error {
		return fn(noticing{tx, m.prefix, &touched})
	}
	if m.before && m.do != nil {
		do := m.do
		m.do = nil
		do()
	}
	err := m.Store.Update(ctx, run)
	if touched && m.do != nil && !m.before {
		do := m.do
		m.do = nil
		do()
	}
	return err
}

// noticing notices writes of keys with a prefix.
type noticing struct {
	kv.Tx
	prefix  string
	touched *bool
}

// Put implements kv.Tx.
func (n noticing) Put(key string, value []byte) error {
	*n.touched = *n.touched || strings.HasPrefix(key, n.prefix)
	return n.Tx.Put(key, value)
}

// TestASweepBetweenAValueAndItsNameTakesNothingThatIsNamed: another process may
// sweep when the chunks are there and the record is not yet.
func TestASweepBetweenAValueAndItsNameTakesNothingThatIsNamed(t *testing.T) {
	backend := memory.New()
	other := state.New(backend)
	removed := 0
	s := state.New(&meanwhile{Store: backend, prefix: "chunk/", do: func() {
		var err error
		if removed, err = other.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}})
	putLarge(t, s, "big", large("a"))
	if removed != 1 {
		t.Errorf("the sweep removed %d values: it was to come in between", removed)
	}
	expectText(t, s, "big", large("a"))
}

// TestAValueThatIsNamedDuringASweepIsNotTaken: the sweep has seen the desk, and
// then a record names the chunks.
func TestAValueThatIsNamedDuringASweepIsNotTaken(t *testing.T) {
	backend := memory.New()
	writer := state.New(backend)
	putLarge(t, writer, "big", large("a"))
	putLarge(t, writer, "big", "small now")
	sweeper := state.New(&meanwhile{Store: backend, before: true, do: func() { putLarge(t, writer, "again", large("a")) }})
	sweep(t, sweeper, 0)
	expectText(t, writer, "again", large("a"))
}
