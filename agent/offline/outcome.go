package offline

import (
	"encoding/json"
	"strings"

	"deskhand/agent"
)

// fault is a server's refusal, in the form that its error result has.
type fault struct {
	Code       string                       `json:"code"`
	Message    string                       `json:"message"`
	Field      string                       `json:"field"`
	Details    map[string]json.RawMessage   `json:"details"`
	Candidates []map[string]json.RawMessage `json:"candidates"`
	Retry      string                       `json:"retry"`
}

// outcome is how a call ended.
type outcome struct {
	tool  string
	args  map[string]any
	state agent.CallState
	// text is the result's text, of the server or of the engine.
	text  string
	data  json.RawMessage
	fault fault
}

// ok reports whether the call did what it was for.
func (o outcome) ok() bool { return o.state == agent.CallDone }

// read decodes the structured content. Parts that do not fit are left empty.
func (o outcome) read(v any) {
	if len(o.data) > 0 {
		// The error is of no use here: whatever could be read is in v, and an
		// answer from half a result is still better than none.
		_ = json.Unmarshal(o.data, v)
	}
}

// newOutcome reads a tool message.
func newOutcome(call agent.ModelCall, m agent.ModelMessage) outcome {
	o := outcome{tool: bareName(call.Name), state: m.State}
	_ = json.Unmarshal(call.Arguments, &o.args) // arguments of another model may be anything
	if m.Result != nil {
		o.text = strings.TrimSpace(m.Result.Text())
		o.data = m.Result.Structured
		var wrapped struct {
			Error fault `json:"error"`
		}
		if m.Result.IsError || m.State == agent.CallRefused || m.State == agent.CallFailed {
			_ = json.Unmarshal(m.Result.Structured, &wrapped) // plain text errors have none
			o.fault = wrapped.Error
		}
	}
	switch {
	case o.state == "" && m.Result != nil && m.Result.IsError:
		o.state = agent.CallFailed
	case o.state == "" && m.Result != nil:
		o.state = agent.CallDone
	case o.state == agent.CallDone && m.Result != nil && m.Result.IsError:
		o.state = agent.CallFailed
	}
	return o
}

// why is the reason that a call did not work, in the words that came with it.
func (o outcome) why() string {
	switch {
	case o.fault.Message != "":
		return clean(o.fault.Message, 400)
	case o.text != "":
		return clean(o.text, 4000)
	}
	return "No reason came with it."
}

// detail reads one detail of a refusal as text.
func (f fault) detail(name string) string { return plainValue(f.Details[name]) }

// list reads one detail of a refusal as a list.
func (f fault) list(name string) []string {
	var out []string
	_ = json.Unmarshal(f.Details[name], &out) // what is no list gives none
	return out
}

// field reads one field of a candidate as text.
func field(candidate map[string]json.RawMessage, name string) string {
	return plainValue(candidate[name])
}

// plainValue is a JSON value as a person would write it.
func plainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return clean(s, 200)
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return clean(strings.Join(list, ", "), 200)
	}
	var m money
	if json.Unmarshal(raw, &m) == nil && m.Currency != "" {
		return m.String()
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}
