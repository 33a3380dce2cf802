package workorders

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// loadClients work at the same time, each over a session and a connection of
// its own, half of them of each era.
const loadClients = 64

// TestLoad lets many clients make mixed calls: nothing fails but by a rule, and
// every write that was answered is in the book. The times of the answers are
// logged beside those of a bare server of the SDK with one trivial tool. It is
// short here; DESKHAND_SWEEP=full makes it thirty seconds.
func TestLoad(t *testing.T) {
	if raceEnabled && os.Getenv(envSweep) == "" {
		t.Skip("the clients of other tests race here already")
	}
	lasts, calls := time.Duration(0), 6
	if os.Getenv(envSweep) == "full" {
		lasts, calls = 30*time.Second, 1<<30
	}
	bare := httptest.NewServer(bareServer())
	t.Cleanup(func() { bare.CloseClientConnections(); bare.Close() })
	b := openBook(t)
	srv := NewServer(b, ServerOptions{Token: testToken})
	ours := httptest.NewServer(srv.Handler())
	t.Cleanup(func() { _ = srv.Close(context.Background()); ours.CloseClientConnections(); ours.Close() })

	for _, target := range []struct {
		name, url string
		call      func(client, n int) *mcp.CallToolParams
	}{
		{"bare", bare.URL, func(int, int) *mcp.CallToolParams {
			return &mcp.CallToolParams{Name: "echo", Arguments: args{"text": "x"}}
		}},
		{"ours", ours.URL + "/mcp", mixedCall},
	} {
		l := load{lasts: lasts, calls: calls}
		if target.name == "bare" && lasts == 0 {
			l.calls = 2
		}
		l.run(t, target.url, target.call)
		t.Logf("%s: %s", target.name, l.summary())
		if target.name == "ours" {
			l.compare(t, b)
		}
	}
	checked(t, b)
}

// bareServer is what the SDK alone costs.
func bareServer() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Text string `json:"text"`
	}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	get := func(*http.Request) *mcp.Server { return s }
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	legacy := mcp.NewStreamableHTTPHandler(get, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= modernProtocol {
			modern.ServeHTTP(w, r)
		} else {
			legacy.ServeHTTP(w, r)
		}
	})
}

// mixedCall is two reads for each write, as at a desk. Every write has a key.
func mixedCall(client, n int) *mcp.CallToolParams {
	script := scriptAt(uint64(client*1_000_000 + n))
	tool, user, a := script.read(fmt.Sprintf("WO-%d", 1001+(client*7+n)%60), "U-01")
	if n%3 == 2 {
		tool, user = "add_note", "U-01"
		a = args{"work_order_id": fmt.Sprintf("WO-%d", 1001+client%60), "text": fmt.Sprintf("client %d, call %d", client, n), "idempotency_key": fmt.Sprintf("load-%d-%d", client, n)}
		if n%9 == 5 {
			tool = "order_part"
			a = args{"work_order_id": "WO-1044", "sku": "WH-ANODE-M8", "quantity": 1, "allow_duplicate": true, "idempotency_key": fmt.Sprintf("load-%d-%d", client, n)}
		}
	}
	return &mcp.CallToolParams{Name: tool, Arguments: a, Meta: mcp.Meta{metaUser: user, metaCall: fmt.Sprintf("c-%d-%d", client, n)}}
}

// A load is one run of all clients against one server.
type load struct {
	lasts time.Duration // or as many calls
	calls int

	mu     sync.Mutex
	took   []time.Duration
	texts  map[string]bool // of the notes that were answered
	orders map[string]bool
	begun  time.Time
	ended  time.Duration
}

func (l *load) run(t *testing.T, url string, next func(client, n int) *mcp.CallToolParams) {
	t.Helper()
	l.texts, l.orders = map[string]bool{}, map[string]bool{}
	sessions := make([]*mcp.ClientSession, loadClients)
	for i := range sessions {
		sessions[i] = loadSession(t, url, i)
	}
	l.begun = time.Now()
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			for n := 0; n < l.calls && (l.lasts == 0 || time.Since(l.begun) < l.lasts); n++ {
				params := next(i, n)
				started := time.Now()
				res, err := s.CallTool(t.Context(), params)
				if err != nil {
					t.Errorf("client %d, call %d, %s: %v", i, n, params.Name, err)
					return
				}
				l.answered(t, params, res, time.Since(started))
			}
		})
	}
	wg.Wait()
	l.ended = time.Since(l.begun)
}

func loadSession(t *testing.T, url string, i int) *mcp.ClientSession {
	t.Helper()
	protocol := ""
	if i%2 == 1 {
		protocol = eras["legacy"]
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	c := mcp.NewClient(&mcp.Implementation{Name: "load", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: tokenOver{transport}}, DisableStandaloneSSE: true,
	}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tokenOver adds the token to the requests over a transport.
type tokenOver struct{ http.RoundTripper }

func (o tokenOver) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+testToken)
	return o.RoundTripper.RoundTrip(r)
}

// answered notes what an answer promised. Only rules may refuse.
func (l *load) answered(t *testing.T, params *mcp.CallToolParams, res *mcp.CallToolResult, took time.Duration) {
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Error(err)
	}
	var out struct {
		Error     *Refusal
		PartOrder struct{ ID string } `json:"part_order"`
	}
	if res.StructuredContent != nil {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Errorf("%s: %v", params.Name, err)
		}
	}
	if out.Error != nil && (out.Error.Retry == retrySame || out.Error.Retry == retryCheckFirst) {
		t.Errorf("%s: %+v", params.Name, out.Error)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, took)
	if res.IsError {
		return
	}
	switch params.Name {
	case "add_note":
		l.texts[params.Arguments.(args)["text"].(string)] = true
	case "order_part":
		if l.orders[out.PartOrder.ID] {
			t.Errorf("%s was given twice", out.PartOrder.ID)
		}
		l.orders[out.PartOrder.ID] = true
	}
}

// compare looks for every write that was answered, and for others, in the file.
func (l *load) compare(t *testing.T, b *Book) {
	t.Helper()
	if err := b.load(); err != nil {
		t.Fatal(err)
	}
	now := b.state.Load()
	notes := map[string]int{}
	for w := range now.workOrders.all() {
		for _, n := range w.Notes {
			notes[n.Text]++
		}
	}
	for text := range l.texts {
		if notes[text] != 1 {
			t.Errorf("the note %q is there %d times", text, notes[text])
		}
	}
	orders := 0
	for o := range now.partOrders.all() {
		if o.CallID != "" {
			orders++
			if !l.orders[o.ID] {
				t.Errorf("nobody was told of %s", o.ID)
			}
		}
	}
	if orders != len(l.orders) || len(l.texts) == 0 {
		t.Errorf("%d orders are there, %d were answered, and %d notes", orders, len(l.orders), len(l.texts))
	}
}

func (l *load) summary() string {
	slices.Sort(l.took)
	at := func(percent int) time.Duration {
		return l.took[min(len(l.took)-1, len(l.took)*percent/100)].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d clients, %d calls, %.0f/s, p50 %v, p99 %v; %d notes and %d orders written",
		loadClients, len(l.took), float64(len(l.took))/l.ended.Seconds(), at(50), at(99), len(l.texts), len(l.orders))
}
