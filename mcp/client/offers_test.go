package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server's prompts and resources are listed over all pages, in both eras.
func TestPromptsAndResources(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		server := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
		for i := range 5 {
			server.AddPrompt(&mcp.Prompt{Name: fmt.Sprint("p", i), Title: "T", Description: "D",
				Arguments: []*mcp.PromptArgument{{Name: "job", Required: true}}}, nil)
			server.AddResource(&mcp.Resource{URI: fmt.Sprint("test://", i), Name: "r", MIMEType: "text/plain"}, nil)
		}
		h := newHost(t, handler(server))
		s := connectTo(t, h.url())
		prompts, err := s.Prompts(t.Context())
		if err != nil || len(prompts) != 5 {
			t.Fatalf("prompts %+v, %v", prompts, err)
		}
		want := Prompt{Name: "p4", Title: "T", Description: "D", Arguments: []PromptArgument{{Name: "job", Required: true}}}
		if diff := cmp.Diff(want, prompts[4]); diff != "" {
			t.Errorf("the last prompt (-want +got):\n%s", diff)
		}
		resources, err := s.Resources(t.Context())
		if err != nil || len(resources) != 5 || resources[4] != (Resource{URI: "test://4", Name: "r", MIMEType: "text/plain"}) {
			t.Errorf("resources %+v, %v", resources, err)
		}
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
}

// A server that does not declare prompts is not asked for them.
func TestUndeclaredPrompts(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	if prompts, err := s.Prompts(t.Context()); err != nil || len(prompts) != 0 {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	if resources, err := s.Resources(t.Context()); err != nil || len(resources) != 0 {
		t.Errorf("resources %+v, %v", resources, err)
	}
}

// Lists that are broken: why, in words, and that the next call is answered.
func TestBrokenPrompts(t *testing.T) {
	for name, test := range map[string]struct {
		page func(n int) string
		says string
	}{
		"a ring":  {func(int) string { return `{"prompts":[],"nextCursor":"c"}` }, "has no end"},
		"endless": {func(n int) string { return fmt.Sprintf(`{"prompts":[],"nextCursor":"c%d"}`, n) }, "has no end"},
		"many": {func(n int) string {
			return fmt.Sprintf(`{"prompts":[%s{"name":"p"}],"nextCursor":"c%d"}`, strings.Repeat(`{"name":"p"},`, 999), n)
		}, "more than 2000 prompts"},
		"nameless": {func(int) string { return `{"prompts":[{"title":"x"}]}` }, "without a name"},
		"no list":  {func(int) string { return `{"prompts":17}` }, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			pages := 0
			p.prompts = func(w http.ResponseWriter, id string) {
				pages++
				answerWith(w, id, test.page(pages))
			}
			s := connectTo(t, p.url())
			_, err := s.Prompts(context.Background())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %q", err, test.says)
			}
			mustCall(t, s, "order")
			if n := p.executions.Load(); n != 1 {
				t.Errorf("ran %d times, want 1", n)
			}
		})
	}
}
