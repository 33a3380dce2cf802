package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"deskhand/agent"
)

// Metrics counts and times the engine's work. It implements [agent.Tracer].
// Durations are in seconds; the _count of each is the number of what happened.
type Metrics struct {
	registry  *prometheus.Registry
	turns     *prometheus.HistogramVec
	requests  *prometheus.HistogramVec
	tokens    *prometheus.CounterVec
	calls     *prometheus.HistogramVec
	decisions *prometheus.HistogramVec
}

// quick and slow are the bounds of the durations, in seconds: calls and
// decisions take milliseconds, models and turns minutes.
var (
	quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
	slow  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
)

// NewMetrics makes Metrics with nothing counted yet.
func NewMetrics() *Metrics {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "deskhand", Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		turns:     histogram("turn_duration_seconds", "Turns, from where they begin or go on until they pause, stall or end.", slow, "outcome"),
		requests:  histogram("model_request_duration_seconds", "Requests to the model.", slow, "model", "outcome"),
		calls:     histogram("call_duration_seconds", "Calls of tools; a preview looks, and runs nothing.", quick, "server", "tool", "preview", "outcome"),
		decisions: histogram("decision_duration_seconds", "Decisions, from the key press until they are stored or refused.", quick, "outcome"),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "deskhand", Name: "model_tokens_total", Help: "Tokens that the model's provider counted; cached ones are among the input.",
		}, []string{"model", "kind"}),
	}
	m.registry.MustRegister(m.turns, m.requests, m.calls, m.decisions, m.tokens,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Start implements [agent.Tracer].
func (m *Metrics) Start(ctx context.Context, s agent.Span) (context.Context, func(agent.SpanEnd)) {
	began := time.Now()
	return ctx, func(e agent.SpanEnd) {
		took := time.Since(began).Seconds()
		switch s.Kind {
		case agent.SpanTurn:
			m.turns.WithLabelValues(e.Outcome).Observe(took)
		case agent.SpanModel:
			m.requests.WithLabelValues(s.Model, e.Outcome).Observe(took)
			m.tokens.WithLabelValues(s.Model, "input").Add(float64(e.Usage.Input))
			m.tokens.WithLabelValues(s.Model, "output").Add(float64(e.Usage.Output))
			m.tokens.WithLabelValues(s.Model, "cached").Add(float64(e.Usage.Cached))
		case agent.SpanCall:
			preview := "no"
			if s.Preview {
				preview = "yes"
			}
			m.calls.WithLabelValues(s.Tool.Server(), s.Tool.Tool(), preview, e.Outcome).Observe(took)
		case agent.SpanDecision:
			m.decisions.WithLabelValues(e.Outcome).Observe(took)
		}
	}
}

// scrapeTime bounds reading the store for one scrape.
const scrapeTime = 5 * time.Second

// Handler serves the numbers in Prometheus' text form, with what waits for a
// person now. It may be called once.
func (m *Metrics) Handler(e *agent.Engine, log *slog.Logger) http.Handler {
	m.registry.MustRegister(&waiting{
		engine: e, log: log,
		desc: prometheus.NewDesc("deskhand_waiting", "Calls that wait for a person, by the state of the call.", []string{"state"}, nil),
	})
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// waiting reads what waits at each scrape.
type waiting struct {
	engine *agent.Engine
	log    *slog.Logger
	desc   *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (w *waiting) Describe(out chan<- *prometheus.Desc) { out <- w.desc }

// Collect implements [prometheus.Collector].
func (w *waiting) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	counts := map[agent.CallState]int{agent.CallWaiting: 0, agent.CallApproved: 0, agent.CallUnknown: 0}
	list, err := w.engine.Waiting(ctx)
	if err != nil {
		w.log.Error("what waits could not be counted", "error", err)
		out <- prometheus.NewInvalidMetric(w.desc, err)
		return
	}
	for _, p := range list {
		counts[p.Status]++
	}
	for state, n := range counts {
		out <- prometheus.MustNewConstMetric(w.desc, prometheus.GaugeValue, float64(n), string(state))
	}
}
