package telemetry

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"deskhand/agent"
)

// The variables that decide whether spans are sent, as OpenTelemetry names them.
// What else it names (headers, certificates, time limits, sampling, the name of
// the service) counts too.
//
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
const (
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	// envContent asks for the content of calls, by the name that the conventions
	// for generative AI give it.
	envContent = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
)

const scope = "deskhand/agent"

// Traces sends spans over OTLP. It implements [agent.Tracer].
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	content  bool
}

// NewTraces makes Traces as the standard variables of the environment say; nil
// if they ask for none. Failures to send go to log, once the OpenTelemetry
// library of this process has been told so.
func NewTraces(ctx context.Context, getenv func(string) string, log *slog.Logger) (*Traces, error) {
	if !wanted(getenv) {
		return nil, nil
	}
	for _, name := range []string{envProtocol, envTracesProtocol} {
		if p := getenv(name); p != "" && p != "http/protobuf" {
			return nil, fmt.Errorf("%s is %q: spans are sent as http/protobuf only", name, p)
		}
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans were not sent", "error", err) }))
	otel.SetLogger(logr.FromSlogHandler(log.Handler())) // else it writes on the terminal
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("the address of the collector of spans: %w", err)
	}
	return newTraces(ctx, exporter, getenv(envContent) == "true")
}

func wanted(getenv func(string) string) bool {
	return (getenv(envEndpoint) != "" || getenv(envTracesEndpoint) != "") &&
		!strings.EqualFold(getenv(envDisabled), "true") &&
		slices.Contains([]string{"", "otlp"}, getenv(envExporter))
}

func newTraces(ctx context.Context, exporter sdktrace.SpanExporter, content bool) (*Traces, error) {
	who, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "deskhand")),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // last, so that OTEL_SERVICE_NAME wins
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(who), sdktrace.WithIDGenerator(turnIDs{}))
	return &Traces{provider: provider, tracer: provider.Tracer(scope), content: content}, nil
}

// Close sends what is left, until ctx ends.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Start implements [agent.Tracer].
func (t *Traces) Start(ctx context.Context, s agent.Span) (context.Context, func(agent.SpanEnd)) {
	name, attributes := t.describe(s)
	ctx, span := t.tracer.Start(context.WithValue(ctx, turnKey{}, s.Turn), name, trace.WithAttributes(attributes...))
	return ctx, func(e agent.SpanEnd) {
		span.SetAttributes(attribute.String("deskhand.outcome", e.Outcome))
		if s.Kind == agent.SpanModel {
			span.SetAttributes(
				attribute.Int("gen_ai.usage.input_tokens", e.Usage.Input),
				attribute.Int("gen_ai.usage.output_tokens", e.Usage.Output),
				attribute.Int("gen_ai.usage.cache_read.input_tokens", e.Usage.Cached))
		}
		if e.Err != nil {
			span.SetStatus(codes.Error, e.Outcome)
			if t.content { // an error may quote what was sent
				span.RecordError(e.Err)
			}
		}
		span.End()
	}
}

// describe names a span and its attributes, as the conventions for generative AI
// have it where they have a word.
//
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
func (t *Traces) describe(s agent.Span) (name string, attributes []attribute.KeyValue) {
	name = string(s.Kind)
	add := func(key, value string) {
		if value != "" {
			attributes = append(attributes, attribute.String(key, value))
		}
	}
	switch s.Kind {
	case agent.SpanModel:
		name = "chat " + s.Model
		add("gen_ai.operation.name", "chat")
		add("gen_ai.request.model", s.Model)
	case agent.SpanCall:
		name = "execute_tool " + string(s.Tool)
		add("gen_ai.operation.name", "execute_tool")
		attributes = append(attributes, attribute.Bool("deskhand.preview", s.Preview))
		if t.content {
			add("gen_ai.tool.call.arguments", string(s.Arguments))
		}
	}
	add("gen_ai.conversation.id", string(s.Conversation))
	add("gen_ai.tool.name", string(s.Tool))
	add("gen_ai.tool.call.id", string(s.Call))
	add("deskhand.turn.id", string(s.Turn))
	add("deskhand.approval.id", string(s.Approval))
	return name, attributes
}

type turnKey struct{}

// turnIDs gives every span of one turn the same trace, whichever process it
// comes from.
type turnIDs struct{}

// NewIDs implements [sdktrace.IDGenerator].
func (g turnIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	turn, _ := ctx.Value(turnKey{}).(agent.TurnID)
	hash := sha256.Sum256([]byte("turn " + turn))
	return trace.TraceID(hash[:16]), g.NewSpanID(ctx, trace.TraceID{})
}

// NewSpanID implements [sdktrace.IDGenerator].
func (turnIDs) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		for i := range id {
			id[i] = byte(rand.Uint32())
		}
	}
	return id
}
