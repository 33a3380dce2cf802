package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Main runs the program with the process's own streams and gives its exit code.
func Main(args []string) int {
	// A command that is told to stop ends its waiting; what it decided or sent
	// is on disk. The console handles signals itself.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A reader that went away gives an error of the write instead of the
	// process's sudden end, so that desk and book are closed in order.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return run(ctx, args, options{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv})
}

// run parses and runs one command line.
func run(ctx context.Context, args []string, o options) int {
	o.args = args
	root := newRoot(&o)
	root.SetArgs(args)
	root.SetIn(o.in)
	root.SetOut(o.out)
	root.SetErr(o.err)
	var unknown error
	refuseUnknownHelp(root, &unknown)
	return report(o.err, cmp.Or(root.ExecuteContext(ctx), unknown))
}

func newRoot(o *options) *cobra.Command {
	root := &cobra.Command{
		Use:   "deskhand",
		Short: "A dispatcher's console: looks things up, books visits, and asks before it spends money",
		Long: "Deskhand is a terminal console for a field-service dispatcher. Looking things up and booking\n" +
			"visits just happens. Spending money waits at a card until you press a key. What waits is on\n" +
			"disk: close the terminal, start again, and the same decision is there.\n\n" +
			"Without a terminal it reads lines and answers them.\n\n" +
			"Exit codes: 0 done, 1 failed, 2 a mistake on the command line or in the configuration,\n" +
			"3 a decision waits, 4 it is not known what a call did.",
		Example: `  deskhand
  deskhand ask "order a 3 kW heating element for WO-1044"
  deskhand approve A-1`,
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("wait") && o.wait == 0 {
				o.wait = time.Nanosecond // one try, not the default
			}
			return o.resolve()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runConsole(cmd.Context(), *o) },
	}
	o.addTo(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.AddCommand(
		newAsk(o), newApprovals(o), newApprove(o), newDeny(o), newSettle(o), newContinue(o), newAbort(o),
		newConversations(o), newShow(o), newAudit(o), newDeskExport(o), newDeskServe(o), newCallerToken(o), newEval(o), newWorkOrders(o), newConfig(o), newDoctor(o), newServers(o),
	)
	root.SetHelpCommand(newHelp())
	wordHelp(root)
	return root
}

// wordHelp gives the help flag of a command and of all below it our words.
func wordHelp(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "say what this does"
	for _, below := range cmd.Commands() {
		wordHelp(below)
	}
}

// refuseUnknownHelp makes --help behind a word that is no command say so
// instead of helping with the command before it.
func refuseUnknownHelp(root *cobra.Command, failed *error) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		// cobra hands over the command line of cmd, flags and all, when a flag
		// asked for help, and nothing otherwise.
		for _, word := range cmd.Flags().Args() {
			if cmd.HasSubCommands() {
				*failed = noArguments(cmd, []string{word})
				return
			}
		}
		help(cmd, args)
	})
}

// newHelp is the help command; unlike cobra's it does not take a command that
// does not exist for an unasked question.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Say what a command does",
		Example: "  deskhand help ask",
		// Help needs no home, and must work where the flags do not.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{fmt.Errorf("there is no command %q; see deskhand --help", strings.Join(args, " "))}
			}
			return found.Help()
		},
	}
}

// noArguments refuses words that no command knows.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		return &usageError{fmt.Errorf("there is no command %q; see %s --help", args[0], cmd.CommandPath())}
	}
	return &usageError{fmt.Errorf("%s takes no arguments; see %s --help", cmd.CommandPath(), cmd.CommandPath())}
}

// addJSON declares the flag of every command that prints for scripts too.
func addJSON(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON for scripts")
}

// exactly wants one argument for each of these names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return &usageError{fmt.Errorf("usage: %s", cmd.UseLine())}
		}
		return nil
	}
}

// anIDFrom wants one id, and says which command lists them.
func anIDFrom(list string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &usageError{fmt.Errorf("usage: %s; deskhand %s lists the ids", cmd.UseLine(), list)}
		}
		return nil
	}
}

// printJSON prints one value, indented for people and one object for scripts.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
