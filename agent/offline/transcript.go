package offline

import "deskhand/agent"

// maxTurns is how many turns back a conversation is read again. What is older
// is no context for a terse line any more.
const maxTurns = 20

// exchange is a dispatcher's line with what came of it.
type exchange struct {
	line     string
	outcomes []outcome
	// answer is the assistant's final text; empty while there is none.
	answer string
	// steps counts the assistant's replies with calls.
	steps  int
	opaque []byte
}

// transcript cuts messages into exchanges, oldest first. Messages before the
// first line, and results without a call, are left out.
func transcript(messages []agent.ModelMessage) []exchange {
	var out []exchange
	calls := map[string]agent.ModelCall{}
	for _, m := range messages {
		if m.Role == agent.RoleUser {
			out = append(out, exchange{line: m.Text})
			clear(calls)
			continue
		}
		if len(out) == 0 {
			continue
		}
		x := &out[len(out)-1]
		switch m.Role {
		case agent.RoleAssistant:
			if len(m.Opaque) > 0 {
				x.opaque = m.Opaque
			}
			if len(m.Calls) > 0 {
				x.steps++
			} else {
				x.answer = m.Text
			}
			for _, c := range m.Calls {
				calls[c.ID] = c
			}
		case agent.RoleTool:
			if call, ok := calls[m.CallID]; ok {
				x.outcomes = append(x.outcomes, newOutcome(call, m))
			}
		}
	}
	return out[max(0, len(out)-maxTurns):]
}
