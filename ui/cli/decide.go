package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

func newApprove(o *options) *cobra.Command {
	var asJSON bool
	var sets []string
	var r agent.DecideRequest
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve what waits, and send it; also sends what was approved and not sent",
		Long: "Approve what waits under this id (see deskhand approvals), send it once, and print how the turn\n" +
			"goes on. What was approved earlier and could not be sent is sent now.\n\n" +
			"Before anything is sent it is looked at once more. If the terms have changed, nothing is sent: a\n" +
			"new card waits under a new id, and the exit code is 3. If the server cannot be reached, nothing\n" +
			"is recorded. If the answer is lost, the exit code is 4; see deskhand settle.\n\n" +
			"With --set nothing is approved: a new card with the changed arguments waits under a new id, and\n" +
			"the exit code is 3.",
		Example: `  deskhand approve A-17
  deskhand approve A-17 --set quantity=2
  deskhand approve A-17 --note "agreed with the hotel by phone"`,
		Args: anIDFrom("approvals"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Approval = agent.ApprovalID(args[0])
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				if len(sets) > 0 {
					return d.edit(ctx, r.Approval, sets, asJSON)
				}
				return d.decide(ctx, r, (*agent.Engine).Approve, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&r.Note, "note", "", "keep `TEXT` with the decision")
	cmd.Flags().StringArrayVar(&sets, "set", nil, "change an argument (`path=value`) and put up a new card instead of approving")
	addJSON(cmd, &asJSON)
	return cmd
}

func newDeny(o *options) *cobra.Command {
	var asJSON bool
	var r agent.DecideRequest
	cmd := &cobra.Command{
		Use:   "deny ID",
		Short: "Decline what waits; needs no server",
		Long: "Decline what waits under this id, or what was approved and not sent. The assistant is told, with\n" +
			"the reason word for word, and goes on. The decision is kept even if the assistant then fails.",
		Example: `  deskhand deny A-17
  deskhand deny A-17 --reason "wrong size"`,
		Args: anIDFrom("approvals"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Approval = agent.ApprovalID(args[0])
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				return d.decide(ctx, r, (*agent.Engine).Deny, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&r.Note, "reason", "", "give `TEXT` as the reason; the assistant hears it word for word")
	addJSON(cmd, &asJSON)
	return cmd
}

func newSettle(o *options) *cobra.Command {
	var asJSON bool
	var note string
	cmd := &cobra.Command{
		Use:   "settle ID happened|did-not-happen|resend",
		Short: "Say what a call with unknown outcome really did",
		Long: "Say what a call really did whose answer was lost (see deskhand approvals), after looking it up or\n" +
			"asking the supplier. \"resend\" sends it again with the key that it had, so that a server which\n" +
			"keeps keys does nothing twice; other servers only after the call's time is over.",
		Example: `  deskhand settle A-17 happened --note "the supplier confirmed it by phone"
  deskhand settle A-17 resend`,
		Args: exactly("ID", "WHAT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := agent.SettleRequest{As: agent.SettleAs(args[1]), Note: note}
			if r.As != agent.SettleHappened && r.As != agent.SettleNot && r.As != agent.SettleResend {
				return &usageError{fmt.Errorf("%q is no answer: say happened, did-not-happen or resend", args[1])}
			}
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error { return d.settle(ctx, args[0], r, asJSON) })
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "say with `TEXT` how it is known")
	addJSON(cmd, &asJSON)
	return cmd
}

func newContinue(o *options) *cobra.Command {
	cmd := conversationCommand(o, (*agent.Engine).Continue)
	cmd.Use, cmd.Short = "continue ID", "Go on with a stalled turn"
	cmd.Long = "Go on with a conversation's turn that the model, a limit or a signal stopped. What was decided and\n" +
		"done before stands. See deskhand conversations for the id."
	cmd.Example = "  deskhand continue 01M8Q4ZJ6Y0000000000000000"
	return cmd
}

func newAbort(o *options) *cobra.Command {
	cmd := conversationCommand(o, func(e *agent.Engine, ctx context.Context, id agent.ConversationID) (agent.Report, error) {
		report, err := e.Abort(ctx, id)
		if err != nil {
			return report, err
		}
		return report, giveBackQueue(ctx, e, id, o.err)
	})
	cmd.Use, cmd.Short = "abort ID", "End a conversation's open turn; what waits is cancelled"
	cmd.Long = "End a conversation's open turn, whatever its state. What waits is cancelled and never sent; a call\n" +
		"that was out becomes unknown and stays listed until it is settled."
	cmd.Example = "  deskhand abort 01M8Q4ZJ6Y0000000000000000"
	return cmd
}

// giveBackQueue prints the lines that waited behind a stopped turn, and takes
// them out of the queue: they are not sent by themselves any more.
func giveBackQueue(ctx context.Context, e *agent.Engine, id agent.ConversationID, w io.Writer) error {
	for {
		text, err := e.Unqueue(ctx, id, 0)
		if errors.Is(err, agent.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "This line waited behind it and was not sent: %s\n", oneLine(visible(text))); err != nil {
			return err
		}
	}
}

// conversationCommand is a command that does one thing to one conversation.
func conversationCommand(o *options, do func(*agent.Engine, context.Context, agent.ConversationID) (agent.Report, error)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Args: anIDFrom("conversations"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				report, err := do(d.engine, ctx, agent.ConversationID(args[0]))
				return d.conclude(report, notFound("conversation", args[0], err), asJSON)
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// decide takes a decision and goes on with its turn. That the approval exists
// is made sure of before any server is started.
func (d *desk) decide(ctx context.Context, r agent.DecideRequest, verb func(*agent.Engine, context.Context, agent.DecideRequest) (agent.Report, error), asJSON bool) error {
	a, err := d.approval(ctx, r.Approval)
	if err != nil {
		return err
	}
	report, err := verb(d.engine, ctx, r)
	return d.decided(ctx, a.Turn, report, err, asJSON)
}

// approval reads the approval that a person named.
func (d *desk) approval(ctx context.Context, id agent.ApprovalID) (agent.Approval, error) {
	found, err := d.store.Approvals(ctx, []agent.ApprovalID{id})
	if err != nil {
		return agent.Approval{}, err
	}
	if len(found) == 0 {
		return agent.Approval{}, d.noApproval(ctx, id)
	}
	return found[0], nil
}

// noApproval says that there is no such approval here, and where else it may be.
func (d *desk) noApproval(ctx context.Context, id agent.ApprovalID) error {
	unusable, err := d.engine.Unusable(ctx)
	if err != nil {
		return err
	}
	for _, u := range unusable {
		if u.Approval == id {
			return errors.New(unusableSentence(u))
		}
	}
	if aside := d.options.setAside(); len(aside) > 0 {
		return fmt.Errorf("there is no approval %s; see deskhand approvals (what waited on the desk that was damaged is in %s)", id, aside[0])
	}
	return fmt.Errorf("there is no approval %s; see deskhand approvals", id)
}

// settle settles a call that is named by its approval or by its own id.
func (d *desk) settle(ctx context.Context, id string, r agent.SettleRequest, asJSON bool) error {
	var turn agent.TurnID
	approvals, err := d.store.Approvals(ctx, []agent.ApprovalID{agent.ApprovalID(id)})
	switch {
	case err != nil:
		return err
	case len(approvals) > 0:
		r.Approval, turn = approvals[0].ID, approvals[0].Turn
	default:
		r.Call = agent.CallID(id)
	}
	report, err := d.engine.Settle(ctx, r)
	return d.decided(ctx, turn, report, notFound("call", id, err), asJSON)
}

// decided goes on with what else the turn needs after a decision, and prints
// where it stands.
func (d *desk) decided(ctx context.Context, turn agent.TurnID, report agent.Report, err error, asJSON bool) error {
	if err == nil && report.Status != agent.TurnCompleted && report.Status != agent.TurnAborted {
		if resumeErr := d.engine.ResumeTurn(ctx, report.ConversationID); resumeErr != nil {
			d.notices = append(d.notices, resumeErr.Error())
		}
		report, err = d.engine.Report(context.WithoutCancel(ctx), report.ConversationID)
	}
	var stalled *agent.StallError
	if errors.As(err, &stalled) {
		err = &exitError{code: exitFailed, err: fmt.Errorf("the decision stands, but %s", sentence(err))}
	}
	if !asJSON && report.TurnID != "" {
		if printErr := d.answered(ctx, turn, report); printErr != nil {
			return errors.Join(err, printErr)
		}
	}
	return d.conclude(report, err, asJSON)
}
