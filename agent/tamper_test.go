package agent_test

import (
	"errors"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// tamper replaces text in the record under a key, behind everybody's back.
func tamper(t *testing.T, backend kv.Store, prefix, old, instead string) {
	t.Helper()
	pairs, err := backend.Scan(t.Context(), kv.ScanOptions{Prefix: prefix})
	if err != nil || len(pairs) != 1 {
		t.Fatalf("%s: %d records, %v", prefix, len(pairs), err)
	}
	value := strings.ReplaceAll(string(pairs[0].Value), old, instead)
	if value == string(pairs[0].Value) {
		t.Fatalf("%s does not hold %s", prefix, old)
	}
	rawRecord(t, backend, storedRecord{Key: pairs[0].Key, Value: value})
}

// TestARecordThatWasChangedOnDiskIsNeverSent: a decision is bound to what was
// drawn, and not to what the file says by now.
func TestARecordThatWasChangedOnDiskIsNeverSent(t *testing.T) {
	const one, ninety = `"quantity":1,`, `"quantity":90,`
	for _, test := range []struct {
		name string
		edit func(*testing.T, kv.Store)
	}{
		{"the arguments of the approval", func(t *testing.T, b kv.Store) { tamper(t, b, "approval/", one, ninety) }},
		{"the arguments of the call", func(t *testing.T, b kv.Store) { tamper(t, b, "call/", one, ninety) }},
		{"the arguments of both", func(t *testing.T, b kv.Store) {
			tamper(t, b, "approval/", one, ninety)
			tamper(t, b, "call/", one, ninety)
		}},
		{"the total in the preview", func(t *testing.T, b kv.Store) { tamper(t, b, "approval/", `"minor":8490`, `"minor":9990`) }},
		{"the server", func(t *testing.T, b kv.Store) { tamper(t, b, "approval/", "test:work-orders", "test:elsewhere") }},
		{"the tool", func(t *testing.T, b kv.Store) {
			tamper(t, b, "approval/", `"work-orders/order"`, `"work-orders/book"`)
		}},
	} {
		for _, held := range []bool{false, true} {
			name := test.name + ", waiting"
			if held {
				name = test.name + ", approved and not sent"
			}
			t.Run(name, func(t *testing.T) {
				backend := memory.New()
				d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("All right."))
				d.store = state.New(backend)
				d.reopen(t)
				d.send(t, orderLine)
				if held {
					restore := refuseOrders(d)
					var notSent *agent.NotSentError
					if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &notSent) {
						t.Fatal(err)
					}
					restore()
				}
				test.edit(t, backend)
				d.reopen(t)
				var digest *agent.DigestError
				if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &digest) {
					t.Errorf("approve: %v", err)
				}
				if _, err := d.Retry(t.Context(), "A-1"); held && !errors.As(err, &digest) {
					t.Errorf("retry: %v", err)
				}
				d.orders(t, 0)
				if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
					t.Errorf("deny: %v", err)
				}
				d.orders(t, 0)
			})
		}
	}
}
