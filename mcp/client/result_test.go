package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// TestResultBytes: what the server wrote is what is stored, also what the SDK
// cannot read: large numbers, kinds of content that it does not know.
func TestResultBytes(t *testing.T) {
	blocks := []string{
		`{"type":"text","text":"<b>& é \u2028","annotations":{"priority":0.70,"audience":["user"]}}`,
		`{"type":"image","data":"AAEC","mimeType":"image/png"}`,
		`{"type":"audio","data":"AAEC","mimeType":"audio/wav"}`,
		`{"type":"resource_link","uri":"file:///a","name":"a","size":12345678901234567890}`,
		`{"type":"resource","resource":{"uri":"x:1","mimeType":"text/plain","text":"t"}}`,
		`{"type":"resource","resource":{"uri":"x:2","blob":"AAEC"}}`,
		`{"type":"hologram","depth":3}`,
		`{"type":"image","data":"not base64!","mimeType":"image/png"}`,
	}
	structured := `{"minor":9007199254740993,"ratio":1.10,"b":1,"a":null}`
	meta := `{"io.modelcontextprotocol/serverInfo":{"name":"peer","version":"1"},"z":1,"a":[1e2]}`
	result := `{"content":[` + strings.Join(blocks, ",") + `],"structuredContent":` + structured + `,"_meta":` + meta + `,"isError":true}`
	message := `{"jsonrpc":"2.0","id":ID,"result":` + result + `}`
	note := `event: message` + "\n" + `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}` + "\n\n"

	for name, answer := range map[string]script{
		"JSON":             executed(200, jsonType, message),
		"a stream":         executed(200, sseType, note+"event: message\ndata: "+message+"\n\n"),
		"CRLF":             executed(200, "text/event-stream; charset=utf-8", "id: 1\r\ndata:"+message+"\r\n\r\n"),
		"without an end":   executed(200, sseType, note+"data: "+message),
		"another id first": executed(200, sseType, `data: {"jsonrpc":"2.0","id":99,"result":{"content":[]}}`+"\n\ndata: "+message+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			p.next(answer)
			s := connectTo(t, p.url())
			got := mustCall(t, s, "order")
			want := agent.Result{Structured: json.RawMessage(structured), Meta: json.RawMessage(meta), IsError: true}
			for _, b := range blocks {
				want.Content = append(want.Content, json.RawMessage(b))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			mustCall(t, s, "order")
			if n := p.executions.Load(); n != 2 {
				t.Errorf("ran %d times, want 2", n)
			}
		})
	}
}

// TestEmptySuccess: an empty list of content is a result if the server says so.
func TestEmptySuccess(t *testing.T) {
	for _, result := range []string{`{"content":[]}`, `{"resultType":"complete","content":[]}`, `{"structuredContent":[]}`, `{"isError":true}`} {
		p := newPeer(t)
		p.next(executed(200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":`+result+`}`))
		s := connectTo(t, p.url())
		if got := mustCall(t, s, "order"); got.Content == nil || len(got.Content) != 0 {
			t.Errorf("%s: content %v, want an empty list", result, got.Content)
		}
	}
}

// TestContentKinds compares with what a go-sdk server says that it sends.
func TestContentKinds(t *testing.T) {
	content := []mcp.Content{
		&mcp.TextContent{Text: "two <lines>\n& more"},
		&mcp.ImageContent{Data: []byte{0, 1, 2}, MIMEType: "image/png"},
		&mcp.AudioContent{Data: []byte{3, 4, 5}, MIMEType: "audio/wav"},
		&mcp.ResourceLink{URI: "file:///a.pdf", Name: "a", Title: "A", MIMEType: "application/pdf"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:1", MIMEType: "text/plain", Text: "t"}},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:2", MIMEType: "application/gzip", Blob: []byte{6, 7}}},
	}
	eachEra(t, func(t *testing.T, handler func(*mcp.Server) http.Handler) {
		server := newSDKServer(t)
		server.AddTool(&mcp.Tool{Name: "all", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{
				Meta:              mcp.Meta{"deskhand/x": "<1>"},
				Content:           content,
				StructuredContent: json.RawMessage(`{"minor":9007199254740993}`),
				IsError:           true,
			}, nil
		})
		s := connectTo(t, newHost(t, handler(server)).url())
		got := mustCall(t, s, "all")
		if !got.IsError || string(got.Structured) != `{"minor":9007199254740993}` {
			t.Errorf("isError %v, structured %s", got.IsError, got.Structured)
		}
		var meta map[string]json.RawMessage
		if err := json.Unmarshal(got.Meta, &meta); err != nil || string(meta["deskhand/x"]) != `"\u003c1\u003e"` {
			t.Errorf("_meta %s: %v", got.Meta, err)
		}
		for i, c := range content {
			want, err := c.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			// The same up to the escapes that json.Marshal adds to < > &.
			if escaped, _ := json.Marshal(got.Content[i]); string(escaped) != string(want) {
				t.Errorf("block %d:\n got %s\nwant %s", i, escaped, want)
			}
		}
	})
}

// FuzzAnswer feeds an answer in pieces: however it is cut, the same reply must
// be seen.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("data: {\"id\":1,\"result\":{\"content\":[]}}\n\n"), uint8(3), true)
	f.Add([]byte("data: {\"id\":1,\r\ndata:\"result\":2}\r\n\r\n"), uint8(1), true)
	f.Add([]byte(`{"id":1,"error":{"code":-32602,"message":"m"}}`), uint8(7), false)
	f.Fuzz(func(t *testing.T, data []byte, piece uint8, stream bool) {
		read := func(size int) *reply {
			x := &exchange{id: json.RawMessage("1")}
			b := &answerBody{x: x, stream: stream}
			for p := data; len(p) > 0; {
				n := min(size, len(p))
				b.take(p[:n])
				p = p[n:]
			}
			b.finish()
			return x.reply
		}
		if diff := cmp.Diff(read(len(data)+1), read(int(piece)+1), cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("cut in pieces (-whole +pieces):\n%s", diff)
		}
	})
}
