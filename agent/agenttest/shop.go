package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deskhand/agent"
)

// Shop is a server whose ledger, prices and keys lie in a folder, so that what
// it did outlives the process that it is in. Its tools: look_up and quote
// (reads), book (a free, keyed write), note (a free write without a key), order
// (gated, keyed, filled from quote) and call_out (gated, without a key).
type Shop struct {
	// Dir holds the ledger.
	Dir string
	// Life is written into every receipt.
	Life int
	// Step, if set, runs right before a call is sent and right after its work
	// was done, before the answer.
	Step func(where string)
	// Lose and Refuse say of how many first sends of a tool the answer is lost,
	// or the connection refused.
	Lose, Refuse map[string]int

	ledger *Lines[Receipt]
}

// ShopName is the configured name of every Shop.
const ShopName = "shop"

// NewShop makes the server over a folder.
func NewShop(dir string) *Shop {
	return &Shop{Dir: dir, ledger: NewLines[Receipt](filepath.Join(dir, "ledger.jsonl"))}
}

// ShopPolicy is the policy that goes with a Shop.
func ShopPolicy() agent.PolicyConfig {
	q := func(tool string) agent.QualifiedName { return agent.Qualify(ShopName, tool) }
	return agent.PolicyConfig{
		RunWithoutApproval: []agent.QualifiedName{q("look_up"), q("quote"), q("book"), q("note")},
		ReadOnly:           []agent.QualifiedName{q("look_up"), q("quote")},
		Previews:           map[agent.QualifiedName]agent.QualifiedName{q("order"): q("quote")},
	}
}

// ShopGated reports whether a tool of a Shop may run only after a person said
// yes. It is the test's own word, and not read from any policy.
func ShopGated(tool string) bool { return tool == "order" || tool == "call_out" }

// ShopReads reports whether a tool of a Shop changes nothing.
func ShopReads(tool string) bool { return tool == "look_up" || tool == "quote" }

// Name implements [agent.Source].
func (s *Shop) Name() string { return ShopName }

// Tools implements [agent.Source].
func (s *Shop) Tools(context.Context) (agent.ToolList, error) {
	keyed := agent.DeskMeta{Kind: "book_visit", Fill: map[string]string{"idempotency_key": "key"}}
	anything := json.RawMessage(`{"type":"object"}`)
	return agent.ToolList{Identity: "test:" + ShopName, Tools: []agent.Tool{
		{Name: "look_up", Description: "Looks up a job.", InputSchema: anything},
		{Name: "book", Description: "Books a visit.", InputSchema: anything, Desk: keyed},
		{Name: "note", Description: "Adds a note.", InputSchema: anything, Desk: agent.DeskMeta{Kind: "note"}},
		{Name: "call_out", Description: "Sends the emergency van.", InputSchema: anything},
		{Name: "quote", InputSchema: json.RawMessage(quoteSchema)},
		{
			Name: "order", Description: "Orders a part. This costs money.", InputSchema: json.RawMessage(orderSchema),
			Desk: agent.DeskMeta{
				Spends: true, Kind: "order",
				Fill:  map[string]string{"idempotency_key": "key", "max_total_minor": "/line/total/minor"},
				Terms: []string{"/line/total", "/supplier/id", "/expected_on", "/warnings"},
			},
		},
	}}, nil
}

// Price is the price of one piece, in cents.
func (s *Shop) Price() int {
	raw, err := os.ReadFile(filepath.Join(s.Dir, "price"))
	if err != nil {
		return 8490
	}
	cents, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 8490
	}
	return cents
}

// SetPrice changes the price for this and every later life.
func (s *Shop) SetPrice(cents int) error {
	return os.WriteFile(filepath.Join(s.Dir, "price"), []byte(strconv.Itoa(cents)), 0o600)
}

// Receipts are the whole ledger, in order.
func (s *Shop) Receipts() ([]Receipt, error) { return s.ledger.All() }

// Call implements [agent.Source].
func (s *Shop) Call(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
	s.step("before sending " + r.Tool)
	if ctx.Err() != nil {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: ShopName, Err: ctx.Err()}
	}
	lose := false
	receipt, err := s.ledger.Decide(func(before []Receipt) Receipt {
		var line Receipt
		line, lose = s.receive(r, before)
		return line
	})
	switch {
	case err != nil:
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: ShopName, Err: err}
	case receipt.Refused:
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: ShopName, Err: errors.New("connection refused")}
	}
	s.step("before the answer of " + r.Tool)
	if lose {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: ShopName, Err: errors.New("connection reset")}
	}
	return receipt.Answer, nil
}

func (s *Shop) step(where string) {
	if s.Step != nil {
		s.Step(where)
	}
}

// receive works out what the server does about a call, and whether its answer
// is lost on the way.
func (s *Shop) receive(r agent.CallRequest, before []Receipt) (line Receipt, lose bool) {
	var args struct {
		Key string `json:"idempotency_key"`
	}
	_ = json.Unmarshal(r.Arguments, &args) // the engine sends objects
	line = Receipt{
		Life: s.Life, Tool: r.Tool, Call: r.Call, Approval: r.Approval, User: r.User,
		Arguments: r.Arguments, Key: args.Key,
	}
	sends, done := 0, 0
	for _, b := range before {
		if b.Tool != r.Tool {
			continue
		}
		sends++
		if b.Worked {
			done++
		}
		if b.Worked && b.Key != "" && b.Key == args.Key {
			line.Answer = b.Answer
		}
	}
	if sends < s.Refuse[r.Tool] {
		line.Refused = true
		return line, false
	}
	if line.Answer.Content == nil {
		line.Worked = true
		line.Answer = s.work(r, done)
	}
	return line, sends < s.Lose[r.Tool]
}

// work is the answer to a call that is the n-th of its tool, from 0.
func (s *Shop) work(r agent.CallRequest, n int) agent.Result {
	switch r.Tool {
	case "quote":
		var args struct {
			Quantity int `json:"quantity"`
		}
		_ = json.Unmarshal(r.Arguments, &args)
		return Structured(Quote(args.Quantity, s.Price()*args.Quantity))
	case "order":
		var args struct {
			Max int `json:"max_total_minor"`
		}
		_ = json.Unmarshal(r.Arguments, &args)
		result := Structured(fmt.Sprintf(`{"part_order":{"id":"PO-%d","status":"ordered","total":{"minor":%d,"currency":"EUR"}}}`, 3021+n, args.Max))
		result.Meta = json.RawMessage(`{"example.test/trace":"t-1"}`)
		result.Content = append(result.Content, json.RawMessage(`{"type":"image","data":"aGk=","mimeType":"image/png"}`))
		return result
	case "book":
		return Structured(fmt.Sprintf(`{"visit":{"id":"V-%d"}}`, 2042+n))
	case "note":
		return Structured(fmt.Sprintf(`{"note":{"id":"N-%d"}}`, 1+n))
	case "call_out":
		return Structured(`{"van":{"status":"on its way"}}`)
	}
	return Structured(`{"work_order":{"id":"WO-1044","status":"waiting_parts"}}`)
}
