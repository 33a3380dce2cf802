package workorders

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const testToken = "token-of-the-tests"

// demoNow is the time at which every test book stands.
func demoNow() time.Time {
	t, err := time.Parse(time.RFC3339, "2026-12-01T09:00:00+01:00")
	if err != nil {
		panic(err)
	}
	return t
}

// at is a time of the demo's first week, in the company's zone: at("02T10:00").
func at(dayAndClock string) string { return "2026-12-" + dayAndClock + ":00+01:00" }

func openBook(t *testing.T) *Book {
	t.Helper()
	b, err := Open(filepath.Join(t.TempDir(), "workorders.db"), Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// bearer adds the token to every request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// serve puts a book behind a real HTTP server and returns the endpoint.
func serve(t *testing.T, b *Book) string {
	t.Helper()
	s := NewServer(b, ServerOptions{Token: testToken})
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		_ = s.Close(context.Background())
		hs.CloseClientConnections()
		hs.Close()
	})
	return hs.URL + "/mcp"
}

// connect opens a client session; protocol "" is the newest revision.
func connect(t *testing.T, endpoint, protocol string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer{testToken}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

type (
	args    = map[string]any
	session = *mcp.ClientSession
)

// result is what a call gave, as a client sees it.
type result struct {
	*mcp.CallToolResult
	raw []byte // structured content
}

// into decodes the structured content.
func (r result) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.raw, v); err != nil {
		t.Fatalf("decode %s: %v", r.raw, err)
	}
}

// code is the refusal's code, or "".
func (r result) code(t *testing.T) string { return r.refusal(t).Code }

func (r result) refusal(t *testing.T) Refusal {
	t.Helper()
	var e struct{ Error Refusal }
	if r.IsError {
		r.into(t, &e)
		if e.Error.Code == "" || e.Error.Message == "" || e.Error.Retry == "" {
			t.Errorf("incomplete refusal: %s", r.raw)
		}
	}
	return e.Error
}

// call calls a tool as a desk user ("" is a client without a desk). A good
// answer must fit the tool's output schema.
func call(t *testing.T, s *mcp.ClientSession, user, tool string, a args) result {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: a}
	if user != "" {
		params.Meta = mcp.Meta{metaUser: user, metaCall: "call-1", metaApproval: "A-1"}
	}
	res, err := s.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 || res.Content[0].(*mcp.TextContent).Text == "" {
		t.Errorf("%s: want one text block, got %d", tool, len(res.Content))
	}
	if !res.IsError {
		fits(t, tool, res.StructuredContent)
	}
	return result{res, raw}
}

// fits checks an answer against the output schema of its tool.
func fits(t *testing.T, name string, structured any) {
	t.Helper()
	for _, tool := range tools() {
		if tool.name != name {
			continue
		}
		schema, err := tool.output.Resolve(&jsonschema.ResolveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(structured); err != nil {
			t.Errorf("%s: the answer does not fit the output schema: %v", name, err)
		}
	}
}
