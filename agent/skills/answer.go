package skills

import (
	"encoding/json"

	"deskhand/agent"
)

// answer is what a tool gives: the text for the model in blocks, and the same
// as data.
type answer struct {
	text       []string
	structured any
}

func (a answer) result() agent.Result {
	var out agent.Result
	for _, text := range a.text {
		out.Content = append(out.Content, agent.TextResult(text, false).Content...)
	}
	out.Structured = encode(a.structured)
	return out
}

// encode turns an answer's data into JSON.
func encode(v any) json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic("skills: an answer cannot be encoded: " + err.Error()) // impossible: strings, numbers, lists
	}
	return encoded
}
