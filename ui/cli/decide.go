package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

func newApprove(o *options) *cobra.Command {
	var asJSON bool
	var note string
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve what waits, and send it; also sends what was approved and not sent",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				id := agent.ApprovalID(args[0])
				if err := d.knows(ctx, id); err != nil {
					return err
				}
				report, err := d.engine.Approve(ctx, agent.DecideRequest{Approval: id, Note: note})
				return d.decided(ctx, report, err, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "a remark to keep with the decision")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// knows makes sure that an approval exists before any server is started.
func (d *desk) knows(ctx context.Context, id agent.ApprovalID) error {
	found, err := d.store.Approvals(ctx, []agent.ApprovalID{id})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("there is no approval %s; see deskhand approvals", id)
	}
	return nil
}

// decided goes on with what else the turn needs after a decision, and prints
// where it stands.
func (d *desk) decided(ctx context.Context, report agent.Report, err error, asJSON bool) error {
	if err == nil && report.Status != agent.TurnCompleted && report.Status != agent.TurnAborted {
		if resumeErr := d.engine.ResumeTurn(ctx, report.ConversationID); resumeErr != nil {
			d.notices = append(d.notices, resumeErr.Error())
		}
		fresh, readErr := d.engine.Report(ctx, report.ConversationID)
		if readErr == nil {
			report = fresh
		}
	}
	var stalled *agent.StallError
	if errors.As(err, &stalled) {
		err = fmt.Errorf("the decision stands; %w", err)
	}
	return d.conclude(report, err, asJSON)
}

func newDeny(o *options) *cobra.Command {
	var asJSON bool
	var reason string
	cmd := &cobra.Command{
		Use:   "deny ID",
		Short: "Decline what waits; needs no server",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				id := agent.ApprovalID(args[0])
				if err := d.knows(ctx, id); err != nil {
					return err
				}
				report, err := d.engine.Deny(ctx, agent.DecideRequest{Approval: id, Note: reason})
				return d.decided(ctx, report, err, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; the assistant hears it word for word")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newSettle(o *options) *cobra.Command {
	var asJSON bool
	var note string
	cmd := &cobra.Command{
		Use:   "settle ID happened|did-not-happen|resend",
		Short: "Say what a call with unknown outcome really did",
		Args:  exactly("ID", "WHAT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			as := agent.SettleAs(args[1])
			if as != agent.SettleHappened && as != agent.SettleNot && as != agent.SettleResend {
				return &usageError{fmt.Errorf("%q: say happened, did-not-happen or resend", args[1])}
			}
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				r := agent.SettleRequest{As: as, Note: note, Call: agent.CallID(args[0])}
				if err := d.knows(ctx, agent.ApprovalID(args[0])); err == nil {
					r.Approval = agent.ApprovalID(args[0])
				}
				report, err := d.engine.Settle(ctx, r)
				return d.decided(ctx, report, notFound("call", args[0], err), asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "how it is known")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newContinue(o *options) *cobra.Command {
	return conversationCommand(o, "continue ID", "Go on with a stalled turn", (*agent.Engine).Continue)
}

func newAbort(o *options) *cobra.Command {
	return conversationCommand(o, "abort ID", "End a conversation's open turn; what waits is cancelled", (*agent.Engine).Abort)
}

// conversationCommand is a command that does one thing to one conversation.
func conversationCommand(o *options, use, short string, do func(*agent.Engine, context.Context, agent.ConversationID) (agent.Report, error)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error {
				report, err := do(d.engine, ctx, agent.ConversationID(args[0]))
				return d.conclude(report, notFound("conversation", args[0], err), asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
