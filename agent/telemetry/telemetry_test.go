package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const orderLine = "order a heating element for WO-1044"

// desk is an engine that can be started anew on the same store.
type desk struct {
	*agent.Engine
	config agent.Config
	wo     *agenttest.WorkOrders
}

func newDesk(t *testing.T, tracer agent.Tracer) *desk {
	wo := agenttest.NewWorkOrders("work-orders")
	model := &agenttest.Model{Script: agenttest.Replies(
		agenttest.Call(agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":1}`)),
		agenttest.Say("It is settled."),
	)}
	d := &desk{wo: wo, config: agent.Config{
		Store: state.New(memory.New()), Model: model, Sources: []agent.Source{wo},
		Policy: agenttest.NewPolicy(t, agenttest.Policy("work-orders")), Tracer: tracer,
	}}
	d.Engine = agenttest.NewEngine(t, d.config)
	return d
}

func (d *desk) send(t *testing.T) {
	t.Helper()
	if _, err := d.Send(t.Context(), agent.SendRequest{Text: orderLine}); err != nil {
		t.Fatal(err)
	}
}

// recorded makes traces whose spans stay here.
func recorded(t *testing.T, content bool) (*Traces, *tracetest.InMemoryExporter) {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	traces, err := newTraces(t.Context(), keeping{kept}, content)
	if err != nil {
		t.Fatal(err)
	}
	return traces, kept
}

// keeping keeps its spans when it is shut down.
type keeping struct{ *tracetest.InMemoryExporter }

func (keeping) Shutdown(context.Context) error { return nil }

func names(spans tracetest.SpanStubs) []string {
	var out []string
	for _, s := range spans {
		for _, a := range s.Attributes {
			if a.Key == "deskhand.outcome" {
				out = append(out, s.Name+": "+a.Value.AsString())
			}
		}
	}
	return out
}

func TestATurnThatWaitsAndGoesOnInAnotherProcessIsOneTrace(t *testing.T) {
	traces, kept := recorded(t, false)
	d := newDesk(t, traces)
	d.send(t)
	d.Engine = agenttest.NewEngine(t, d.config)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := kept.GetSpans()
	want := []string{
		"chat scripted: answered", "execute_tool work-orders/quote: done", "turn: paused",
		"execute_tool work-orders/quote: done", "decision: approved", "execute_tool work-orders/order: done",
		"chat scripted: answered", "turn: completed",
	}
	if got := names(spans); !slices.Equal(got, want) {
		t.Errorf("spans: %q\nwant:  %q", got, want)
	}
	for _, s := range spans {
		if s.SpanContext.TraceID() != spans[0].SpanContext.TraceID() {
			t.Errorf("%s is in another trace", s.Name)
		}
	}
	order := attribute.NewSet(spans[5].Attributes...)
	for key, want := range map[attribute.Key]string{
		"gen_ai.tool.name": "work-orders/order", "deskhand.approval.id": "A-1", "deskhand.outcome": "done",
	} {
		if v, ok := order.Value(key); !ok || v.AsString() != want {
			t.Errorf("%s = %q", key, v.AsString())
		}
	}
	calls, err := d.Store().OpenCalls(t.Context())
	if err != nil || len(calls) > 0 {
		t.Errorf("%v, %v", calls, err)
	}
	if id, ok := order.Value("gen_ai.tool.call.id"); !ok || !strings.HasPrefix(id.AsString(), "id-") {
		t.Errorf("call id %q", id.AsString())
	}
	other := newDesk(t, traces)
	other.send(t) // after Close: nothing is sent, and nothing breaks
}

// TestArgumentsLeaveOnlyWhenTheyAreAskedFor: nor do errors, which may quote them.
func TestArgumentsLeaveOnlyWhenTheyAreAskedFor(t *testing.T) {
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprint(content), func(t *testing.T) {
			traces, kept := recorded(t, content)
			d := newDesk(t, traces)
			d.send(t)
			d.wo.SetDown(errors.New("connection refused while ordering HE-3000-230"))
			if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
				t.Error("approved without a server")
			}
			if err := traces.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			spans := kept.GetSpans()
			if got := names(spans); !slices.Contains(got, "decision: server unreachable") {
				t.Errorf("spans: %q", got)
			}
			all := fmt.Sprintf("%+v", spans)
			for _, text := range []string{"HE-3000-230", "connection refused"} {
				if strings.Contains(all, text) != content {
					t.Errorf("%q is there: %v", text, !content)
				}
			}
			if strings.Contains(all, "heating element for WO") {
				t.Error("the dispatcher's line is in a span")
			}
		})
	}
}

// TestSpansAreSentOnlyIfTheEnvironmentSaysWhereTo: by its standard variables.
func TestSpansAreSentOnlyIfTheEnvironmentSaysWhereTo(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want bool
		err  string
	}{
		{env: map[string]string{}},
		{env: map[string]string{envEndpoint: "http://127.0.0.1:1"}, want: true},
		{env: map[string]string{envTracesEndpoint: "http://127.0.0.1:1/v1/traces"}, want: true},
		{env: map[string]string{envEndpoint: "http://127.0.0.1:1", envDisabled: "TRUE"}},
		{env: map[string]string{envEndpoint: "http://127.0.0.1:1", envExporter: "none"}},
		{env: map[string]string{envEndpoint: "http://127.0.0.1:1", envProtocol: "http/protobuf"}, want: true},
		{env: map[string]string{envEndpoint: "http://127.0.0.1:1", envProtocol: "grpc"}, err: `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": spans are sent as http/protobuf only`},
	} {
		traces, err := NewTraces(t.Context(), func(name string) string { return test.env[name] }, slog.New(slog.DiscardHandler))
		if traces != nil {
			if err := traces.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if text := fmt.Sprint(err); (traces != nil) != test.want || err != nil != (test.err != "") || err != nil && text != test.err {
			t.Errorf("%v: %v, %v", test.env, traces != nil, err)
		}
	}
}

func TestNumbersSayWhatWasDecidedAndWhatCameOfIt(t *testing.T) {
	metrics := NewMetrics()
	traces, _ := recorded(t, false)
	d := newDesk(t, Join(traces, metrics))
	handler := metrics.Handler(d.Engine, slog.New(slog.DiscardHandler))
	read := func() string {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		text, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	expect := func(lines ...string) {
		t.Helper()
		text := read()
		for _, line := range lines {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("%s is not in\n%s", line, text)
			}
		}
	}
	d.send(t)
	expect(`deskhand_waiting{state="waiting"} 1`, `deskhand_turn_duration_seconds_count{outcome="paused"} 1`)
	for range 2 {
		_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
		var decided *agent.DecidedError
		if err != nil && !errors.As(err, &decided) {
			t.Fatal(err)
		}
	}
	expect(
		`deskhand_waiting{state="waiting"} 0`, `deskhand_waiting{state="unknown"} 0`,
		`deskhand_decision_duration_seconds_count{outcome="approved"} 1`,
		`deskhand_decision_duration_seconds_count{outcome="decided before"} 1`,
		`deskhand_call_duration_seconds_count{outcome="done",preview="no",server="work-orders",tool="order"} 1`,
		`deskhand_call_duration_seconds_count{outcome="done",preview="yes",server="work-orders",tool="quote"} 2`,
		`deskhand_model_request_duration_seconds_count{model="scripted",outcome="answered"} 2`,
		`deskhand_turn_duration_seconds_count{outcome="completed"} 1`,
	)
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
