package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// The times of the tests: long enough for a loaded machine to do what takes a
// millisecond, short enough to wait for.
const (
	short = 150 * time.Millisecond
	long  = 5 * time.Second
)

// eras are the ways in which a go-sdk server is served.
var eras = map[string]func(*mcp.Server) http.Handler{
	"modern": func(s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	},
	"legacy": func(s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	},
}

// eachEra runs a test once an era.
func eachEra(t *testing.T, test func(t *testing.T, handler func(*mcp.Server) http.Handler)) {
	for name, handler := range eras {
		t.Run(name, func(t *testing.T) { test(t, handler) })
	}
}

// host is an HTTP server that can be restarted on the same address.
type host struct {
	t       testing.TB
	address string
	handler atomic.Pointer[http.Handler]
	server  *httptest.Server
}

func newHost(t testing.TB, handler http.Handler) *host {
	h := &host{t: t}
	h.up(handler)
	t.Cleanup(h.down)
	return h
}

func (h *host) url() string { return "http://" + h.address + "/mcp" }

// up starts listening, on the old address if there was one.
func (h *host) up(handler http.Handler) {
	h.t.Helper()
	address := h.address
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		h.t.Fatal(err)
	}
	h.address = l.Addr().String()
	h.handler.Store(&handler)
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*h.handler.Load()).ServeHTTP(w, r)
	}))
	h.server.Listener.Close()
	h.server.Listener = l
	h.server.Start()
}

// down cuts all connections and stops listening.
func (h *host) down() {
	if h.server != nil {
		h.server.Listener.Close()
		h.server.CloseClientConnections()
		h.server.Close()
		h.server = nil
	}
}

// connectTo makes a Server for the test, and closes it at its end.
func connectTo(t *testing.T, url string, change ...func(*Options)) *Server {
	o := Options{Name: "work-orders", URL: url, ConnectTimeout: long, ReadTimeout: long, CallTimeout: long, CloseTimeout: long}
	for _, c := range change {
		c(&o)
	}
	s := New(o)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil && !t.Failed() {
			t.Logf("close: %v", err)
		}
	})
	return s
}

// call calls a tool with {}.
func call(t *testing.T, s *Server, tool string) (agent.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*long)
	defer cancel()
	return s.Call(ctx, agent.CallRequest{Tool: tool, Call: "C-1"})
}

// mustCall fails the test if the call does.
func mustCall(t *testing.T, s *Server, tool string) agent.Result {
	t.Helper()
	r, err := call(t, s, tool)
	if err != nil {
		t.Fatalf("calling %s: %v", tool, err)
	}
	return r
}

// wantOutcome fails the test unless err is a CallError with that outcome.
func wantOutcome(t *testing.T, err error, want agent.Outcome) *agent.CallError {
	t.Helper()
	var ce *agent.CallError
	if !errors.As(err, &ce) {
		t.Fatalf("error %v, want a CallError that says %q", err, want)
	}
	if ce.Outcome != want {
		t.Fatalf("outcome %q, want %q; error: %v", ce.Outcome, want, err)
	}
	if ce.Server != "work-orders" {
		t.Errorf("server %q", ce.Server)
	}
	return ce
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(long)
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// within runs fn and fails the test if it takes longer than bound.
func within(t *testing.T, bound time.Duration, fn func()) {
	t.Helper()
	began := time.Now()
	fn()
	if took := time.Since(began); took > bound {
		t.Errorf("took %v, want at most %v", took, bound)
	}
}
