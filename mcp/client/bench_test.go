package client

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

var benchArguments = json.RawMessage(`{"work_order":"WO-1042","sku":"HE-3000-230","quantity":1}`)

// BenchmarkCall alternates calls through a Server and through a bare SDK
// client to the same server, and reports the ratio of their medians.
func BenchmarkCall(b *testing.B) {
	for name, handler := range eras {
		b.Run(name, func(b *testing.B) {
			h := newHost(b, handler(newSDKServer(b)))
			s := New(Options{Name: "work-orders", URL: h.url()})
			defer s.Close(context.Background())
			bare, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, &mcp.ClientOptions{
				Capabilities:           &mcp.ClientCapabilities{},
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
			}).Connect(b.Context(), &mcp.StreamableClientTransport{
				Endpoint:   h.url(),
				HTTPClient: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
			}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer bare.Close()
			through := func() error {
				_, err := s.Call(b.Context(), agent.CallRequest{Tool: "echo", Arguments: benchArguments, Call: "C-1", User: "U-01"})
				return err
			}
			direct := func() error {
				_, err := bare.CallTool(b.Context(), &mcp.CallToolParams{
					Meta: mcp.Meta{metaCall: "C-1", metaUser: "U-01"}, Name: "echo", Arguments: benchArguments,
				})
				return err
			}
			compare(b, through, direct)
		})
	}
}

// BenchmarkProgramCall is BenchmarkCall over standard input and output, to two
// processes of the same program.
func BenchmarkProgramCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	ledger := filepath.Join(b.TempDir(), "ledger")
	env := Environment(os.Getenv, map[string]string{programScript: "modern", programLedger: ledger})
	s := New(Options{Name: "work-orders", Command: &Command{Path: self, Env: env}})
	defer s.Close(context.Background())
	cmd := exec.Command(self)
	cmd.Env = env
	bare, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
	}).Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	compare(b, func() error {
		_, err := s.Call(b.Context(), agent.CallRequest{Tool: "order", Arguments: benchArguments, Call: "C-1", User: "U-01"})
		return err
	}, func() error {
		_, err := bare.CallTool(b.Context(), &mcp.CallToolParams{
			Meta: mcp.Meta{metaCall: "C-1", metaUser: "U-01"}, Name: "order", Arguments: benchArguments,
		})
		return err
	})
}

// compare runs both in turn, so that what else the machine does meets both.
func compare(b *testing.B, through, direct func() error) {
	timed := func(fn func() error) time.Duration {
		began := time.Now()
		if err := fn(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	for range 50 {
		timed(through)
		timed(direct)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		theirs = append(theirs, timed(direct))
		ours = append(ours, timed(through))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds())
	}
	b.ReportMetric(median(ours)/median(theirs), "ratio")
	b.ReportMetric(median(ours), "ns/through")
	b.ReportMetric(median(theirs), "ns/direct")
}
