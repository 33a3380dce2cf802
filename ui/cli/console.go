package cli

import (
	"context"
	"errors"

	"deskhand/mcp/client"
	"deskhand/ui/console"
)

// runConsole opens the console, or, without a terminal, reads lines and answers
// them.
func runConsole(ctx context.Context, o options) error {
	if o.held != nil {
		return errors.New("a console cannot run inside another one")
	}
	d, place, done, err := openConsoleDesk(ctx, o)
	if err != nil || done {
		return err
	}
	d.place = place
	defer d.close()
	defer d.listenBeside()()
	defer d.listenGuests()()
	if err := d.noteUnusable(ctx); err != nil {
		return err
	}
	if err := d.askToStart(ctx); err != nil {
		return err
	}
	if d.options.plain || !o.terminal() {
		return d.runPlain(ctx)
	}
	return console.Run(ctx, d.consoleOptions())
}

// runPlain reads lines and answers them. It knows the company before the first
// line, so that the first "tomorrow" is the company's.
func (d *desk) runPlain(ctx context.Context) error {
	if err := d.meetCompany(ctx); err != nil {
		return err
	}
	screen := d.consoleOptions()
	report, err := console.RunPlain(ctx, console.PlainOptions{
		Engine: d.engine, In: d.options.in, Out: d.options.out, Interactive: d.options.terminal(),
		Company: screen.Company, Now: screen.Now, User: screen.User, Notices: d.notices, Start: d.engine.Resume,
	})
	if err != nil || report.TurnID == "" {
		return err
	}
	return statusExit(report)
}

// consoleOptions wires the desk to a screen.
func (d *desk) consoleOptions() console.Options {
	return console.Options{
		Engine: d.engine, Now: d.company.now, User: d.company.current, Model: d.modelName(),
		Company: func() console.Company {
			c, _ := d.company.get()
			return console.Company{Name: c.Name, Demo: c.Demo, Clock: c.Clock}
		},
		Servers:    d.serverStatus,
		ConfigPath: d.options.configPath(), ConfigBlock: connectBlock,
		Notices: d.notices, Start: d.start, Theme: console.TerminalTheme(), Mouse: d.options.mouse, Place: d.place,
	}
}

// start connects the servers and continues what an earlier start left. Nothing
// that waits for a person is sent by it.
func (d *desk) start(ctx context.Context) error {
	_, pruned := d.engine.Prune(ctx, d.config.Retention.retention())
	return errors.Join(d.askCompany(ctx), d.engine.Resume(ctx), pruned)
}

// serverStatus says how the servers are, without asking them.
func (d *desk) serverStatus() []console.ServerStatus {
	out := make([]console.ServerStatus, 0, len(d.servers))
	for _, s := range d.servers {
		state := s.State()
		status := console.ServerStatus{Name: s.Name(), State: string(state.Phase)}
		if state.Phase == client.PhaseReady {
			status.State = console.ServerReady
		}
		if state.Err != nil {
			status.Detail = state.Err.Error()
		}
		out = append(out, status)
	}
	return out
}
