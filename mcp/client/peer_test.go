package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// peer is a scripted server of the legacy era. It counts executions, and its
// next answers to tools/call are scripts.
type peer struct {
	*host
	executions atomic.Int32
	starts     atomic.Int32 // sessions started

	mu      sync.Mutex
	scripts []script
	session string // the only one that is known
	// list answers tools/list, get a GET; nil: one tool, and 405.
	list func(w http.ResponseWriter, id, cursor string)
	get  http.HandlerFunc
	// prompts answers prompts/list; nil: the peer declares none.
	prompts func(w http.ResponseWriter, id string)
	// first sees every request before the peer does; true: it was answered.
	first func(w http.ResponseWriter, r *http.Request) bool
	// released lets hanging requests go at the end of the test.
	released chan struct{}
}

// script answers one tools/call.
type script func(p *peer, w http.ResponseWriter, r *http.Request, id string)

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name   string
		Cursor string
	}
}

func newPeer(t *testing.T) *peer {
	p := &peer{released: make(chan struct{})}
	p.host = newHost(t, p)
	t.Cleanup(func() { close(p.released) })
	return p
}

// next sets the scripts of the next calls; later ones are answered well.
func (p *peer) next(scripts ...script) {
	p.mu.Lock()
	p.scripts = scripts
	p.mu.Unlock()
}

// forget makes the peer forget its session, as a restart does.
func (p *peer) forget() {
	p.mu.Lock()
	p.session = "forgotten"
	p.mu.Unlock()
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	first, get, session := p.first, p.get, p.session
	p.mu.Unlock()
	if first != nil && first(w, r) {
		return
	}
	switch {
	case r.Method == http.MethodGet && get != nil:
		get(w, r)
		return
	case r.Method == http.MethodDelete:
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var m message
	_ = json.Unmarshal(raw, &m)
	id := string(m.ID)
	if known := r.Header.Get("Mcp-Session-Id"); m.Method != "initialize" && known != "" && known != session {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	switch m.Method {
	case "initialize":
		p.initialize(w, id)
	case "tools/list":
		p.tools(w, id, m.Params.Cursor)
	case "prompts/list":
		p.prompts(w, id)
	case "tools/call":
		p.script()(p, w, r, id)
	case "server/discover":
		http.Error(w, "what?", http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (p *peer) initialize(w http.ResponseWriter, id string) {
	session := fmt.Sprintf("session-%d", p.starts.Add(1))
	p.mu.Lock()
	p.session = session
	p.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", session)
	more := ""
	if p.prompts != nil {
		more = `"prompts":{},`
	}
	answerWith(w, id, `{"protocolVersion":"2025-11-25","capabilities":{`+more+`"tools":{"listChanged":true}},"serverInfo":{"name":"peer","version":"1"}}`)
}

func (p *peer) tools(w http.ResponseWriter, id, cursor string) {
	p.mu.Lock()
	list := p.list
	p.mu.Unlock()
	if list != nil {
		list(w, id, cursor)
		return
	}
	answerWith(w, id, `{"tools":[{"name":"order","inputSchema":{"type":"object"}}]}`)
}

func (p *peer) script() script {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.scripts) == 0 {
		return good
	}
	next := p.scripts[0]
	p.scripts = p.scripts[1:]
	return next
}

// answerWith writes a JSON-RPC result.
func answerWith(w http.ResponseWriter, id, result string) {
	write(w, http.StatusOK, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func write(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const goodResult = `{"content":[{"type":"text","text":"done"}]}`

// good executes and answers.
func good(p *peer, w http.ResponseWriter, _ *http.Request, id string) {
	p.executions.Add(1)
	answerWith(w, id, goodResult)
}

// status answers with a status and executes nothing.
func status(code int, body string) script {
	return func(_ *peer, w http.ResponseWriter, _ *http.Request, id string) {
		http.Error(w, body, code)
	}
}

// executed executes and then answers with a status and a body of that type, in
// which ID stands for the request's id.
func executed(code int, kind, body string) script {
	return func(p *peer, w http.ResponseWriter, _ *http.Request, id string) {
		p.executions.Add(1)
		write(w, code, kind, replaceID(body, id))
	}
}

// refused answers like executed and executes nothing.
func refused(code int, kind, body string) script {
	return func(p *peer, w http.ResponseWriter, _ *http.Request, id string) {
		write(w, code, kind, replaceID(body, id))
	}
}

// rpcError is a JSON-RPC error of that code.
func rpcError(code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"error":{"code":%d,"message":"no\n\u001b[31mway"}}`, code)
}

// cut executes and cuts the connection without an answer.
func cut(p *peer, w http.ResponseWriter, _ *http.Request, _ string) {
	p.executions.Add(1)
	hijack(w).Close()
}

// reset is cut with a TCP reset.
func reset(p *peer, w http.ResponseWriter, _ *http.Request, _ string) {
	p.executions.Add(1)
	conn := hijack(w)
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// half executes, begins a stream and cuts it.
func half(p *peer, w http.ResponseWriter, _ *http.Request, _ string) {
	p.executions.Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// hang executes and never answers.
func hang(p *peer, _ http.ResponseWriter, r *http.Request, _ string) {
	p.executions.Add(1)
	select {
	case <-r.Context().Done():
	case <-p.released:
	}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}
