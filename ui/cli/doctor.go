package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"deskhand/agent"
	"deskhand/agent/skills"
	"deskhand/mcp/client"
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
		Long: "Show where the configuration file is (it need not exist), what counts with its defaults, and a block\n" +
			"to paste for a system of your own. Values of headers and of the environment are not shown.",
		Example: "  deskhand config\n  deskhand config --json",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return showConfig(o, asJSON) },
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func showConfig(o *options, asJSON bool) error {
	c, warnings, err := loadConfig(o.configPath(), o.config != "", o.getenv)
	if err != nil {
		return err
	}
	if err := (&desk{options: *o, notices: warnings}).tell(); err != nil {
		return err
	}
	c.hideSecrets()
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
}

// hideSecrets puts a mark in the place of values that are not for a screen, and
// the names of variables in the place of their values.
func (c *Config) hideSecrets() {
	c.Model.hideSecrets()
	for name, s := range c.MCPServers {
		if s.written != nil {
			s = *s.written
			c.MCPServers[name] = s
		}
		for _, secrets := range []map[string]string{s.Headers, s.Env} {
			for name := range secrets {
				secrets[name] = "(set)"
			}
		}
	}
}

// diagnosis is what doctor found.
type diagnosis struct {
	Home   string `json:"home"`
	Config string `json:"config"`
	Store  string `json:"store"`
	Model  string `json:"model"`
	// ModelFault is what is wrong with the model; empty: it answers.
	ModelFault string   `json:"modelFault,omitempty"`
	Company    string   `json:"company,omitempty"`
	User       string   `json:"user,omitempty"`
	Clock      string   `json:"clock"`
	Waiting    int      `json:"waiting"`
	Damaged    []string `json:"damaged"`
	// Unusable is what waits and cannot be decided because of a damaged record.
	Unusable []string    `json:"unusable"`
	Servers  []serverRow `json:"servers"`
	Tools    []toolRow   `json:"tools"`
	// Proposed are the tools of trusted servers that say that they only read and
	// still ask: candidates for the policy.
	Proposed []agent.QualifiedName `json:"proposed,omitempty"`
}

type toolRow struct {
	Alias  string              `json:"alias"`
	Tool   agent.QualifiedName `json:"tool"`
	Server string              `json:"server"`
	Policy agent.DecisionKind  `json:"policy"`
}

func newDoctor(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check servers, tool names, model and store",
		Long: "Start or reach every configured server, list its tools with the names that the model sees and what\n" +
			"the policy does with each, and look over the store. Exits with 1 if a server is not ready.",
		Example: "  deskhand doctor --json",
		Args:    noArguments,
	}
	return readCommand(o, cmd, func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
		found, err := d.diagnose(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(o.out, found)
		} else {
			err = found.print(o.out)
		}
		if err == nil && found.ModelFault != "" {
			return &exitError{code: exitFailed, err: fmt.Errorf("the model %s does not answer: %s", found.Model, found.ModelFault)}
		}
		for _, s := range found.Servers {
			if err == nil && s.State != string(client.PhaseReady) && s.State != serverDisabled {
				return &exitError{code: exitFailed, err: fmt.Errorf("the server %s is %s: %s", s.Name, s.State, s.Detail)}
			}
		}
		return err
	})
}

func (d *desk) diagnose(ctx context.Context) (diagnosis, error) {
	found := diagnosis{
		Home: d.options.home, Config: d.options.configPath(), Store: d.options.store, Model: d.modelName(),
		Damaged: []string{}, Servers: []serverRow{}, Tools: []toolRow{},
	}
	if err := d.meetCompany(ctx); err != nil {
		return found, err
	}
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
	if found.Unusable, err = d.unusable(ctx); err != nil {
		return found, err
	}
	d.checkServers(ctx)
	found.ModelFault = d.checkModel(ctx)
	tools, err := d.engine.Tools(ctx)
	if err != nil {
		return found, err
	}
	for _, e := range tools.Entries() {
		if d.config.MCPServers[e.Name.Server()].Trust && saysReadOnly(e.Tool) && d.engine.DefaultVerdict(e) != agent.DecisionRun {
			found.Proposed = append(found.Proposed, e.Name)
		}
		found.Tools = append(found.Tools, toolRow{Alias: e.Alias, Tool: e.Name, Server: e.Name.Server(), Policy: d.engine.DefaultVerdict(e)})
	}
	found.Servers = d.serverRows()
	d.listOffers(ctx, found.Servers)
	if d.skills != nil {
		row := serverRow{Name: skills.Name, State: string(client.PhaseReady), Detail: d.config.Skills}
		if _, err := d.skills.Tools(ctx); err != nil {
			row.State, row.Detail = string(client.PhaseDown), err.Error()
		}
		found.Servers = append(found.Servers, row)
	}
	return found, nil
}

func (f diagnosis) print(w io.Writer) error {
	var text strings.Builder
	model := f.Model
	if f.ModelFault != "" {
		model += ", which does not answer: " + visible(f.ModelFault)
	}
	fmt.Fprintf(&text, "Home     %s\nConfig   %s\nStore    %s\nModel    %s\nCompany  %s\nUser     %s\nClock    %s\nWaiting  %d\n",
		f.Home, f.Config, f.Store, model, visible(f.Company), visible(f.User), f.Clock, f.Waiting)
	for _, s := range f.Servers {
		text.WriteString("\n" + s.heading())
		for _, t := range f.Tools {
			if t.Tool.Server() == s.Name {
				fmt.Fprintf(&text, "  %-24s %-36s %s\n", t.Alias, t.Tool, t.Policy)
			}
		}
		s.printOffers(&text)
	}
	if len(f.Proposed) > 0 {
		text.WriteString("\nTrusted servers say that these only read; to run them unasked, add them to policy.runWithoutApproval:\n")
		for _, name := range f.Proposed {
			fmt.Fprintf(&text, "  %q\n", name)
		}
	}
	for _, b := range append(f.Unusable, f.Damaged...) {
		fmt.Fprintf(&text, "\n%s\n", visible(b))
	}
	_, err := io.WriteString(w, text.String())
	return err
}
