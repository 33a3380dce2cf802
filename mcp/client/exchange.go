package client

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
)

// exchange is what the transport saw of one request. The SDK's errors cannot
// be relied upon for this: they call a request "rejected" that was executed,
// and report the death of one stream as the answer to all requests.
//
// It travels in the context of the SDK's call. Its methods are safe for
// concurrent use.
type exchange struct {
	mu sync.Mutex
	// entered: the transport was asked to send the request.
	entered bool
	// finished: the outcome was judged, so nothing may leave any more.
	finished bool
	// left: bytes left, or nobody can tell.
	left bool
	// conn carries the request since it had written base times.
	conn *countedConn
	base int
	// status is the HTTP status of the answer to the request itself.
	status int
	// network is why there was no answer, as far as the transport knows.
	network error
	// id is the JSON-RPC id of the request.
	id json.RawMessage
	// reply is the server's answer, nil until it came.
	reply *reply
}

// reply is a JSON-RPC answer in the server's own bytes.
type reply struct {
	result json.RawMessage // nil if there is none
	err    *replyError     // nil if there is none
}

// replyError is a JSON-RPC error.
type replyError struct {
	Code    int
	Message string
}

// decodeError decodes a JSON-RPC error; nil if it is none. An error without a
// code has code 0.
func decodeError(raw json.RawMessage) *replyError {
	m, ok := members(raw)
	if !ok || !json.Valid(raw) {
		return nil
	}
	var e replyError
	if json.Unmarshal(orNull(m["code"]), &e.Code) != nil || json.Unmarshal(orNull(m["message"]), &e.Message) != nil {
		return nil
	}
	return &e
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// enter is called before the request with that id is sent. It is false if it
// must not be sent any more.
func (x *exchange) enter(id json.RawMessage) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.finished {
		return false
	}
	x.entered, x.id = true, id
	return true
}

// withdrawn is asked before the server is told that the request is cancelled.
// If nothing of the request has left there is nothing to tell, and from then
// on nothing leaves.
func (x *exchange) withdrawn() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.left || x.status != 0 || x.conn != nil {
		return false
	}
	x.finished = true
	return true
}

// carried says which connection carries the request; nil: one that does not
// count. It may be called again when the request moves to another connection.
func (x *exchange) carried(c *countedConn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn != nil && x.conn.count() > x.base {
		x.left = true
	}
	x.conn = c
	switch {
	case c == nil:
		x.left = true
	case x.finished:
		c.seal()
	default:
		x.base = c.count()
	}
}

// stayed takes back that the request left: not a byte of it did.
func (x *exchange) stayed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.left = false
}

// over says that the exchange was judged.
func (x *exchange) over() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.finished
}

// answered notes the status of the answer, or why there is none.
func (x *exchange) answered(status int, network error) {
	x.mu.Lock()
	x.status, x.network = status, network
	x.mu.Unlock()
}

// deliver looks at a message from the server. loose accepts an error without
// id, which is what a server sends with an HTTP status that is an error.
func (x *exchange) deliver(message []byte, loose bool) {
	m, ok := members(message)
	if !ok || m["method"] != nil {
		return
	}
	var r reply
	if raw := m["error"]; !isNull(raw) {
		r.err = decodeError(raw)
	} else if raw, ok := m["result"]; ok {
		r.result = bytes.Clone(raw)
	}
	if r.err == nil && r.result == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	mine := bytes.Equal(m["id"], x.id) || loose && r.err != nil && isNull(m["id"])
	if mine && x.reply == nil {
		x.reply = &r
	}
}

// seen is a finished exchange.
type seen struct {
	entered bool
	sent    bool
	status  int
	network error
	reply   *reply
}

// finish ends the exchange: after it nothing of the request leaves this
// machine, so sent is final.
func (x *exchange) finish() seen {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.finished = true
	sent := x.left || x.status != 0 || x.reply != nil
	if !sent && x.conn != nil {
		// Without an answer the connection is lost anyway, so sealing it takes
		// it from nobody.
		sent = x.conn.seal() > x.base
	}
	return seen{entered: x.entered, sent: sent, status: x.status, network: x.network, reply: x.reply}
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}
