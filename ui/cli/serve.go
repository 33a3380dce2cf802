package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"deskhand/agent"
	"deskhand/mcp/client"
	"deskhand/ui/httpapi"
)

// How long the turns at work may take to finish when the server is told to
// stop, and how often cards that have expired are looked for.
const (
	serveCloseTime = 10 * time.Second
	expireEvery    = time.Second
)

func newDeskServe(o *options) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the desk over HTTP, for apps and scripts",
		Long: "Serve the desk over HTTP until a signal ends it: POST /dispatchAgent takes a message or a decision\n" +
			"(the form of a Genkit flow, as JSON or as a stream), GET /approvals lists what waits, /openapi.json\n" +
			"describes all of it. It listens on loopback unless told otherwise. Once there are tokens (see deskhand\n" +
			"token new), every request needs one and acts in the name of its desk user; an address that others\n" +
			"can reach insists on tokens. GET /metrics has numbers for Prometheus.\n\n" +
			"While it runs it holds the desk, as a console does.",
		Example: `  deskhand serve
  deskhand serve --addr 127.0.0.1:8080
  curl -s localhost:7430/dispatchAgent -H 'Content-Type: application/json' -d '{"data":{"message":"status of WO-1043"}}'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.held != nil {
				return errors.New("this desk is served already")
			}
			o.metrics = true
			return withOwnDesk(cmd, o, consoleWait, func(ctx context.Context, d *desk) error { return d.serve(ctx, addr) })
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:7430", "listen on `HOST:PORT`; port 0 takes a free one")
	return cmd
}

// serve serves the desk until ctx ends, and then lets the turns at work finish.
func (d *desk) serve(ctx context.Context, addr string) error {
	callers, err := d.options.callers()
	if err != nil {
		return err
	}
	local, err := isLoopback(addr)
	if err != nil {
		return err
	}
	if !local && len(callers) == 0 {
		return &usageError{fmt.Errorf("others can reach %s, so every request needs a token and there is none: make one with deskhand token new USER", addr)}
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --addr", addr, errors.Unwrap(err))
	}
	defer d.listenBeside()()
	defer d.listenGuests()()
	server := httpapi.New(httpapi.Options{
		Engine: d.engine, Callers: callers, User: d.company.find, Local: local, Ready: d.readiness, Logger: d.logger(),
		Metrics: d.metrics.Handler(d.engine, d.logger()),
	})
	http := server.HTTPServer()
	ended := make(chan error, 1)
	go func() { ended <- http.Serve(listener) }()
	if err := d.start(ctx); err != nil {
		d.notices = append(d.notices, err.Error())
	}
	note := "Every request needs a token."
	if len(callers) == 0 {
		note = "There are no tokens, so every program of this machine may ask and decide in the name of " + d.company.current().DisplayName() + "."
	}
	if _, err := fmt.Fprintf(d.options.out, "The desk is served at http://%s (POST /dispatchAgent, GET /approvals, /openapi.json).\n%s\n", listener.Addr(), note); err != nil {
		return err
	}
	if err := errors.Join(d.noteUnusable(ctx), d.tell()); err != nil {
		return err
	}
	ticker := time.NewTicker(expireEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := d.engine.ExpireDue(ctx); err != nil && ctx.Err() == nil {
				d.logger().Error("cards that have expired could not be closed", "error", err)
			}
		case err := <-ended:
			return err
		case <-ctx.Done():
			return d.stopServing(server, http)
		}
	}
}

// stopServing takes no more requests, lets the turns at work finish, and stops
// what takes too long: it is stored, and goes on when somebody continues it.
func (d *desk) stopServing(server *httpapi.Server, http *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), serveCloseTime)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- http.Shutdown(context.Background()) }() // ends once the answers are out
	server.Close(ctx)
	select {
	case err := <-done:
		return err
	case <-time.After(closeTime):
		return http.Close()
	}
}

// readiness says how the parts are, without waiting for any.
func (d *desk) readiness(context.Context) httpapi.Readiness {
	r := httpapi.Readiness{Ready: true, Store: d.options.store, Model: d.modelName(), Servers: map[string]string{}}
	for _, s := range d.serverStatus() {
		r.Servers[s.Name] = s.State
		if s.State == string(client.PhaseDown) {
			r.Ready = false
		}
	}
	return r
}

// find is a desk user of the company by id.
func (v *companyView) find(id agent.UserID) (agent.User, bool) {
	c, _ := v.get()
	if i := slices.IndexFunc(c.Users, func(u agent.User) bool { return u.ID == id }); i >= 0 {
		return c.Users[i], true
	}
	return agent.User{ID: id}, len(c.Users) == 0 // a company that names nobody knows everybody
}

// isLoopback says whether only this machine can reach an address.
func isLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, &usageError{fmt.Errorf("%q is no address; write HOST:PORT, e.g. 127.0.0.1:7430", addr)}
	}
	if host == "localhost" {
		return true, nil
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback(), nil
}
