package workorders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long a condition may take on a machine that is busy.
const patience = 30 * time.Second

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %s", patience, what)
		}
	}
}

// TestOtherMachines: beyond loopback only when told so, and then with a token
// that nobody guesses and under a name that nobody makes up.
func TestOtherMachines(t *testing.T) {
	t.Parallel()
	strong := strings.Repeat("0123456789abcdef", 3)
	b := openBook(t)
	for _, c := range []struct {
		name, token string
		other       bool
		want        error
	}{
		{"not told", strong, false, ErrNotLoopback},
		{"without a token", "", true, ErrWeakToken},
		{"with a weak token", "secret", true, ErrWeakToken},
		{"with a strong token", strong, true, nil},
	} {
		s := NewServer(b, ServerOptions{Token: c.token, OtherMachines: c.other})
		err := s.Start("0.0.0.0:0")
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
			t.Errorf("%s: URL %s", c.name, s.URL())
		}
		_ = s.Close(t.Context())
	}
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(b, ServerOptions{Token: strong, OtherMachines: true})
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(hs.Close)
	for _, c := range []struct {
		host, token string
		want        int
	}{
		{"192.0.2.7:7420", strong, http.StatusOK},
		{own + ":7420", strong, http.StatusOK},
		{"localhost", strong, http.StatusOK},
		{"192.0.2.7:7420", "", http.StatusUnauthorized},
		{"192.0.2.7:7420", strong[1:], http.StatusUnauthorized},
		{"evil.example", strong, http.StatusForbidden},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, hs.URL+"/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		req.Header.Set("Authorization", "Bearer "+c.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("host %s: %d, want %d", c.host, res.StatusCode, c.want)
		}
	}
}

// stdio serves a book over pipes and returns a client's session and how the
// serving ended.
func stdio(ctx context.Context, t *testing.T, s *Server, protocol string) (*mcp.ClientSession, chan error) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(ctx, toServer, fromServer) }()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	return session, ended
}

// TestStdio: a client that starts the server itself, in both eras; it ends with
// the client.
func TestStdio(t *testing.T) {
	t.Parallel()
	for era, protocol := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			session, ended := stdio(t.Context(), t, NewServer(openBook(t), ServerOptions{}), protocol)
			var out orderOutput
			call(t, session, "", "order_part", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1}).into(t, &out)
			if out.PartOrder.Status != statusOrdered {
				t.Errorf("%+v", out)
			}
			if code := call(t, session, "", "lookup_work_order", args{"work_order_id": "1999"}).code(t); code != "work_order_not_found" {
				t.Errorf("code %q", code)
			}
			_ = session.Close()
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestStdioEnds: a call that hangs does not keep the process when it is told to
// end.
func TestStdioEnds(t *testing.T) {
	t.Parallel()
	s := NewServer(openBook(t), ServerOptions{})
	entered := addHang(s)
	ctx, cancel := context.WithCancel(t.Context())
	session, ended := stdio(ctx, t, s, "")
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "hang"}) })
	<-entered
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	_ = session.Close()
	wg.Wait()
}

// addHang adds a tool that waits until its call is cancelled, and says when it
// was called. Left is closed when it has ended.
func addHang(s *Server) (entered chan struct{}) {
	entered = make(chan struct{}, 8)
	s.mcp.AddTool(&mcp.Tool{Name: "hang", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			entered <- struct{}{}
			<-ctx.Done()
			entered <- struct{}{}
			return nil, ctx.Err()
		})
	return entered
}

// TestCancellationReachesTheHandler: in both eras, over HTTP.
func TestCancellationReachesTheHandler(t *testing.T) {
	t.Parallel()
	for era, protocol := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			s := NewServer(openBook(t), ServerOptions{Token: testToken})
			entered := addHang(s)
			if err := s.Start("127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			session := connect(t, s.URL(), protocol)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hang"}); err == nil {
					t.Error("the call was answered")
				}
			})
			<-entered
			cancel()
			select {
			case <-entered:
			case <-time.After(patience):
				t.Error("the handler never heard of it")
			}
			wg.Wait()
			call(t, session, "", "lookup_work_order", args{"work_order_id": "1044"})
		})
	}
}

// TestIdleSessionsEnd: a client with a session that went away without a word
// does not stay for ever.
func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	s := NewServer(openBook(t), ServerOptions{Token: testToken, SessionTimeout: 20 * time.Millisecond})
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() { _ = s.Close(context.Background()); hs.Close() })
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	id := ""
	if status, header := post(t, hs.URL+"/mcp", body, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	} else {
		id = header.Get("Mcp-Session-Id")
	}
	until(t, "the session is still there", func() bool {
		for range s.mcp.Sessions() {
			return false
		}
		return true
	})
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, _ := post(t, hs.URL+"/mcp", list, map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}); status != http.StatusNotFound {
		t.Errorf("the ended session gives %d, want 404 so that the client starts anew", status)
	}
}

// post sends one MCP message with the token.
func post(t *testing.T, url, body string, header map[string]string) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode, res.Header
}

// TestRequestSizeIsBounded: everywhere, and before it is read whole.
func TestRequestSizeIsBounded(t *testing.T) {
	t.Parallel()
	s := NewServer(openBook(t), ServerOptions{Token: testToken, PeopleToken: testToken})
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() { _ = s.Close(context.Background()); hs.Close() })
	big := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":%q}}`, strings.Repeat("x", maxRequestBytes))
	for name, c := range map[string]struct {
		path   string
		header map[string]string
		want   int
	}{
		"modern": {"/mcp", map[string]string{"Mcp-Protocol-Version": modernProtocol, "Mcp-Method": "tools/list"}, http.StatusRequestEntityTooLarge},
		"legacy": {"/mcp", map[string]string{"Mcp-Protocol-Version": "2025-11-25"}, http.StatusRequestEntityTooLarge},
		"people": {"/people", nil, http.StatusBadRequest},
	} {
		if status, _ := post(t, hs.URL+c.path, big, c.header); status != c.want {
			t.Errorf("%s: %d, want %d", name, status, c.want)
		}
	}
}

// bigBook has that many work orders.
func bigBook(t testing.TB, jobs int) *Book {
	t.Helper()
	b, err := Open(t.TempDir()+"/workorders.db", Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	b.db.NoSync = true
	if _, err := b.Import(t.Context(), ImportOptions{Paths: []string{bigFiles(t, jobs)}}); err != nil {
		t.Fatal(err)
	}
	return b
}

// bigFiles is a company with that many work orders, as CSV.
func bigFiles(t testing.TB, jobs int) string {
	t.Helper()
	var technicians, sites, list strings.Builder
	technicians.WriteString("id,name,skills,regions\n")
	sites.WriteString("id,name,customer,address,region\n")
	list.WriteString("id,title,site,technician,priority,skills,due,problem,budget\n")
	for i := range 50 {
		fmt.Fprintf(&technicians, "T-%02d,Technician %d,hvac; plumbing,north\n", i+1, i+1)
	}
	for i := range max(1, jobs/50) {
		fmt.Fprintf(&sites, "S-%d,Site %d,Customer %d,Street %d,north\n", i+1, i+1, i/3, i+1)
	}
	for i := range jobs {
		fmt.Fprintf(&list, "%d,Unit %d does not cool,S-%d,T-%02d,normal,hvac,2026-12-%02d 12:00,\"It hums, and then it stops. Third time this year.\",250.00\n",
			1001+i, i, i%max(1, jobs/50)+1, i%50+1, 2+i%28)
	}
	return writeFiles(t, map[string]string{"technicians.csv": technicians.String(), "sites.csv": sites.String(), "work_orders.csv": list.String()})
}

// TestProgressOfALongCall: a client that asks hears how far it is, in both
// eras; one that gives up ends it.
func TestProgressOfALongCall(t *testing.T) {
	t.Parallel()
	b := bigBook(t, 2000)
	s := NewServer(b, ServerOptions{Token: testToken, progressEvery: time.Nanosecond})
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() { _ = s.Close(context.Background()); hs.CloseClientConnections(); hs.Close() })
	for era, protocol := range eras {
		heard := make(chan *mcp.ProgressNotificationParams, 100)
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			Capabilities:                &mcp.ClientCapabilities{},
			ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { heard <- req.Params },
		})
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: hs.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{testToken}},
		}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		params := &mcp.CallToolParams{Name: "search_work_orders", Arguments: args{"text": "hums"}}
		params.SetProgressToken("t-1")
		if res, err := session.CallTool(t.Context(), params); err != nil || res.IsError {
			t.Fatalf("%s: %v %v", era, res, err)
		}
		last := 0.0
		for last < 1792 { // the last multiple of the step
			select {
			case p := <-heard:
				if p.Progress <= last || p.Total != 2000 {
					t.Fatalf("%s: %v of %v after %v", era, p.Progress, p.Total, last)
				}
				last = p.Progress
			case <-time.After(patience):
				t.Fatalf("%s: nothing after %v", era, last)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	state := b.state.Load()
	_, _, err := searchWorkOrders(view{contents: state.contents, now: demoNow(), progress: progressOf(ctx)}, searchJobsInput{Text: "hums"})
	if !errors.Is(err, context.Canceled) || refusalOf(err).Retry != retrySame {
		t.Errorf("a cancelled search: %v", err)
	}
}

// TestStdioOfAHeldBook: where another process has the book, a client that
// started its own server works with that one's book, under its own user.
func TestStdioOfAHeldBook(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	holder := Holder{Endpoint: serve(t, b), Token: testToken}
	for era, protocol := range eras {
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- holder.ServeStdio(t.Context(), toServer, fromServer) }()
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		s, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		listed, err := s.ListTools(t.Context(), nil)
		if err != nil || len(listed.Tools) != len(tools()) {
			t.Fatalf("%s: %v %v", era, listed, err)
		}
		call(t, s, "U-02", "add_note", args{"work_order_id": "1044", "text": "from the " + era + " client"})
		if code := call(t, s, "", "lookup_work_order", args{}).code(t); code != "invalid_arguments" {
			t.Errorf("%s: code %q", era, code)
		}
		if company, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: companyURI}); err != nil || !strings.Contains(company.Contents[0].Text, b.ID()) {
			t.Errorf("%s: company %v %v", era, company, err)
		}
		_ = s.Close()
		if err := <-ended; err != nil {
			t.Errorf("%s: it ended with %v", era, err)
		}
		notes := b.state.Load().workOrders.get("WO-1044").Notes
		if n := notes[len(notes)-1]; n.Text != "from the "+era+" client" || n.UserID != "U-02" {
			t.Errorf("%s: note %+v", era, n)
		}
	}
	lost := Holder{Endpoint: "http://127.0.0.1:1/mcp", Token: testToken}
	in, out := io.Pipe()
	if err := lost.ServeStdio(t.Context(), in, out); err == nil || !strings.Contains(err.Error(), "reach whoever has the book") {
		t.Errorf("nobody is there: %v", err)
	}
}
