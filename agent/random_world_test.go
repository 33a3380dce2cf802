package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"pgregory.net/rapid"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// errDead is what everything gives once the process that asks is dead.
var errDead = errors.New("this process is dead")

// randomWorld is what outlives every engine of a random history: the store, the
// server with its ledger, the clock, the rules. It collects the faults that it
// sees while an engine is at work.
type randomWorld struct {
	rt      *rapid.T
	backend *recordedStore
	engine  *agent.Engine
	life    *randomLife
	lives   int
	now     time.Time
	policy  int
	calm    bool // the model only talks, and nothing dies any more
	asked   int
	actions int

	mu       sync.Mutex
	faults   []string
	receipts []randomReceipt
	answers  map[string]agent.Result // by idempotency key
	orders   int

	// How the server is just now.
	down         bool
	refuse, lose int
	price        int
	description  string
	identity     string
}

// randomReceipt is a line of the server's ledger.
type randomReceipt struct {
	tool, key string
	call      agent.CallID
	worked    bool
}

// randomLife is one process. It dies at a step, and from then on nothing that it
// does reaches anybody.
type randomLife struct {
	mu   sync.Mutex
	left int
	dead bool
	// steps counts what the verb at work did to the store, to the servers and to
	// the model.
	steps int
	lost  bool // the verb took more steps than any that ends
}

// maxVerbSteps is far above what any verb needs: Resume, the longest, does a few
// dozen things for each open turn. A verb that comes here goes round in circles.
const maxVerbSteps = 5000

// step reports whether the process lives on after this step.
func (l *randomLife) step() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.steps++; l.steps > maxVerbSteps {
		l.dead, l.lost = true, true
	}
	if l.left > 0 {
		if l.left--; l.left == 0 {
			l.dead = true
		}
	}
	return !l.dead
}

// look is a step at which a life does not end, except that of a verb that goes
// round in circles.
func (l *randomLife) look() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.steps++; l.steps > maxVerbSteps {
		l.dead, l.lost = true, true
	}
	return !l.dead
}

// begin counts the steps of a new verb.
func (l *randomLife) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = 0
}

// isLost reports whether a verb went round in circles.
func (l *randomLife) isLost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// dieAfter makes the life end at its n-th step from now; 0 lets it live.
func (l *randomLife) dieAfter(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = n
}

func (l *randomLife) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// mortalStore is the store as one life sees it.
type mortalStore struct {
	kv.Store
	life *randomLife
}

// Update implements kv.Store.
func (s mortalStore) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if !s.life.step() {
		return errDead
	}
	err := s.Store.Update(ctx, fn)
	if !s.life.step() {
		return errDead
	}
	return err
}

// Get implements kv.Store.
func (s mortalStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if !s.life.look() {
		return nil, false, errDead
	}
	return s.Store.Get(ctx, key)
}

// Scan implements kv.Store.
func (s mortalStore) Scan(ctx context.Context, o kv.ScanOptions) ([]kv.Pair, error) {
	if !s.life.look() {
		return nil, errDead
	}
	return s.Store.Scan(ctx, o)
}

// randomPolicies are the rules that the desk may have.
var randomPolicies = sync.OnceValues(func() ([]*agent.Policy, error) {
	everything := agenttest.ShopPolicy()
	readsOnly := agenttest.ShopPolicy()
	readsOnly.RunWithoutApproval = readsOnly.ReadOnly
	readsOnly.ExpiresAfter = "8h"
	noNotes := agenttest.ShopPolicy()
	noNotes.Rules = []agent.Rule{{Tool: "shop/note", Then: agent.DecisionRefuse}}
	smallOrders := agenttest.ShopPolicy()
	smallOrders.Rules = []agent.Rule{{Tool: "shop/order", Then: agent.DecisionRun,
		Ceiling: &agent.Ceiling{Minor: randomCeiling, Currency: "EUR", At: "/line/total"}}}
	var out []*agent.Policy
	for _, c := range []agent.PolicyConfig{everything, readsOnly, noNotes, smallOrders} {
		p, err := agent.NewPolicy(c)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
})

const randomCeiling = 9000

// runsUnasked is the test's own reading of the policies above.
func runsUnasked(policy int, tool string, arguments json.RawMessage) bool {
	switch tool {
	case "book":
		return policy != 1
	case "note":
		return policy != 1 && policy != 2
	case "order":
		var args struct {
			Max int `json:"max_total_minor"`
		}
		return policy == 3 && json.Unmarshal(arguments, &args) == nil && args.Max > 0 && args.Max <= randomCeiling
	}
	return false
}

func newRandomWorld(rt *rapid.T) *randomWorld {
	w := &randomWorld{
		rt: rt, now: agenttest.Now, price: 8490, identity: "test:shop", answers: map[string]agent.Result{},
		backend: &recordedStore{Store: memory.New(), states: map[agent.CallID]agent.CallState{}, approvals: map[agent.ApprovalID]agent.Approval{}},
	}
	w.backend.fault = w.fault
	w.restart()
	return w
}

func (w *randomWorld) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// restart is a new process on the same store. Marking what the dead ones left
// must neither send nor ask.
func (w *randomWorld) restart() {
	policies, err := randomPolicies()
	if err != nil {
		w.rt.Fatal(err)
	}
	w.lives++
	n, ids := w.lives, 0
	var mu sync.Mutex
	w.life = &randomLife{}
	w.engine, err = agent.New(agent.Config{
		Store: state.New(mortalStore{Store: w.backend, life: w.life}), Model: randomModel{w, w.life},
		Sources: []agent.Source{randomServer{w, w.life}}, Policy: policies[w.policy],
		Owner: agent.OwnerID(fmt.Sprintf("life-%d", n)),
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			ids++
			return fmt.Sprintf("id-%d-%d", n, ids)
		},
		User: func() agent.User { return agent.User{ID: "U-01", Role: "dispatcher"} },
		Now:  func() time.Time { return w.now },
	})
	if err != nil {
		w.rt.Fatal(err)
	}
	sends, asked := len(w.receipts), w.asked
	if err := w.engine.Mark(context.Background(), nil); err != nil {
		w.rt.Fatalf("marking: %v", err)
	}
	if len(w.receipts) != sends || w.asked != asked {
		w.rt.Fatal("marking sent something")
	}
}

// store is the store for looking only.
func (w *randomWorld) store() *state.Store { return state.New(w.backend) }

// randomModel draws its replies.
type randomModel struct {
	w    *randomWorld
	life *randomLife
}

// Name implements [agent.Model].
func (m randomModel) Name() string { return "random" }

// Respond implements [agent.Model].
func (m randomModel) Respond(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	if !m.life.step() {
		return agent.ModelReply{}, errDead
	}
	m.w.asked++
	if err := agenttest.CheckRequest(r); err != nil {
		m.w.fault("a model request: %v", err)
	}
	reply, err := drawReply(m.w.rt, r, m.w.calm)
	if !m.life.step() {
		return agent.ModelReply{}, errDead
	}
	return reply, err
}

// randomServer is the shop as the world has it just now.
type randomServer struct {
	w    *randomWorld
	life *randomLife
}

// Name implements [agent.Source].
func (s randomServer) Name() string { return agenttest.ShopName }

// Tools implements [agent.Source].
func (s randomServer) Tools(ctx context.Context) (agent.ToolList, error) {
	if s.life.isDead() || s.w.down {
		return agent.ToolList{}, errors.New("nothing listens")
	}
	list, err := agenttest.NewShop("").Tools(ctx)
	list.Identity = s.w.identity
	for i := range list.Tools {
		list.Tools[i].Description += s.w.description
	}
	return list, err
}

// Call implements [agent.Source].
func (s randomServer) Call(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
	fail := func(outcome agent.Outcome, text string) (agent.Result, error) {
		return agent.Result{}, &agent.CallError{Outcome: outcome, Server: agenttest.ShopName, Err: errors.New(text)}
	}
	if r.Tool == "quote" || r.Tool == "look_up" {
		if s.life.isDead() || s.w.down {
			return fail(agent.OutcomeNotSent, "nothing listens")
		}
		return s.w.read(r), nil
	}
	if !s.life.step() {
		return fail(agent.OutcomeUnknown, "dead before sending")
	}
	if s.w.down || s.w.refuse > 0 {
		s.w.refuse = max(0, s.w.refuse-1)
		return fail(agent.OutcomeNotSent, "connection refused")
	}
	s.w.checkReceived(ctx, r)
	answer := s.w.receive(r)
	if !s.life.step() {
		return fail(agent.OutcomeUnknown, "dead before the answer")
	}
	if s.w.lose > 0 {
		s.w.lose--
		return fail(agent.OutcomeUnknown, "connection reset")
	}
	return answer, nil
}

func (w *randomWorld) read(r agent.CallRequest) agent.Result {
	var args struct {
		Quantity int `json:"quantity"`
	}
	_ = json.Unmarshal(r.Arguments, &args)
	if r.Tool == "quote" {
		return agenttest.Structured(agenttest.Quote(args.Quantity, w.price*args.Quantity))
	}
	return agenttest.Structured(`{"work_order":{"id":"WO-1044"}}`)
}

// receive does the work of a write, once for each key.
func (w *randomWorld) receive(r agent.CallRequest) agent.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	var args struct {
		Key string `json:"idempotency_key"`
		Max int    `json:"max_total_minor"`
	}
	_ = json.Unmarshal(r.Arguments, &args)
	answer, known := w.answers[args.Key]
	w.receipts = append(w.receipts, randomReceipt{tool: r.Tool, key: args.Key, call: r.Call, worked: !known})
	if known {
		return answer
	}
	switch r.Tool {
	case "order":
		w.orders++
		answer = agenttest.Structured(fmt.Sprintf(`{"part_order":{"id":"PO-%d","total":{"minor":%d,"currency":"EUR"}}}`, 3020+w.orders, args.Max))
	default:
		answer = agenttest.Structured(`{"done":true}`)
	}
	if args.Key != "" {
		w.answers[args.Key] = answer
	}
	return answer
}
