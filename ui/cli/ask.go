package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

func newAsk(o *options) *cobra.Command {
	var asJSON, structured, queue bool
	var conversation string
	cmd := &cobra.Command{
		Use:   "ask TEXT",
		Short: "Ask one thing; exits with 3 if a decision waits",
		Long: "Ask one thing in a new conversation, or in the one that --conversation names, and print the\n" +
			"answer. What spends money or breaks a promise is not done: it waits for deskhand approve or\n" +
			"deskhand deny, and the exit code is 3.\n\n" +
			"A conversation whose turn waits takes no message, and nothing is kept of it; with --queue the\n" +
			"message is kept and answered after the decision.",
		Example: `  deskhand ask "what's the status of WO-1043"
  deskhand ask --json "order a 3 kW heating element for WO-1044"
  deskhand ask --conversation 01M8Q4ZJ6Y --queue "and who is free on Thursday?"`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return &usageError{errors.New("say what to ask, e.g.: deskhand ask \"status of WO-1043\"")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.answerOnly = structured
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				return d.ask(ctx, agent.SendRequest{
					Text: strings.Join(args, " "), Conversation: agent.ConversationID(conversation), Queue: queue,
				}, asJSON)
			})
		},
		PreRunE: func(*cobra.Command, []string) error {
			if structured && !asJSON {
				return &usageError{errors.New("--structured is a form of --json: deskhand ask --json --structured TEXT")}
			}
			return nil
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&structured, "structured", false, "with --json: print answer, orderIds and approvalId only, as in the served /schema.json")
	cmd.Flags().BoolVar(&queue, "queue", false, "put the message behind a turn that waits")
	cmd.Flags().StringVar(&conversation, "conversation", "", "ask in the conversation `ID` instead of a new one")
	return cmd
}

func (d *desk) ask(ctx context.Context, r agent.SendRequest, asJSON bool) error {
	if r.Conversation != "" {
		if _, err := d.store.Snapshot(ctx, r.Conversation); err != nil {
			return notFound("conversation", string(r.Conversation), err)
		}
	}
	if err := d.meetCompany(ctx); err != nil {
		return err
	}
	report, err := d.engine.Send(ctx, r)
	if err == nil && r.Queue {
		if queued, readErr := d.queued(ctx, report.ConversationID); readErr != nil || queued > 0 {
			return d.behind(report, readErr, asJSON)
		}
	}
	return d.conclude(report, err, asJSON)
}

// queued counts the messages that wait behind a conversation's open turn.
func (d *desk) queued(ctx context.Context, id agent.ConversationID) (int, error) {
	s, err := d.store.Snapshot(ctx, id)
	return len(s.Head.Queue), err
}

// behind says that a message was kept and what it waits for. Whatever keeps the
// turn open, a person has to act before the message is answered.
func (d *desk) behind(report agent.Report, err error, asJSON bool) error {
	if err == nil && !asJSON {
		_, err = io.WriteString(d.options.out, "Your message is kept and is sent when this is done:\n")
	}
	if err := errors.Join(err, d.print(report, asJSON)); err != nil {
		return err
	}
	return &exitError{code: exitWaiting}
}

// meetCompany asks the servers about the company, so that time and user are
// theirs. A server that is down is no reason not to go on: what is last known
// counts, and the call that needs the server says so itself. A user whom the
// company does not know is one.
func (d *desk) meetCompany(ctx context.Context) error {
	err := d.askCompany(ctx)
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	if err != nil {
		d.notices = append(d.notices, err.Error())
	}
	return nil
}
