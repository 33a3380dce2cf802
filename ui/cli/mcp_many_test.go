//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A desk with twenty servers, of which five are down and two hang, is as usable
// as one with a single server: nobody waits for those that do not answer, and
// none of them holds up the end.
func TestTwentyServers(t *testing.T) {
	t.Parallel()
	many := mcp.NewServer(&mcp.Implementation{Name: "many", Version: "1"}, nil)
	mcp.AddTool(many, &mcp.Tool{Name: "lookup", Description: "Look something up."}, func(_ context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	good := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return many }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() {
		good.CloseClientConnections()
		good.Close()
	})
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangs.Close() })
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()

	s := newShell(t)
	entries := []string{}
	for i := range 19 { // and the embedded one
		at := good.Listener.Addr()
		switch {
		case i%4 == 0:
			at = gone.Addr()
		case i == 1 || i == 18:
			at = hangs.Addr()
		}
		entries = append(entries, fmt.Sprintf(`"s%02d": {"url": "http://%s/mcp"}`, i, at))
	}
	config := filepath.Join(filepath.Dir(s.home), "many.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers": {`+strings.Join(entries, ",\n")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.flags = append(s.flags, "--config", config)

	began := time.Now()
	took := func(what string) {
		t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
	s.expect(done, "approvals")
	took("a command that reads")
	x := s.open()
	x.see("Quillmoor")
	took("the console is there")
	x.line("status of WO-1043")
	x.see("Rooftop unit leaks into the shop", "work-orders/lookup_work_order")
	took("the first answer")
	x.keys("\x03\x03")
	x.end()
	took("the end")

	o := s.expect(failed, "doctor")
	o.prints(t, "Server s00: down  nothing listens at", "Server s02: ready", "s02__lookup", "Server work-orders: ready", "Server s18: down  the server did not answer within")
	took("doctor")
}

// A server that speaks only the older transport is asked like any other.
func TestOlderTransportServer(t *testing.T) {
	t.Parallel()
	old := mcp.NewServer(&mcp.Implementation{Name: "old", Version: "1"}, nil)
	mcp.AddTool(old, &mcp.Tool{Name: "lookup", Description: "Look something up."}, func(_ context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	server := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return old }, nil))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s := newShell(t)
	config := filepath.Join(filepath.Dir(s.home), "old.json")
	entry := fmt.Sprintf(`{"mcpServers": {"old": {"url": "%s/sse", "transport": "sse"}}}`, server.URL)
	if err := os.WriteFile(config, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	s.flags = append(s.flags, "--config", config)
	s.expect(done, "doctor").prints(t, "Server old: ready", "old/lookup")
}
