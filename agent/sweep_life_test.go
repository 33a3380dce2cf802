package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/bolt"
	"deskhand/state/kv"
)

// lifeEnv makes the test binary one life of a desk: it holds a life as JSON.
const lifeEnv = "DESKHAND_TEST_LIFE"

// life is one process of the sweep, from opening the desk's file to the end of
// the script, or to its death.
type life struct {
	Script string `json:"script"`
	Dir    string `json:"dir"`
	// Number is the life's place, from 1.
	Number int `json:"number"`
	// KillAt is the step at which it kills itself; 0 lets it live.
	KillAt int `json:"killAt"`
}

// lifeEnd is what a life prints when it ends by itself.
type lifeEnd struct {
	// Steps are the names of all steps that it took: the kill points.
	Steps []string `json:"steps"`
	Error string   `json:"error,omitempty"`
}

// runLife is the main function of a child process.
func runLife(task string) int {
	var l life
	end := lifeEnd{}
	err := json.Unmarshal([]byte(task), &l)
	if err == nil {
		end.Steps, err = l.run(context.Background())
	}
	if err != nil {
		end.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(end); err != nil {
		return 1
	}
	return 0
}

// steps counts what happens between two instants at which a kill makes a
// difference: store writes and network steps.
type steps struct {
	mu     sync.Mutex
	names  []string
	killAt int
}

// step is the n-th; if it is the one, the process dies here, as by kill -9.
func (s *steps) step(where string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, where)
	if len(s.names) != s.killAt {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic("cannot kill this process: " + err.Error())
	}
	select {} // with the lock held, until the kill arrives
}

// steppedStore has a step before and after every commit.
type steppedStore struct {
	kv.Store
	steps *steps
}

// Update implements kv.Store.
func (s steppedStore) Update(ctx context.Context, fn func(kv.Tx) error) error {
	s.steps.step("before a commit")
	err := s.Store.Update(ctx, fn)
	s.steps.step("after a commit")
	return err
}

// steppedModel keeps its requests in a file and has a step before and after
// each.
type steppedModel struct {
	script sweepScript
	asked  *agenttest.Lines[agent.ModelRequest]
	steps  *steps
}

// Name implements [agent.Model].
func (m *steppedModel) Name() string { return "scripted" }

// Respond implements [agent.Model].
func (m *steppedModel) Respond(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	m.steps.step("before asking the model")
	if err := m.asked.Append(r); err != nil {
		return agent.ModelReply{}, err
	}
	m.steps.step("before the model's answer")
	return m.script.reply(r), nil
}

func askedFile(dir string) string { return filepath.Join(dir, "asked.jsonl") }
func shownFile(dir string) string { return filepath.Join(dir, "shown.jsonl") }
func deskFile(dir string) string  { return filepath.Join(dir, "desk.db") }
func clockFile(dir string) string { return filepath.Join(dir, "late") }

// run opens the desk, recovers, and lets the person work until all is said.
func (l life) run(ctx context.Context) (taken []string, err error) {
	var script sweepScript
	for _, s := range sweepScripts() {
		if s.name == l.Script {
			script = s
		}
	}
	counter := &steps{killAt: l.KillAt}
	backend, err := bolt.Open(deskFile(l.Dir), bolt.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	shop := agenttest.NewShop(l.Dir)
	shop.Life, shop.Step, shop.Lose, shop.Refuse = l.Number, counter.step, script.lose, script.refuse
	config := agenttest.ShopPolicy()
	config.ExpiresAfter = script.expiresAfter
	policy, err := agent.NewPolicy(config)
	if err != nil {
		return nil, err
	}
	var ids atomic.Int64
	store := state.New(steppedStore{Store: backend, steps: counter})
	engine, err := agent.New(agent.Config{
		Store: store, Sources: []agent.Source{shop}, Policy: policy,
		Model: &steppedModel{script: script, asked: agenttest.NewLines[agent.ModelRequest](askedFile(l.Dir)), steps: counter},
		Owner: agent.OwnerID(fmt.Sprintf("life-%d", l.Number)),
		NewID: func() string { return fmt.Sprintf("id-%02d-%04d", l.Number, ids.Add(1)) },
		User:  func() agent.User { return agent.User{ID: "U-01", Name: "Dispatch Desk 1", Role: "dispatcher"} },
		Now:   func() time.Time { return sweepTime(l.Dir).Add(time.Duration(l.Number-1) * 61 * time.Minute) },
	})
	if err != nil {
		return nil, err
	}
	person := &sweepPerson{engine: engine, store: store, shop: shop, script: script, dir: l.Dir,
		shown: agenttest.NewLines[shownCard](shownFile(l.Dir))}
	if err := errors.Join(engine.Mark(ctx, nil), engine.Resume(ctx)); err != nil {
		return counter.names, fmt.Errorf("recovering: %w", err)
	}
	err = person.work(ctx)
	return counter.names, err
}

// sweepTime is the desk's clock: it stands still until a card expires. To it
// comes an hour or so for each life, so that a time that was not stored would show.
func sweepTime(dir string) time.Time {
	if _, err := os.Stat(clockFile(dir)); err == nil {
		return agenttest.Now.Add(9 * time.Hour)
	}
	return agenttest.Now
}
