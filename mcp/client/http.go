package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpTransport reaches a server over Streamable HTTP, or over the older
// transport where the options say so.
type httpTransport struct {
	opts  Options
	model *http.Transport
	// silent says that the server kept a request for a stream of changes
	// waiting, so that it is not asked again.
	silent atomic.Bool
}

func newHTTPTransport(o Options) *httpTransport {
	model := o.Transport
	if model == nil {
		model, _ = http.DefaultTransport.(*http.Transport)
	}
	if model == nil { // somebody replaced the default
		model = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	return &httpTransport{opts: o, model: model}
}

func (t *httpTransport) open(ctx context.Context) (*link, error) {
	at, err := t.resolve(ctx)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(at.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the address of the server must look like http://HOST:PORT/PATH; correct it in the configuration")
	}
	h := &httpLink{
		public:    publicURL(u),
		headers:   at.Headers,
		silent:    &t.silent,
		patient:   streamPatience(t.opts.ConnectTimeout),
		maxAnswer: t.opts.MaxAnswer,
		conns:     map[*countedConn]struct{}{},
	}
	h.life, h.end = context.WithCancel(context.Background())
	h.base = t.model.Clone()
	h.base.Protocols = new(http.Protocols)
	h.base.Protocols.SetHTTP1(true)
	h.base.ForceAttemptHTTP2 = false
	h.dialer = h.base.DialContext
	if h.dialer == nil {
		h.dialer = (&net.Dialer{Timeout: t.opts.ConnectTimeout}).DialContext
	}
	h.base.DialContext = h.dial

	l := &link{identity: at.Identity, cut: h.cut, watched: h.watched, explain: h.explain}
	if l.identity == "" {
		l.identity = h.public
	}
	h.onUnwatched = func() {
		if l.onUnwatched != nil {
			l.onUnwatched()
		}
	}
	client := &http.Client{
		Transport: h,
		// A redirect would take the token and the call to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if t.opts.SSE {
		h.messages = newMessages(u, client, t.opts.MaxAnswer)
		l.transport = h.messages.transport
		return l, nil
	}
	l.transport = &mcp.StreamableClientTransport{Endpoint: at.URL, HTTPClient: client, MaxEventSize: t.opts.MaxAnswer}
	return l, nil
}

// resolve says where the server is and what headers it gets.
func (t *httpTransport) resolve(ctx context.Context) (Endpoint, error) {
	at := Endpoint{URL: t.opts.URL, Headers: t.opts.Headers, Identity: t.opts.Identity}
	if t.opts.Dial != nil {
		found, err := t.opts.Dial(ctx)
		if err != nil {
			return at, err
		}
		if found.URL != "" {
			at.URL = found.URL
		}
		if found.Headers != nil {
			at.Headers = found.Headers
		}
		if found.Identity != "" {
			at.Identity = found.Identity
		}
	}
	headers := make(map[string]string, len(at.Headers)+1)
	for name, value := range at.Headers {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if reserved(name) {
			return at, fmt.Errorf("the header %s cannot be set; take it out of the configuration", name)
		}
		headers[name] = value
	}
	if t.opts.Token != nil {
		token, err := t.opts.Token(ctx)
		if err != nil {
			return at, fmt.Errorf("no token for the server: %w", err)
		}
		headers["Authorization"] = "Bearer " + token
	}
	at.Headers = headers
	return at, nil
}

// reserved says which headers belong to the protocol, or make net/http send a
// POST again by itself.
func reserved(name string) bool {
	switch name {
	case "Idempotency-Key", "X-Idempotency-Key", "Accept", "Content-Type", "Content-Length",
		"Transfer-Encoding", "Connection", "Upgrade", "Last-Event-Id":
		return true
	}
	return strings.HasPrefix(name, "Mcp-")
}

// publicURL is the address without what may be secret or changes nothing.
func publicURL(u *url.URL) string {
	p := *u
	p.User, p.RawQuery, p.ForceQuery, p.Fragment, p.RawFragment = nil, "", false, "", ""
	return p.String()
}

// streamPatience is how long a server may take to answer a request for a
// stream of changes. The SDK waits for it in Connect, without a bound.
func streamPatience(connect time.Duration) time.Duration {
	return min(time.Second, connect/4)
}

// httpLink is the connections of one session. It is the RoundTripper between
// the SDK and net/http.
type httpLink struct {
	base      *http.Transport
	dialer    func(ctx context.Context, network, addr string) (net.Conn, error)
	public    string
	headers   map[string]string
	silent    *atomic.Bool
	patient   time.Duration
	maxAnswer int

	life context.Context
	end  context.CancelFunc

	// streams counts the open streams on which changes are announced.
	streams     atomic.Int32
	onUnwatched func()
	// asked says that the session's first stream has been asked for.
	asked atomic.Bool
	// messages is the stream of the older transport; nil: Streamable HTTP.
	messages *messages

	mu    sync.Mutex
	conns map[*countedConn]struct{}
	// status and err are those of the newest answer to a POST, for words.
	status int
	err    error
}

// dial opens a counted connection, unless the link has been cut.
func (h *httpLink) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	conn, err := h.dialer(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &countedConn{Conn: conn}
	c.onClose = func() {
		h.mu.Lock()
		delete(h.conns, c)
		h.mu.Unlock()
	}
	h.mu.Lock()
	h.conns[c] = struct{}{}
	h.mu.Unlock()
	if h.life.Err() != nil { // cut meanwhile; cut may have missed this one
		c.Close()
		return nil, context.Cause(h.life)
	}
	return c, nil
}

// cut closes all connections, so that whatever waits for them ends.
func (h *httpLink) cut() {
	h.end()
	h.mu.Lock()
	conns := make([]*countedConn, 0, len(h.conns))
	for c := range h.conns {
		conns = append(conns, c)
	}
	h.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	h.base.CloseIdleConnections()
}

func (h *httpLink) watched() bool { return h.streams.Load() > 0 }

// outcome notes how the newest POST went.
func (h *httpLink) outcome(status int, err error) {
	h.mu.Lock()
	h.status, h.err = status, err
	h.mu.Unlock()
}

func (h *httpLink) explain(status int, network, err error) error {
	if status == 0 && network == nil {
		h.mu.Lock()
		status, network = h.status, h.err
		h.mu.Unlock()
	}
	_, authorized := h.headers["Authorization"]
	return explain(h.public, authorized, status, network, err)
}
