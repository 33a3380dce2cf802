package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// TestToolDefinition: exact numbers, sorted keys, and the desk's own entries.
func TestToolDefinition(t *testing.T) {
	p := newPeer(t)
	p.list = func(w http.ResponseWriter, id, _ string) {
		answerWith(w, id, `{"tools":[
			{"name":"b","inputSchema":{"type":"object"},"annotations":null,"_meta":null},
			{"name":"a","title":"A","description":"Orders <a> part.",
			 "inputSchema": { "type":"object", "properties":{"z":{"maximum":12345678901234567890},"b":{"default":1.50}} },
			 "outputSchema":{"type":"object","additionalProperties":false},
			 "annotations":{"title":"T","destructiveHint":false},
			 "icons":[{"src":"x"}],
			 "_meta":{"other/key":1,"deskhand/spends":true,"deskhand/kind":"order","deskhand/new":{},
			  "deskhand/fill":{"idempotency_key":"key","max_total_minor":"/line/total/minor"},
			  "deskhand/terms":["/line/total","/a~1b"]}}
		]}`)
	}
	s := connectTo(t, p.url(), func(o *Options) { o.Identity = "book-1" })
	got, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := agent.ToolList{Identity: "book-1", Tools: []agent.Tool{
		{
			Name: "a", Title: "A", Description: "Orders <a> part.",
			InputSchema:  json.RawMessage(`{"properties":{"b":{"default":1.50},"z":{"maximum":12345678901234567890}},"type":"object"}`),
			OutputSchema: json.RawMessage(`{"additionalProperties":false,"type":"object"}`),
			Annotations:  json.RawMessage(`{"destructiveHint":false,"title":"T"}`),
			Desk: agent.DeskMeta{
				Spends: true, Kind: "order",
				Fill:  map[string]string{"idempotency_key": "key", "max_total_minor": "/line/total/minor"},
				Terms: []string{"/line/total", "/a~1b"},
			},
		},
		{Name: "b", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// TestBadDefinition: what cannot be understood is an error that names the tool.
func TestBadDefinition(t *testing.T) {
	meta := func(entry string) string {
		return `{"name":"order_part","inputSchema":{"type":"object"},"_meta":{` + entry + `}}`
	}
	for name, test := range map[string]struct{ tool, says string }{
		"spends a text":    {meta(`"deskhand/spends":"true"`), "the tool order_part: _meta cannot be understood: deskhand/spends"},
		"spends null":      {meta(`"deskhand/spends":null`), "deskhand/spends is null"},
		"kind a number":    {meta(`"deskhand/kind":1`), "deskhand/kind"},
		"fill a list":      {meta(`"deskhand/fill":["key"]`), "deskhand/fill"},
		"fill elsewhere":   {meta(`"deskhand/fill":{"a":"line/total"}`), "JSON pointer"},
		"terms a text":     {meta(`"deskhand/terms":"/a"`), "deskhand/terms"},
		"terms no pointer": {meta(`"deskhand/terms":["/a~2"]`), "deskhand/terms"},
		"_meta a list":     {`{"name":"order_part","inputSchema":{"type":"object"},"_meta":[]}`, "order_part"},
		"no schema":        {`{"name":"order_part"}`, "the tool order_part: inputSchema"},
		"other case":       {`{"name":"order_part","INPUTSCHEMA":{"type":"object"}}`, "the tool order_part: inputSchema"},
		"twice":            {meta("") + "," + meta(""), "the tool order_part twice"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			p.list = func(w http.ResponseWriter, id, _ string) { answerWith(w, id, `{"tools":[`+test.tool+`]}`) }
			_, err := connectTo(t, p.url()).Tools(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

func TestPages(t *testing.T) {
	page := func(name, next string) string {
		return fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"type":"object"}}],"nextCursor":%q}`, name, next)
	}
	for name, test := range map[string]struct {
		list func(n int, cursor string) string
		want string // names, or part of the error
	}{
		"two": {func(n int, cursor string) string {
			return page(fmt.Sprint("t", 9-n), map[string]string{"": "c"}[cursor])
		}, "t7 t8"},
		"a ring": {func(n int, _ string) string { return page(fmt.Sprint("t", n), "c") }, "has no end"},
		"endless": {func(n int, _ string) string {
			return page(fmt.Sprint("t", n), fmt.Sprint("c", n))
		}, "has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			n := 0
			p.list = func(w http.ResponseWriter, id, cursor string) {
				n++
				answerWith(w, id, test.list(n, cursor))
			}
			list, err := connectTo(t, p.url()).Tools(t.Context())
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestListChanged: the list is kept while the server would announce a change,
// and read again after one.
func TestListChanged(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		server := newSDKServer(t)
		lists := make(chan struct{}, 100)
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
				if method == "tools/list" {
					lists <- struct{}{}
				}
				return next(ctx, method, r)
			}
		})
		s := connectTo(t, newHost(t, handler(server)).url())
		count := func() int {
			list, err := s.Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Tools)
		}
		eventually(t, "the list is kept", func() bool {
			before := len(lists)
			return count() == 1 && len(lists) == before
		})
		server.AddTool(&mcp.Tool{Name: "new", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
		eventually(t, "the new tool is listed", func() bool { return count() == 2 })
	})
}

// TestNotAnnounced: a server that cannot announce changes is asked each time.
func TestNotAnnounced(t *testing.T) {
	p := newPeer(t)
	n := 0
	p.list = func(w http.ResponseWriter, id, _ string) {
		n++
		answerWith(w, id, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}`, n))
	}
	s := connectTo(t, p.url())
	for i := 1; i <= 3; i++ {
		list, err := s.Tools(t.Context())
		if err != nil || list.Tools[0].Name != fmt.Sprint("t", i) {
			t.Errorf("list %d: %+v, %v", i, list, err)
		}
	}
}

// TestListAgain: listing is tried once more when the session is gone, and says
// what the server says when it is not.
func TestListAgain(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	if _, err := s.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.forget()
	if _, err := s.Tools(t.Context()); err != nil || p.starts.Load() != 2 {
		t.Errorf("after a restart: %v, %d sessions", err, p.starts.Load())
	}
	p.list = func(w http.ResponseWriter, id, _ string) {
		write(w, 200, jsonType, replaceID(rpcError(-32603), id))
	}
	if _, err := s.Tools(t.Context()); err == nil || err.Error() != "the server says: no [31mway (-32603)" {
		t.Errorf("error %v", err)
	}
}

// TestListHangs: listing is bounded by the read timeout and by the caller.
func TestListHangs(t *testing.T) {
	p := newPeer(t)
	p.list = func(http.ResponseWriter, string, string) { <-p.released }
	s := connectTo(t, p.url(), func(o *Options) { o.ReadTimeout = short; o.CloseTimeout = short })
	within(t, 20*short, func() {
		if _, err := s.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "did not list its tools within") {
			t.Errorf("error %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.Tools(ctx); err == nil {
		t.Error("no error")
	}
}

// TestReadResource reads a text, a blob, and what is not there.
func TestReadResource(t *testing.T) {
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		server := newSDKServer(t)
		add := func(uri string, c *mcp.ResourceContents) {
			server.AddResource(&mcp.Resource{URI: uri, Name: uri}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
			})
		}
		add("deskhand://company", &mcp.ResourceContents{URI: "deskhand://company", MIMEType: "application/json", Text: `{"name":"Q"}`})
		add("deskhand://blob", &mcp.ResourceContents{URI: "deskhand://blob", MIMEType: "image/png", Blob: []byte{0, 1}})
		s := connectTo(t, newHost(t, handler(server)).url())
		for uri, want := range map[string][2]string{
			"deskhand://company": {`{"name":"Q"}`, "application/json"},
			"deskhand://blob":    {"\x00\x01", "image/png"},
		} {
			data, kind, err := s.ReadResource(t.Context(), uri)
			if err != nil || string(data) != want[0] || kind != want[1] {
				t.Errorf("%s: %q, %q, %v", uri, data, kind, err)
			}
		}
		_, _, err := s.ReadResource(t.Context(), "deskhand://none")
		if err == nil || !strings.HasPrefix(err.Error(), "the server says: ") {
			t.Errorf("error %v", err)
		}
	})
}
