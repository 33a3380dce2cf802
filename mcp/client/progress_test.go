package client

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// TestProgress: in order, each to its own call, and nothing after the return.
func TestProgress(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		server := newSDKServer(t)
		finish := make(chan struct{})
		server.AddTool(&mcp.Tool{Name: "slow", InputSchema: object}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 5 {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 5,
					Message: string(r.Params.Arguments),
				})
			}
			<-finish
			// Sent in one burst with the result; it may or may not be seen.
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 6})
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		})
		s := connectTo(t, newHost(t, handler(server)).url())
		var arrived atomic.Int32
		done := make(chan error, 2)
		for _, arguments := range []string{`{"n":1}`, `{"n":2}`} {
			go func() {
				var returned atomic.Bool
				last := 0.0
				_, err := s.Call(context.Background(), agent.CallRequest{Tool: "slow", Arguments: []byte(arguments), Progress: func(p agent.Progress) {
					if returned.Load() {
						t.Error("progress after the return")
					}
					if p.Done != last+1 || p.Done <= 5 && p.Message != arguments {
						t.Errorf("progress %+v after %v in the call with %s", p, last, arguments)
					}
					last = p.Done
					if arrived.Add(1) == 10 {
						close(finish)
					}
				}})
				returned.Store(true)
				if err == nil && last < 5 {
					err = fmt.Errorf("progress ended at %v", last)
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestProgressFlood: a slow listener costs neither memory nor the result.
func TestProgressFlood(t *testing.T) {
	q := newProgressQueue()
	for i := range 3 * maxProgress {
		q.put(agent.Progress{Done: float64(i)})
	}
	var got []float64
	q.deliver(func(p agent.Progress) { got = append(got, p.Done) })
	if len(got) != maxProgress || got[0] != 2*maxProgress || got[maxProgress-1] != 3*maxProgress-1 {
		t.Errorf("%d messages, from %v", len(got), got[0])
	}
}
