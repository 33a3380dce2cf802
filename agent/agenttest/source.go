package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"deskhand/agent"
)

// Source offers scripted tools and keeps a ledger of what reached them.
type Source struct {
	name string

	mu       sync.Mutex
	identity string
	tools    []agent.Tool
	handlers map[string]Handler
	down     error
	ledger   []agent.CallRequest
	keys     map[string]agent.Result
}

// Handler runs one tool. Its error must be a [*agent.CallError], or nil.
type Handler func(ctx context.Context, r agent.CallRequest) (agent.Result, error)

// NewSource makes a source without tools.
func NewSource(name string) *Source {
	return &Source{name: name, identity: "test:" + name, handlers: map[string]Handler{}, keys: map[string]agent.Result{}}
}

// Add gives the source a tool. A tool without a schema takes anything.
func (s *Source) Add(tool agent.Tool, handler Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tool.InputSchema == nil {
		tool.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	s.tools = slices.DeleteFunc(s.tools, func(t agent.Tool) bool { return t.Name == tool.Name })
	s.tools = append(s.tools, tool)
	s.handlers[tool.Name] = handler
}

// Remove takes a tool away.
func (s *Source) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = slices.DeleteFunc(s.tools, func(t agent.Tool) bool { return t.Name == name })
}

// SetDown makes the source unreachable with err, or reachable with nil.
func (s *Source) SetDown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

// SetIdentity makes it another server under the same name.
func (s *Source) SetIdentity(identity string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identity = identity
}

// Name implements [agent.Source].
func (s *Source) Name() string { return s.name }

// Tools implements [agent.Source].
func (s *Source) Tools(context.Context) (agent.ToolList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return agent.ToolList{}, s.down
	}
	return agent.ToolList{Identity: s.identity, Tools: slices.Clone(s.tools)}, nil
}

// Call implements [agent.Source]: it writes the ledger, then runs the handler.
func (s *Source) Call(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
	s.mu.Lock()
	handler, down := s.handlers[r.Tool], s.down
	if down == nil && handler != nil {
		s.ledger = append(s.ledger, r)
	}
	s.mu.Unlock()
	switch {
	case down != nil:
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: s.name, Err: down}
	case handler == nil:
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeAnswered, Server: s.name, Err: errors.New("unknown tool")}
	}
	return handler(ctx, r)
}

// Ledger are the calls that reached the tool, in order.
func (s *Source) Ledger(tool string) []agent.CallRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []agent.CallRequest
	for _, r := range s.ledger {
		if r.Tool == tool {
			out = append(out, r)
		}
	}
	return out
}

// Structured is a result with structured content and its text.
func Structured(document string) agent.Result {
	r := agent.TextResult(document, false)
	r.Structured = json.RawMessage(document)
	return *r
}

// Fixed is a handler that always gives the same result.
func Fixed(result agent.Result) Handler {
	return func(context.Context, agent.CallRequest) (agent.Result, error) { return result, nil }
}

// WorkOrders is a small work-orders server: look_up (a read), book (a free,
// keyed write), quote (a preview) and order (gated, keyed, filled).
type WorkOrders struct {
	*Source
	mu sync.Mutex
	// price of one piece in cents; Orders are the orders placed, by key.
	price  int
	orders []string
}

// NewWorkOrders makes the server under a name.
func NewWorkOrders(name string) *WorkOrders {
	w := &WorkOrders{Source: NewSource(name), price: 8490}
	w.Add(agent.Tool{Name: "look_up", Description: "Looks up a job."}, Fixed(Structured(`{"work_order":{"id":"WO-1044","status":"waiting_parts"}}`)))
	w.Add(agent.Tool{
		Name: "book", Description: "Books a visit.",
		Desk: agent.DeskMeta{Kind: "book_visit", Fill: map[string]string{"idempotency_key": "key"}},
	}, w.keyed(func(agent.CallRequest) agent.Result { return Structured(`{"visit":{"id":"V-2042"}}`) }))
	w.Add(agent.Tool{Name: "quote", InputSchema: json.RawMessage(quoteSchema)}, w.quote)
	w.Add(agent.Tool{
		Name: "order", Description: "Orders a part. This costs money.", InputSchema: json.RawMessage(orderSchema),
		Desk: agent.DeskMeta{
			Spends: true, Kind: "order",
			Fill:  map[string]string{"idempotency_key": "key", "max_total_minor": "/line/total/minor"},
			Terms: []string{"/line/total", "/supplier/id", "/expected_on", "/warnings"},
		},
	}, w.keyed(w.order))
	return w
}

const quoteSchema = `{"type":"object","properties":{"work_order_id":{"type":"string"},"sku":{"type":"string"},` +
	`"quantity":{"type":"integer","minimum":1}},"required":["sku","quantity"],"additionalProperties":false}`

const orderSchema = `{"type":"object","properties":{"work_order_id":{"type":"string"},"sku":{"type":"string"},` +
	`"quantity":{"type":"integer","minimum":1},"idempotency_key":{"type":"string"},"max_total_minor":{"type":"integer"}},` +
	`"required":["work_order_id","sku","quantity"],"additionalProperties":false}`

// Policy is the policy that goes with it.
func Policy(server string) agent.PolicyConfig {
	q := func(tool string) agent.QualifiedName { return agent.Qualify(server, tool) }
	return agent.PolicyConfig{
		RunWithoutApproval: []agent.QualifiedName{q("look_up"), q("book"), q("quote")},
		ReadOnly:           []agent.QualifiedName{q("look_up")},
		Previews:           map[agent.QualifiedName]agent.QualifiedName{q("order"): q("quote")},
	}
}

// SetPrice changes the price of one piece, in cents.
func (w *WorkOrders) SetPrice(cents int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.price = cents
}

// Orders are the keys of the orders that were placed.
func (w *WorkOrders) Orders() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.orders)
}

func (w *WorkOrders) quote(_ context.Context, r agent.CallRequest) (agent.Result, error) {
	var args struct {
		Quantity int `json:"quantity"`
	}
	if err := json.Unmarshal(r.Arguments, &args); err != nil {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeAnswered, Server: w.name, Err: err}
	}
	w.mu.Lock()
	total := w.price * args.Quantity
	w.mu.Unlock()
	return Structured(Quote(args.Quantity, total)), nil
}

// Quote is the preview of an order: what a person consents to.
func Quote(quantity, total int) string {
	return fmt.Sprintf(`{"part":{"sku":"HE-3000-230","name":"Heating element 3 kW"},"line":{"quantity":%d,"total":{"minor":%d,"currency":"EUR"}},`+
		`"supplier":{"id":"SUP-1","name":"Tandrel Thermal Supply"},"expected_on":{"at":"2026-12-03T12:00:00+01:00","local":"Thu 3 Dec 12:00"},"warnings":[]}`, quantity, total)
}

func (w *WorkOrders) order(r agent.CallRequest) agent.Result {
	var args struct {
		Key string `json:"idempotency_key"`
		Max int    `json:"max_total_minor"`
	}
	_ = json.Unmarshal(r.Arguments, &args) // validated by the engine against the schema
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders = append(w.orders, args.Key)
	result := Structured(fmt.Sprintf(`{"part_order":{"id":"PO-%d","status":"ordered","total":{"minor":%d,"currency":"EUR"}}}`, 3020+len(w.orders), args.Max))
	result.Meta = json.RawMessage(`{"example.test/trace":"t-1"}`)
	result.Content = append(result.Content, json.RawMessage(`{"type":"image","data":"aGk=","mimeType":"image/png"}`))
	return result
}

// keyed runs work once for each idempotency key and repeats its answer.
func (w *WorkOrders) keyed(work func(agent.CallRequest) agent.Result) Handler {
	return func(_ context.Context, r agent.CallRequest) (agent.Result, error) {
		var args struct {
			Key string `json:"idempotency_key"`
		}
		_ = json.Unmarshal(r.Arguments, &args)
		w.Source.mu.Lock()
		result, known := w.keys[args.Key]
		w.Source.mu.Unlock()
		if known && args.Key != "" {
			return result, nil
		}
		result = work(r)
		w.Source.mu.Lock()
		w.keys[args.Key] = result
		w.Source.mu.Unlock()
		return result, nil
	}
}

// Handler is the handler of a tool, for wrapping.
func (s *Source) Handler(tool string) Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers[tool]
}

// SetHandler replaces what a tool does; its definition stays.
func (s *Source) SetHandler(tool string, handler Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[tool] = handler
}
