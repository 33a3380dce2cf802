package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"deskhand/agent"
	"deskhand/agent/skills"
	"deskhand/agent/telemetry"
	"deskhand/mcp/client"
	"deskhand/state"
)

// desk is an opened desk: store, engine and servers, wired. Opening it marks
// what dead owners left; it starts no server and sends nothing.
type desk struct {
	options  options
	config   Config
	store    *state.Store
	engine   *agent.Engine
	model    agent.Model
	servers  []*client.Server
	skills   *skills.Source // nil if no folder is configured
	embedded *embedded
	company  *companyView
	// metrics are counted where somebody can read them; traces are nil unless the
	// environment asks for them.
	metrics *telemetry.Metrics
	traces  *telemetry.Traces
	// place is which console of the desk this process runs.
	place int
	// notices are what a person should read at the start.
	notices []string
}

// embeddedConnectTime bounds starting the built-in server, which may have to
// fill a new book on a slow disk, and connecting to it.
const embeddedConnectTime = 30 * time.Second

// How long a command waits for a desk that another process holds.
const (
	consoleWait = time.Second
	commandWait = 30 * time.Second
)

// withDesk runs one command on the desk: in the process that holds it, if that
// takes commands, else on the desk opened for it. It prints what the desk has to
// say about itself, before the command and after it.
func withDesk(cmd *cobra.Command, o *options, do func(context.Context, *desk) error) error {
	if err, done := o.askHolder(cmd.Context()); done {
		return err
	}
	return withOwnDesk(cmd, o, commandWait, do)
}

// withOwnDesk is withDesk for a command that has to hold the desk itself, and
// waits so long for it.
func withOwnDesk(cmd *cobra.Command, o *options, wait time.Duration, do func(context.Context, *desk) error) error {
	ctx := cmd.Context()
	var d *desk
	var err error
	if o.held != nil {
		if d, err = o.held.borrowed(*o); err == nil {
			ctx = agent.As(ctx, d.company.current())
		}
	} else if d, err = openDesk(ctx, *o, wait); err == nil {
		defer d.close()
	}
	if err != nil {
		return err
	}
	if err := d.tell(); err != nil {
		return err
	}
	err = do(ctx, d)
	if tellErr := d.tell(); err == nil {
		err = tellErr
	}
	return err
}

// tell prints the notices on standard error, each in one line, once.
func (d *desk) tell() error {
	notices := d.notices
	d.notices = nil
	for _, notice := range notices {
		if _, err := fmt.Fprintln(d.options.err, "deskhand: "+oneLine(visible(notice))); err != nil {
			return fmt.Errorf("standard error: %w", err)
		}
	}
	return nil
}

// closeTime is how long servers may take to stop; the rest is left behind.
const closeTime = 2 * time.Second

// openDesk opens the desk, waiting at most wait for the process that holds it.
func openDesk(ctx context.Context, o options, wait time.Duration) (d *desk, err error) {
	if o.wait > 0 {
		wait = o.wait
	}
	d = &desk{options: o, company: &companyView{fixed: o.clock, user: agent.UserID(o.user)}}
	if d.config, d.notices, err = loadConfig(o.configPath(), o.config != "", o.getenv); err != nil {
		return nil, err
	}
	if d.company.user == "" {
		d.company.user = d.config.User
	}
	if d.model, err = d.chooseModel(); err != nil {
		return nil, err
	}
	policy, err := agent.NewPolicy(*d.config.Policy)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%s: %w", o.configPath(), err)}
	}
	if err := d.openOrReplace(ctx, wait, func() error { return d.wire(ctx, policy) }); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *desk) wire(ctx context.Context, policy *agent.Policy) error {
	if err := d.loadCompany(ctx); err != nil {
		return err
	}
	if err := d.company.check(); err != nil {
		return err
	}
	logger := d.logger()
	d.connectors(logger)
	sources := make([]agent.Source, len(d.servers))
	for i, s := range d.servers {
		sources[i] = s
	}
	if d.config.Skills != "" {
		d.skills = skills.New(d.config.Skills)
		sources = append(sources, d.skills)
	}
	tracer, err := d.tracer(ctx, logger)
	if err != nil {
		return err
	}
	engine, err := agent.New(agent.Config{
		Store: d.store, Model: d.model, Sources: sources, Policy: policy, Owner: agent.OwnerID(newID()),
		User: d.company.current, Now: d.company.now, NewID: newID, Logger: logger, Tracer: tracer,
		Texts: d.config.Texts, OnError: d.config.OnError,
		Prompt:    d.config.prompt,
		MaxResult: func(server string) int { return d.config.MCPServers[server].MaxResultBytes },
	})
	if err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	d.engine = engine
	return engine.Mark(ctx, nil) // whoever has the file is the only one alive
}

// tracer tells whoever the environment names, and those who read the metrics.
func (d *desk) tracer(ctx context.Context, logger *slog.Logger) (agent.Tracer, error) {
	var err error
	if d.traces, err = telemetry.NewTraces(ctx, d.options.getenv, logger); err != nil {
		return nil, &usageError{err}
	}
	var tracers []agent.Tracer
	if d.traces != nil {
		tracers = append(tracers, d.traces)
	}
	if d.options.metrics {
		d.metrics = telemetry.NewMetrics()
		tracers = append(tracers, d.metrics)
	}
	return telemetry.Join(tracers...), nil
}

// logger writes to a file in the home, never to the terminal.
func (d *desk) logger() *slog.Logger {
	if d.options.store == storeMemory {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(&logFile{path: filepath.Join(d.options.home, "deskhand.log")}, nil))
}

// close stops what the desk runs; what is on disk is safe already.
func (d *desk) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	closeServers(ctx, d.servers)
	if d.embedded != nil {
		_ = d.embedded.close(ctx)
	}
	if d.traces != nil {
		_ = d.traces.Close(ctx) // what the collector did not take is lost, and in the log
	}
	_ = d.store.Close()
}

// newID gives a new ULID.
func newID() string { return ulid.MustNew(ulid.Now(), rand.Reader).String() }

// logFile opens its file when something is written, so that commands which log
// nothing leave nothing.
type logFile struct {
	path string
	file *os.File
}

// Write implements [io.Writer]; slog serialises its calls.
func (l *logFile) Write(line []byte) (int, error) {
	if l.file == nil {
		file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		l.file = file
	}
	return l.file.Write(line)
}
