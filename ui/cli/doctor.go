package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

// connectBlock is what to paste into the configuration to use one's own system.
const connectBlock = `{
  "mcpServers": {
    "work-orders": { "disabled": true },
    "erp": { "url": "http://127.0.0.1:7420/mcp", "headers": { "Authorization": "Bearer ${ERP_TOKEN}" } }
  }
}`

func newConfig(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show where the configuration is, what counts, and a block to paste",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			c, warnings, err := loadConfig(o.configPath(), o.config != "", o.getenv)
			if err != nil {
				return err
			}
			for _, w := range warnings {
				if _, err := fmt.Fprintln(o.err, w); err != nil {
					return err
				}
			}
			for name, s := range c.MCPServers { // secrets are not for a screen
				for header := range s.Headers {
					s.Headers[header] = "(set)"
				}
				c.MCPServers[name] = s
			}
			if asJSON {
				return printJSON(o.out, map[string]any{"path": o.configPath(), "home": o.home, "config": c})
			}
			if _, err := fmt.Fprintf(o.out, "Configuration: %s\nHome:          %s\n\nWhat counts now:\n", o.configPath(), o.home); err != nil {
				return err
			}
			if err := printJSON(o.out, c); err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.out, "\nTo connect a system of your own, put this into %s:\n%s\n", o.configPath(), connectBlock)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// diagnosis is what doctor found.
type diagnosis struct {
	Home    string      `json:"home"`
	Config  string      `json:"config"`
	Store   string      `json:"store"`
	Model   string      `json:"model"`
	Company string      `json:"company,omitempty"`
	User    string      `json:"user,omitempty"`
	Clock   string      `json:"clock"`
	Waiting int         `json:"waiting"`
	Damaged []string    `json:"damaged"`
	Servers []serverRow `json:"servers"`
	Tools   []toolRow   `json:"tools"`
}

type serverRow struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

type toolRow struct {
	Alias  string              `json:"alias"`
	Tool   agent.QualifiedName `json:"tool"`
	Policy agent.DecisionKind  `json:"policy"`
}

func newDoctor(o *options) *cobra.Command {
	return readCommand(o, "doctor", "Check servers, tool names, model and store", noArguments,
		func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
			found, err := d.diagnose(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(o.out, found)
			} else {
				err = found.print(d)
			}
			for _, s := range found.Servers {
				if err == nil && s.State != "ready" {
					return &exitError{code: exitFailed}
				}
			}
			return err
		})
}

func (d *desk) diagnose(ctx context.Context) (diagnosis, error) {
	found := diagnosis{
		Home: d.options.home, Config: d.options.configPath(), Store: d.options.store, Model: "built-in",
		Damaged: []string{}, Servers: []serverRow{}, Tools: []toolRow{},
	}
	d.meetCompany(ctx)
	c, _ := d.company.get()
	found.Company, found.User = c.Name, d.company.current().DisplayName()
	found.Clock = d.company.now().Format("Mon 2 Jan 2006 15:04 MST")
	waiting, err := d.engine.Waiting(ctx)
	if err != nil {
		return found, err
	}
	found.Waiting = len(waiting)
	bad, err := d.store.Check(ctx)
	if err != nil {
		return found, err
	}
	for _, b := range bad {
		found.Damaged = append(found.Damaged, b.Error())
	}
	tools, err := d.engine.Tools(ctx)
	if err != nil {
		return found, err
	}
	for _, e := range tools.Entries() {
		found.Tools = append(found.Tools, toolRow{Alias: e.Alias, Tool: e.Name, Policy: d.engine.DefaultVerdict(e)})
	}
	for _, s := range d.servers {
		state := s.State()
		row := serverRow{Name: s.Name(), State: string(state.Phase), Detail: state.Identity}
		if state.Err != nil {
			row.Detail = state.Err.Error()
		}
		found.Servers = append(found.Servers, row)
	}
	return found, nil
}

func (f diagnosis) print(d *desk) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Home     %s\nConfig   %s\nStore    %s\nModel    %s\nCompany  %s\nUser     %s\nClock    %s\nWaiting  %d\n",
		f.Home, f.Config, f.Store, f.Model, visible(f.Company), visible(f.User), f.Clock, f.Waiting)
	for _, s := range f.Servers {
		fmt.Fprintf(&text, "\nServer %s: %s  %s\n", s.Name, s.State, visible(s.Detail))
		for _, t := range f.Tools {
			if t.Tool.Server() == s.Name {
				fmt.Fprintf(&text, "  %-24s %-36s %s\n", t.Alias, t.Tool, t.Policy)
			}
		}
	}
	for _, b := range f.Damaged {
		fmt.Fprintf(&text, "\n%s\n", visible(b))
	}
	_, err := fmt.Fprint(d.options.out, text.String())
	return err
}
