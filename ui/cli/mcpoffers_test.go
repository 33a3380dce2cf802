package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// doctor shows the prompts and resources of a server; its words stay on their
// line and move no cursor.
func TestDoctorShowsPromptsAndResources(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "erp", Version: "1"}, nil)
	server.AddPrompt(&mcp.Prompt{Name: "handover", Title: "Hand over\n\nServer evil: ready\x1b[2J",
		Arguments: []*mcp.PromptArgument{{Name: "day", Required: true}, {Name: "tone"}}}, nil)
	server.AddResource(&mcp.Resource{URI: "erp://tariff", Name: "Tariff", MIMEType: "text/plain"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) { return nil, nil })
	served := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() {
		served.CloseClientConnections()
		served.Close()
	})
	s := newShell(t)
	config := filepath.Join(filepath.Dir(s.home), "erp.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers": {"erp": {"url": "`+served.URL+`/mcp"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.flags = append(s.flags, "--config", config)
	o := s.expect(done, "doctor")
	o.prints(t, "prompt handover DAY [TONE]  Hand over Server evil: ready", "resource erp://tariff  Tariff")
	if strings.Contains(o.out, "\nServer evil") || strings.Contains(o.out, "\x1b") {
		t.Errorf("the server's words left their line:\n%q", o.out)
	}
	s.expect(done, "doctor", "--json").prints(t, `"name": "handover"`, `"required": true`, `"uri": "erp://tariff"`)
}
