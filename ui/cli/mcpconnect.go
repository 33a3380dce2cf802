package cli

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"deskhand/mcp/client"
)

// serverPatience is how long a request to the model waits for a server that
// does not answer; its last known tools stand in meanwhile. A program that has
// just been started gets longer.
const (
	serverPatience  = 2 * time.Second
	programPatience = 15 * time.Second
)

// A program may have to be fetched before it starts, and gets a moment to end in
// order; both within what a person waits for.
const (
	programConnectTime = 30 * time.Second
	programCloseTime   = 1500 * time.Millisecond
)

// connectors makes a client for every configured server; none connects yet.
func (d *desk) connectors(logger *slog.Logger) {
	d.servers, d.embedded = nil, nil
	for _, name := range slices.Sorted(maps.Keys(d.config.MCPServers)) {
		c := d.config.MCPServers[name]
		if c.Disabled || name == "" || strings.Contains(name, "/") {
			continue // no namespace has such a name
		}
		d.servers = append(d.servers, client.New(d.serverOptions(name, c, logger)))
	}
}

// serverOptions turns an entry of the configuration into a server.
func (d *desk) serverOptions(name string, c ServerConfig, logger *slog.Logger) client.Options {
	o := client.Options{Name: name, Logger: logger, Fault: c.fault, CallTimeout: time.Duration(c.Timeout)}
	if len(c.Tools.Allow)+len(c.Tools.Deny) > 0 {
		o.Offers = c.Tools.offers
	}
	if !c.Embedded {
		o.Patience = serverPatience
	}
	switch {
	case c.fault != nil:
	case c.Command != "":
		o.Patience = programPatience
		o.Command = &client.Command{Path: c.Command, Args: c.Args, Dir: c.Cwd, Env: client.Environment(d.options.getenv, c.Env)}
		o.Identity = c.written.commandLine()
		o.Permit = func() error { return accepted(d.options.home, name, c) }
		o.ConnectTimeout, o.CloseTimeout = programConnectTime, programCloseTime
	case c.Embedded:
		d.embedded = &embedded{home: d.options.home, wait: commandWait}
		if !d.options.clock.IsZero() {
			d.embedded.now = func() time.Time { return d.options.clock }
		}
		o.Dial, o.ConnectTimeout = d.embedded.dial, embeddedConnectTime
	default:
		o.URL, o.Headers, o.SSE = c.URL, c.Headers, c.sse()
	}
	return o
}

// closeServers closes all at once, so that one that hangs holds up no other.
// It is bounded by ctx; a server that hangs is left alone.
func closeServers(ctx context.Context, servers []*client.Server) {
	var wait sync.WaitGroup
	for _, s := range servers {
		wait.Go(func() { _ = s.Close(ctx) })
	}
	wait.Wait()
}
