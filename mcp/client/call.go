package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// Keys of _meta that tell the server which call of the desk this is.
const (
	metaCall     = "deskhand/call"
	metaApproval = "deskhand/approval"
	metaUser     = "deskhand/user"
)

// Call runs one tool, and gives its result as the server sent it. Every error
// is an *agent.CallError.
//
// The arguments go out byte for byte if they are compact JSON; an empty value
// is sent as {}. Progress is delivered in order, from the caller's goroutine,
// never after Call has returned; while it runs, Call waits for it.
//
// When ctx ends, Call returns at once, the server is told, and the outcome is
// unknown if anything had been sent. A result that came before that wins.
func (s *Server) Call(ctx context.Context, request agent.CallRequest) (agent.Result, error) {
	if s.opts.Offers != nil && !s.opts.Offers(request.Tool) {
		return agent.Result{}, s.callError(verdict{outcome: agent.OutcomeNotSent, err: errNotOffered})
	}
	for again := false; ; again = true {
		se, _, err := s.acquire(ctx, false)
		if err == nil {
			err = s.prepare(ctx, se)
			if err != nil {
				s.release(se, true)
			}
		}
		if err != nil {
			return agent.Result{}, s.callError(verdict{outcome: agent.OutcomeNotSent, err: ended(err)})
		}
		result, v := s.send(ctx, se, request)
		s.release(se, v.drop)
		if v.err == nil {
			return result, nil
		}
		if !v.stale || again || ctx.Err() != nil {
			return agent.Result{}, s.callError(v)
		}
		// It is proved that nothing ran, and a new session may do better.
		s.log.Info("the session was gone; the call is sent in a new one", "tool", request.Tool, "call", request.Call)
	}
}

var errNotOffered = errors.New("the configuration leaves this tool out")

func (s *Server) callError(v verdict) error {
	return &agent.CallError{Outcome: v.outcome, Server: s.opts.Name, Err: v.err}
}

// prepare lists the tools in a new session if the SDK needs their definitions
// to send a call.
func (s *Server) prepare(ctx context.Context, se *session) error {
	s.mu.Lock()
	mirrors := s.mirrors
	s.mu.Unlock()
	se.mu.Lock()
	listed := len(se.pages) > 0
	se.mu.Unlock()
	if !mirrors || listed {
		return nil
	}
	_, _, err := s.list(ctx, se)
	return err
}

// send sends the call once, in this session.
func (s *Server) send(ctx context.Context, se *session, request agent.CallRequest) (agent.Result, verdict) {
	params := callParams(request)
	progress := &progressQueue{}
	if request.Progress != nil {
		token, q, stop := se.listen()
		defer stop()
		params.SetProgressToken(token)
		progress = q
	}
	x := &exchange{}
	ctx, done := s.operation(ctx, s.opts.CallTimeout, fmt.Errorf("no answer within %v", s.opts.CallTimeout))
	defer done()
	came := start(s, func() (*mcp.CallToolResult, error) {
		return se.sdk.CallTool(withExchange(ctx, x), params)
	})
	for {
		select {
		case <-progress.some:
			progress.deliver(request.Progress)
		case a := <-came:
			if request.Progress != nil {
				progress.deliver(request.Progress)
			}
			return judge(se, x.finish(), a.value, a.err, context.Cause(ctx))
		case <-ctx.Done():
			value, err := afterEnd(ctx, came)
			return judge(se, x.finish(), value, err, context.Cause(ctx))
		}
	}
}

// callParams makes fresh parameters; the SDK writes into them.
func callParams(request agent.CallRequest) *mcp.CallToolParams {
	meta := mcp.Meta{}
	for key, value := range map[string]string{
		metaCall:     string(request.Call),
		metaApproval: string(request.Approval),
		metaUser:     string(request.User),
	} {
		if value != "" {
			meta[key] = value
		}
	}
	arguments := request.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	return &mcp.CallToolParams{Meta: meta, Name: request.Tool, Arguments: arguments}
}
