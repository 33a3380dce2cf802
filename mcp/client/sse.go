package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The older HTTP transport, of the revision 2024-11-05: one GET brings every
// message of the server, and its first event says where to POST messages. An
// answer to a POST says only that it was taken.

var (
	errNoEvents = errors.New("the address does not answer with a stream of events; correct it, or take the transport out of the configuration if it ends in /mcp")
	errAbroad   = errors.New("the server wants its messages at another host, which gets neither them nor a token")
)

// messages is the stream on which a server of the older transport answers all
// requests of its session.
type messages struct {
	transport *mcp.SSEClientTransport
	// home is the configured address: messages go to its host alone.
	home *url.URL
	max  int

	mu      sync.Mutex
	waiting map[string]*exchange // by request id
}

func newMessages(home *url.URL, client *http.Client, maxEvent int) *messages {
	return &messages{
		transport: &mcp.SSEClientTransport{Endpoint: home.String(), HTTPClient: client, MaxEventSize: maxEvent},
		home:      home,
		max:       maxEvent,
		waiting:   map[string]*exchange{},
	}
}

// allows refuses a request to anybody but the configured host: the address
// comes from the server, and the request carries the configured headers.
func (m *messages) allows(u *url.URL) bool {
	return u.Scheme == m.home.Scheme && strings.EqualFold(u.Host, m.home.Host)
}

// expect says that the answer to a request comes on the stream.
func (m *messages) expect(id []byte, x *exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, old := range m.waiting {
		if old.over() {
			delete(m.waiting, key)
		}
	}
	m.waiting[string(id)] = x
}

// deliver shows a message to the exchange that waits for it.
func (m *messages) deliver(message []byte) {
	parts, ok := members(message)
	if !ok || parts["method"] != nil {
		return
	}
	id := string(parts["id"])
	m.mu.Lock()
	x := m.waiting[id]
	delete(m.waiting, id)
	m.mu.Unlock()
	if x != nil {
		x.deliver(message, false)
	}
}

// openMessages opens the stream of all messages. The SDK gives it the context
// of its Connect, but the stream has to last as long as the link.
func (h *httpLink) openMessages(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
	stopConnect := context.AfterFunc(req.Context(), cancel)
	stopLife := context.AfterFunc(h.life, cancel)
	resp, err := h.base.RoundTrip(h.dressed(req, ctx))
	stopConnect()
	if err == nil && resp.StatusCode == http.StatusOK && !isEventStream(resp) {
		resp.Body.Close()
		resp, err = nil, errNoEvents
	}
	h.outcome(statusOf(resp), err)
	if err != nil {
		stopLife()
		cancel()
		return nil, err
	}
	h.streams.Add(1)
	resp.Body = &streamBody{
		ReadCloser: &messageBody{ReadCloser: resp.Body, messages: h.messages},
		end: func() {
			h.streams.Add(-1)
			h.onUnwatched()
			stopLife()
			cancel()
		},
	}
	return resp, nil
}

// messageBody shows each event that passes by to whoever waits for it.
type messageBody struct {
	io.ReadCloser
	messages *messages
	line     []byte // the unfinished line
	data     []byte // the data lines of the event so far
}

func (b *messageBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			b.line = append(b.line, rest...)
			break
		}
		b.line = append(b.line, rest[:i]...)
		b.take(bytes.TrimSuffix(b.line, []byte("\r")))
		b.line = b.line[:0]
		rest = rest[i+1:]
	}
	if len(b.line)+len(b.data) > b.messages.max {
		return 0, fmt.Errorf("the server sent more than %d bytes at once", b.messages.max)
	}
	return n, err
}

// take takes one line. A blank one ends the event.
func (b *messageBody) take(line []byte) {
	if len(line) == 0 {
		b.messages.deliver(b.data)
		b.data = b.data[:0]
		return
	}
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		if len(b.data) > 0 {
			b.data = append(b.data, '\n')
		}
		b.data = append(b.data, bytes.TrimPrefix(value, []byte(" "))...)
	}
}
