package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskhand/agent"
	"deskhand/agent/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a scripted server: it gives its answers one after the other, the
// last one again and again.
type scripted struct {
	*httptest.Server
	mu       sync.Mutex
	requests [][]byte
	headers  []http.Header
	answers  []func(http.ResponseWriter)
	pauses   []time.Duration
}

func newProvider(t *testing.T, answers ...func(http.ResponseWriter)) *scripted {
	p := &scripted{answers: answers}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
			http.Error(w, "no", http.StatusTeapot)
			return
		}
		p.mu.Lock()
		p.requests, p.headers = append(p.requests, raw), append(p.headers, r.Header.Clone())
		answer := p.answers[min(len(p.requests), len(p.answers))-1]
		p.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

const secret = "sk-very-secret"

func (p *scripted) model(t *testing.T, change ...func(*Options)) *Model {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	o := Options{
		Name: "test-model", BaseURL: p.URL + "/v1", Transport: transport,
		Key: func(context.Context) (string, error) { return secret, nil },
		Sleep: func(_ context.Context, d time.Duration) error {
			p.mu.Lock()
			p.pauses = append(p.pauses, d)
			p.mu.Unlock()
			return nil
		},
	}
	for _, c := range change {
		c(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stream answers with these bytes, flushed piece by piece, and an end.
func stream(pieces ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func status(code int, body string, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func event(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

func finish(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
}

const endOfStream = "data: [DONE]\n\n"

// ask makes one request and gives reply, words and error.
func ask(t *testing.T, m *Model, r agent.ModelRequest) (agent.ModelReply, string, error) {
	t.Helper()
	var words strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := m.Respond(ctx, r, func(text string) { words.WriteString(text) })
	return reply, words.String(), err
}

var hello = agent.ModelRequest{Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: "hello"}}}

// TestTheRequestByteForByte: every kind of message, in an order and with bytes
// that stay the same, so that the provider's cache hits.
func TestTheRequestByteForByte(t *testing.T) {
	p := newProvider(t, stream(event(`{"content":"ok"}`), finish("stop"), endOfStream))
	temperature := 0.0
	m := p.model(t, func(o *Options) {
		o.MaxTokens, o.Temperature, o.Headers = 500, &temperature, map[string]string{"X-Title": "Deskhand"}
	})
	result := agent.TextResult("WO-1044 waits", false)
	result.Structured = json.RawMessage(`{"id":"WO-1044","x":1.50}`)
	same := agent.TextResult(`{ "b": 2, "a": 1 }`, false)
	same.Structured = json.RawMessage(`{"a":1,"b":2}`)
	request := agent.ModelRequest{
		System: "You help.",
		Messages: []agent.ModelMessage{
			{Role: agent.RoleUser, Text: "status \"1044\" é"},
			{Role: agent.RoleAssistant, Text: "Looking.", Calls: []agent.ModelCall{
				{ID: "c1", Name: "look_up", Arguments: json.RawMessage(`{"id":"WO-1044","n":1.50}`)}, {ID: "c2", Name: "other", Arguments: json.RawMessage(`{}`)},
			}},
			{Role: agent.RoleTool, CallID: "c1", Name: "look_up", Result: result, Note: "A person changed it."},
			{Role: agent.RoleTool, CallID: "c2", Name: "other", Result: same},
			{Role: agent.RoleAssistant, Calls: []agent.ModelCall{{ID: "c3", Name: "order", Arguments: json.RawMessage(`{"quantity":1}`)}}},
			{Role: agent.RoleTool, CallID: "c3", Name: "order", Result: agent.TextResult("no such part", true)},
			{Role: agent.RoleUser, Text: "and?"},
		},
		Tools: []agent.ModelTool{
			{Name: "look_up", Description: "Looks up.", InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)},
			{Name: "ping"},
		},
	}
	for range 2 {
		if _, _, err := ask(t, m, request); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"model":"test-model","messages":[{"role":"system","content":"You help."},{"role":"user","content":"status \"1044\" é"},` +
		`{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look_up","arguments":"{\"id\":\"WO-1044\",\"n\":1.50}"}},{"id":"c2","type":"function","function":{"name":"other","arguments":"{}"}}]},` +
		`{"role":"tool","content":"A person changed it.\nWO-1044 waits\n{\"id\":\"WO-1044\",\"x\":1.50}","tool_call_id":"c1"},` +
		`{"role":"tool","content":"{\"a\":1,\"b\":2}","tool_call_id":"c2"},` +
		`{"role":"assistant","tool_calls":[{"id":"c3","type":"function","function":{"name":"order","arguments":"{\"quantity\":1}"}}]},` +
		`{"role":"tool","content":"The tool reports an error.\nno such part","tool_call_id":"c3"},{"role":"user","content":"and?"}],` +
		`"tools":[{"type":"function","function":{"name":"look_up","description":"Looks up.","parameters":{"type":"object","properties":{"id":{"type":"string"}}}}},{"type":"function","function":{"name":"ping","parameters":{"type":"object","properties":{}}}}],` +
		`"max_tokens":500,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}`
	if string(p.requests[0]) != want {
		t.Errorf("sent\n%s\nwant\n%s", p.requests[0], want)
	}
	if !bytes.Equal(p.requests[0], p.requests[1]) {
		t.Error("the same request has other bytes the second time")
	}
	if h := p.headers[0]; h.Get("Authorization") != "Bearer "+secret || h.Get("X-Title") != "Deskhand" || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", h)
	}
}

// TestStreamsAsProvidersSendThem: the same answer, however it is cut and
// decorated.
func TestStreamsAsProvidersSendThem(t *testing.T) {
	usage := `data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n"
	call := `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"order_part","arguments":""}}]}`
	arguments := `{"sku":"HE-3000","quantity":1.0,"é":"ü"}`
	whole := event(`{"role":"assistant","content":"Grüße, "}`) + event(`{"content":"Ann"}`) + event(call)
	for _, r := range arguments { // in single characters
		quoted, _ := json.Marshal(string(r))
		whole += event(`{"tool_calls":[{"index":0,"function":{"arguments":` + string(quoted) + `}}]}`)
	}
	whole += finish("tool_calls") + usage
	bytewise := func(s string) []string {
		var out []string
		for i := range len(s) {
			out = append(out, s[i:i+1])
		}
		return out
	}
	for name, pieces := range map[string][]string{
		"whole":                {whole + endOfStream},
		"byte by byte":         bytewise(whole + endOfStream),
		"no [DONE]":            {whole},
		"CRLF":                 {strings.ReplaceAll(whole+endOfStream, "\n", "\r\n")},
		"keep-alives":          {": ping\n\n" + strings.ReplaceAll(whole, "data: ", ": keep-alive\n\ndata: ") + endOfStream},
		"no space after data:": {strings.ReplaceAll(whole+endOfStream, "data: ", "data:")},
		"content null":         {event(`{"content":null}`) + whole + endOfStream},
		"named events":         {strings.ReplaceAll(whole, "data: ", "event: message\nid: 1\ndata: ") + endOfStream},
		"another choice":       {`data: {"choices":[{"index":1,"delta":{"content":"no"}}]}` + "\n\n" + whole + endOfStream},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, stream(pieces...))
			reply, words, err := ask(t, p.model(t), hello)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Text != "Grüße, Ann" || words != reply.Text {
				t.Errorf("text %q, words %q", reply.Text, words)
			}
			if len(reply.Calls) != 1 || reply.Calls[0].ID != "call_1" || reply.Calls[0].Name != "order_part" || string(reply.Calls[0].Arguments) != arguments {
				t.Errorf("calls %+v", reply.Calls)
			}
			if reply.Usage != (agent.Usage{Input: 12, Output: 7, Cached: 4}) {
				t.Errorf("usage %+v", reply.Usage)
			}
		})
	}
}

func TestSeveralCallsOfOneAnswer(t *testing.T) {
	for name, events := range map[string]string{
		"interleaved": event(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"n\""}},{"index":1,"id":"b","function":{"name":"two","arguments":"{"}}]}`) +
			event(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":":1}"}}]}`),
		"without index": event(`{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{\"n\":1}"}}]}`) + event(`{"tool_calls":[{"id":"b","function":{"name":"two","arguments":"{}"}}]}`),
	} {
		p := newProvider(t, stream(events+finish("tool_calls")+endOfStream))
		reply, _, err := ask(t, p.model(t), hello)
		if err != nil || len(reply.Calls) != 2 || string(reply.Calls[0].Arguments) != `{"n":1}` || string(reply.Calls[1].Arguments) != `{}` ||
			reply.Calls[0].ID != "a" || reply.Calls[1].Name != "two" {
			t.Errorf("%s: %+v, %v", name, reply.Calls, err)
		}
	}
}

// What is odd about calls is for the engine to judge: it gets all of it.
func TestOddCallsAreGivenAsTheyCame(t *testing.T) {
	p := newProvider(t, stream(event(`{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{not json"}},{"index":1,"id":"","function":{"name":"","arguments":""}}]}`)+finish("stop")+endOfStream))
	reply, _, err := ask(t, p.model(t), hello)
	if err != nil || len(reply.Calls) != 2 || string(reply.Calls[0].Arguments) != "{not json" || reply.Calls[0].ID != "" || string(reply.Calls[1].Arguments) != "{}" {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	words := event(`{"content":"Half an ans"}`)
	for name, test := range map[string]struct{ body, want string }{
		"cut":               {words, "broke off in the middle"},
		"cut in an event":   {words + `data: {"choices":[{"ind`, "broke off in the middle"},
		"too long":          {words + finish("length") + endOfStream, "became too long; raise model.maxTokens"},
		"filtered":          {words + finish("content_filter") + endOfStream, "filter refused the answer"},
		"an error object":   {words + `data: {"error":{"message":"overloaded ` + secret + `","code":529}}` + "\n\n", "stopped in the middle of the answer: overloaded …"},
		"an error as text":  {": ka\n\n" + words + `data: {"error":"boom"}` + "\n\n", "stopped in the middle of the answer: boom"},
		"garbage":           {words + "data: <html>\n\n", "no JSON"},
		"an event too long": {words + "data: " + strings.Repeat("x", provider.MaxEvent+1) + "\n\n", "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, stream(test.body))
			reply, _, err := ask(t, p.model(t), hello)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) || reply.Text != "" {
				t.Errorf("%+v, %v", reply, err)
			}
			if len(p.requests) != 1 {
				t.Errorf("%d requests: what has begun to be answered was asked again", len(p.requests))
			}
		})
	}
}

func TestNothingReceivedIsAskedAgain(t *testing.T) {
	good := stream(event(`{"content":"ok"}`), finish("stop"), endOfStream)
	hangUp := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		pauses  []time.Duration // at least
	}{
		"500 and 529":     {[]func(http.ResponseWriter){status(500, "oops"), status(529, `{"error":{"message":"overloaded"}}`), good}, []time.Duration{500 * time.Millisecond, time.Second}},
		"429 with wait":   {[]func(http.ResponseWriter){status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "7"), good}, []time.Duration{7 * time.Second}},
		"a long wait":     {[]func(http.ResponseWriter){status(429, `{}`, "Retry-After", "86400"), good}, []time.Duration{time.Minute}},
		"until a moment":  {[]func(http.ResponseWriter){status(503, `{}`, "Date", "Tue, 01 Dec 2026 09:00:00 GMT", "Retry-After", "Tue, 01 Dec 2026 09:00:20 GMT"), good}, []time.Duration{20 * time.Second}},
		"hung up":         {[]func(http.ResponseWriter){hangUp, good}, []time.Duration{500 * time.Millisecond}},
		"an empty stream": {[]func(http.ResponseWriter){stream(": nothing\n\n"), good}, []time.Duration{500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, test.answers...)
			reply, _, err := ask(t, p.model(t), hello)
			if err != nil || reply.Text != "ok" {
				t.Fatalf("%+v, %v", reply, err)
			}
			if len(p.pauses) != len(test.pauses) {
				t.Fatalf("pauses %v", p.pauses)
			}
			for i, d := range p.pauses {
				if d < test.pauses[i] || d > 2*test.pauses[i] {
					t.Errorf("pause %d is %v, want about %v", i, d, test.pauses[i])
				}
			}
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for name, test := range map[string]struct {
		answer   func(http.ResponseWriter)
		requests int
		want     string
	}{
		"401":          {status(401, `{"error":{"message":"bad key `+secret+`"}}`), 1, "the key was refused (401); check model.apiKeyEnv or model.apiKeyCommand: bad key …"},
		"403":          {status(403, ""), 1, "this key may not use the model (403)"},
		"404":          {status(404, `{"error":{"message":"no such model"}}`), 1, `does not know the model "test-model" or the address (404)`},
		"400":          {status(400, `{"error":{"message":"bad schema"}}`), 1, "refused the request (400): bad schema"},
		"no credit":    {status(429, `{"error":{"code":"insufficient_quota","message":"no credit"}}`), 1, "no credit left (429): no credit"},
		"500 for ever": {status(500, "<html>proxy"), provider.Attempts, "has a problem (500); try again later"},
		"HTML": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>login")
		}, 1, `answers with "text/html" instead of a stream`},
		"JSON":      {status(200, `{"choices":[]}`, "Content-Type", "application/json"), 1, `answers with "application/json" instead of a stream`},
		"elsewhere": {status(307, "", "Location", "http://example.com/"), 1, "sends to another address (307), which is not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, test.answer)
			_, _, err := ask(t, p.model(t), hello)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it says %v", err)
			}
			if len(p.requests) != test.requests {
				t.Errorf("%d requests, want %d", len(p.requests), test.requests)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	p := newProvider(t)
	m := p.model(t)
	p.Close()
	_, _, err := ask(t, m, hello)
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") || !strings.Contains(err.Error(), "--model offline") || len(p.pauses) != provider.Attempts-1 {
		t.Errorf("%v after %v", err, p.pauses)
	}
}

func TestAServerThatKnowsNoStreamOptions(t *testing.T) {
	p := newProvider(t, status(400, `{"error":{"message":"unknown field stream_options"}}`), stream(event(`{"content":"ok"}`), finish("stop"), endOfStream))
	reply, _, err := ask(t, p.model(t), hello)
	if err != nil || reply.Text != "ok" || len(p.requests) != 2 || bytes.Contains(p.requests[1], []byte("stream_options")) {
		t.Errorf("%+v, %v, %d requests", reply, err, len(p.requests))
	}
}

// Newer models refuse max_tokens and name what they want instead.
func TestAModelThatWantsTheNewerNameOfTheLimit(t *testing.T) {
	p := newProvider(t, status(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`),
		stream(event(`{"content":"ok"}`), finish("stop"), endOfStream))
	reply, _, err := ask(t, p.model(t, func(o *Options) { o.MaxTokens = 77 }), hello)
	if err != nil || reply.Text != "ok" || len(p.requests) != 2 {
		t.Fatalf("%+v, %v, %d requests", reply, err, len(p.requests))
	}
	if again := p.requests[1]; !bytes.Contains(again, []byte(`"max_completion_tokens":77`)) || bytes.Contains(again, []byte(`"max_tokens"`)) {
		t.Errorf("asked again with %s", again)
	}
}

// A server may want its key in a header or in the address, and repeat it.
func TestSecretsOfHeadersAndAddressAreInNoError(t *testing.T) {
	secrets := []string{"azure-secret-1", "bearer-secret-2", "query-secret-3", "password-secret-4"}
	said := `{"error":{"message":"refused: ` + strings.Join(secrets, " ") + `"}}`
	for name, answer := range map[string]func(http.ResponseWriter){
		"refused":   status(401, said),
		"in stream": stream("data: " + said + "\n\n"),
	} {
		p := newProvider(t, answer)
		m := p.model(t, func(o *Options) {
			o.BaseURL = strings.Replace(p.URL, "http://", "http://desk:password-secret-4@", 1) + "/v1?code=query-secret-3"
			o.Headers = map[string]string{"Api-Key": "azure-secret-1", "X-Auth": "Bearer bearer-secret-2"}
		})
		_, _, err := ask(t, m, hello)
		if err == nil || !strings.Contains(err.Error(), "refused: … … … …") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGivingUpStopsTheRequest: also in the middle of an answer.
func TestGivingUpStopsTheRequest(t *testing.T) {
	gone := make(chan struct{})
	p := newProvider(t)
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		stream(event(`{"content":"Slow"}`))(w)
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := p.model(t).Respond(ctx, hello, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-gone
}

func TestATimeLimit(t *testing.T) {
	p := newProvider(t)
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	})
	_, _, err := ask(t, p.model(t, func(o *Options) { o.Timeout = 50 * time.Millisecond }), hello)
	if err == nil || err.Error() != "no whole answer within 50ms" {
		t.Errorf("%v", err)
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("a model without a name")
	}
	if _, err := New(Options{Name: "x", BaseURL: "localhost:1"}); err == nil || !strings.Contains(err.Error(), "baseURL") {
		t.Errorf("%v", err)
	}
	m, err := New(Options{Name: "x", BaseURL: "http://127.0.0.1:1/v1/", Key: func(context.Context) (string, error) { return "", fmt.Errorf("the command failed") }})
	if err != nil || m.Name() != "openai:x" {
		t.Fatal(err)
	}
	if _, _, err := ask(t, m, hello); err == nil || err.Error() != "no key for the model: the command failed" {
		t.Errorf("%v", err)
	}
}
