package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deskhand/agent"
)

// socketFile is where the process that holds the desk takes commands from
// others of the same user; 0600.
const socketFile = "desk.sock"

// besideTime bounds reaching the holder; a command itself takes what it takes.
const besideTime = 2 * time.Second

// besideRequest is a command line for the process that holds the desk, with
// what it must agree upon with the one that typed it.
type besideRequest struct {
	Args []string `json:"args"`
	// Config is a hash of what the configuration says, whatever its file.
	Config string    `json:"config"`
	Clock  time.Time `json:"clock"`
	Model  string    `json:"model"`
}

// besideLine is one piece of what comes back: output, or the end.
type besideLine struct {
	Out  string `json:"out,omitempty"`
	Err  string `json:"err,omitempty"`
	Code *int   `json:"code,omitempty"`
}

// listenBeside lets other processes run their commands in this one, which holds
// the desk. Where there can be no socket they wait for the desk, as before.
// Stop it before the desk is closed.
func (d *desk) listenBeside() (stop func()) {
	if d.options.store == storeMemory {
		return func() {}
	}
	path := filepath.Join(d.options.home, socketFile)
	_ = os.Remove(path) // of a process that was killed: the desk's lock is ours
	listener, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600) // the home itself is closed to others
	}
	if err != nil {
		d.logger().Info("commands beside this one have to wait for the desk", "error", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:           http.HandlerFunc(d.runBeside),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: besideTime,
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends when it is closed
	return func() {
		// A command that runs is told to stop, as by a signal, and answers.
		cancel()
		closing, done := context.WithTimeout(context.Background(), closeTime)
		defer done()
		if server.Shutdown(closing) != nil {
			_ = server.Close()
		}
		serving.Wait()
	}
}

// runBeside runs a command of another process on this desk.
func (d *desk) runBeside(w http.ResponseWriter, r *http.Request) {
	var q besideRequest
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if reason := d.differs(q); reason != "" {
		http.Error(w, reason, http.StatusConflict)
		return
	}
	lines := &besideWriter{w: w}
	o := options{
		home: d.options.home, held: d, in: d.options.in,
		out: lines.stream(func(l *besideLine, text string) { l.Out = text }),
		err: lines.stream(func(l *besideLine, text string) { l.Err = text }),
		getenv: func(name string) string {
			if name == "DESKHAND_HOME" {
				return d.options.home
			}
			return ""
		},
	}
	code := run(r.Context(), q.Args, o)
	lines.write(besideLine{Code: &code})
}

// differs says why a command that was meant for a desk with other options
// cannot run on this one.
func (d *desk) differs(q besideRequest) string {
	switch {
	case q.Config != d.config.hash():
		return "it has another configuration (" + d.options.configPath() + ")"
	case !q.Clock.Equal(d.options.clock):
		return "it has another --clock"
	case q.Model != d.options.model:
		return "it has another --model"
	}
	return ""
}

// hash tells configurations apart.
func (c Config) hash() string {
	text, _ := json.Marshal(c) // it was JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// borrowed is the held desk for one command: the same store, engine and
// servers, with options, notices and user of its own.
func (d *desk) borrowed(o options) (*desk, error) {
	c, known := d.company.get()
	company := &companyView{fixed: d.company.fixed, user: d.company.user, company: c, known: known}
	if o.user != "" {
		company.user = agent.UserID(o.user)
	}
	return &desk{
		options: o, config: d.config, store: d.store, engine: d.engine, model: d.model, servers: d.servers, skills: d.skills,
		embedded: d.embedded, company: company,
	}, company.check()
}

// besideWriter writes lines of an answer.
type besideWriter struct {
	mu sync.Mutex
	w  http.ResponseWriter
}

func (b *besideWriter) write(l besideLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A caller that has gone away ends the command through its context.
	if err := json.NewEncoder(b.w).Encode(l); err == nil {
		_ = http.NewResponseController(b.w).Flush()
	}
}

// stream is a writer whose text goes into lines.
func (b *besideWriter) stream(into func(*besideLine, string)) io.Writer {
	return writerFunc(func(text []byte) (int, error) {
		var l besideLine
		into(&l, string(text))
		b.write(l)
		return len(text), nil
	})
}

type writerFunc func([]byte) (int, error)

// Write implements [io.Writer].
func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// askHolder runs this command in the process that holds the desk. It is false
// if there is none that takes commands.
func (o *options) askHolder(ctx context.Context) (error, bool) {
	if o.store == storeMemory || o.held != nil {
		return nil, false
	}
	path := filepath.Join(o.home, socketFile)
	if _, err := os.Stat(path); err != nil {
		return nil, false
	}
	config, _, err := loadConfig(o.configPath(), o.config != "", o.getenv)
	if err != nil {
		return err, true
	}
	body, err := json.Marshal(besideRequest{Args: o.args, Config: config.hash(), Clock: o.clock, Model: o.model})
	if err != nil {
		return err, true
	}
	dialer := net.Dialer{Timeout: besideTime}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "unix", path) },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://desk/command", bytes.NewReader(body))
	if err != nil {
		return err, true
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return nil, false // nobody listens: the holder was killed, and has let go
		}
		return o.lostHolder(err), true
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("the desk in %s is open in another process, and %s; close that one, or use the same", o.home, bytes.TrimSpace(reason)), true
	}
	return o.copyAnswer(resp.Body), true
}

// copyAnswer prints what the holder printed and ends as it ended.
func (o *options) copyAnswer(answer io.Reader) error {
	decoder := json.NewDecoder(answer)
	for {
		var l besideLine
		if err := decoder.Decode(&l); err != nil {
			return o.lostHolder(err)
		}
		if _, err := io.WriteString(o.out, l.Out); err != nil {
			return err
		}
		if _, err := io.WriteString(o.err, l.Err); err != nil {
			return err
		}
		if l.Code != nil {
			return &exitError{code: *l.Code}
		}
	}
}

// lostHolder: the process that did the work has gone in the middle of it.
func (o *options) lostHolder(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("the process that holds the desk ended before it had answered (%w); what it did is kept: see deskhand approvals", err)
}
