// Package agenttest is the kit for tests of everything that stands on the
// engine: a scripted model and a scripted source of tools that counts calls,
// keeps a ledger, and can fail in every way that matters. It uses no network,
// no clock and no key.
package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"deskhand/agent"
)

// Model answers with what its script says. It keeps every request.
type Model struct {
	// Script gives the reply to the n-th request, from 0.
	Script func(n int, request agent.ModelRequest) (agent.ModelReply, error)

	mu       sync.Mutex
	requests []agent.ModelRequest
}

// Replies is a script of fixed replies, one after the other.
func Replies(replies ...agent.ModelReply) func(int, agent.ModelRequest) (agent.ModelReply, error) {
	return func(n int, _ agent.ModelRequest) (agent.ModelReply, error) {
		if n >= len(replies) {
			return agent.ModelReply{}, fmt.Errorf("the script has no reply %d", n)
		}
		return replies[n], nil
	}
}

// Say is a reply of text only.
func Say(text string) agent.ModelReply { return agent.ModelReply{Text: text} }

// Call is a reply of calls only; their ids are call_0, call_1, ...
func Call(calls ...agent.ModelCall) agent.ModelReply {
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call_%d", i)
		}
	}
	return agent.ModelReply{Calls: calls}
}

// Tool is one call of a reply.
func Tool(alias, arguments string) agent.ModelCall {
	return agent.ModelCall{Name: alias, Arguments: json.RawMessage(arguments)}
}

// Name implements [agent.Model].
func (m *Model) Name() string { return "scripted" }

// Respond implements [agent.Model]. It ends with ctx, also where the script
// would answer.
func (m *Model) Respond(ctx context.Context, request agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	m.mu.Lock()
	n := len(m.requests)
	m.requests = append(m.requests, request)
	m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return agent.ModelReply{}, err
	}
	reply, err := m.Script(n, request)
	if err == nil && reply.Text != "" {
		emit(reply.Text)
	}
	return reply, err
}

// Requests are all requests so far.
func (m *Model) Requests() []agent.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]agent.ModelRequest(nil), m.requests...)
}

// CheckRequest applies the rules that every provider has: each call is answered
// exactly once, by its id, right behind its message and in its order; ids do
// not repeat; nothing is empty.
func CheckRequest(r agent.ModelRequest) error {
	seen := map[string]bool{}
	for i := 0; i < len(r.Messages); i++ {
		m := r.Messages[i]
		switch m.Role {
		case agent.RoleTool:
			return fmt.Errorf("message %d: a result %q without a call before it", i, m.CallID)
		case agent.RoleAssistant:
			if m.Text == "" && len(m.Calls) == 0 {
				return fmt.Errorf("message %d is empty", i)
			}
			for j, c := range m.Calls {
				if c.ID == "" || seen[c.ID] {
					return fmt.Errorf("message %d: call id %q is empty or used twice", i, c.ID)
				}
				seen[c.ID] = true
				if !json.Valid(c.Arguments) {
					return fmt.Errorf("message %d: arguments of %q are no JSON", i, c.ID)
				}
				if i+1+j >= len(r.Messages) {
					return fmt.Errorf("message %d: call %q has no result", i, c.ID)
				}
				answer := r.Messages[i+1+j]
				if answer.Role != agent.RoleTool || answer.CallID != c.ID || answer.Result == nil {
					return fmt.Errorf("message %d: call %q is not answered in its place", i, c.ID)
				}
			}
			i += len(m.Calls)
		default:
			if m.Text == "" {
				return fmt.Errorf("message %d is empty", i)
			}
		}
	}
	return nil
}
