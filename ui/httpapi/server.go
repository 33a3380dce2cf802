package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"deskhand/agent"
)

// Options of a Server. Engine is needed.
type Options struct {
	Engine *agent.Engine
	// Callers are those who may ask, with the hash of each one's token; empty:
	// everybody who reaches the address, in the name of the engine's user.
	Callers []Caller
	// User finds a desk user by id, with role and limit; nil: the id is all that
	// is known.
	User func(agent.UserID) (agent.User, bool)
	// Local refuses requests under a host name that is not this machine's
	// loopback; for servers that listen there.
	Local bool
	// Ready says what there is to know about the parts that an answer needs; nil:
	// nothing.
	Ready func(context.Context) Readiness
	// Metrics answers GET /metrics, for whoever may ask; nil: there is none.
	Metrics http.Handler
	// MaxTurns bounds the turns at work at once; 32 if zero.
	MaxTurns int
	// Logger is told of refused requests and of failures; nil: nobody is.
	Logger *slog.Logger
}

// maxBody bounds a request's body, in bytes.
const maxBody = 1 << 20

// Server serves the desk. Its methods may be called at any time.
type Server struct {
	engine  *agent.Engine
	options Options
	log     *slog.Logger
	handler http.Handler
	keys    keyring

	// work are the turns at work; life ends when they shall stop.
	turns chan struct{}
	work  sync.WaitGroup
	life  context.Context
	end   context.CancelFunc
}

// New makes a Server; nothing listens yet.
func New(o Options) *Server {
	if o.MaxTurns <= 0 {
		o.MaxTurns = 32
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{engine: o.Engine, options: o, log: o.Logger, turns: make(chan struct{}, o.MaxTurns)}
	s.keys.store = o.Engine.Store()
	s.life, s.end = context.WithCancel(context.Background())

	open := http.NewServeMux()
	open.HandleFunc("GET /healthz", s.health)
	open.HandleFunc("GET /readyz", s.ready)
	open.HandleFunc("GET /schema.json", s.schema)
	open.HandleFunc("GET /openapi.json", s.openapi)

	inner := http.NewServeMux()
	inner.HandleFunc("POST /dispatchAgent", s.dispatch)
	inner.HandleFunc("GET /approvals", s.approvals)
	inner.HandleFunc("GET /approvals/{id}", s.approval)
	inner.HandleFunc("POST /approvals/{id}/decision", s.decision)
	inner.HandleFunc("GET /conversations/{id}", s.conversation)
	if o.Metrics != nil {
		inner.Handle("GET /metrics", o.Metrics)
	}
	open.Handle("/", s.authenticated(unknownPath(inner)))

	s.handler = s.recovered(s.guarded(open))
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close lets the turns at work finish, until ctx ends; then it stops them. What
// was decided and done is stored, and what waits still waits.
func (s *Server) Close(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.end()
	<-done
}

// The times that a client has, so that one that sends a byte a minute holds
// nothing for long. Answers have no limit: a turn takes what it takes.
const (
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 16 << 10
)

// HTTPServer is a server for s with limits against slow and large requests.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelInfo),
	}
}

// errTooManyTurns: the server works on as many turns as it may.
var errTooManyTurns = errors.New("too many requests are being worked on; try again in a moment")

// run does work for a request and goes on when the caller goes away. Its
// context ends with the server only, and acts in the caller's name.
func (s *Server) run(r *http.Request, work func(context.Context) (agent.Report, error)) (agent.Report, error) {
	select {
	case s.turns <- struct{}{}:
	default:
		return agent.Report{}, errTooManyTurns
	}
	type outcome struct {
		report agent.Report
		err    error
	}
	came := make(chan outcome, 1)
	ctx := s.life
	if user, ok := callerOf(r.Context()); ok {
		ctx = agent.As(ctx, user)
	}
	s.work.Go(func() {
		report, err := work(ctx)
		<-s.turns // first, so that whoever has the answer may ask again
		came <- outcome{report, err}
	})
	select {
	case o := <-came:
		return o.report, o.err
	case <-r.Context().Done():
		return agent.Report{}, context.Cause(r.Context())
	}
}

// recovered turns a panic into an answer and a line in the log.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.log.Error("a request failed", "path", r.URL.Path, "panic", p)
				writeError(w, &problem{Status: statusInternal, Message: "the request failed inside; see the log"})
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// unknownPath answers what the mux does not know in the form of all errors.
func unknownPath(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			writeError(w, &problem{Status: statusNotFound, Message: "there is no " + r.Method + " " + r.URL.Path + "; see /openapi.json"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}
