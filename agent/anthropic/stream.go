package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tmaxmax/go-sse"

	"deskhand/agent"
	"deskhand/agent/provider"
)

// reply collects a stream.
type reply struct {
	text  strings.Builder
	calls []*agent.ModelCall
	// places are the calls by the index of their block.
	places map[int]*agent.ModelCall
	usage  agent.Usage
	reason string
	began  bool
	done   bool
}

// read reads a stream to its end.
func (r *reply) read(body io.Reader, emit func(string)) error {
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: provider.MaxEvent}) {
		if err != nil {
			return r.broken(err)
		}
		if strings.TrimSpace(e.Data) == "" {
			continue
		}
		var got event
		if err := json.Unmarshal([]byte(e.Data), &got); err != nil {
			return fmt.Errorf("the server sent something in the middle of the answer that is no JSON: %w", err)
		}
		if got.Type == "error" {
			return fmt.Errorf("the server stopped in the middle of the answer: %s", provider.Fault(got.Error))
		}
		r.take(got, emit)
		if r.done {
			break
		}
	}
	switch {
	case !r.done:
		return r.broken(nil)
	case r.reason == "max_tokens" || r.reason == "model_context_window_exceeded":
		return provider.ErrTooLong
	case r.reason == "refusal":
		return provider.ErrFiltered
	}
	return nil
}

// broken says how a stream ended that is not whole.
func (r *reply) broken(err error) error {
	switch {
	case !r.began:
		return provider.ErrNothing
	case err != nil:
		return fmt.Errorf("%w (%w)", provider.ErrCut, err)
	}
	return provider.ErrCut
}

// take takes one event. Kinds that are not known are left out, as the API asks.
func (r *reply) take(e event, emit func(string)) {
	switch e.Type {
	case "message_start":
		r.began = true
		r.count(e.Message.Usage)
	case "content_block_start":
		r.began = true
		switch b := e.ContentBlock; b.Type {
		case "text":
			r.say(b.Text, emit)
		case "tool_use":
			call := &agent.ModelCall{ID: b.ID, Name: b.Name}
			if string(b.Input) != "{}" && string(b.Input) != "null" {
				call.Arguments = append(call.Arguments, b.Input...)
			}
			r.calls = append(r.calls, call)
			if r.places == nil {
				r.places = map[int]*agent.ModelCall{}
			}
			r.places[e.Index] = call
		}
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			r.say(e.Delta.Text, emit)
		case "input_json_delta":
			if call := r.places[e.Index]; call != nil {
				call.Arguments = append(call.Arguments, e.Delta.PartialJSON...)
			}
		}
	case "message_delta":
		r.reason = e.Delta.StopReason
		r.count(e.Usage)
	case "message_stop":
		r.done = true
	}
}

func (r *reply) say(text string, emit func(string)) {
	if text != "" {
		r.text.WriteString(text)
		emit(text)
	}
}

// count takes the newest numbers; those of the end are cumulative.
func (r *reply) count(u usage) {
	if input := u.Input + u.CacheRead + u.CacheWrite; input > 0 {
		r.usage.Input, r.usage.Cached = input, u.CacheRead
	}
	if u.Output > 0 {
		r.usage.Output = u.Output
	}
}

// reply is the whole of it.
func (r *reply) reply() agent.ModelReply {
	out := agent.ModelReply{Text: r.text.String(), Usage: r.usage}
	for _, c := range r.calls {
		if len(c.Arguments) == 0 {
			c.Arguments = json.RawMessage("{}") // a call without arguments is streamed without any
		}
		out.Calls = append(out.Calls, *c)
	}
	return out
}
