package workorders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client that started this process, over in and out,
// until in ends, the client goes away or ctx ends. It needs no token: whoever
// has both ends of the pipe started the server. out carries nothing else.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return serveStdio(ctx, s.mcp, s.end, in, out)
}

// serveStdio runs one session over pipes. end is called when ctx ends: a call
// that runs must not keep the process.
func serveStdio(ctx context.Context, m *mcp.Server, end func(), in io.ReadCloser, out io.WriteCloser) error {
	session, err := m.Connect(ctx, &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxRequestBytes}, nil)
	if err != nil {
		return fmt.Errorf("serve over standard input: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
			return nil
		}
		return err
	case <-ctx.Done():
	}
	end()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = session.Close() // the client sees that it is over
	}()
	select {
	case <-closed:
	case <-time.After(closeGrace):
	}
	return nil
}

// ServeStdio serves one client that started this process with the book that the
// holder has: what the client calls is passed on. It is for a process that found
// the book held.
func (h Holder) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	c := mcp.NewClient(&mcp.Implementation{Name: "work-orders", Version: "dev"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	holder, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: h.Endpoint, HTTPClient: &http.Client{Transport: withToken(h.Token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return fmt.Errorf("reach whoever has the book: %w", err)
	}
	defer func() { _ = holder.Close() }()
	m := emptyMCP("dev", slog.New(slog.DiscardHandler))
	for _, t := range tools() {
		m.AddTool(t.definition(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return holder.CallTool(ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: passedOn(req.Params.Arguments), Meta: ownMeta(req.Params.Meta)})
		})
	}
	m.AddResource(companyResource(), func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return holder.ReadResource(ctx, &mcp.ReadResourceParams{URI: companyURI})
	})
	calls, end := context.WithCancel(context.Background())
	defer end()
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(calls, cancel)()
			return next(ctx, method, req)
		}
	})
	return serveStdio(ctx, m, end, in, out)
}

// passedOn are the arguments as they came; none is an empty object.
func passedOn(arguments json.RawMessage) json.RawMessage {
	if len(arguments) == 0 {
		return json.RawMessage("{}")
	}
	return arguments
}

// ownMeta is what the desk says of a call. The rest belongs to the connection.
func ownMeta(meta mcp.Meta) mcp.Meta {
	own := mcp.Meta{}
	for key, value := range meta {
		if strings.HasPrefix(key, "deskhand/") {
			own[key] = value
		}
	}
	return own
}

// withToken adds the token to every request.
type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}
