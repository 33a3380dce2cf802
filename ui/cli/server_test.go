package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// server is the work-orders server in a process of its own, on a home of its
// own, with a wire in front of it that the test can cut.
type server struct {
	*shell
	addr  string
	token string
	cmd   *exec.Cmd
}

// startServer starts `workorders serve` and waits until it listens.
func startServer(t *testing.T) *server {
	t.Helper()
	v := &server{shell: newShell(t), addr: "127.0.0.1:0"}
	v.token = strings.TrimSpace(v.expect(done, "workorders", "token").out)
	v.start()
	t.Cleanup(v.stop)
	return v
}

// start serves the book, after a stop at the same address.
func (v *server) start() {
	v.t.Helper()
	v.cmd = exec.Command("deskhand", append(append([]string{}, v.flags...), "workorders", "serve", "--addr", v.addr)...)
	v.cmd.Env = v.env // it lives until stop, not until a command's patience ends
	var errs bytes.Buffer
	v.cmd.Stderr = &errs
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, rest, found := strings.Cut(line, "http://")
	if err != nil || !found {
		_ = v.cmd.Wait() // it has ended; what it said counts
		v.t.Fatalf("the server did not start: %q, %v, %s", line, err, errs.String())
	}
	v.addr, _, _ = strings.Cut(rest, "/")
}

// stop ends the server in order; a stopped one stays stopped.
func (v *server) stop() {
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Signal(syscall.SIGTERM) // the wait below tells how it ended
	if err := v.cmd.Wait(); err != nil {
		v.t.Errorf("the server ended with %v", err)
	}
	v.cmd = nil
}

// configure makes a desk whose work-orders server is the one at addr.
func (v *server) configure(addr string) *shell {
	v.t.Helper()
	s := newShell(v.t)
	config := fmt.Sprintf(`{"mcpServers": {"work-orders": {
  "url": "http://%s/mcp", "headers": {"Authorization": "Bearer ${DESKHAND_TEST_TOKEN}"}}}}`, addr)
	path := filepath.Join(filepath.Dir(s.home), "desk.json")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		v.t.Fatal(err)
	}
	s.env = append(s.env, "DESKHAND_TEST_TOKEN="+v.token)
	s.flags = append(s.flags, "--config", path)
	return s
}

// wire stands between a desk and its server, and fails where the test wants it
// to. It hears which tool is called.
type wire struct {
	t        testing.TB
	upstream string
	addr     string

	mu       sync.Mutex
	http     *http.Server
	listener net.Listener
	calls    map[string]int
	// closeAfter names a tool whose answer is the last thing that the desk
	// gets: nothing listens any more before it arrives.
	closeAfter string
	// cut names a tool whose answers are lost, for so many times.
	cut     string
	cutLeft int
	// hold names a tool whose calls wait until released is closed.
	hold     string
	held     chan struct{}
	released chan struct{}
}

func newWire(v *server) *wire {
	v.t.Helper()
	w := &wire{t: v.t, upstream: v.addr, addr: "127.0.0.1:0", calls: map[string]int{}, held: make(chan struct{}, 8), released: make(chan struct{})}
	w.open()
	v.t.Cleanup(w.close)
	return w
}

// behindAWire is a server, the wire before it, and a desk at its other end.
func behindAWire(t *testing.T) (*server, *wire, *shell) {
	t.Helper()
	v := startServer(t)
	w := newWire(v)
	return v, w, v.configure(w.addr)
}

// open listens, after a close at the same address.
func (w *wire) open() {
	w.t.Helper()
	listener, err := net.Listen("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addr, w.listener = listener.Addr().String(), listener
	w.http = &http.Server{Handler: w}
	go func(s *http.Server) { _ = s.Serve(listener) }(w.http) // it ends with close
}

// close ends all connections; nothing listens any more.
func (w *wire) close() {
	w.mu.Lock()
	s := w.http
	w.mu.Unlock()
	_ = s.Close() // connections that are half dead are what it is for
}

// set changes how the wire fails.
func (w *wire) set(change func(*wire)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// holds names the tool whose calls wait from now on; with "" none does.
func (w *wire) holds(tool string) { w.set(func(w *wire) { w.hold = tool }) }

// count says how often a tool was called.
func (w *wire) count(tool string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[tool]
}

// ServeHTTP implements [http.Handler].
func (w *wire) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return
	}
	tool := calledTool(body)
	w.mu.Lock()
	w.calls[tool]++
	hold, last, cut := tool != "" && tool == w.hold, tool != "" && tool == w.closeAfter, tool != "" && tool == w.cut && w.cutLeft > 0
	if cut {
		w.cutLeft--
	}
	w.mu.Unlock()
	if hold {
		w.held <- struct{}{}
		select {
		case <-w.released:
		case <-in.Context().Done():
			return
		}
	}
	if last {
		w.hangUp()
	}
	w.forward(out, in, body, cut)
}

// hangUp lets answers that are on their way through, and no new connection.
func (w *wire) hangUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.http.SetKeepAlivesEnabled(false)
	_ = w.listener.Close() // so that what comes next finds nobody
}

// forward asks the server. With cut, the answer is heard and thrown away.
func (w *wire) forward(out http.ResponseWriter, in *http.Request, body []byte, cut bool) {
	request, err := http.NewRequestWithContext(in.Context(), in.Method, "http://"+w.upstream+in.URL.Path, bytes.NewReader(body))
	if err != nil {
		return
	}
	request.Header = in.Header.Clone()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = response.Body.Close() }()
	if cut {
		_, _ = io.Copy(io.Discard, response.Body) // the server has done it
		panic(http.ErrAbortHandler)
	}
	for name, values := range response.Header {
		out.Header()[name] = values
	}
	out.WriteHeader(response.StatusCode)
	pass(out, response.Body)
}

// pass copies an answer as it comes: some of them are streams.
func pass(out http.ResponseWriter, in io.Reader) {
	buffer := make([]byte, 4096)
	for {
		n, err := in.Read(buffer)
		if n > 0 {
			if _, err := out.Write(buffer[:n]); err != nil {
				return
			}
			out.(http.Flusher).Flush()
		}
		if err != nil {
			return
		}
	}
}

// calledTool is the tool that a message calls; empty for other messages.
func calledTool(body []byte) string {
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &message) != nil || message.Method != "tools/call" {
		return ""
	}
	return message.Params.Name
}
