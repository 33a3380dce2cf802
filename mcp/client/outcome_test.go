package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

func replaceID(body, id string) string { return strings.ReplaceAll(body, "ID", id) }

const (
	jsonType = "application/json"
	sseType  = "text/event-stream"

	maxAnswer = 64 << 10
)

// TestOutcomes answers one call in every way that a server was seen to answer,
// and looks at three things: what is said of the call, how often it ran, and
// that the next call works again.
func TestOutcomes(t *testing.T) {
	const (
		notSent  = agent.OutcomeNotSent
		answered = agent.OutcomeAnswered
		unknown  = agent.OutcomeUnknown
	)
	for _, test := range []struct {
		name   string
		script script
		want   agent.Outcome
		ran    int32
		says   string
	}{
		{"401", status(401, "no"), notSent, 0, "the server wants a token"},
		{"403", status(403, "no"), notSent, 0, "403"},
		{"404 with JSON-RPC method not found", refused(404, jsonType, rpcError(-32601)), answered, 0, "no"},
		{"405", status(405, "no"), notSent, 0, "check the path"},
		{"413", status(413, "no"), notSent, 0, "larger"},
		{"415", status(415, "no"), notSent, 0, "415"},
		{"401 with a JSON-RPC error", refused(401, jsonType, rpcError(-32001)), notSent, 0, ""},

		{"unknown tool", refused(200, jsonType, rpcError(-32602)), answered, 0, "the server says: no [31mway (-32602)"},
		{"unknown tool in a stream", refused(200, sseType, "data: "+rpcError(-32602)+"\n\n"), answered, 0, "-32602"},
		{"bad header, status 400", refused(400, jsonType, rpcError(-32020)), answered, 0, "-32020"},
		{"error without id, status 400", refused(400, jsonType, strings.Replace(rpcError(-32602), "ID", "null", 1)), answered, 0, "-32602"},
		{"an error of the application", refused(200, jsonType, rpcError(17)), answered, 0, "17"},

		{"code 0", executed(200, jsonType, rpcError(0)), unknown, 1, "(0)"},
		{"internal error", executed(200, jsonType, rpcError(-32603)), unknown, 1, "-32603"},
		{"server error", executed(200, jsonType, rpcError(-32000)), unknown, 1, "-32000"},
		{"timeout of a server", executed(200, jsonType, rpcError(-32001)), unknown, 1, "-32001"},
		{"400 with a server error", executed(400, jsonType, rpcError(-32000)), unknown, 1, "-32000"},

		{"302", status(302, "elsewhere"), unknown, 0, "302"},
		{"400", executed(400, "text/plain", "no"), unknown, 1, "400 Bad Request"},
		{"408", executed(408, "text/plain", "no"), unknown, 1, "408"},
		{"422", executed(422, "text/plain", "no"), unknown, 1, "422"},
		{"429", executed(429, "text/plain", "no"), unknown, 1, "429"},
		{"500", executed(500, "text/plain", "no"), unknown, 1, "500 Internal Server Error"},
		{"502", executed(502, "text/html", "<html>"), unknown, 1, "502"},
		{"503", executed(503, "text/plain", "no"), unknown, 1, "503"},
		{"504", executed(504, "text/plain", "no"), unknown, 1, "504"},

		{"202 without a body", executed(202, jsonType, ""), unknown, 1, "cannot be read"},
		{"HTML", executed(200, "text/html", "<html>"), unknown, 1, "cannot be read"},
		{"broken JSON", executed(200, jsonType, `{"jsonrpc":`), unknown, 1, "cannot be read"},
		{"a stream without an answer", executed(200, sseType, ": nothing\n\n"), unknown, 1, ""},
		{"a stream with a broken answer", executed(200, sseType, "data: {\"js\n\n"), unknown, 1, ""},
		{"the answer to another call", executed(200, sseType, "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":"+goodResult+"}\n\n"), unknown, 1, ""},
		{"result null", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":null}`), unknown, 1, "no result"},
		{"result {}", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":{}}`), unknown, 1, "no result"},
		{"result of other keys", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":{"CONTENT":[]}}`), unknown, 1, "no result"},
		{"result a list", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":[]}`), unknown, 1, "no result"},
		{"content no list", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":{"content":{}}}`), unknown, 1, "no list"},
		{"a task", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"task","content":[]}}`), unknown, 1, `"task"`},
		{"too large", executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":{"content":[`+strings.Repeat(" ", maxAnswer)+`]}}`), unknown, 1, "larger than"},
		{"too large a stream", executed(200, sseType, strings.Repeat(": \n", maxAnswer)), unknown, 1, ""},

		{"cut", cut, unknown, 1, "broke"},
		{"reset", reset, unknown, 1, "broke"},
		{"cut in the middle of the answer", half, unknown, 1, "broke"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPeer(t)
			s := connectTo(t, p.url(), func(o *Options) { o.MaxAnswer = maxAnswer })
			mustCall(t, s, "order")
			p.executions.Store(0)

			p.next(test.script)
			result, err := call(t, s, "order")
			if err == nil {
				t.Fatalf("result %+v, want an error", result)
			}
			ce := wantOutcome(t, err, test.want)
			if !strings.Contains(ce.Err.Error(), test.says) || strings.ContainsAny(ce.Err.Error(), "\n\x1b") {
				t.Errorf("it says %q, want one line with %q", ce.Err, test.says)
			}
			if ran := p.executions.Load(); ran != test.ran {
				t.Errorf("ran %d times, want %d", ran, test.ran)
			}
			if got := mustCall(t, s, "order"); got.Text() != "done" {
				t.Errorf("the next call gave %+v", got)
			}
			if ran := p.executions.Load(); ran != test.ran+1 {
				t.Errorf("after the next call: ran %d times, want %d", ran, test.ran+1)
			}
		})
	}
}

// TestSessionMissing: the one refusal after which the call is sent again, since
// the server said of this very request that it does not know its session.
func TestSessionMissing(t *testing.T) {
	for name, forgetful := range map[string]script{
		"plain":          status(404, "session not found"),
		"JSON-RPC error": refused(404, jsonType, rpcError(-32001)),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			s := connectTo(t, p.url())
			mustCall(t, s, "order")
			p.next(forgetful)
			if got := mustCall(t, s, "order"); got.Text() != "done" {
				t.Errorf("result %+v", got)
			}
			if ran, starts := p.executions.Load(), p.starts.Load(); ran != 2 || starts != 2 {
				t.Errorf("ran %d times in %d sessions, want 2 in 2", ran, starts)
			}
		})
	}
	t.Run("once", func(t *testing.T) {
		p := newPeer(t)
		s := connectTo(t, p.url())
		mustCall(t, s, "order")
		p.next(status(404, "session not found"), status(404, "session not found"), good)
		_, err := call(t, s, "order")
		wantOutcome(t, err, agent.OutcomeNotSent)
		if ran, starts := p.executions.Load(), p.starts.Load(); ran != 1 || starts != 2 {
			t.Errorf("ran %d times in %d sessions, want 1 in 2", ran, starts)
		}
		mustCall(t, s, "order")
	})
}

// TestSessionMissingElsewhere: while a call is out, the stream of changes is
// told that the session is unknown. The SDK reports that as the answer to the
// call, which ran: sending it again would order twice.
func TestSessionMissingElsewhere(t *testing.T) {
	p := newPeer(t)
	running := make(chan struct{})
	var gets atomic.Int32
	p.get = func(w http.ResponseWriter, r *http.Request) {
		if gets.Add(1) > 1 {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", sseType)
		_, _ = io.WriteString(w, "retry: 1\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-running:
			p.forget()
		case <-r.Context().Done():
		}
	}
	p.next(func(p *peer, w http.ResponseWriter, r *http.Request, id string) {
		w.Header().Set("Content-Type", sseType)
		w.(http.Flusher).Flush()
		close(running)
		hang(p, w, r, id)
	})
	s := connectTo(t, p.url())
	_, err := call(t, s, "order")
	ce := wantOutcome(t, err, agent.OutcomeUnknown)
	if !errors.Is(err, mcp.ErrSessionMissing) {
		t.Errorf("error %v; the test is about mcp.ErrSessionMissing", ce)
	}
	if ran := p.executions.Load(); ran != 1 {
		t.Errorf("ran %d times, want 1", ran)
	}
	mustCall(t, s, "order")
}

// TestDroppedReply: the server runs the call and its answer is lost. Nothing is
// sent again by itself; a person may, and then the same arguments go out.
func TestDroppedReply(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	p.next(cut, cut, cut)
	for i := range int32(3) {
		_, err := call(t, s, "order")
		wantOutcome(t, err, agent.OutcomeUnknown)
		if ran := p.executions.Load(); ran != i+1 {
			t.Fatalf("ran %d times after %d calls", ran, i+1)
		}
	}
}

// TestNothingListens: a refused connection is certain to have sent nothing.
func TestNothingListens(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url()+"?token=secret")
	p.down()
	_, err := call(t, s, "order")
	ce := wantOutcome(t, err, agent.OutcomeNotSent)
	want := "nothing listens at " + p.url() + "; start the server or correct its address"
	if ce.Err.Error() != want {
		t.Errorf("it says %q, want %q", ce.Err, want)
	}
	if _, err := s.Tools(t.Context()); err == nil || err.Error() != want {
		t.Errorf("listing says %v, want %q", err, want)
	}
	if st := s.State(); st.Phase != PhaseDown || st.Err == nil {
		t.Errorf("state %+v", st)
	}
	p.up(p)
	mustCall(t, s, "order")
	if st := s.State(); st.Phase != PhaseReady || st.Err != nil {
		t.Errorf("state %+v", st)
	}

	// The same with a session that needs a new connection for the call.
	s = connectTo(t, p.url(), func(o *Options) { o.Transport = &http.Transport{DisableKeepAlives: true} })
	mustCall(t, s, "order")
	p.down()
	_, err = call(t, s, "order")
	ce = wantOutcome(t, err, agent.OutcomeNotSent)
	if ce.Err.Error() != want {
		t.Errorf("it says %q, want %q", ce.Err, want)
	}
	p.up(p)
	mustCall(t, s, "order")
}

// stuckConn is a connection whose writes fail once it is told to, without a
// byte leaving.
type stuckConn struct {
	net.Conn
	stuck *atomic.Bool
}

func (c *stuckConn) Write(p []byte) (int, error) {
	if c.stuck.Load() {
		return 0, errors.New("stuck")
	}
	return c.Conn.Write(p)
}

// TestWriteBegun: once the write of a call has begun, the outcome is unknown,
// whatever the error says.
func TestWriteBegun(t *testing.T) {
	p := newPeer(t)
	var stuck atomic.Bool
	s := connectTo(t, p.url(), func(o *Options) {
		o.Transport = &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &stuckConn{c, &stuck}, err
		}}
	})
	mustCall(t, s, "order")
	stuck.Store(true)
	_, err := call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeUnknown)
	stuck.Store(false)
	mustCall(t, s, "order")
}

// TestCancelledBeforeSending: a context that is over, or that ends while the
// connection is being made, sends nothing.
func TestCancelledBeforeSending(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Call(ctx, agent.CallRequest{Tool: "order"})
	ce := wantOutcome(t, err, agent.OutcomeNotSent)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v does not wrap context.Canceled", ce)
	}
	if p.starts.Load() != 0 {
		t.Error("a session was started")
	}

	// The session is there, but a new connection has to be dialled for the
	// call, which never ends.
	blocked := make(chan struct{})
	var block atomic.Bool
	var once sync.Once
	s = connectTo(t, p.url(), func(o *Options) {
		o.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if block.Load() {
				once.Do(func() { close(blocked) })
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}}
	})
	mustCall(t, s, "order")
	block.Store(true)
	ran := p.executions.Load()
	ctx, cancel = context.WithCancel(t.Context())
	go func() { <-blocked; cancel() }()
	_, err = s.Call(ctx, agent.CallRequest{Tool: "order"})
	block.Store(false)
	wantOutcome(t, err, agent.OutcomeNotSent)
	if now := p.executions.Load(); now != ran {
		t.Errorf("ran %d times, want %d", now, ran)
	}
}
