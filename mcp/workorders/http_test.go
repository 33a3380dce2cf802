package workorders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// request sends one raw request and returns its status and body.
func request(t *testing.T, method, url string, header map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		if k == "Host" {
			r.Host = v
		} else {
			r.Header.Set(k, v)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestGuards(t *testing.T) {
	t.Parallel()
	endpoint := serve(t, openBook(t))
	base := strings.TrimSuffix(endpoint, "/mcp")
	host := strings.TrimPrefix(base, "http://")
	good := "Bearer " + testToken
	for _, c := range []struct {
		name   string
		header map[string]string
		status int
	}{
		{"no token", nil, 401},
		{"wrong token", map[string]string{"Authorization": "Bearer wrong"}, 401},
		{"other scheme", map[string]string{"Authorization": "Basic " + testToken}, 401},
		{"only the beginning of the token", map[string]string{"Authorization": good[:len(good)-1]}, 401},
		{"foreign origin", map[string]string{"Authorization": good, "Origin": "http://evil.example"}, 403},
		{"null origin", map[string]string{"Authorization": good, "Origin": "null"}, 403},
		{"other scheme of the own origin", map[string]string{"Authorization": good, "Origin": "https://" + host}, 403},
		{"other port of the own host", map[string]string{"Authorization": good, "Origin": "http://127.0.0.1:1"}, 403},
		{"foreign name that points here", map[string]string{"Authorization": good, "Host": "evil.example", "Origin": "http://evil.example"}, 403},
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			for _, path := range []string{"/mcp", "/export"} {
				if status, _ := request(t, method, base+path, c.header); status != c.status {
					t.Errorf("%s: %s %s gave %d, want %d", c.name, method, path, status, c.status)
				}
			}
		}
	}
	own := map[string]string{"Authorization": good, "Origin": base}
	if status, body := request(t, "GET", base+"/export", own); status != 200 || !strings.HasPrefix(body, "{") {
		t.Errorf("own origin: %d %.40s", status, body)
	}
}

func TestNoTokenRefusesEverything(t *testing.T) {
	t.Parallel()
	s := NewServer(openBook(t), ServerOptions{})
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	if status, _ := request(t, "POST", s.URL(), map[string]string{"Authorization": "Bearer "}); status != 401 {
		t.Errorf("status %d, want 401", status)
	}
}

func TestWrongTokenInAClient(t *testing.T) {
	t.Parallel()
	endpoint := serve(t, openBook(t))
	c := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	_, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer{"wrong"}}}, nil)
	if err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("error %v", err)
	}
}

func TestOversizedRequest(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_parts", Arguments: args{"query": strings.Repeat("x", maxRequestBytes)}})
	if err == nil {
		t.Error("a request above the limit was answered")
	}
}

// TestStartAndClose runs the whole life of a server with sessions of both
// eras open: Close must not hang on their streams.
func TestStartAndClose(t *testing.T) {
	t.Parallel()
	addrPath := filepath.Join(t.TempDir(), "workorders.addr")
	s := NewServer(openBook(t), ServerOptions{Token: testToken, AddrPath: addrPath})
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:80", "[::]:0"} {
		if err := s.Start(addr); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%s: error %v, want ErrNotLoopback", addr, err)
		}
	}
	if s.URL() != "" {
		t.Errorf("URL %q before Start", s.URL())
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	a, err := ReadAddr(addrPath)
	if err != nil || a.URL != s.URL() || a.PID != os.Getpid() || a.Since.IsZero() {
		t.Errorf("address %+v, %v", a, err)
	}
	if info, err := os.Stat(addrPath); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, protocol := range eras {
		call(t, connect(t, s.URL(), protocol), "", "lookup_work_order", args{"work_order_id": "1044"})
	}
	started := time.Now()
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(started); took > closeGrace {
		t.Errorf("closing took %v", took)
	}
	if _, err := ReadAddr(addrPath); !errors.Is(err, ErrNoServer) {
		t.Errorf("after Close: %v, want ErrNoServer", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := s.Start("127.0.0.1:0"); err == nil {
		t.Error("a closed server started")
	}
}

// TestContain: a handler gets a context that Close ends,
// and a panic stays inside its call.
func TestContain(t *testing.T) {
	t.Parallel()
	s := NewServer(openBook(t), ServerOptions{Token: testToken})
	entered := make(chan struct{})
	s.mcp.AddTool(&mcp.Tool{Name: "hang", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	s.mcp.AddTool(&mcp.Tool{Name: "panic", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("on purpose") })
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	session := connect(t, s.URL(), "")
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "panic"}); err == nil || !strings.Contains(err.Error(), "internal error") {
		t.Errorf("panic: %v", err)
	}
	call(t, session, "", "lookup_work_order", args{"work_order_id": "1044"})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "hang"}); err == nil {
			t.Error("the hanging call was answered")
		}
	})
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // no patience at all
	_ = s.Close(ctx)
	wg.Wait()
}

func TestExportOverHTTP(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	endpoint := serve(t, book)
	fetch := func() (all map[string]any) {
		var buf bytes.Buffer
		if err := (Holder{Endpoint: endpoint, Token: testToken}).Export(t.Context(), &buf); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(buf.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := fetch()
	if !reflect.DeepEqual(before, exported(t, book)) {
		t.Error("the export over HTTP differs from the book's own")
	}
	for _, key := range strings.Fields("reference company technicians customers sites assets work_orders visits suppliers stock_locations parts part_orders") {
		if before[key] == nil {
			t.Errorf("the export has no %s", key)
		}
	}
	call(t, connect(t, endpoint, ""), "U-01", "order_part", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1})
	after := fetch()
	order := byID(after["part_orders"])["PO-3021"].(map[string]any)
	if order["total_minor"] != 8490.0 || order["status"] != "ordered" || order["requested_by"] != "U-01" || order["approval_id"] != "A-1" {
		t.Errorf("order %v", order)
	}
	if !reflect.DeepEqual(before["visits"], after["visits"]) || len(byID(before["part_orders"])) != 20 {
		t.Error("the order changed something else")
	}
	if err := (Holder{Endpoint: endpoint, Token: "wrong"}).Export(t.Context(), io.Discard); err == nil {
		t.Error("exported with a wrong token")
	}
}

func TestCompanyResource(t *testing.T) {
	t.Parallel()
	book := openBook(t)
	for era, protocol := range eras {
		s := connect(t, serve(t, book), protocol)
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: companyURI})
		if err != nil {
			t.Fatalf("%s: %v", era, err)
		}
		var info companyInfo
		if err := json.Unmarshal([]byte(res.Contents[0].Text), &info); err != nil {
			t.Fatal(err)
		}
		if info.Name != "Quillmoor Service" || !info.Demo || info.Clock != clockFixed || info.Now != at("01T09:00") ||
			info.BookID != book.ID() || len(info.Users) != 3 || info.Users[2].Limit != nil || info.Users[0].Limit.Minor != 50000 ||
			info.NamedWindows["morning"] != [2]string{"08:00", "12:00"} || res.Contents[0].MIMEType != "application/json" {
			t.Errorf("%s: %+v", era, info)
		}
	}
}

// TestLogHasNoSecrets: neither token nor arguments get into the log.
func TestLogHasNoSecrets(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s := NewServer(openBook(t), ServerOptions{Token: testToken, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	session := connect(t, s.URL(), "")
	call(t, session, "U-01", "search_parts", args{"query": "confidential words"})
	_ = s.Close(context.Background())
	text := log.String()
	if !strings.Contains(text, "search_parts") || !strings.Contains(text, "call-1") {
		t.Errorf("the call is not in the log: %s", text)
	}
	if strings.Contains(text, testToken) || strings.Contains(text, "confidential") {
		t.Errorf("the log says too much: %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestEnsureToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home", "token")
	got := make([]string, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			token, err := EnsureToken(path)
			if err != nil {
				t.Error(err)
			}
			got[i] = token
		})
	}
	wg.Wait()
	for _, token := range got {
		if token != got[0] || len(token) < 32 {
			t.Errorf("tokens %q and %q", token, got[0])
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if token, err := EnsureToken(path); err != nil || token != got[0] {
		t.Errorf("again: %q, %v", token, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := EnsureToken(path); err == nil {
		t.Error("an empty token was taken")
	}
}
