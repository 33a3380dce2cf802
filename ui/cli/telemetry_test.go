package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collectSpans is a collector of spans as others run one.
func collectSpans(t *testing.T) (url string, spans func() []*trace.Span) {
	var mu sync.Mutex
	var all []*trace.Span
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				all = append(all, scope.Spans...)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []*trace.Span {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestSpansOfSeveralProcessesMakeOneTrace: what one command asked, another one
// approved.
func TestSpansOfSeveralProcessesMakeOneTrace(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	url, spans := collectSpans(t)
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+url)
	s.expect(waiting, "ask", orderLine)
	s.expect(done, "approve", "A-1")
	var names []string
	traces := map[string]bool{}
	for _, span := range spans() {
		names = append(names, span.Name)
		traces[string(span.TraceId)] = true
		if text := span.String(); strings.Contains(text, "HE-3000-230") || strings.Contains(text, "heating element") {
			t.Errorf("what was ordered is in a span: %s", text)
		}
	}
	for _, want := range []string{"turn", "chat built-in", "execute_tool work-orders/quote_part", "decision", "execute_tool work-orders/order_part"} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %q among %q", want, names)
		}
	}
	if len(traces) != 1 {
		t.Errorf("%d traces", len(traces))
	}
}

// TestACollectorThatIsGoneHoldsNothingUp: and says nothing on the terminal.
func TestACollectorThatIsGoneHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1")
	if o := s.expect(done, "ask", "status of WO-1043"); strings.Contains(o.err, "127.0.0.1:1") {
		t.Error(o.err)
	}
	if log := readFile(t, s.home+"/deskhand.log"); !strings.Contains(log, "spans were not sent") {
		t.Errorf("the log does not say so:\n%s", log)
	}
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	s.expect(usage, "ask", "status of WO-1043").says(t, "spans are sent as http/protobuf only")
}

func TestAServedDeskHasNumbersForThoseWhoMayAsk(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	token := strings.TrimSpace(s.expect(done, "token", "new", "U-01").out)
	h := s.serve()
	if status, body := h.dispatch(`{"message":"`+orderLine+`"}`, token); status != http.StatusOK {
		t.Fatal(body)
	}
	read := func(token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.url+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if status, body := read(""); status != http.StatusUnauthorized || strings.Contains(body, "deskhand_") {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, body := read(token); status != http.StatusOK || !strings.Contains(body, `deskhand_waiting{state="waiting"} 1`) {
		t.Errorf("%d %s", status, body)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
