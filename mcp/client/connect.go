package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// legacyProtocol is the newest revision of the era before 2026-07-28.
const legacyProtocol = "2025-11-25"

// connecting is one connect that callers wait for. err may be read after done
// is closed.
type connecting struct {
	began time.Time
	done  chan struct{}
	// slow says that the patience of a look has run out; the Server's mutex
	// guards it.
	slow bool
	err  error
}

// connect runs one connect for all who wait for it. It does not depend on any
// of their contexts: who gives up must not take the others along.
func (s *Server) connect(c *connecting) {
	late := fmt.Errorf("the server did not answer within %v", s.opts.ConnectTimeout)
	ctx, cancel := context.WithTimeoutCause(s.life, s.opts.ConnectTimeout, late)
	defer cancel()

	type outcome struct {
		se  *session
		err error
	}
	// The SDK may be deaf to ctx, so it runs apart and is left behind if it
	// must be; what it then still brings is closed by establish.
	came := make(chan outcome, 1)
	go func() {
		se, err := s.establish(ctx)
		came <- outcome{se, err}
	}()
	var o outcome
	select {
	case o = <-came:
	case <-ctx.Done():
		o.err = context.Cause(ctx)
	}
	s.connected(c, o.se, o.err)
}

// connected hands the outcome of a connect to all who wait.
func (s *Server) connected(c *connecting, se *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connecting = nil
	switch {
	case err != nil:
		c.err = err
		s.state.Phase, s.state.Err = PhaseDown, err
		s.pause.failed(s.now(), s.now().Sub(c.began))
		s.log.Info("connecting failed", "error", err)
	case s.closed:
		c.err = errClosed
		s.closeSession(se)
	default:
		s.current = se
		se.began = s.now()
		s.sessions[se] = struct{}{}
		s.state = State{Phase: PhaseReady, Identity: se.link.identity, Protocol: se.protocol()}
		if r := se.sdk.InitializeResult(); r != nil && r.ServerInfo != nil {
			s.state.ServerName, s.state.ServerVersion = plain(r.ServerInfo.Name), plain(r.ServerInfo.Version)
		}
	}
	close(c.done)
}

// maxProbe bounds how long a server may think about the modern protocol.
const maxProbe = 10 * time.Second

// diedOfProbe is the failure of a program that ended when it was asked for the
// modern protocol.
type diedOfProbe struct{ error }

// establish connects with the modern protocol, which the SDK turns into the
// legacy one if the server refuses it. A server that is silent about it, or ends
// because of it, gets a second, fresh connection with the legacy one.
func (s *Server) establish(ctx context.Context) (*session, error) {
	s.mu.Lock()
	legacy := s.legacy
	s.mu.Unlock()
	if !legacy {
		probe := min(s.opts.ConnectTimeout*3/5, maxProbe)
		pctx, cancel := context.WithTimeout(ctx, probe)
		se, err := s.attempt(pctx, "")
		silent := err != nil && pctx.Err() != nil
		cancel()
		var died *diedOfProbe
		if !silent && !errors.As(err, &died) || ctx.Err() != nil {
			return se, err
		}
	}
	se, err := s.attempt(ctx, legacyProtocol)
	s.mu.Lock()
	s.legacy = err == nil || s.opts.SSE // the older transport is of one era
	s.mu.Unlock()
	return se, err
}

// attempt makes one session over one new link. When ctx ends before that, the
// link is cut, so that nothing is left to wait.
func (s *Server) attempt(ctx context.Context, protocol string) (*session, error) {
	l, err := s.transport.open(ctx)
	if err != nil {
		return nil, err
	}
	keep := context.AfterFunc(ctx, l.cut)
	se := newSession(l)
	client := mcp.NewClient(
		&mcp.Implementation{Name: "deskhand", Version: s.opts.Version},
		&mcp.ClientOptions{
			Logger: s.log,
			// Given explicitly, because the SDK otherwise offers roots.
			Capabilities:                &mcp.ClientCapabilities{},
			ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { se.changed() },
			ProgressNotificationHandler: se.progressed,
			MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		})
	se.sdk, err = client.Connect(ctx, l.transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		err = l.explain(0, nil, err)
		if protocol == "" && l.ended != nil && l.ended() {
			err = &diedOfProbe{err}
		}
		l.cut()
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	if !keep() {
		// Too late: nobody waits any more, and the link has been cut.
		_ = se.sdk.Close()
		return nil, context.Cause(ctx)
	}
	go func() {
		_ = se.sdk.Wait()
		close(se.gone)
		se.changed()
	}()
	return se, nil
}
