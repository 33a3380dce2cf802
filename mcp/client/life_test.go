package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// TestRestart: the server is a new process that knows no sessions. The call is
// sent again in a new session and runs once; with a stateless server the old
// session simply works.
func TestRestart(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		var ran atomic.Int32
		build := func() http.Handler {
			server := newSDKServer(t)
			server.AddTool(&mcp.Tool{Name: "order", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				ran.Add(1)
				return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
			})
			return handler(server)
		}
		h := newHost(t, build())
		s := connectTo(t, h.url())
		if _, err := s.Tools(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustCall(t, s, "order")
		h.down()
		h.up(build())
		waitForCut(t, s)
		mustCall(t, s, "order")
		if n := ran.Load(); n != 2 {
			t.Errorf("ran %d times, want 2", n)
		}
		if list, err := s.Tools(t.Context()); err != nil || len(list.Tools) != 2 {
			t.Errorf("tools after the restart: %+v, %v", list, err)
		}
	})
}

// waitForCut waits until net/http has noticed that the idle connections are
// gone. Before that a call would be written into nothing, and be unknown.
func waitForCut(t *testing.T, s *Server) {
	t.Helper()
	s.mu.Lock()
	se := s.current
	s.mu.Unlock()
	if se == nil {
		return
	}
	h := se.link.transport.(*mcp.StreamableClientTransport).HTTPClient.Transport.(*httpLink)
	eventually(t, "the connections are gone", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.conns) == 0 || se.dead()
	})
}

// TestCancel: Call returns at once, the server is told, the session lives on.
func TestCancel(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		server := newSDKServer(t)
		running, cancelled := make(chan struct{}), make(chan struct{})
		server.AddTool(&mcp.Tool{Name: "slow", InputSchema: object}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(running)
			<-ctx.Done()
			close(cancelled)
			return nil, ctx.Err()
		})
		s := connectTo(t, newHost(t, handler(server)).url())
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-running; cancel() }()
		_, err := s.Call(ctx, agent.CallRequest{Tool: "slow"})
		ce := wantOutcome(t, err, agent.OutcomeUnknown)
		if !errors.Is(err, context.Canceled) || ce.Err.Error() != "the call was cancelled" {
			t.Errorf("error %v", err)
		}
		select {
		case <-cancelled:
		case <-time.After(long):
			t.Error("the server was not told")
		}
		mustCall(t, s, "echo")
	})
}

// TestHardMaximum: a call that hangs ends as unknown, also when its progress
// goes on, and the next one works.
func TestHardMaximum(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url(), func(o *Options) { o.CallTimeout = short; o.CloseTimeout = short })
	mustCall(t, s, "order")
	p.next(hang)
	within(t, 20*short, func() {
		_, err := call(t, s, "order")
		ce := wantOutcome(t, err, agent.OutcomeUnknown)
		if ce.Err.Error() != "no answer within "+short.String() {
			t.Errorf("it says %q", ce.Err)
		}
	})
	mustCall(t, s, "order")
	if n := p.executions.Load(); n != 3 {
		t.Errorf("ran %d times, want 3", n)
	}
}

// TestOthersLiveOn: a call that brings its session into doubt does not end the
// calls that are out in it.
func TestOthersLiveOn(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	mustCall(t, s, "order")
	running, finish := make(chan struct{}), make(chan struct{})
	p.next(func(p *peer, w http.ResponseWriter, r *http.Request, id string) {
		close(running)
		<-finish
		good(p, w, r, id)
	}, cut)
	slow := make(chan error, 1)
	go func() {
		_, err := s.Call(context.Background(), agent.CallRequest{Tool: "order"})
		slow <- err
	}()
	<-running
	_, err := call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeUnknown)
	mustCall(t, s, "order")
	close(finish)
	if err := <-slow; err != nil {
		t.Errorf("the other call: %v", err)
	}
}

// TestForgottenUnderLoad: many calls find out at once that their session is
// gone. Each runs once.
func TestForgottenUnderLoad(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	mustCall(t, s, "order")
	p.forget()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if r, err := s.Call(context.Background(), agent.CallRequest{Tool: "order"}); err != nil || r.Text() != "done" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wg.Wait()
	if n := p.executions.Load(); n != 21 {
		t.Errorf("ran %d times, want 21", n)
	}
}

// TestResumed: a legacy server that keeps events lets the SDK fetch the answer
// over another connection after the first was cut.
func TestResumed(t *testing.T) {
	t.Parallel() // the SDK waits a second or two
	var ran atomic.Int32
	running, finish := make(chan struct{}), make(chan struct{})
	server := newSDKServer(t)
	server.AddTool(&mcp.Tool{Name: "order", InputSchema: object}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ran.Add(1)
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		close(running)
		<-finish
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	})
	h := newHost(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}))
	s := connectTo(t, h.url())
	heard := make(chan struct{})
	go func() {
		<-running
		<-heard
		h.server.CloseClientConnections()
		close(finish)
	}()
	r, err := s.Call(t.Context(), agent.CallRequest{Tool: "order", Progress: func(agent.Progress) { close(heard) }})
	if err != nil || r.Text() != "done" || ran.Load() != 1 {
		t.Errorf("%+v, %v, ran %d times", r, err, ran.Load())
	}
}

// TestMirroredArguments: a tool that wants an argument repeated in a header
// gets it also in a session in which the tools have not been listed yet.
func TestMirroredArguments(t *testing.T) {
	server := newSDKServer(t)
	server.AddTool(&mcp.Tool{Name: "order", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Extra.Header.Get("Mcp-Param-Region")}}}, nil
		})
	s := connectTo(t, newHost(t, eras["modern"](server)).url())
	if _, err := s.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := s.Call(t.Context(), agent.CallRequest{Tool: "order", Arguments: json.RawMessage(`{"region":"north"}`)})
		if err != nil || r.Text() != "north" {
			t.Errorf("%+v, %v", r, err)
		}
		s.mu.Lock()
		s.retire(s.current)
		s.mu.Unlock()
	}
}

// TestOneConnect: whoever needs the session while it is being made waits for
// it, and gives up alone.
func TestOneConnect(t *testing.T) {
	p := newPeer(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p.first = func(http.ResponseWriter, *http.Request) bool {
		once.Do(func() { close(asked) })
		<-answer
		return false
	}
	s := connectTo(t, p.url())
	ctx, cancel := context.WithCancel(t.Context())
	impatient := make(chan error, 1)
	go func() {
		_, err := s.Call(ctx, agent.CallRequest{Tool: "order"})
		impatient <- err
	}()
	<-asked
	if st := s.State(); st.Phase != PhaseConnecting {
		t.Errorf("state %+v", st)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := s.Tools(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	cancel()
	wantOutcome(t, <-impatient, agent.OutcomeNotSent)
	close(answer)
	wg.Wait()
	if n := p.starts.Load(); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
}

// TestBlackHole: a server that takes connections and says nothing.
func TestBlackHole(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := connectTo(t, "http://"+l.Addr().String(), func(o *Options) { o.ConnectTimeout = short })
	within(t, 20*short, func() {
		_, err := call(t, s, "order")
		ce := wantOutcome(t, err, agent.OutcomeNotSent)
		if want := "the server did not answer within " + short.String(); ce.Err.Error() != want {
			t.Errorf("it says %q, want %q", ce.Err, want)
		}
	})
}

// TestDeafDial: a way to the server that ignores its context is left behind.
func TestDeafDial(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	s := connectTo(t, "", func(o *Options) {
		o.ConnectTimeout = short
		o.Dial = func(context.Context) (Endpoint, error) {
			<-forever
			return Endpoint{}, errors.New("late")
		}
	})
	within(t, 20*short, func() {
		_, err := call(t, s, "order")
		wantOutcome(t, err, agent.OutcomeNotSent)
	})
	within(t, short, func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestSilentStream: a server that never answers the GET for its stream of
// changes. The SDK would wait for ever; the second connect does not wait again.
func TestSilentStream(t *testing.T) {
	p := newPeer(t)
	var gets atomic.Int32
	p.get = func(_ http.ResponseWriter, r *http.Request) {
		gets.Add(1)
		select {
		case <-r.Context().Done():
		case <-p.released:
		}
	}
	s := connectTo(t, p.url(), func(o *Options) { o.ConnectTimeout = 4 * short })
	within(t, 20*short, func() { mustCall(t, s, "order") })
	p.forget()
	mustCall(t, s, "order")
	if n := gets.Load(); n != 1 {
		t.Errorf("%d GETs, want 1", n)
	}
}

// TestBrokenStream: a server that breaks the connection over the GET for its
// stream of changes serves calls all the same, at once, and leaves nothing
// behind that goes on asking when the Server is closed.
func TestBrokenStream(t *testing.T) {
	p := newPeer(t)
	var gets atomic.Int32
	p.get = func(w http.ResponseWriter, _ *http.Request) {
		gets.Add(1)
		_ = hijack(w).Close()
	}
	s := connectTo(t, p.url())
	within(t, 5*short, func() { mustCall(t, s, "order") })
	// net/http itself may send a GET once more when the connection breaks.
	if n := gets.Load(); n < 1 || n > 2 {
		t.Errorf("%d GETs, want 1 or 2", n)
	}
}

// TestSilentProbe: a server that does not answer what it does not know gets a
// new connection of the legacy era, and is not probed again.
func TestSilentProbe(t *testing.T) {
	p := newPeer(t)
	var probes atomic.Int32
	p.first = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Mcp-Method") != "server/discover" {
			return false
		}
		probes.Add(1)
		select {
		case <-r.Context().Done():
		case <-p.released:
		}
		return true
	}
	s := connectTo(t, p.url(), func(o *Options) { o.ConnectTimeout = 4 * short })
	mustCall(t, s, "order")
	p.forget()
	mustCall(t, s, "order")
	if n := probes.Load(); n != 1 {
		t.Errorf("%d probes, want 1", n)
	}
	if st := s.State(); st.Protocol != legacyProtocol {
		t.Errorf("protocol %q", st.Protocol)
	}
}

// TestClose: a call that hangs is ended as unknown, a server that does not let
// go is left behind in time, and a closed Server says so.
func TestClose(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url(), func(o *Options) { o.CloseTimeout = short })
	mustCall(t, s, "order")
	running := make(chan struct{})
	p.first = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			<-p.released
		}
		return false
	}
	p.next(func(p *peer, w http.ResponseWriter, r *http.Request, id string) {
		close(running)
		<-p.released
	})
	out := make(chan error, 1)
	go func() {
		_, err := s.Call(context.Background(), agent.CallRequest{Tool: "order"})
		out <- err
	}()
	<-running
	within(t, 10*short, func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	ce := wantOutcome(t, <-out, agent.OutcomeUnknown)
	if !errors.Is(ce, errClosed) {
		t.Errorf("error %v", ce)
	}
	_, err := call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeNotSent)
	if _, err := s.Tools(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("listing: %v", err)
	}
	if st := s.State(); st.Phase != PhaseIdle {
		t.Errorf("state %+v", st)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// TestCloseWhileConnecting ends the connect with the Server.
func TestCloseWhileConnecting(t *testing.T) {
	p := newPeer(t)
	asked := make(chan struct{})
	var once sync.Once
	p.first = func(_ http.ResponseWriter, r *http.Request) bool {
		once.Do(func() { close(asked) })
		select {
		case <-r.Context().Done():
		case <-p.released:
		}
		return true
	}
	s := connectTo(t, p.url())
	out := make(chan error, 1)
	go func() {
		_, err := s.Call(context.Background(), agent.CallRequest{Tool: "order"})
		out <- err
	}()
	<-asked
	within(t, long/2, func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if ce := wantOutcome(t, <-out, agent.OutcomeNotSent); !errors.Is(ce, errClosed) {
		t.Errorf("error %v", ce)
	}
}

// TestNeverUsed: making and closing opens nothing.
func TestNeverUsed(t *testing.T) {
	s := New(Options{Name: "x", URL: "http://127.0.0.1:1", Dial: func(context.Context) (Endpoint, error) {
		t.Error("dialled")
		return Endpoint{}, nil
	}})
	if s.Name() != "x" {
		t.Errorf("name %q", s.Name())
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestDial: where the server is, is asked at each connect.
func TestDial(t *testing.T) {
	p, q := newPeer(t), newPeer(t)
	at := atomic.Pointer[peer]{}
	at.Store(p)
	s := connectTo(t, "", func(o *Options) {
		o.Dial = func(context.Context) (Endpoint, error) {
			return Endpoint{URL: at.Load().url(), Identity: "book-7"}, nil
		}
	})
	mustCall(t, s, "order")
	p.forget()
	at.Store(q)
	mustCall(t, s, "order")
	if p.executions.Load() != 1 || q.executions.Load() != 1 {
		t.Errorf("ran %d and %d times", p.executions.Load(), q.executions.Load())
	}
	if list, err := s.Tools(t.Context()); err != nil || list.Identity != "book-7" {
		t.Errorf("identity %q, %v", list.Identity, err)
	}
}

// TestHeaders: they go with every request, a wrong token is named as such, and
// no redirect takes them elsewhere.
func TestHeaders(t *testing.T) {
	p, thief := newPeer(t), newPeer(t)
	p.first = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer right" || r.Header.Get("X-Desk") != "1" {
			http.Error(w, "no", http.StatusUnauthorized)
			return true
		}
		return false
	}
	token := "wrong"
	s := connectTo(t, p.url(), func(o *Options) {
		o.Headers = map[string]string{"x-desk": "1"}
		o.Token = func(context.Context) (string, error) { return token, nil }
	})
	_, err := call(t, s, "order")
	ce := wantOutcome(t, err, agent.OutcomeNotSent)
	if !strings.HasPrefix(ce.Err.Error(), "the server refused the token") {
		t.Errorf("it says %q", ce.Err)
	}
	token = "right"
	mustCall(t, s, "order")

	var stolen atomic.Int32
	thief.first = func(http.ResponseWriter, *http.Request) bool { stolen.Add(1); return false }
	p.next(func(_ *peer, w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, thief.url(), http.StatusTemporaryRedirect)
	})
	_, err = call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeUnknown)
	if stolen.Load() != 0 {
		t.Error("the redirect was followed")
	}
}

// TestBadOptions: mistakes are told on first use, in words.
func TestBadOptions(t *testing.T) {
	for says, o := range map[string]Options{
		"http://HOST:PORT/PATH":  {URL: "localhost:8080"},
		"Idempotency-Key cannot": {URL: "http://127.0.0.1:1", Headers: map[string]string{"idempotency-key": "1"}},
		"Mcp-Session-Id cannot":  {URL: "http://127.0.0.1:1", Headers: map[string]string{"MCP-Session-Id": "1"}},
		"no token":               {URL: "http://127.0.0.1:1", Token: func(context.Context) (string, error) { return "", errors.New("no file") }},
		"no book":                {Dial: func(context.Context) (Endpoint, error) { return Endpoint{}, errors.New("no book") }},
	} {
		o.Name = "work-orders"
		s := New(o)
		_, err := call(t, s, "order")
		if ce := wantOutcome(t, err, agent.OutcomeNotSent); !strings.Contains(ce.Err.Error(), says) {
			t.Errorf("it says %q, want %q", ce.Err, says)
		}
		_ = s.Close(context.Background())
	}
}

// TestNotMCP: the words for addresses at which something else answers.
func TestNotMCP(t *testing.T) {
	for says, handler := range map[string]http.HandlerFunc{
		"there is no MCP server at": http.NotFound,
		"not like an MCP server":    func(w http.ResponseWriter, _ *http.Request) { write(w, 200, "text/html", "<html>") },
		"wants a token":             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"answers 502 Bad Gateway":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) },
		"answers 302 Found":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) },
		"broke":                     func(w http.ResponseWriter, _ *http.Request) { hijack(w).Close() },
	} {
		s := connectTo(t, newHost(t, handler).url())
		_, err := call(t, s, "order")
		if ce := wantOutcome(t, err, agent.OutcomeNotSent); !strings.Contains(ce.Err.Error(), says) {
			t.Errorf("it says %q, want %q", ce.Err, says)
		}
	}
}
