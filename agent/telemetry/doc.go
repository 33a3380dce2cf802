// Package telemetry tells others how the engine works: spans for OpenTelemetry,
// and numbers for Prometheus.
//
// It promises that nothing of a call's arguments, of results, of messages or of
// error texts leaves in a span or a number unless it is asked for, that a
// collector which is slow or gone holds nothing up, and that all spans of one
// turn are one trace, also where the turn waited overnight and went on in
// another process. It does not promise that spans arrive: what cannot be sent
// is dropped.
package telemetry

import (
	"context"

	"deskhand/agent"
)

// Join gives a tracer that tells all of them, or nil if there are none.
func Join(tracers ...agent.Tracer) agent.Tracer {
	switch len(tracers) {
	case 0:
		return nil
	case 1:
		return tracers[0]
	}
	return joined(tracers)
}

type joined []agent.Tracer

// Start implements [agent.Tracer].
func (j joined) Start(ctx context.Context, s agent.Span) (context.Context, func(agent.SpanEnd)) {
	ends := make([]func(agent.SpanEnd), len(j))
	for i, t := range j {
		ctx, ends[i] = t.Start(ctx, s)
	}
	return ctx, func(e agent.SpanEnd) {
		for _, end := range ends {
			end(e)
		}
	}
}
