package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

var errGivenUp = errors.New("the request was given up before it was sent")

// RoundTrip sends one request of the SDK. It adds the headers, watches over
// requests that carry an [exchange], and bounds those that open a stream of
// changes.
func (h *httpLink) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	if h.life.Err() != nil {
		if req.Method == http.MethodGet && x == nil {
			// After an error the SDK would ask again for many seconds, deaf to
			// the end of its Connect.
			return noStream(req), nil
		}
		return nil, errGivenUp
	}
	if h.messages != nil && !h.messages.allows(req.URL) {
		h.outcome(0, errAbroad)
		return nil, errAbroad
	}
	switch {
	case h.messages != nil && req.Method == http.MethodGet:
		return h.openMessages(req)
	case req.Method == http.MethodPost && req.Header.Get("Mcp-Method") == "subscriptions/listen":
		return h.openStream(h.dressed(req, req.Context()), true)
	case req.Method == http.MethodPost && x != nil:
		return h.observed(req, x)
	case req.Method == http.MethodPost:
		resp, err := h.base.RoundTrip(h.dressed(req, req.Context()))
		h.outcome(statusOf(resp), err)
		return h.guarded(resp, nil), err
	case req.Method == http.MethodGet && x != nil:
		// The stream of a call is being resumed.
		resp, err := h.base.RoundTrip(h.dressed(req, req.Context()))
		return h.guarded(resp, x), err
	case req.Method == http.MethodGet:
		return h.openStream(h.dressed(req, req.Context()), !h.asked.Swap(true))
	default:
		return h.base.RoundTrip(h.dressed(req, req.Context()))
	}
}

// dressed is the request with the configured headers; a RoundTripper must not
// change the one that it was given.
func (h *httpLink) dressed(req *http.Request, ctx context.Context) *http.Request {
	r := req.WithContext(ctx)
	if len(h.headers) > 0 {
		r.Header = req.Header.Clone()
		for name, value := range h.headers {
			r.Header.Set(name, value)
		}
		if host := h.headers["Host"]; host != "" {
			r.Host = host
		}
	}
	return r
}

// observed sends a request whose exchange somebody will judge.
func (h *httpLink) observed(req *http.Request, x *exchange) (*http.Response, error) {
	id, err := requestID(req)
	if err != nil {
		return nil, err
	}
	if id == nil {
		// The request is being cancelled.
		if x.withdrawn() {
			return nil, errGivenUp
		}
		return h.base.RoundTrip(h.dressed(req, req.Context()))
	}
	if !x.enter(id) {
		return nil, errGivenUp
	}
	if h.messages != nil {
		h.messages.expect(id, x)
	}
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { x.carried(countedOf(info.Conn)) },
	})
	resp, err := h.base.RoundTrip(h.dressed(req, ctx))
	h.outcome(statusOf(resp), err)
	x.answered(statusOf(resp), err)
	return h.guarded(resp, x), err
}

// requestID reads the id from a request's body; nil for a notification.
func requestID(req *http.Request) (json.RawMessage, error) {
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	// The SDK writes the id first; only if it did otherwise, all must be read.
	var begin [64]byte
	n, _ := io.ReadFull(body, begin[:])
	if rest, ok := bytes.CutPrefix(begin[:n], []byte(`{"jsonrpc":"2.0","id":`)); ok {
		if i := bytes.IndexByte(rest, ','); i > 0 && rest[0] != '"' {
			return bytes.Clone(rest[:i]), nil
		}
	}
	rest, err := io.ReadAll(body)
	m, ok := members(append(begin[:n:n], rest...))
	if err == nil && !ok {
		err = errors.New("the request is no JSON object")
	}
	return bytes.Clone(m["id"]), err
}

func statusOf(resp *http.Response) int {
	if resp == nil {
		return 0
	}
	return resp.StatusCode
}

// guarded bounds the answer and shows it to the exchange, if there is one.
func (h *httpLink) guarded(resp *http.Response, x *exchange) *http.Response {
	if resp == nil {
		return nil
	}
	ok := resp.StatusCode >= 200 && resp.StatusCode < 300
	resp.Body = &answerBody{
		ReadCloser: resp.Body,
		x:          x,
		max:        h.maxAnswer,
		stream:     ok && isEventStream(resp),
		loose:      !ok,
	}
	return resp
}

func isEventStream(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

// openStream asks for a stream on which the server announces changes. During
// connecting (bounded) a server that does not even answer is taken to have
// none, as if it had said so with status 405: the SDK would wait for ever. So
// is one that breaks the connection over a GET, because the SDK would ask again
// for many seconds while Connect waits.
func (h *httpLink) openStream(req *http.Request, bounded bool) (*http.Response, error) {
	if bounded && h.silent.Load() {
		return noStream(req), nil
	}
	ctx, cancel := context.WithCancel(req.Context())
	impatient := make(chan struct{})
	timer := time.AfterFunc(h.patient, func() {
		if bounded {
			close(impatient)
			cancel()
		}
	})
	resp, err := h.base.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		cancel()
		select {
		case <-impatient:
			h.silent.Store(true)
			return noStream(req), nil
		default:
		}
		if req.Method == http.MethodGet && (bounded || h.life.Err() != nil) {
			return noStream(req), nil
		}
		return nil, err
	}
	b := &streamBody{ReadCloser: resp.Body, end: cancel}
	if resp.StatusCode == http.StatusOK && isEventStream(resp) {
		h.streams.Add(1)
		b.end = func() {
			h.streams.Add(-1)
			h.onUnwatched()
			cancel()
		}
	}
	resp.Body = b
	return resp, nil
}

func noStream(req *http.Request) *http.Response {
	return &http.Response{
		Status:     "405 Method Not Allowed",
		StatusCode: http.StatusMethodNotAllowed,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{},
		Body:    http.NoBody,
		Request: req,
	}
}

// streamBody notices the end of a stream.
type streamBody struct {
	io.ReadCloser
	end  func()
	once sync.Once
}

func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(b.end)
	}
	return n, err
}

func (b *streamBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.end)
	return err
}
