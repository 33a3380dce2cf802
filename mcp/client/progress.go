package client

import (
	"context"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// maxProgress bounds what waits to be delivered; the oldest is dropped first.
const maxProgress = 128

// progressQueue keeps what the server said about a running call until the
// goroutine of that call delivers it. So nothing is delivered after the call
// has returned, and the SDK's handlers never wait.
type progressQueue struct {
	mu      sync.Mutex
	waiting []agent.Progress
	// some is signalled when something waits.
	some chan struct{}
}

func newProgressQueue() *progressQueue {
	return &progressQueue{some: make(chan struct{}, 1)}
}

func (q *progressQueue) put(p agent.Progress) {
	q.mu.Lock()
	if len(q.waiting) == maxProgress {
		q.waiting = append(q.waiting[:0], q.waiting[1:]...)
	}
	q.waiting = append(q.waiting, p)
	q.mu.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// deliver hands over what waits, in order.
func (q *progressQueue) deliver(to func(agent.Progress)) {
	q.mu.Lock()
	waiting := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	for _, p := range waiting {
		to(p)
	}
}

// progressed is the SDK's handler. It only puts.
func (se *session) progressed(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	se.mu.Lock()
	q := se.progress[token]
	se.mu.Unlock()
	if q != nil {
		q.put(agent.Progress{Done: r.Params.Progress, Total: r.Params.Total, Message: r.Params.Message})
	}
}

// listen makes a queue under a token that no other call of the session has.
// stop must be called.
func (se *session) listen() (token string, q *progressQueue, stop func()) {
	q = newProgressQueue()
	se.mu.Lock()
	defer se.mu.Unlock()
	se.nextToken++
	token = "deskhand-" + strconv.Itoa(se.nextToken)
	se.progress[token] = q
	return token, q, func() {
		se.mu.Lock()
		delete(se.progress, token)
		se.mu.Unlock()
	}
}
