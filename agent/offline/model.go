package offline

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"deskhand/agent"
)

// Model is the built-in model. It keeps nothing between requests and may be
// used by several goroutines at once.
type Model struct {
	table table
}

var _ agent.Model = (*Model)(nil)

// New makes the built-in model.
func New() *Model { return &Model{table: newTable()} }

// Name is "built-in".
func (*Model) Name() string { return "built-in" }

// memo goes with every reply and comes back with the conversation: the clock
// by which the line was read, so that "tomorrow" of yesterday stays a day.
type memo struct {
	Now time.Time `json:"builtInNow"`
}

// Respond reads the conversation from its lines and results, and gives the
// calls that the newest line needs next, or the answer to it. It fails only if
// ctx has ended.
func (m *Model) Respond(ctx context.Context, request agent.ModelRequest, emit func(text string)) (agent.ModelReply, error) {
	if err := ctx.Err(); err != nil {
		return agent.ModelReply{}, err
	}
	opaque, err := json.Marshal(memo{Now: request.Now})
	if err != nil {
		opaque = nil // a clock outside the years 0 to 9999; the answer does without
	}
	text, calls := m.reply(request)
	if text != "" && emit != nil {
		emit(text)
	}
	return agent.ModelReply{Text: text, Calls: calls, Opaque: opaque}, nil
}

func (m *Model) reply(request agent.ModelRequest) (string, []agent.ModelCall) {
	exchanges := transcript(request.Messages)
	if len(exchanges) == 0 {
		return greeting, nil
	}
	past, current := exchanges[:len(exchanges)-1], exchanges[len(exchanges)-1]
	memory := &memory{}
	for _, x := range past {
		m.recall(request, x, memory)
	}
	t := m.newTurn(request, current, memory)
	if current.steps >= maxSteps {
		return "I looked things up " + count(current.steps, "time") + " and still have no answer, so I stopped. Please ask in smaller steps.", nil
	}
	a := t.run()
	if len(t.wants) > 0 {
		return t.asked(), t.calls(callCount(request.Messages) + 1)
	}
	if a.text == "" {
		a = t.notUnderstood(nil)
	}
	return a.text, nil
}

// recall goes through an answered line again for what it left. If the answer
// that stands there is not the one given now (another model wrote it, or an
// older version), its question is not this model's own, and nothing may be taken
// as an answer to it.
func (m *Model) recall(request agent.ModelRequest, x exchange, memory *memory) {
	t := m.newTurn(request, x, memory)
	t.past = true
	a := t.run()
	for i, o := range t.outcomes {
		if !t.used[i] {
			memory.observe(o)
		}
	}
	if len(t.wants) > 0 || strings.TrimSpace(a.text) != strings.TrimSpace(x.answer) {
		memory.pending = nil
	}
}

func (m *Model) newTurn(request agent.ModelRequest, x exchange, memory *memory) *turn {
	now := request.Now
	var said memo
	if json.Unmarshal(x.opaque, &said) == nil && !said.Now.IsZero() {
		now = said.Now.In(request.Now.Location())
	}
	return &turn{
		table: m.table, tools: request.Tools, now: now, memory: memory,
		line: x.line, outcomes: x.outcomes, used: make([]bool, len(x.outcomes)),
	}
}

func callCount(messages []agent.ModelMessage) int {
	n := 0
	for _, m := range messages {
		n += len(m.Calls)
	}
	return n
}
