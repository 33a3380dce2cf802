package workorders

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// envFixtures makes the test binary the fixture server of the public
// conformance suite (see .ci/mcp). Its value is the bearer token, or "stdio" for
// a server that speaks to the process that started it.
const envFixtures = "DESKHAND_TEST_FIXTURES"

// newFixtureServer is a server whose tools, resources and prompts are those
// that the conformance suite asks for by name, behind this package's own HTTP
// stack: the same mux, guards, dispatch between the eras, and middleware.
func newFixtureServer(book *Book, token string) *Server {
	s := NewServer(book, ServerOptions{Token: token})
	s.mcp = newFixtures()
	s.mcp.AddReceivingMiddleware(s.contain)
	return s
}

// serveFixtures is the process of a fixture server: it prints the address, and
// serves until a signal ends it.
func serveFixtures(token string) {
	os.Exit(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := serveFixturesUntil(ctx, token); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}())
}

func serveFixturesUntil(ctx context.Context, token string) error {
	dir, err := os.MkdirTemp("", "fixtures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	book, err := Open(filepath.Join(dir, "workorders.db"), Options{})
	if err != nil {
		return err
	}
	defer func() { _ = book.Close() }()
	s := newFixtureServer(book, token)
	if token == "stdio" {
		return s.ServeStdio(ctx, os.Stdin, os.Stdout)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-ctx.Done()
	return s.Close(context.Background())
}

func TestFixturesAreBehindTheGuards(t *testing.T) {
	t.Parallel()
	s := newFixtureServer(openBook(t), testToken)
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	for header, want := range map[string]int{"": 401, "Origin": 403} {
		h := map[string]string{}
		if header != "" {
			h = map[string]string{"Authorization": "Bearer " + testToken, header: "http://evil.example"}
		}
		if status, _ := request(t, "POST", s.URL(), h); status != want {
			t.Errorf("with %q: %d, want %d", header, status, want)
		}
	}
	for era, protocol := range eras {
		session := connect(t, s.URL(), protocol)
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "test_simple_text"})
		if err != nil || res.IsError || len(res.Content) != 1 {
			t.Errorf("%s: test_simple_text: %v, %v", era, res, err)
		}
	}
}
