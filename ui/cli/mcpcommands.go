package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newServers(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "List the configured servers, and accept the programs that are started for them",
		Long: "List the servers of the configuration and how each is reached, without starting or asking any.\n" +
			"To see whether they work, use deskhand doctor.",
		Example: "  deskhand servers\n  deskhand servers accept files",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return listServers(o, asJSON) },
	}
	addJSON(cmd, &asJSON)
	cmd.AddCommand(newAccept(o))
	return cmd
}

// serverEntry is one configured server in the list.
type serverEntry struct {
	Name string `json:"name"`
	// How says how it is reached: embedded, url, command, or disabled or wrong.
	How    string `json:"how"`
	At     string `json:"at,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Accepted says of a program whether it may be started.
	Accepted *bool `json:"accepted,omitempty"`
}

func listServers(o *options, asJSON bool) error {
	c, err := o.readConfig()
	if err != nil {
		return err
	}
	known, err := readAccepted(o.home)
	if err != nil {
		return err
	}
	entries := []serverEntry{}
	for _, name := range slices.Sorted(maps.Keys(c.MCPServers)) {
		s := c.MCPServers[name]
		e := serverEntry{Name: name}
		switch {
		case s.Disabled:
			e.How = serverDisabled
		case s.fault != nil:
			e.How, e.At = "wrong", s.fault.Error()
		case s.Embedded:
			e.How = "embedded"
		case s.Command != "":
			_, yes := known[s.digest()]
			e.How, e.At, e.Digest, e.Accepted = "command", s.written.commandLine(), s.digest(), &yes
		default:
			e.How, e.At = "url", s.written.URL
		}
		entries = append(entries, e)
	}
	if asJSON {
		return printJSON(o.out, entries)
	}
	var text strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&text, "%-20s %-9s %s", visible(e.Name), e.How, visible(e.At))
		if e.Accepted != nil && !*e.Accepted {
			fmt.Fprintf(&text, "  (not accepted: deskhand servers accept %s)", visible(e.Name))
		}
		text.WriteByte('\n')
	}
	_, err = fmt.Fprint(o.out, text.String())
	return err
}

// readConfig reads the configuration for a command that needs no desk.
func (o *options) readConfig() (Config, error) {
	c, warnings, err := loadConfig(o.configPath(), o.config != "", o.getenv)
	if err != nil {
		return c, err
	}
	return c, (&desk{options: *o, notices: warnings}).tell()
}

func newAccept(o *options) *cobra.Command {
	var digest string
	cmd := &cobra.Command{
		Use:   "accept NAME",
		Short: "Look at the program that is started for a server, and allow it",
		Long: "Show the whole command line of the program that would be started for a server, and ask whether it may\n" +
			"be. What is accepted is exactly this command line: a changed one is asked about again. Without a\n" +
			"terminal, --digest accepts what was shown before.",
		Example: "  deskhand servers accept files\n  deskhand servers accept files --digest 3f29…",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return acceptServer(cmd.Context(), o, args[0], digest)
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "accept the command line with this `DIGEST` without a question")
	return cmd
}

func acceptServer(ctx context.Context, o *options, name, digest string) error {
	c, err := o.readConfig()
	if err != nil {
		return err
	}
	s, ok := c.MCPServers[name]
	switch {
	case !ok:
		return &usageError{fmt.Errorf("there is no server %q in the configuration; see deskhand servers", name)}
	case s.Disabled:
		return &usageError{fmt.Errorf("the server %s is disabled; take that out of the configuration first", name)}
	case s.fault != nil:
		return &usageError{fmt.Errorf("mcpServers.%s: %w", name, s.fault)}
	case s.Command == "":
		return &usageError{fmt.Errorf("nothing is started for the server %s; there is nothing to accept", name)}
	}
	switch {
	case digest == s.digest():
	case digest != "":
		return &usageError{errors.New("the command line has another digest; look at it again: deskhand servers accept " + name)}
	case !o.terminal():
		if _, err := fmt.Fprint(o.out, s.describe(name)); err != nil {
			return err
		}
		return &exitError{code: exitWaiting, err: fmt.Errorf("nothing was accepted: without a terminal, give --digest %s", s.digest())}
	default:
		yes, err := ask(ctx, o.in, o.out, s.describe(name)+"\nMay Deskhand start it from now on? Type yes: ")
		if err != nil {
			return err
		}
		if !yes {
			return &exitError{code: exitFailed, err: errors.New("nothing was accepted")}
		}
	}
	if err := accept(o.home, name, s); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "Accepted: %s may be started.\n", visible(name))
	return err
}
