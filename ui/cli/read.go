package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

// readCommand makes cmd a command that only reads.
func readCommand(o *options, cmd *cobra.Command, read func(ctx context.Context, d *desk, args []string, asJSON bool) error) *cobra.Command {
	var asJSON bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withDesk(cmd, o, func(ctx context.Context, d *desk) error { return read(ctx, d, args, asJSON) })
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func newApprovals(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List what waits, what is unknown, and what was approved and not sent",
		Example: `  deskhand approvals
  deskhand approvals --json`,
		Args: noArguments,
	}
	return readCommand(o, cmd, func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
		waiting, err := d.engine.Waiting(ctx)
		if err != nil {
			return err
		}
		if err := d.noteUnusable(ctx); err != nil {
			return err
		}
		if err := d.tell(); err != nil {
			return err
		}
		if asJSON {
			return printJSON(o.out, waiting)
		}
		if len(waiting) == 0 {
			_, err := fmt.Fprintln(o.out, "Nothing waits.")
			return err
		}
		return printWaiting(ctx, o.out, d, waiting)
	})
}

func printWaiting(ctx context.Context, w io.Writer, d *desk, waiting []agent.ApprovalReport) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSTATE\tSINCE\tWHAT") // a tabwriter reports its errors at Flush
	for _, a := range waiting {
		what := string(a.Tool) + " " + string(a.Args)
		if found, err := d.store.Approvals(ctx, []agent.ApprovalID{a.ApprovalID}); err == nil && len(found) == 1 {
			what = found[0].Summary()
		}
		if a.Reason != "" {
			what += " (" + a.Reason + ")"
		}
		state := string(a.Status)
		if a.Status == agent.CallApproved {
			state = "approved, not sent"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", nameOf(a), state, a.RequestedAt.Format("Mon 2 Jan 15:04"), oneLine(visible(what)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, a := range waiting {
		if _, err := io.WriteString(w, remarks(a)); err != nil {
			return err
		}
	}
	return nil
}

func newConversations(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "conversations",
		Short:   "List the conversations, the newest first",
		Example: "  deskhand conversations --json",
		Args:    noArguments,
	}
	return readCommand(o, cmd, func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
		heads, err := d.store.Conversations(ctx, 0, 0)
		if err != nil {
			return err
		}
		rows := make([]conversationRow, 0, len(heads))
		for _, h := range heads {
			rows = append(rows, rowOf(h))
		}
		if asJSON {
			return printJSON(o.out, rows)
		}
		if len(rows) == 0 {
			_, err := fmt.Fprintln(o.out, "There are no conversations yet.")
			return err
		}
		table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tSTATE\tLAST\tTITLE")
		for _, r := range rows {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.ID, r.Status, r.Updated.Format("Mon 2 Jan 15:04"), oneLine(visible(r.Title)))
		}
		return table.Flush()
	})
}

// conversationRow is a conversation in a list.
type conversationRow struct {
	ID      agent.ConversationID `json:"conversationId"`
	Title   string               `json:"title"`
	Status  string               `json:"status"`
	Created time.Time            `json:"created"`
	Updated time.Time            `json:"updated"`
}

func rowOf(h agent.Head) conversationRow {
	row := conversationRow{ID: h.Conversation, Title: h.Title, Status: "idle", Created: h.Created, Updated: h.Updated}
	if h.Open != nil {
		row.Status = string(h.Open.State)
	}
	return row
}

func newAudit(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Show who was shown, decided and sent what, when, and what came of it",
		Example: "  deskhand audit --json",
		Args:    noArguments,
	}
	return readCommand(o, cmd, func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
		lines, err := d.store.Audit(ctx, "")
		if err != nil {
			return err
		}
		slices.SortStableFunc(lines, func(a, b agent.AuditLine) int { return a.At.Compare(b.At) })
		if asJSON {
			if lines == nil {
				lines = []agent.AuditLine{}
			}
			return printJSON(o.out, lines)
		}
		return printAudit(o.out, lines)
	})
}

func printAudit(w io.Writer, lines []agent.AuditLine) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "Nothing was asked, decided or sent yet.")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "AT\tID\tSTEP\tTOOL\tSTATE\tNOTE")
	for _, l := range lines {
		by := ""
		if l.By != nil {
			by = "by " + l.By.DisplayName() + " "
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", l.At.Format("2006-01-02 15:04:05"),
			cmp.Or(string(l.Approval), string(l.Call)), l.Step, l.Tool, l.State, oneLine(visible(by+l.Note)))
	}
	return table.Flush()
}
