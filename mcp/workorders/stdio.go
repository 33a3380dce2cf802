package workorders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client that started this process, over in and out,
// until in ends, the client goes away or ctx ends. It needs no token: whoever
// has both ends of the pipe started the server. out carries nothing else.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	session, err := s.mcp.Connect(ctx, &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxRequestBytes}, nil)
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
	s.end() // a call that runs must not keep the process
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
