package telemetry

import (
	"context"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// dropped takes spans and keeps none.
type dropped struct{}

func (dropped) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (dropped) Shutdown(context.Context) error                             { return nil }

// BenchmarkTurn measures a turn with one answer of the model in memory, which is
// the cheapest there is: without a tracer, and with each kind of it beside that.
func BenchmarkTurn(b *testing.B) {
	traces, err := newTraces(b.Context(), dropped{}, false)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = traces.Close(context.Background()) }()
	turns := func(b *testing.B, tracer agent.Tracer) time.Duration {
		b.Helper()
		model := &agenttest.Model{Script: func(int, agent.ModelRequest) (agent.ModelReply, error) { return agenttest.Say("Hello."), nil }}
		e := agenttest.NewEngine(b, agent.Config{Store: state.New(memory.New()), Model: model, Tracer: tracer})
		began := time.Now()
		for range b.N {
			if _, err := e.Send(b.Context(), agent.SendRequest{Text: "hello"}); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(began)
	}
	for _, test := range []struct {
		name   string
		tracer agent.Tracer
	}{{"off", nil}, {"numbers", NewMetrics()}, {"spans", traces}} {
		b.Run(test.name, func(b *testing.B) {
			off := turns(b, nil)
			b.ReportAllocs()
			b.ResetTimer()
			b.ReportMetric(float64(turns(b, test.tracer))/float64(off), "x-off")
		})
	}
}
