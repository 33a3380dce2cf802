package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

func older(o *Options) { o.SSE = true }

// TestOlderTransport drives the SDK's own server of the older transport: list,
// call, a change that is announced, a cancelled call, a restart.
func TestOlderTransport(t *testing.T) {
	var ran atomic.Int32
	var server *mcp.Server
	running, cancelled := make(chan struct{}), make(chan struct{})
	build := func() http.Handler {
		server = newSDKServer(t)
		server.AddTool(&mcp.Tool{Name: "order", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ran.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
		server.AddTool(&mcp.Tool{Name: "slow", InputSchema: object}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(running)
			<-ctx.Done()
			close(cancelled)
			return nil, ctx.Err()
		})
		now := server
		return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return now }, nil)
	}
	h := newHost(t, build())
	s := connectTo(t, h.url(), older)
	if list, err := s.Tools(t.Context()); err != nil || len(list.Tools) != 3 || list.Identity != h.url() {
		t.Fatalf("tools %+v, %v", list, err)
	}
	arguments := `{"b":12345678901234567890,"a":1.50}`
	r, err := s.Call(t.Context(), agent.CallRequest{Tool: "echo", Arguments: json.RawMessage(arguments)})
	if err != nil || r.Text() != arguments {
		t.Errorf("echo gave %q, %v", r.Text(), err)
	}
	mustCall(t, s, "order")

	server.AddTool(&mcp.Tool{Name: "new", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	eventually(t, "the new tool is seen", func() bool {
		list, err := s.Tools(t.Context())
		return err == nil && len(list.Tools) == 4
	})

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-running; cancel() }()
	_, err = s.Call(ctx, agent.CallRequest{Tool: "slow"})
	wantOutcome(t, err, agent.OutcomeUnknown)
	select {
	case <-cancelled:
	case <-time.After(long):
		t.Error("the server was not told")
	}

	h.down()
	eventually(t, "the session is dead", func() bool { return s.State().Phase == PhaseDown })
	_, err = call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeNotSent)
	h.up(build())
	mustCall(t, s, "order")
	if n := ran.Load(); n != 2 {
		t.Errorf("ran %d times, want 2", n)
	}
	if st := s.State(); st.Phase != PhaseReady {
		t.Errorf("state %+v", st)
	}
}

// oldPeer is a scripted server of the older transport.
type oldPeer struct {
	*host
	executions, starts atomic.Int32
	tokens             atomic.Int32 // requests with the token
	streams            sync.Map     // of oldStream, by session

	mu     sync.Mutex
	script oldScript
	// endpoint is what the stream's first event says; empty: where messages
	// are taken.
	endpoint string
}

// oldScript answers one tools/call: on the POST, and through say on the stream;
// cut ends the stream.
type oldScript func(p *oldPeer, w http.ResponseWriter, id string, say func(string), cut func())

// next sets the script of the next call.
func (p *oldPeer) next(s oldScript) {
	p.mu.Lock()
	p.script = s
	p.mu.Unlock()
}

func newOldPeer(t *testing.T) *oldPeer {
	p := &oldPeer{}
	p.host = newHost(t, p)
	return p
}

type oldStream struct {
	events chan string
	end    context.CancelFunc
	ctx    context.Context
}

func (p *oldPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		p.tokens.Add(1)
	}
	if r.Method == http.MethodGet {
		p.stream(w, r)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var m message
	_ = json.Unmarshal(raw, &m)
	id := string(m.ID)
	found, ok := p.streams.Load(r.URL.Query().Get("session"))
	if !ok {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	stream := found.(oldStream)
	say := func(text string) {
		select {
		case stream.events <- text:
		case <-stream.ctx.Done():
		}
	}
	result := func(text string) { say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, text)) }
	if m.Method == "tools/call" {
		p.mu.Lock()
		script := p.script
		p.script = nil
		p.mu.Unlock()
		if script == nil {
			script = oldGood
		}
		script(p, w, id, say, stream.end)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	switch m.Method {
	case "initialize":
		result(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"old","version":"1"}}`)
	case "tools/list":
		result(`{"tools":[{"name":"order","inputSchema":{"type":"object"}}]}`)
	}
}

func (p *oldPeer) stream(w http.ResponseWriter, r *http.Request) {
	number := fmt.Sprint(p.starts.Add(1))
	ctx, end := context.WithCancel(r.Context())
	defer end()
	stream := oldStream{make(chan string), end, ctx}
	p.streams.Store(number, stream)
	defer p.streams.Delete(number)
	w.Header().Set("Content-Type", sseType)
	p.mu.Lock()
	endpoint := p.endpoint
	p.mu.Unlock()
	if endpoint == "" {
		endpoint = "/messages"
	}
	fmt.Fprintf(w, "event: endpoint\ndata: %s?session=%s\n\n", endpoint, number)
	for {
		w.(http.Flusher).Flush()
		select {
		case text := <-stream.events:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
		case <-ctx.Done():
			return
		}
	}
}

func oldResult(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, goodResult)
}

func oldGood(p *oldPeer, w http.ResponseWriter, id string, say func(string), _ func()) {
	p.executions.Add(1)
	w.WriteHeader(http.StatusAccepted)
	say(oldResult(id))
}

// oldStatus answers the POST with a status; it executes if ran.
func oldStatus(code int, ran int32) oldScript {
	return func(p *oldPeer, w http.ResponseWriter, _ string, _ func(string), _ func()) {
		p.executions.Add(ran)
		w.WriteHeader(code)
	}
}

// oldSays executes, takes the POST, and says that on the stream.
func oldSays(text func(id string) string) oldScript {
	return func(p *oldPeer, w http.ResponseWriter, id string, say func(string), _ func()) {
		p.executions.Add(1)
		w.WriteHeader(http.StatusAccepted)
		say(text(id))
	}
}

// TestOlderTransportOutcomes: what becomes of a call that a server of the older
// transport answers badly, how often it ran, and that the next one is answered.
func TestOlderTransportOutcomes(t *testing.T) {
	const (
		notSent  = agent.OutcomeNotSent
		answered = agent.OutcomeAnswered
		unknown  = agent.OutcomeUnknown
	)
	for _, test := range []struct {
		name   string
		script oldScript
		want   agent.Outcome
		ran    int32
		says   string
	}{
		{"401", oldStatus(401, 0), notSent, 0, "the server refused the token"},
		{"404", oldStatus(404, 0), notSent, 0, "404"},
		{"413", oldStatus(413, 0), notSent, 0, "larger"},
		{"500", oldStatus(500, 1), unknown, 1, "500"},
		{"302", oldStatus(302, 1), unknown, 1, "302"},
		{"a JSON-RPC error", oldSays(func(id string) string { return replaceID(rpcError(-32602), id) }), answered, 1, "-32602"},
		{"an internal error", oldSays(func(id string) string { return replaceID(rpcError(-32603), id) }), unknown, 1, "-32603"},
		{"no result", oldSays(func(id string) string { return replaceID(`{"jsonrpc":"2.0","id":ID,"result":{}}`, id) }), unknown, 1, "no result"},
		{"the answer to another call", oldSays(func(string) string { return oldResult("99") }), unknown, 1, "no answer within"},
		{"never", oldStatus(202, 1), unknown, 1, "no answer within"},
		{"broken JSON", oldSays(func(string) string { return `{"jsonrpc":` }), unknown, 1, "broke"},
		{"too large", oldSays(func(string) string { return strings.Repeat(" ", 2*maxAnswer) }), unknown, 1, "broke"},
		{"the stream is cut", func(p *oldPeer, w http.ResponseWriter, _ string, _ func(string), cut func()) {
			p.executions.Add(1)
			w.WriteHeader(http.StatusAccepted)
			cut()
		}, unknown, 1, "broke"},
		{"the message is cut", func(p *oldPeer, w http.ResponseWriter, _ string, _ func(string), _ func()) {
			p.executions.Add(1)
			hijack(w).Close()
		}, unknown, 1, "broke"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newOldPeer(t)
			s := connectTo(t, p.url(), older, func(o *Options) {
				o.MaxAnswer = maxAnswer
				o.Headers = map[string]string{"Authorization": "Bearer secret"}
				if strings.HasPrefix(test.says, "no answer") {
					o.CallTimeout = 10 * short
				}
			})
			mustCall(t, s, "order")
			p.executions.Store(0)
			p.next(test.script)
			_, err := call(t, s, "order")
			ce := wantOutcome(t, err, test.want)
			if !strings.Contains(ce.Err.Error(), test.says) || strings.ContainsAny(ce.Err.Error(), "\n\x1b") {
				t.Errorf("it says %q, want one line with %q", ce.Err, test.says)
			}
			if n := p.executions.Load(); n != test.ran {
				t.Errorf("ran %d times, want %d", n, test.ran)
			}
			if r := mustCall(t, s, "order"); r.Text() != "done" {
				t.Errorf("the next call gave %+v", r)
			}
			if n := p.executions.Load(); n != test.ran+1 {
				t.Errorf("after the next call: ran %d times, want %d", n, test.ran+1)
			}
			if st := s.State(); st.Phase != PhaseReady {
				t.Errorf("state %+v", st)
			}
		})
	}
}

// Addresses at which there is no session: why, in words.
func TestOlderTransportDoesNotConnect(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a web page":    {func(w http.ResponseWriter, _ *http.Request) { write(w, 200, "text/html", "<html>") }, "stream of events"},
		"wants a token": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "wants a token"},
		"not there":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "check the path"},
		"only POST":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) }, "405"},
		"cuts":          {func(w http.ResponseWriter, _ *http.Request) { hijack(w).Close() }, "broke"},
		"silent":        {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer within"},
		"silent stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", sseType)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "did not answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectTo(t, newHost(t, test.answer).url(), older, func(o *Options) {
				if strings.HasPrefix(name, "silent") {
					o.ConnectTimeout = 5 * short
				}
			})
			_, err := call(t, s, "order")
			ce := wantOutcome(t, err, agent.OutcomeNotSent)
			if !strings.Contains(ce.Err.Error(), test.says) {
				t.Errorf("it says %q, want %q", ce.Err, test.says)
			}
			if st := s.State(); st.Phase != PhaseDown {
				t.Errorf("state %+v", st)
			}
		})
	}
}

// A server that names another host for its messages would get the token and
// the calls of this one there.
func TestOlderTransportStaysWithItsHost(t *testing.T) {
	thief := newOldPeer(t)
	p := newOldPeer(t)
	p.endpoint = "http://" + thief.address + "/messages"
	s := connectTo(t, p.url(), older, func(o *Options) { o.Headers = map[string]string{"Authorization": "Bearer secret"} })
	_, err := call(t, s, "order")
	if ce := wantOutcome(t, err, agent.OutcomeNotSent); !errors.Is(err, errAbroad) {
		t.Errorf("it says %q", ce.Err)
	}
	if thief.tokens.Load() != 0 || thief.executions.Load() != 0 {
		t.Error("another host was sent something")
	}
}
