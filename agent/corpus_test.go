package agent_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// updateCorpus writes the corpus of the newest version anew. Corpora of released
// versions are never written again.
var updateCorpus = flag.Bool("update-corpus", false, "write the stored desk of the newest version anew")

// corpusFiles are stored desks of every released version, one record a line.
const corpusFiles = "../testdata/stores/version-*.jsonl"

// storedRecord is one record of a corpus.
type storedRecord struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// corpusDesk makes the desk that a corpus holds: a turn that has ended, cards
// that wait, a call that was approved and not sent, one with unknown outcome,
// and a queued message.
func corpusDesk(t *testing.T) *memory.Store {
	t.Helper()
	backend := memory.New()
	other := agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)
	d := newDesk(t,
		agenttest.Call(agenttest.Tool("look_up", `{"work_order_id":"WO-1044"}`)), agenttest.Say("It waits for parts."),
		agenttest.Call(orderCall, other), agenttest.Call(orderCall), agenttest.Call(orderCall),
	)
	d.store = state.New(backend)
	d.reopen(t)
	d.send(t, "status 1044")
	paused := d.send(t, orderLine)
	if _, err := d.Send(t.Context(), agent.SendRequest{Conversation: paused.ConversationID, Text: "status 1044", Queue: true}); err != nil {
		t.Fatal(err)
	}
	d.send(t, orderLine) // approved, not sent
	restore := refuseOrders(d)
	var notSent *agent.NotSentError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-3"}); !errors.As(err, &notSent) {
		t.Fatal(err)
	}
	restore()
	d.send(t, orderLine) // unknown
	entered, release := slowOrder(d, false)
	done := approveInBackground(t, d, "A-4")
	var changed *agent.ChangedError
	if err := <-done; !errors.As(err, &changed) { // without a key it is another tool: A-5
		t.Fatal(err)
	}
	done = approveInBackground(t, d, "A-5")
	<-entered
	d.reopen(t)
	frozen := memory.New() // before the late answer makes the unknown known
	pairs, err := backend.Scan(t.Context(), kv.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		rawRecord(t, frozen, storedRecord{Key: p.Key, Value: string(p.Value)})
	}
	release()
	<-done
	return frozen
}

func TestEveryReleasedFormatIsReadAndCanBeDecided(t *testing.T) {
	if *updateCorpus {
		writeCorpus(t, "../testdata/stores/version-1.jsonl", corpusDesk(t))
	}
	files, err := filepath.Glob(corpusFiles)
	if err != nil || len(files) == 0 {
		t.Fatalf("no stored desks: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			d := newDesk(t)
			d.model.Script = func(int, agent.ModelRequest) (agent.ModelReply, error) { return agenttest.Say("All right."), nil }
			d.store = state.New(readCorpus(t, file))
			d.reopen(t)
			bad, err := d.store.Check(t.Context())
			if err != nil || len(bad) != 0 {
				t.Fatalf("damaged: %v, %v", bad, err)
			}
			waiting, err := d.Waiting(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			states := map[agent.CallState]int{}
			for _, w := range waiting {
				states[w.Status]++
			}
			if states[agent.CallWaiting] != 2 || states[agent.CallApproved] != 1 || states[agent.CallUnknown] != 1 {
				t.Errorf("waiting: %v", states)
			}
			if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
				t.Errorf("approve: %v", err)
			}
			if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
				t.Errorf("deny: %v", err)
			}
			if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-3"}); err != nil {
				t.Errorf("send what was approved: %v", err)
			}
			if _, err := d.Settle(t.Context(), agent.SettleRequest{Approval: "A-5", As: agent.SettleHappened}); err != nil {
				t.Errorf("settle: %v", err)
			}
			d.orders(t, 2)
		})
	}
}

func writeCorpus(t *testing.T, file string, backend kv.Store) {
	t.Helper()
	pairs, err := backend.Scan(t.Context(), kv.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, p := range pairs {
		line, err := json.Marshal(storedRecord{Key: p.Key, Value: string(p.Value)})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func readCorpus(t *testing.T, file string) kv.Store {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	backend := memory.New()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r storedRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rawRecord(t, backend, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return backend
}

func rawRecord(t *testing.T, backend kv.Store, r storedRecord) {
	t.Helper()
	if err := backend.Update(t.Context(), func(tx kv.Tx) error { return tx.Put(r.Key, []byte(r.Value)) }); err != nil {
		t.Fatal(err)
	}
}
