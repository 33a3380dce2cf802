package state_test

import (
	"bytes"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/state"
	"deskhand/state/kv"
)

// TestPruningSetsAsideWhatItCannotRead: a record of a newer program, and one
// that is damaged, outlive the conversation that they belonged to.
func TestPruningSetsAsideWhatItCannotRead(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend kv.Store) {
		s := state.New(backend)
		update(t, s, func(tx agent.Tx) error {
			for _, err := range []error{
				tx.PutHead(agent.Head{Version: 1, Conversation: "c", Number: 1, NextMessage: 4}),
				tx.PutMessage(agent.Message{Version: 1, Conversation: "c", Number: 1, Turn: "t", Role: agent.RoleUser, Text: "order"}),
				tx.PutMessage(agent.Message{Version: 1, Conversation: "c", Number: 2, Turn: "t", Role: agent.RoleAssistant, Calls: []agent.CallID{"good", "bad"}}),
				tx.PutCall(agent.Call{Version: 1, ID: "good", Conversation: "c", State: agent.CallDone}),
			} {
				if err != nil {
					return err
				}
			}
			return nil
		})
		rawPut(t, backend, "call/bad", []byte(`{"v":99,"id":"bad"}`))
		rawPut(t, backend, "message/c/000000000003", []byte(`{"v":1,"role":`))
		if err := s.Prune(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		pairs, err := backend.Scan(t.Context(), kv.ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		left := map[string]string{}
		for _, p := range pairs {
			left[p.Key] = string(p.Value)
		}
		if len(left) != 2 || left["aside/call/bad"] != `{"v":99,"id":"bad"}` || left["aside/message/c/000000000003"] != `{"v":1,"role":` {
			t.Errorf("what is left: %v", left)
		}
		bad, err := s.Check(t.Context())
		if err != nil || len(bad) != 2 || !strings.Contains(bad[0].Error(), "version 99") {
			t.Errorf("check: %v, %v", bad, err)
		}
		var out bytes.Buffer
		if err := s.Export(t.Context(), &out); err != nil || strings.Count(out.String(), `"problem"`) != 2 {
			t.Errorf("export: %v\n%s", err, out.String())
		}
	})
}
