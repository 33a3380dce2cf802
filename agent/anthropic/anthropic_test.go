package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskhand/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-ant-very-secret"

// scripted is a server that gives its answers one after the other.
type scripted struct {
	*httptest.Server
	mu       sync.Mutex
	requests [][]byte
	headers  []http.Header
	pauses   int
}

func newScripted(t *testing.T, answers ...func(http.ResponseWriter)) *scripted {
	p := &scripted{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/messages" {
			http.Error(w, "no", http.StatusTeapot)
			return
		}
		p.mu.Lock()
		p.requests, p.headers = append(p.requests, raw), append(p.headers, r.Header.Clone())
		answer := answers[min(len(p.requests), len(answers))-1]
		p.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *scripted) ask(t *testing.T, r agent.ModelRequest) (agent.ModelReply, string, error) {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	m, err := New(Options{
		Name: "test-model", BaseURL: p.URL, Transport: transport, MaxTokens: 500,
		Key: func(context.Context) (string, error) { return secret, nil },
		Sleep: func(context.Context, time.Duration) error {
			p.pauses++
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := m.Respond(ctx, r, func(text string) { words.WriteString(text) })
	return reply, words.String(), err
}

func stream(pieces ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// event writes an event as the API does.
func sent(kind, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
}

var hello = agent.ModelRequest{Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: "hello"}}}

func whole(arguments, reason string) string {
	out := sent("message_start", `"message":{"id":"msg_1","usage":{"input_tokens":12,"cache_read_input_tokens":100,"output_tokens":1}}`) +
		sent("ping", "") + sent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
		sent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"Grüße, "}`) +
		sent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"Ann"}`) + sent("content_block_stop", `"index":0`) +
		sent("content_block_start", `"index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"order_part","input":{}}`)
	for _, r := range arguments { // in single characters
		quoted, _ := json.Marshal(string(r))
		out += sent("content_block_delta", `"index":1,"delta":{"type":"input_json_delta","partial_json":`+string(quoted)+`}`)
	}
	return out + sent("content_block_stop", `"index":1`) + sent("message_delta", `"delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":7}`) + sent("message_stop", "")
}

func TestStreamsAsTheAPISendsThem(t *testing.T) {
	arguments := `{"sku":"HE-3000","quantity":1.0,"é":"ü"}`
	good := whole(arguments, "tool_use")
	var bytewise []string
	for i := range len(good) {
		bytewise = append(bytewise, good[i:i+1])
	}
	for name, pieces := range map[string][]string{
		"whole": {good}, "byte by byte": bytewise, "CRLF": {strings.ReplaceAll(good, "\n", "\r\n")},
		"unknown events": {strings.ReplaceAll(good, "event: ping", "event: news\ndata: {\"type\":\"news\"}\n\n: comment\n\nevent: ping")},
	} {
		p := newScripted(t, stream(pieces...))
		reply, words, err := p.ask(t, hello)
		if err != nil || reply.Text != "Grüße, Ann" || words != reply.Text {
			t.Errorf("%s: %+v, %q, %v", name, reply, words, err)
			continue
		}
		if len(reply.Calls) != 1 || reply.Calls[0].ID != "toolu_1" || reply.Calls[0].Name != "order_part" || string(reply.Calls[0].Arguments) != arguments {
			t.Errorf("%s: %+v", name, reply.Calls)
		}
		if reply.Usage != (agent.Usage{Input: 112, Output: 7, Cached: 100}) {
			t.Errorf("%s: %+v", name, reply.Usage)
		}
	}
}

func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	good := whole(`{"a":1}`, "tool_use")
	for name, test := range map[string]struct{ body, want string }{
		"cut":        {good[:len(good)/2], "broke off in the middle"},
		"no end":     {strings.TrimSuffix(good, sent("message_stop", "")), "broke off in the middle"},
		"too long":   {whole(`{"a":1}`, "max_tokens"), "became too long"},
		"refused":    {whole(`{}`, "refusal"), "filter refused"},
		"overloaded": {good[:len(good)/2] + "\n\n" + sent("error", `"error":{"type":"overloaded_error","message":"Overloaded `+secret+`"}`), "stopped in the middle of the answer: Overloaded …"},
		"not JSON":   {sent("message_start", `"message":{}`) + "data: <html>\n\n", "no JSON"},
	} {
		p := newScripted(t, stream(test.body))
		reply, _, err := p.ask(t, hello)
		if name == "overloaded" && err != nil && strings.Contains(err.Error(), "no JSON") {
			continue // the cut fell into an event
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) || reply.Text != "" {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
		if len(p.requests) != 1 {
			t.Errorf("%s: %d requests", name, len(p.requests))
		}
	}
}

func TestNothingReceivedIsAskedAgain(t *testing.T) {
	overloaded := func(w http.ResponseWriter) {
		w.WriteHeader(529)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	}
	p := newScripted(t, overloaded, stream(": nothing\n\n"), stream(whole(`{}`, "tool_use")))
	if reply, _, err := p.ask(t, hello); err != nil || len(reply.Calls) != 1 || string(reply.Calls[0].Arguments) != "{}" || p.pauses != 2 {
		t.Errorf("%+v, %v, %d pauses", reply, err, p.pauses)
	}
	p = newScripted(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
	})
	if _, _, err := p.ask(t, hello); err == nil || !strings.Contains(err.Error(), "the key was refused (401)") || len(p.requests) != 1 {
		t.Errorf("%v", err)
	}
}

// TestTheRequestByteForByte: results go into the user's message behind their
// calls, before what the user says next; the roles alternate.
func TestTheRequestByteForByte(t *testing.T) {
	p := newScripted(t, stream(whole(`{}`, "tool_use")))
	request := agent.ModelRequest{
		System: "You help.",
		Messages: []agent.ModelMessage{
			{Role: agent.RoleUser, Text: "status"},
			{Role: agent.RoleAssistant, Text: "Looking.", Calls: []agent.ModelCall{
				{ID: "c1", Name: "look_up", Arguments: json.RawMessage(`{"n":1.50}`)}, {ID: "c2", Name: "other", Arguments: json.RawMessage(`{}`)},
			}},
			{Role: agent.RoleTool, CallID: "c1", Name: "look_up", Result: agent.TextResult("it waits", false)},
			{Role: agent.RoleTool, CallID: "c2", Name: "other", Result: agent.TextResult("no such thing", true)},
			{Role: agent.RoleUser, Text: "and?"},
		},
		Tools: []agent.ModelTool{{Name: "look_up", Description: "Looks up.", InputSchema: json.RawMessage(`{"type":"object"}`)}, {Name: "other"}},
	}
	for range 2 {
		if _, _, err := p.ask(t, request); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"model":"test-model","max_tokens":500,"system":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral"}}],` +
		`"tools":[{"name":"look_up","description":"Looks up.","input_schema":{"type":"object"}},{"name":"other","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"status"}]},{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c1","name":"look_up","input":{"n":1.50}},{"type":"tool_use","id":"c2","name":"other","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"it waits"},{"type":"tool_result","tool_use_id":"c2","content":"The tool reports an error.\nno such thing","is_error":true},{"type":"text","text":"and?"}]}],"stream":true}`
	if string(p.requests[0]) != want {
		t.Errorf("sent\n%s\nwant\n%s", p.requests[0], want)
	}
	if !bytes.Equal(p.requests[0], p.requests[1]) {
		t.Error("the same request has other bytes the second time")
	}
	if h := p.headers[0]; h.Get("X-Api-Key") != secret || h.Get("Anthropic-Version") != version || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("a model without a name")
	}
	if _, err := New(Options{Name: "x", BaseURL: "nowhere"}); err == nil {
		t.Error("a model without an address")
	}
	if m, err := New(Options{Name: "x", BaseURL: "https://example.com/v1/"}); err != nil || m.Name() != "anthropic:x" {
		t.Errorf("%v", err)
	}
}
