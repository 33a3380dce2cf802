package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the program with the process's own streams and gives its exit code.
func Main(args []string) int {
	// A command that is told to stop ends its waiting; what it decided or sent
	// is on disk. The console handles signals itself.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return run(ctx, args, options{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv})
}

// run parses and runs one command line.
func run(ctx context.Context, args []string, o options) int {
	root := newRoot(&o)
	root.SetArgs(args)
	root.SetIn(o.in)
	root.SetOut(o.out)
	root.SetErr(o.err)
	return report(o.err, root.ExecuteContext(ctx))
}

func newRoot(o *options) *cobra.Command {
	root := &cobra.Command{
		Use:   "deskhand",
		Short: "A dispatcher's console: looks things up, books visits, and asks before it spends money",
		Long: "Deskhand is a terminal console for a field-service dispatcher. Looking things up and booking\n" +
			"visits just happens. Spending money waits at a card until you press a key. What waits is on\n" +
			"disk: close the terminal, start again, and the same decision is there.\n\n" +
			"Without a terminal it reads lines and answers them.",
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return o.resolve()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runConsole(cmd.Context(), *o) },
	}
	o.addTo(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see deskhand --help", err)}
	})
	root.AddCommand(
		newAsk(o), newApprovals(o), newApprove(o), newDeny(o), newSettle(o), newContinue(o), newAbort(o),
		newConversations(o), newShow(o), newAudit(o), newWorkOrders(o), newConfig(o), newDoctor(o),
	)
	for _, cmd := range root.Commands() {
		if cmd.Args == nil {
			cmd.Args = noArguments
		}
	}
	return root
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

// exactly wants n arguments with these names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return &usageError{fmt.Errorf("usage: %s", cmd.UseLine())}
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
