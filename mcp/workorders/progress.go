package workorders

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// progressEvery is how often a client that asked hears how far a call is.
	progressEvery = 200 * time.Millisecond

	// progressStep is after how many records a look through many of them sees
	// whether it was cancelled.
	progressStep = 256
)

// A progress follows one call through many records: it tells the client how
// far it is, if the client asked, and ends the call when the client gave up.
type progress struct {
	ctx  context.Context // of the call, which is all that a progress lives for
	tell func(done, total int)
}

type progressKey struct{}

// withProgress lets what runs under the context report to the client that sent
// the request.
func withProgress(ctx context.Context, req *mcp.CallToolRequest, every time.Duration) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	last := time.Now()
	return context.WithValue(ctx, progressKey{}, func(done, total int) {
		if done < total && time.Since(last) < every {
			return
		}
		last = time.Now()
		// Whoever does not hear it gets the answer all the same.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Total: float64(total)})
	})
}

func progressOf(ctx context.Context) progress {
	tell, _ := ctx.Value(progressKey{}).(func(done, total int))
	return progress{ctx: ctx, tell: tell}
}

// passed says that done of total records have been looked at. An error ends the
// call: nobody waits for the answer.
func (p progress) passed(done, total int) error {
	if p.ctx == nil || done%progressStep != 0 {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.tell != nil && done > 0 {
		p.tell(done, total)
	}
	return nil
}
