package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

func newAsk(o *options) *cobra.Command {
	var asJSON, queue bool
	var conversation string
	cmd := &cobra.Command{
		Use:   "ask [flags] TEXT",
		Short: "Ask one thing; exits with 3 if a decision waits",
		Example: `  deskhand ask "what's the status of WO-1043"
  deskhand ask --json "order a 3 kW heating element for WO-1044"`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return &usageError{errors.New("say what to ask, e.g.: deskhand ask \"status of WO-1043\"")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				return d.ask(ctx, agent.SendRequest{
					Text: strings.Join(args, " "), Conversation: agent.ConversationID(conversation), Queue: queue,
				}, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&queue, "queue", false, "put the message behind a turn that waits")
	cmd.Flags().StringVar(&conversation, "conversation", "", "ask in this conversation instead of a new one")
	return cmd
}

// withDesk opens the desk for one command and prints what it has to say about
// itself.
func withDesk(cmd *cobra.Command, o *options, do func(context.Context, *desk) error) error {
	d, err := openDesk(cmd.Context(), *o, commandWait)
	if err != nil {
		return err
	}
	defer d.close()
	for _, notice := range d.notices {
		if _, err := fmt.Fprintln(o.err, notice); err != nil {
			return err
		}
	}
	return do(cmd.Context(), d)
}

func (d *desk) ask(ctx context.Context, r agent.SendRequest, asJSON bool) error {
	if r.Conversation != "" {
		if _, err := d.store.Snapshot(ctx, r.Conversation); err != nil {
			return notFound("conversation", string(r.Conversation), err)
		}
	}
	d.meetCompany(ctx)
	report, err := d.engine.Send(ctx, r)
	return d.conclude(report, err, asJSON)
}

// meetCompany asks the servers about the company, so that time and user are
// theirs. A server that is down is no reason not to go on: what is last known
// counts, and the call that needs the server says so itself.
func (d *desk) meetCompany(ctx context.Context) {
	if err := d.askCompany(ctx); err != nil {
		d.notices = append(d.notices, err.Error())
	}
}

// conclude prints where a turn stands and turns that into an exit code. A turn
// that stalled, or a call that was not sent, is printed before its error.
func (d *desk) conclude(report agent.Report, err error, asJSON bool) error {
	if report.TurnID == "" {
		return err
	}
	if printErr := printReport(d.options.out, report, asJSON); printErr != nil {
		return errors.Join(err, printErr)
	}
	if err != nil {
		return err
	}
	return statusExit(report)
}

// statusExit is the exit code of a turn that went as far as it could.
func statusExit(r agent.Report) error {
	for _, a := range r.Approvals {
		if a.Status == agent.CallUnknown {
			return &exitError{code: exitUnknown}
		}
	}
	for _, c := range r.Calls {
		if c.Status == agent.CallUnknown {
			return &exitError{code: exitUnknown}
		}
	}
	if r.Status == agent.TurnPaused || r.Status == agent.TurnThinking || r.Status == agent.TurnActing {
		return &exitError{code: exitWaiting}
	}
	return nil
}

func printReport(w io.Writer, r agent.Report, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	var text strings.Builder
	if r.Answer != "" {
		text.WriteString(visible(r.Answer) + "\n")
	}
	if r.Ledger != "" {
		text.WriteString("— " + visible(r.Ledger) + "\n")
	}
	for _, a := range r.Approvals {
		switch a.Status {
		case agent.CallWaiting:
			fmt.Fprintf(&text, "Decide with: deskhand approve %s, or deskhand deny %s\n", a.ApprovalID, a.ApprovalID)
		case agent.CallApproved:
			fmt.Fprintf(&text, "Send it with: deskhand approve %s, or drop it with: deskhand deny %s\n", a.ApprovalID, a.ApprovalID)
		case agent.CallUnknown:
			fmt.Fprintf(&text, "Settle it with: deskhand settle %s happened|did-not-happen|resend\n", firstOf(string(a.ApprovalID), string(a.CallID)))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// notFound words the error of a record that a person named.
func notFound(what, id string, err error) error {
	if errors.Is(err, agent.ErrNotFound) {
		return fmt.Errorf("there is no %s %s", what, id)
	}
	return err
}
