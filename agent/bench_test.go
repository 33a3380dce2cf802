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
	"deskhand/state/memory"
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
	paused, err := d.engine.Send(b.Context(), agent.SendRequest{Conversation: d.conversation, Text: orderLine})
	if err != nil {
		b.Fatal(err)
	}
	d.decide(b, paused)
	return d
}

// forgetful does not keep requests: a benchmark would measure the keeping.
type forgetful struct{ *agenttest.Model }

func (d *benchDesk) decide(b *testing.B, paused agent.Report) {
	b.Helper()
	if _, err := d.engine.Approve(b.Context(), agent.DecideRequest{Approval: paused.ApprovalID}); err != nil {
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
				paused, err := d.engine.Send(b.Context(), agent.SendRequest{Conversation: d.conversation, Text: orderLine})
				engine += time.Since(start)
				written += d.store.Stats().Bytes - before
				if err != nil {
					b.Fatal(err)
				}
				start = time.Now()
				floorPause(b, d.store, n)
				floor += time.Since(start)
				d.decide(b, paused)
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
				paused, err := d.engine.Send(b.Context(), agent.SendRequest{Conversation: d.conversation, Text: orderLine})
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				d.decide(b, paused)
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

// BenchmarkRecovery measures what a start does with open turns: marking what
// dead owners left, and listing what waits. It grows with what is open, never
// with what has ended.
func BenchmarkRecovery(b *testing.B) {
	for _, open := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			store := state.New(memory.New())
			wo := agenttest.NewWorkOrders("work-orders")
			model := &agenttest.Model{Script: func(int, agent.ModelRequest) (agent.ModelReply, error) { return agenttest.Call(orderCall), nil }}
			policy := agenttest.Policy("work-orders")
			policy.Previews = nil
			config := agent.Config{Store: store, Model: model, Sources: []agent.Source{wo}, Policy: agenttest.NewPolicy(b, policy)}
			engine := agenttest.NewEngine(b, config)
			for range open {
				if _, err := engine.Send(b.Context(), agent.SendRequest{Text: orderLine}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				waiting, err := agenttest.NewEngine(b, config).Waiting(b.Context())
				if err != nil || len(waiting) != open {
					b.Fatalf("%d wait, %v", len(waiting), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(open), "µs/turn")
		})
	}
}

// BenchmarkCall measures one free call from the model's reply to its stored
// result, beside the same call made straight to the source.
func BenchmarkCall(b *testing.B) {
	wo := agenttest.NewWorkOrders("work-orders")
	model := &agenttest.Model{Script: func(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
		if r.Messages[len(r.Messages)-1].Role == agent.RoleTool {
			return agenttest.Say("Done."), nil
		}
		return agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), nil
	}}
	engine := agenttest.NewEngine(b, agent.Config{
		Store: state.New(memory.New()), Model: model, Sources: []agent.Source{wo}, Policy: agenttest.NewPolicy(b, agenttest.Policy("work-orders")),
	})
	var through, straight time.Duration
	request := agent.CallRequest{Tool: "look_up", Arguments: json.RawMessage(`{"work_order_id":"WO-1044"}`)}
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := engine.Send(b.Context(), agent.SendRequest{Text: "status 1044"}); err != nil {
			b.Fatal(err)
		}
		through += time.Since(start)
		start = time.Now()
		if _, err := wo.Call(b.Context(), request); err != nil {
			b.Fatal(err)
		}
		straight += time.Since(start)
	}
	b.ReportMetric(float64((through-straight).Microseconds())/float64(b.N), "µs/turn-over-call")
}
