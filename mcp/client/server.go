package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"deskhand/agent"
)

// Options describe one server. Name and one of URL, Dial or Command are needed.
type Options struct {
	// Name is the one that the configuration gives the server.
	Name string
	// URL is the Streamable HTTP endpoint.
	URL string
	// SSE says that URL is the stream of the older HTTP transport, of the
	// revision 2024-11-05.
	SSE bool
	// Headers go with every request. Headers of the protocol, and those that
	// would make net/http repeat a request, are refused when connecting.
	Headers map[string]string
	// Token, if set, is asked for a bearer token at each connect.
	Token func(context.Context) (string, error)
	// Identity says which server this is; empty: the URL without query.
	Identity string
	// Dial, if set, says at each connect where the server is; it may start it.
	// What it leaves empty is taken from the options.
	Dial func(context.Context) (Endpoint, error)
	// Command, if set, is the program that is the server; it is started at each
	// connect and ended with its session.
	Command *Command
	// Permit, if set, is asked before each start of the program.
	Permit func() error
	// Fault, if set, is why the server cannot be used; every use gives it.
	Fault error
	// Offers, if set, says which tools there are for the desk; the others are
	// neither listed nor called.
	Offers func(tool string) bool
	// Version is what this program calls itself to the server besides
	// "deskhand"; empty: "dev".
	Version string

	// ConnectTimeout bounds one connect; 5 s if zero.
	ConnectTimeout time.Duration
	// ReadTimeout bounds listing the tools or reading a resource; 10 s if zero.
	ReadTimeout time.Duration
	// CallTimeout is the hard maximum of one call, from sending on; 2 min if
	// zero. Progress does not extend it.
	CallTimeout time.Duration
	// CloseTimeout bounds Close; 2 s if zero.
	CloseTimeout time.Duration
	// Patience is how long a listing or reading waits for a connect; without it,
	// for as long as that takes. A call always does.
	Patience time.Duration
	// MaxAnswer bounds one answer of the server, in bytes; 16 MiB if zero.
	MaxAnswer int

	// Logger is told what is not an error of a call; nil: nobody is.
	Logger *slog.Logger
	// Now and Jitter, if set, stand in for the clock and for chance (from 0 to 1)
	// in what is said about trying again.
	Now    func() time.Time
	Jitter func() float64
	// Transport is the model for the HTTP connections; nil: that of net/http.
	// It is copied for each session and its HTTP/2 is switched off, because
	// only an unshared connection can prove that nothing was written to it.
	Transport *http.Transport
}

// Endpoint is where a server is at the moment.
type Endpoint struct {
	URL      string
	Headers  map[string]string
	Identity string
}

// Phase is what a Server is busy with.
type Phase string

// The phases of a Server.
const (
	// PhaseIdle: not used yet, or closed.
	PhaseIdle Phase = "idle"
	// PhaseConnecting: a connect is running.
	PhaseConnecting Phase = "connecting"
	// PhaseReady: there is a session.
	PhaseReady Phase = "ready"
	// PhaseDegraded: there is a session, but the tools cannot be listed.
	PhaseDegraded Phase = "degraded"
	// PhaseDown: the last connect failed, or the session died.
	PhaseDown Phase = "down"
)

// State is what is known about the server without asking it.
type State struct {
	Phase Phase
	// Err is the last error, nil when ready; when degraded, why the tools cannot
	// be listed.
	Err error
	// Identity, Protocol, ServerName and ServerVersion are those of the newest
	// session. The last two are the server's own words, for display only.
	Identity                  string
	Protocol                  string
	ServerName, ServerVersion string
}

// Server is one configured MCP server. All methods may be called from several
// goroutines at once.
type Server struct {
	opts      Options
	transport transport
	log       *slog.Logger
	now       func() time.Time

	// life ends with Close; every operation and every connection hangs on it.
	life context.Context
	end  context.CancelCauseFunc
	// work counts connects that run and sessions that are being closed.
	work sync.WaitGroup

	// jobs hands operations to idle workers, of which there are so many.
	jobs chan func()
	idle atomic.Int32

	mu         sync.Mutex
	closed     bool
	sessions   map[*session]struct{} // all that are not being closed
	current    *session              // the one to use; nil when there is none
	connecting *connecting           // nil unless a connect runs
	state      State
	pause      pause
	// unlisted is why the tools could not be listed last; nil if they were.
	unlisted error
	// legacy says that the server does not answer to the probe for the modern
	// protocol, so that it is not probed again.
	legacy bool
	// mirrors says that a tool wants arguments repeated in HTTP headers, which
	// the SDK can do only in a session that has listed the tools.
	mirrors bool
}

var _ agent.Source = (*Server)(nil)

// errClosed is the cause of everything that ends because of Close.
var errClosed = errors.New("the connection to the server was closed by this program")

// New makes a Server. Nothing is opened or checked until it is used; a mistake
// in the options is the error of the first use.
func New(o Options) *Server {
	orElse := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	orElse(&o.ConnectTimeout, 5*time.Second)
	orElse(&o.ReadTimeout, 10*time.Second)
	orElse(&o.CallTimeout, 2*time.Minute)
	orElse(&o.CloseTimeout, 2*time.Second)
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = 16 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	s := &Server{opts: o, log: o.Logger.With("server", o.Name), jobs: make(chan func()), sessions: map[*session]struct{}{}, state: State{Phase: PhaseIdle}}
	if s.now = o.Now; s.now == nil {
		s.now = time.Now
	}
	s.pause = newPause(o)
	s.legacy = o.SSE
	s.life, s.end = context.WithCancelCause(context.Background())
	if o.Command != nil {
		s.transport = &stdioTransport{o}
	} else {
		s.transport = newHTTPTransport(o)
	}
	if o.Fault != nil {
		s.state = State{Phase: PhaseDown, Err: o.Fault}
	}
	return s
}

// Name is the server's name in the configuration.
func (s *Server) Name() string { return s.opts.Name }

// State says what is known without asking the server.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	switch {
	case s.closed:
		st.Phase = PhaseIdle
	case s.current != nil && s.current.dead():
		st.Phase, st.Err = PhaseDown, s.current.epitaph()
	case s.current != nil && s.unlisted != nil:
		st.Phase, st.Err = PhaseDegraded, s.unlisted
	}
	return st
}

// Close cancels the calls that are out, ends the session and waits until it is
// gone, at most until ctx ends or the close timeout is over; then it cuts the
// connections and gives an error. The Server cannot be used again. Calling
// Close again waits again.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		s.current = nil
		s.end(errClosed)
		for se := range s.sessions {
			s.closeSession(se)
		}
	}
	s.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		s.work.Wait()
		close(gone)
	}()
	// Each session bounds its own closing by the close timeout, and this waits
	// a little longer than that, so that Close does not miss a cut by a hair.
	bound := time.NewTimer(s.opts.CloseTimeout + s.opts.CloseTimeout/4)
	defer bound.Stop()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-bound.C:
		return errors.New("the server did not let go of the connection; it was left behind")
	}
}
