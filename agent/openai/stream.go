package openai

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
	// places are the calls by the index that the stream gives them.
	places  map[int]*agent.ModelCall
	refusal strings.Builder
	usage   agent.Usage
	finish  string
	// began is set once something of the answer has arrived.
	began bool
	done  bool
}

// read reads a stream to its end.
func (r *reply) read(body io.Reader, emit func(string)) error {
	for event, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: provider.MaxEvent}) {
		if err != nil {
			return r.broken(err)
		}
		data := strings.TrimSpace(event.Data)
		if data == "" {
			continue
		}
		if data == "[DONE]" {
			r.done = true
			break
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return fmt.Errorf("the server sent something in the middle of the answer that is no JSON: %w", err)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return fmt.Errorf("the server stopped in the middle of the answer: %s", provider.Fault(c.Error))
		}
		r.take(c, emit)
	}
	return r.end()
}

// take takes one event.
func (r *reply) take(c chunk, emit func(string)) {
	if u := c.Usage; u != nil {
		r.usage = agent.Usage{Input: u.Prompt, Output: u.Completion}
		if u.Details != nil {
			r.usage.Cached = u.Details.Cached
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one answer was asked for
		}
		r.began = true
		d := choice.Delta
		if d.Content != nil && *d.Content != "" {
			r.text.WriteString(*d.Content)
			emit(*d.Content)
		}
		if d.Refusal != nil {
			r.refusal.WriteString(*d.Refusal)
		}
		for _, t := range d.ToolCalls {
			call := r.place(t.Index, t.ID)
			if call.ID == "" {
				call.ID = t.ID
			}
			call.Name += t.Function.Name
			call.Arguments = append(call.Arguments, t.Function.Arguments...)
		}
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			r.finish = *choice.FinishReason
		}
	}
}

// place is the call that a fragment belongs to. Some servers give no index, and
// send each call whole.
func (r *reply) place(index *int, id string) *agent.ModelCall {
	if index != nil {
		if call := r.places[*index]; call != nil {
			return call
		}
	} else if n := len(r.calls); n > 0 && (id == "" || r.calls[n-1].ID == id) {
		return r.calls[n-1]
	}
	call := &agent.ModelCall{}
	r.calls = append(r.calls, call)
	if index != nil {
		if r.places == nil {
			r.places = map[int]*agent.ModelCall{}
		}
		r.places[*index] = call
	}
	return call
}

// end judges how the stream ended.
func (r *reply) end() error {
	switch r.finish {
	case "length":
		return provider.ErrTooLong
	case "content_filter":
		return provider.ErrFiltered
	case "":
		// A server may forget [DONE], or the reason, but not both.
		if !r.done {
			return r.broken(nil)
		}
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

// reply is the whole of it.
func (r *reply) reply() agent.ModelReply {
	out := agent.ModelReply{Text: r.text.String(), Usage: r.usage}
	if out.Text == "" && r.refusal.Len() > 0 {
		out.Text = r.refusal.String()
	}
	for _, c := range r.calls {
		if len(c.Arguments) == 0 {
			c.Arguments = json.RawMessage("{}") // a call without arguments is streamed without any
		}
		out.Calls = append(out.Calls, *c)
	}
	return out
}
