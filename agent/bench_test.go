package agent_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/bolt"
	"deskhand/state/kv"
)

// benchDesk is an engine on a bbolt file with a conversation of earlier
// messages, and a gated tool without a preview.
type benchDesk struct {
	engine       *agent.Engine
	store        *bolt.Store
	wo           *agenttest.WorkOrders
	conversation agent.ConversationID
}

func newBenchDesk(b *testing.B, earlier int) *benchDesk {
	b.Helper()
	backend, err := bolt.Open(filepath.Join(b.TempDir(), "desk.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = backend.Close() })
	store := state.New(backend)
	d := &benchDesk{store: backend, wo: agenttest.NewWorkOrders("work-orders"), conversation: "c"}
	model := &agenttest.Model{}
	model.Script = func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		if r.Messages[len(r.Messages)-1].Role == agent.RoleTool {
			return agenttest.Say("Ordered."), nil
		}
		return agenttest.Call(orderCall), nil
	}
	policy := agenttest.Policy("work-orders")
	policy.Previews = nil
	d.engine = agenttest.NewEngine(b, agent.Config{
		Store: store, Model: forgetful{model}, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(b, policy),
	})
	fillConversation(b, store, d.conversation, earlier)
	// One turn outside of the measurement: names and definitions are stored.
	if _, err := d.engine.Send(b.Context(), agent.SendRequest{Conversation: d.conversation, Text: orderLine}); err != nil {
		b.Fatal(err)
	}
	d.decide(b)
	return d
}

// forgetful does not keep requests: a benchmark would measure the keeping.
type forgetful struct{ *agenttest.Model }

func (d *benchDesk) decide(b *testing.B) {
	b.Helper()
	waiting, err := d.engine.Waiting(b.Context())
	if err != nil || len(waiting) != 1 {
		b.Fatalf("waiting: %v, %v", waiting, err)
	}
	if _, err := d.engine.Approve(b.Context(), agent.DecideRequest{Approval: waiting[0].ApprovalID}); err != nil {
		b.Fatal(err)
	}
}

// fillConversation writes earlier messages, as pairs of a line and an answer.
func fillConversation(b *testing.B, store *state.Store, id agent.ConversationID, messages int) {
	b.Helper()
	now := agenttest.Now
	for first := 1; first <= messages; first += 40 {
		err := store.Update(b.Context(), func(tx agent.Tx) error {
			for n := first; n < first+40 && n <= messages; n++ {
				role := agent.RoleUser
				if n%2 == 0 {
					role = agent.RoleAssistant
				}
				if err := tx.PutMessage(agent.Message{
					Version: 1, Conversation: id, Number: n, Turn: "t", Role: role, At: now,
					Text: fmt.Sprintf("message %d: a line of the length that dispatchers write all day", n),
				}); err != nil {
					return err
				}
			}
			return tx.PutHead(agent.Head{
				Version: 1, Conversation: id, Number: 1, NextMessage: messages + 1, NextAudit: 1, Created: now, Updated: now, LastTurn: "t",
			})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// record is what a commit of the floor writes, of the size of the engine's.
func record(n int) []byte {
	raw, err := json.Marshal(map[string]string{"text": string(make([]byte, n/6))}) // a zero byte takes six in JSON
	if err != nil {
		panic(err)
	}
	return raw
}

// floorPause commits twice what a pause writes, with no engine: the message
// with its turn, then the reply with its call and approval.
func floorPause(b *testing.B, s *bolt.Store, n int) {
	b.Helper()
	for _, sizes := range [][]int{{250, 250, 400}, {350, 900, 900, 700, 600, 30, 30}} {
		err := s.Update(b.Context(), func(tx kv.Tx) error {
			for i, size := range sizes {
				if err := tx.Put(fmt.Sprintf("floor/%d/%09d", i, n), record(size)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPause measures a message up to its durable pause beside the same
// commits without an engine. Neither time nor bytes may grow with the
// conversation.
func BenchmarkPause(b *testing.B) {
	for _, earlier := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("earlier=%d", earlier), func(b *testing.B) {
			d := newBenchDesk(b, earlier)
			var engine, floor time.Duration
			var written int64
			for n := 0; b.Loop(); n++ {
				before := d.store.Stats().Bytes
				start := time.Now()
				_, err := d.engine.Send(b.Context(), agent.SendRequest{Conversation: d.conversation, Text: orderLine})
				engine += time.Since(start)
				written += d.store.Stats().Bytes - before
				if err != nil {
					b.Fatal(err)
				}
				start = time.Now()
				floorPause(b, d.store, n)
				floor += time.Since(start)
				d.decide(b)
			}
			b.ReportMetric(float64(engine.Microseconds())/float64(b.N), "µs/pause")
			b.ReportMetric(float64(engine)/float64(floor), "x-floor")
			b.ReportMetric(float64(written)/float64(b.N), "bytes/pause")
		})
	}
}

// BenchmarkApprove measures an approval up to the saved answer (decision and
// dispatch, result, answer: three commits) beside the same commits.
func BenchmarkApprove(b *testing.B) {
	for _, earlier := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("earlier=%d", earlier), func(b *testing.B) {
			d := newBenchDesk(b, earlier)
			var engine, floor time.Duration
			for n := 0; b.Loop(); n++ {
				if _, err := d.engine.Send(b.Context(), agent.SendRequest{Conversation: d.conversation, Text: orderLine}); err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				d.decide(b)
				engine += time.Since(start)
				start = time.Now()
				for _, sizes := range [][]int{{1000, 1100, 700, 30, 700}, {1500, 700, 30, 400}, {350, 300, 500}} {
					err := d.store.Update(b.Context(), func(tx kv.Tx) error {
						for i, size := range sizes {
							if err := tx.Put(fmt.Sprintf("floor/%d/%09d", i, n), record(size)); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				floor += time.Since(start)
			}
			b.ReportMetric(float64(engine.Microseconds())/float64(b.N), "µs/approve")
			b.ReportMetric(float64(engine)/float64(floor), "x-floor")
		})
	}
}
