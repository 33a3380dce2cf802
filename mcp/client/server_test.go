package client

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

var object = json.RawMessage(`{"type":"object"}`)

// newSDKServer makes a go-sdk server with an echo tool, which gives its own
// arguments and _meta back.
func newSDKServer(t testing.TB) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	s.AddTool(&mcp.Tool{Name: "echo", Description: "Echo.", InputSchema: object},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{
				Content:           []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}},
				StructuredContent: map[string]any{"meta": r.Params.Meta},
			}, nil
		})
	return s
}

func TestListAndCall(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		h := newHost(t, handler(newSDKServer(t)))
		s := connectTo(t, h.url()+"?secret=1")
		if st := s.State(); st.Phase != PhaseIdle {
			t.Errorf("state before use: %+v", st)
		}
		list, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if list.Identity != h.url() {
			t.Errorf("identity %q, want %q", list.Identity, h.url())
		}
		if len(list.Tools) != 1 || list.Tools[0].Name != "echo" || string(list.Tools[0].InputSchema) != string(object) {
			t.Errorf("tools: %+v", list.Tools)
		}
		arguments := `{"b":12345678901234567890,"a":"<&>\u00e9 é","c":1.50}`
		result, err := s.Call(t.Context(), agent.CallRequest{
			Tool: "echo", Arguments: json.RawMessage(arguments), Call: "C-1", Approval: "A-2", User: "U-03",
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Text(); got != arguments {
			t.Errorf("arguments arrived as %s, want %s", got, arguments)
		}
		var seen struct{ Meta map[string]any }
		if err := json.Unmarshal(result.Structured, &seen); err != nil {
			t.Fatal(err)
		}
		for key := range seen.Meta {
			if key[:8] != "deskhand" {
				delete(seen.Meta, key)
			}
		}
		want := map[string]any{"deskhand/call": "C-1", "deskhand/approval": "A-2", "deskhand/user": "U-03"}
		if diff := cmp.Diff(want, seen.Meta); diff != "" {
			t.Errorf("_meta (-want +got):\n%s", diff)
		}
		if st := s.State(); st.Phase != PhaseReady || st.ServerName != "fixture" || st.Identity != h.url() {
			t.Errorf("state after use: %+v", st)
		}
	})
}
