package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

var errSessionDied = errors.New("the connection to the server broke; it is made again when it is needed")

// errConnecting is what a look gives that did not wait for a slow server.
var errConnecting = errors.New("the server is still starting; its tools come when it has answered")

// session is one MCP session. It is used until it dies or somebody has doubts
// about it, and closed when its last user has let go of it.
type session struct {
	link *link
	sdk  *mcp.ClientSession
	// gone is closed when the SDK has given the session up.
	gone chan struct{}
	// began is when it was connected.
	began time.Time

	// users, retired and closing are guarded by the Server's mutex.
	users   int
	retired bool // no longer given out
	closing bool

	mu sync.Mutex
	// generation counts the announced changes, so that a list that was read
	// while a change was announced is not kept.
	generation int
	tools      *agent.ToolList
	listedAt   time.Time
	// pages are the newest raw pages by cursor: the SDK keeps pages for as long
	// as the server allows, and then there are no new bytes.
	pages map[string]json.RawMessage
	// progress are the calls that want to hear of their progress, by token.
	progress  map[string]*progressQueue
	nextToken int
}

func newSession(l *link) *session {
	se := &session{
		link:     l,
		gone:     make(chan struct{}),
		pages:    map[string]json.RawMessage{},
		progress: map[string]*progressQueue{},
	}
	l.onUnwatched = se.changed
	return se
}

// changed forgets the tools.
func (se *session) changed() {
	se.mu.Lock()
	defer se.mu.Unlock()
	se.generation++
	se.tools = nil
}

// dead says that the session can no longer be used.
func (se *session) dead() bool {
	select {
	case <-se.gone:
		return true
	default:
		return false
	}
}

// epitaph says why a dead session died.
func (se *session) epitaph() error {
	if se.link.ended != nil && se.link.ended() {
		return se.link.explain(0, nil, errSessionDied)
	}
	return errSessionDied
}

// protocol is the revision that was agreed upon.
func (se *session) protocol() string {
	if r := se.sdk.InitializeResult(); r != nil {
		return r.ProtocolVersion
	}
	return ""
}

// announces says whether a change of the tools would be heard of now.
func (se *session) announces() bool {
	r := se.sdk.InitializeResult()
	if r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil || !r.Capabilities.Tools.ListChanged {
		return false
	}
	return se.link.watched()
}

// acquire gives the current session, connecting if there is none. Whoever gets
// one must release it. fresh says that it was connected for this.
//
// A call is somebody's decision and waits for as long as it takes. A look is
// not worth that: it waits for the patience of the options, and not at all
// while a server that failed is left in peace.
func (s *Server) acquire(ctx context.Context, look bool) (se *session, fresh bool, err error) {
	var patience <-chan time.Time
	if look && s.opts.Patience > 0 {
		timer := time.NewTimer(s.opts.Patience)
		defer timer.Stop()
		patience = timer.C
	}
	// A session may die between connecting and use; a server that does this
	// again and again must not be followed for ever.
	for range 3 {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		se, c, err := s.currentOrConnecting(look)
		if se != nil || err != nil {
			return se, fresh, err
		}
		select {
		case <-c.done:
			fresh = true
			if c.err != nil {
				return nil, true, c.err
			}
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case <-patience:
			s.mu.Lock()
			c.slow = true
			s.mu.Unlock()
			return nil, false, errConnecting
		}
	}
	return nil, true, errSessionDied
}

func (s *Server) currentOrConnecting(look bool) (*session, *connecting, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errClosed
	}
	if s.opts.Fault != nil {
		return nil, nil, s.opts.Fault
	}
	if s.current != nil && s.current.dead() {
		s.state.Phase, s.state.Err = PhaseDown, s.current.epitaph()
		s.pause.died(s.now(), s.now().Sub(s.current.began))
		s.retire(s.current)
	}
	if s.current != nil {
		s.current.users++
		return s.current, nil, nil
	}
	if s.connecting == nil {
		if left := s.pause.left(s.now()); look && left > 0 && s.state.Err != nil {
			if left < time.Second {
				return nil, nil, s.state.Err
			}
			return nil, nil, &failure{fmt.Sprintf("%v; it is tried again in %v", s.state.Err, left.Round(time.Second)), s.state.Err}
		}
		s.connecting = &connecting{began: s.now(), done: make(chan struct{})}
		c := s.connecting
		s.state.Phase = PhaseConnecting
		s.work.Go(func() { s.connect(c) })
	}
	if look && s.connecting.slow {
		return nil, nil, errConnecting // somebody has waited for this already
	}
	return nil, s.connecting, nil
}

// release lets go of a session; drop says that it must not be used again.
func (s *Server) release(se *session, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	se.users--
	if drop {
		s.retire(se)
	} else if se.retired && se.users == 0 {
		s.closeSession(se)
	}
}

// retire takes a session out of use and closes it once nobody uses it, so that
// one bad call does not end the others. s.mu is held.
func (s *Server) retire(se *session) {
	se.retired = true
	if s.current == se {
		s.current = nil
	}
	if se.users == 0 {
		s.closeSession(se)
	}
}

// closeSession closes a session in the background, within the close timeout.
// s.mu is held.
func (s *Server) closeSession(se *session) {
	if se.closing {
		return
	}
	se.closing = true
	delete(s.sessions, se)
	s.work.Go(func() {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			if err := se.sdk.Close(); err != nil {
				s.log.Debug("closing a session", "error", err)
			}
		}()
		bound := time.NewTimer(s.opts.CloseTimeout)
		defer bound.Stop()
		select {
		case <-closed:
		case <-bound.C:
			s.log.Warn("the server does not answer to the end of its session; the connection is cut")
		}
		se.link.cut()
	})
}
