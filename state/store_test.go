package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/state"
	"deskhand/state/bolt"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// eachBackend runs a test on every backend.
func eachBackend(t *testing.T, test func(t *testing.T, backend kv.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, memory.New()) })
	t.Run("bolt", func(t *testing.T) {
		backend, err := bolt.Open(filepath.Join(t.TempDir(), "desk.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = backend.Close() })
		test(t, backend)
	})
}

func update(t *testing.T, s *state.Store, fn func(agent.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// openConversation writes a conversation with one open turn and one waiting call.
func openConversation(t *testing.T, s *state.Store) {
	t.Helper()
	update(t, s, func(tx agent.Tx) error {
		number, err := tx.NextConversation()
		if err != nil {
			return err
		}
		call := agent.Call{Version: 1, ID: "call", Conversation: "c", Turn: "t", State: agent.CallWaiting, Approval: "A-1"}
		return errors.Join(
			tx.PutMessage(agent.Message{Version: 1, Conversation: "c", Number: 1, Turn: "t", Role: agent.RoleUser, Text: "hello"}),
			tx.PutTurn(agent.Turn{Version: 1, ID: "t", Conversation: "c", FirstMessage: 1}),
			tx.PutCall(call),
			tx.PutApproval(agent.Approval{Version: 1, ID: "A-1", Number: 1, Call: "call", State: agent.ApprovalOpen}),
			tx.PutHead(agent.Head{
				Version: 1, Conversation: "c", Number: number, NextMessage: 2, NextAudit: 1, LastTurn: "t",
				Open: &agent.OpenTurn{Turn: "t", State: agent.TurnPaused, Batch: []agent.BatchCall{{ID: "call", State: agent.CallWaiting}}},
			}),
		)
	})
}

func TestASnapshotHoldsTheOpenTurnWithItsCallsAndApprovals(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		openConversation(t, s)
		got, err := s.Snapshot(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		if got.Turn.ID != "t" || len(got.Calls) != 1 || got.Approvals["A-1"].Call != "call" {
			t.Errorf("snapshot = %+v", got)
		}
		heads, err := s.OpenTurns(t.Context())
		if err != nil || len(heads) != 1 {
			t.Errorf("open turns: %v, %v", heads, err)
		}
		calls, err := s.OpenCalls(t.Context())
		if err != nil || len(calls) != 1 {
			t.Errorf("open calls: %v, %v", calls, err)
		}
		update(t, s, func(tx agent.Tx) error {
			head, err := tx.Head("c")
			if err != nil {
				return err
			}
			c, err := tx.Call("call")
			if err != nil {
				return err
			}
			head.Open, c.State = nil, agent.CallDenied
			return errors.Join(tx.PutHead(head), tx.PutCall(c))
		})
		heads, _ = s.OpenTurns(t.Context())
		calls, _ = s.OpenCalls(t.Context())
		if len(heads)+len(calls) != 0 {
			t.Errorf("still open: %v, %v", heads, calls)
		}
	})
}

func TestAConversationThatDoesNotExistIsNotFound(t *testing.T) {
	s := state.New(memory.New())
	if _, err := s.Snapshot(t.Context(), "nobody"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("err = %v", err)
	}
}

func TestMessagesAreReadBackwardsByNumber(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		for n := 1; n <= 12; n++ {
			update(t, s, func(tx agent.Tx) error {
				return tx.PutMessage(agent.Message{Version: 1, Conversation: "c", Number: n})
			})
		}
		for _, test := range []struct{ before, limit, first, count int }{{0, 3, 10, 3}, {10, 3, 7, 3}, {3, 5, 1, 2}, {0, 100, 1, 12}} {
			got, err := s.Messages(t.Context(), "c", test.before, test.limit)
			if err != nil || len(got) != test.count || got[0].Number != test.first {
				t.Errorf("before %d, limit %d: %v, %v", test.before, test.limit, got, err)
			}
		}
	})
}

// TestJSONInARecordComesBackAsItWasWritten: a decision is bound to bytes. What was
// to be ordered for "Bread & Co" could not be approved.
func TestJSONInARecordComesBackAsItWasWritten(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		raw := json.RawMessage(`{"a":"Bread & Co <1> \u2028 \u003c é","big":12345678901234567890,"none":null,"price":84.90}`)
		update(t, s, func(tx agent.Tx) error {
			return errors.Join(
				tx.PutCall(agent.Call{Version: 1, ID: "call", State: agent.CallDone, Proposed: raw, Requested: raw, Arguments: raw,
					Result: &agent.Result{Content: []json.RawMessage{raw}, Structured: raw, Meta: raw}}),
				tx.PutApproval(agent.Approval{Version: 1, ID: "A-1", Number: 1, Arguments: raw, Preview: &agent.Result{Structured: raw}}),
				tx.PutMessage(agent.Message{Version: 1, Conversation: "c", Number: 1, Opaque: raw}),
			)
		})
		calls, errCalls := s.Calls(t.Context(), []agent.CallID{"call"})
		approvals, errApprovals := s.Approvals(t.Context(), []agent.ApprovalID{"A-1"})
		messages, errMessages := s.Messages(t.Context(), "c", 2, 1)
		if err := errors.Join(errCalls, errApprovals, errMessages); err != nil || len(calls) != 1 || len(approvals) != 1 || len(messages) != 1 {
			t.Fatalf("%+v, %+v, %+v, %v", calls, approvals, messages, err)
		}
		c := calls[0]
		for i, got := range []json.RawMessage{
			c.Proposed, c.Requested, c.Arguments, c.Result.Content[0], c.Result.Structured, c.Result.Meta,
			approvals[0].Arguments, approvals[0].Preview.Structured, messages[0].Opaque,
		} {
			if string(got) != string(raw) {
				t.Errorf("part %d is %s", i, got)
			}
		}
	})
}

func TestAResultOfAnySizeIsKeptAndReadInsideATransactionToo(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		text := strings.Repeat("0123456789", 500_000) // 5 MB, more than one transaction takes
		update(t, s, func(tx agent.Tx) error {
			return tx.PutCall(agent.Call{Version: 1, ID: "big", State: agent.CallDone, Result: agent.TextResult(text, false)})
		})
		calls, err := s.Calls(t.Context(), []agent.CallID{"big"})
		if err != nil || len(calls) != 1 || calls[0].Result.Text() != text {
			t.Fatalf("read %d calls, %v", len(calls), err)
		}
		update(t, s, func(tx agent.Tx) error {
			c, err := tx.Call("big")
			if err == nil && c.Result.Text() != text {
				t.Error("the transaction read something else")
			}
			c.By = "U-01"
			return errors.Join(err, tx.PutCall(c))
		})
	})
}

// rawPut writes bytes under a key, as a damaged disk or another program would.
func rawPut(t *testing.T, backend kv.Store, key string, value []byte) {
	t.Helper()
	if err := backend.Update(t.Context(), func(tx kv.Tx) error { return tx.Put(key, value) }); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedAndNewerRecordsAreNamedAndLeftAlone(t *testing.T) {
	for _, test := range []struct{ name, key, value, wants string }{
		{"a damaged call", "call/call", `{"v":1,"id":`, "damaged"},
		{"a newer call", "call/call", `{"v":2,"id":"call"}`, "version 2"},
		{"a call without a version", "call/call", `{"id":"call"}`, "no version"},
		{"a damaged approval", "approval/000000000001", "\x00\x00\x00", "damaged"},
		{"a damaged message", "message/c/000000000001", "nonsense", "damaged"},
		{"chunks that are gone", "call/call", "\x01{\"hash\":\"00\",\"size\":9}", "missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			backend := memory.New()
			s := state.New(backend)
			openConversation(t, s)
			rawPut(t, backend, test.key, []byte(test.value))
			if _, err := s.Snapshot(t.Context(), "c"); err != nil {
				t.Errorf("the conversation cannot be read at all: %v", err)
			}
			bad, err := s.Check(t.Context())
			if err != nil || len(bad) != 1 || bad[0].Key != test.key || !strings.Contains(bad[0].Error(), test.wants) {
				t.Errorf("check = %v, %v", bad, err)
			}
			value, ok, err := backend.Get(t.Context(), test.key)
			if err != nil || !ok || string(value) != test.value {
				t.Errorf("the record was touched: %q", value)
			}
		})
	}
}

func TestADamagedHeadIsNamedAndBlocksNobodyElse(t *testing.T) {
	backend := memory.New()
	s := state.New(backend)
	openConversation(t, s)
	rawPut(t, backend, "head/c", []byte("nonsense"))
	var damaged *agent.RecordError
	if _, err := s.Snapshot(t.Context(), "c"); !errors.As(err, &damaged) || damaged.Key != "head/c" {
		t.Errorf("err = %v", err)
	}
	heads, err := s.OpenTurns(t.Context())
	if err != nil || len(heads) != 0 {
		t.Errorf("open turns: %v, %v", heads, err)
	}
}

func TestNumbersAreNeverGivenTwice(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		refused := errors.New("refused")
		for want := 1; want <= 3; want++ {
			_ = s.Update(context.Background(), func(tx agent.Tx) error { // a transaction that fails takes none
				_, _ = tx.NextApproval()
				return refused
			})
			update(t, s, func(tx agent.Tx) error {
				n, err := tx.NextApproval()
				if n != want {
					t.Errorf("number %d, want %d", n, want)
				}
				return err
			})
		}
	})
}

func TestNumbersGoOnAfterThoseOfADeskThatCannotBeReadAnyMore(t *testing.T) {
	// Anywhere in the file, also across the borders of what is read at once,
	// and cut off at the end.
	key := "approval/000000000017{"
	for _, before := range []int{0, 1, 1<<16 - 25, 1<<16 - 21, 1<<16 - 8, 1<<16 - 1, 1 << 16, 3<<16 - 5, 200_000} {
		file := strings.Repeat("x", before) + "approval/000000000004{approval/none " + strings.Repeat("y", 30_000) + key + "approval/00000000009"
		n, err := state.HighestApproval(strings.NewReader(file))
		if n != 17 || err != nil {
			t.Errorf("after %d bytes: %d, %v", before, n, err)
		}
	}
	for at := 1<<16 - 30; at < 1<<16+5; at++ {
		if n, err := state.HighestApproval(strings.NewReader(strings.Repeat("x", at) + key)); n != 17 || err != nil {
			t.Errorf("at %d: %d, %v", at, n, err)
		}
	}
	if n, err := state.HighestApproval(strings.NewReader("nothing")); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}

	s := state.New(memory.New())
	next := func(want int) {
		t.Helper()
		update(t, s, func(tx agent.Tx) error {
			if n, err := tx.NextApproval(); n != want || err != nil {
				t.Errorf("number %d, %v, want %d", n, err, want)
			}
			return nil
		})
	}
	if err := s.SkipApprovals(t.Context(), 17); err != nil {
		t.Fatal(err)
	}
	next(18)
	if err := s.SkipApprovals(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	next(19)
}

func TestSettingsComeBackAndGo(t *testing.T) {
	s := state.New(memory.New())
	update(t, s, func(tx agent.Tx) error { return tx.PutSetting("draft/c", "half a line") })
	var draft string
	if err := s.Setting(t.Context(), "draft/c", &draft); err != nil || draft != "half a line" {
		t.Errorf("draft = %q, %v", draft, err)
	}
	update(t, s, func(tx agent.Tx) error { return tx.PutSetting("draft/c", nil) })
	if err := s.Setting(t.Context(), "draft/c", &draft); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("err = %v", err)
	}
}

func TestAnExportHoldsEveryRecordAlsoDamagedOnes(t *testing.T) {
	backend := memory.New()
	s := state.New(backend)
	openConversation(t, s)
	text := strings.Repeat("0123456789", 20_000)
	update(t, s, func(tx agent.Tx) error {
		return tx.PutCall(agent.Call{Version: 1, ID: "big", State: agent.CallDone, Result: agent.TextResult(text, false)})
	})
	rawPut(t, backend, "call/broken", []byte("{\"v\":1,"))
	rawPut(t, backend, "call/newer", []byte(`{"v":9}`))
	var out strings.Builder
	if err := s.Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"key":"head/c"`, `"key":"approval/000000000001"`, text, `"raw":"{\"v\":1,"`, "it has version 9"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the export lacks %.60s", want)
		}
	}
	if strings.Contains(out.String(), `"key":"chunk/`) {
		t.Error("chunks are exported beside what they make up")
	}
}
