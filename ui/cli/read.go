package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

// readCommand is a command that only reads.
func readCommand(o *options, use, short string, args cobra.PositionalArgs, read func(ctx context.Context, d *desk, args []string, asJSON bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error { return read(ctx, d, args, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newApprovals(o *options) *cobra.Command {
	return readCommand(o, "approvals", "List what waits, what is unknown, and what was approved and not sent", noArguments,
		func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
			waiting, err := d.engine.Waiting(ctx)
			if err != nil {
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
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", firstOf(string(a.ApprovalID), string(a.CallID)), state, a.RequestedAt.Format("Mon 2 Jan 15:04"), oneLine(visible(what)))
	}
	return table.Flush()
}

func newConversations(o *options) *cobra.Command {
	return readCommand(o, "conversations", "List the conversations, the newest first", noArguments,
		func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
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

// shown is a conversation as show prints it.
type shown struct {
	conversationRow
	Turn     agent.Report   `json:"turn"`
	Messages []shownMessage `json:"messages"`
}

type shownMessage struct {
	Number int                `json:"number"`
	Role   agent.Role         `json:"role"`
	Text   string             `json:"text,omitempty"`
	At     time.Time          `json:"at"`
	Calls  []agent.CallReport `json:"calls,omitempty"`
	Ledger string             `json:"ledger,omitempty"`
}

func newShow(o *options) *cobra.Command {
	return readCommand(o, "show ID", "Show a conversation with its calls", exactly("ID"),
		func(ctx context.Context, d *desk, args []string, asJSON bool) error {
			id := agent.ConversationID(args[0])
			s, err := d.store.Snapshot(ctx, id)
			if err != nil {
				return notFound("conversation", args[0], err)
			}
			report, err := d.engine.Report(ctx, id)
			if err != nil {
				return err
			}
			entries, err := d.engine.Transcript(ctx, id, 0, s.Head.NextMessage)
			if err != nil {
				return err
			}
			out := shown{conversationRow: rowOf(s.Head), Turn: report, Messages: []shownMessage{}}
			for _, e := range entries {
				out.Messages = append(out.Messages, messageOf(e))
			}
			if asJSON {
				return printJSON(o.out, out)
			}
			return printConversation(o.out, out)
		})
}

func messageOf(e agent.TranscriptEntry) shownMessage {
	m := shownMessage{Number: e.Message.Number, Role: e.Message.Role, Text: e.Message.Text, At: e.Message.At}
	for _, c := range e.Calls {
		m.Calls = append(m.Calls, agent.ReportCall(c))
	}
	if e.Turn != nil {
		m.Ledger = e.Turn.Ledger
	}
	return m
}

func printConversation(w io.Writer, c shown) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s  %s\n\n", c.ID, visible(c.Title))
	for _, m := range c.Messages {
		name := "assistant"
		if m.Role == agent.RoleUser {
			name = "you"
		}
		if m.Text != "" {
			fmt.Fprintf(&text, "%s %s: %s\n", m.At.Format("15:04"), name, visible(m.Text))
		}
		for _, call := range m.Calls {
			fmt.Fprintf(&text, "      %s %s  [%s] %s\n", visible(string(call.Tool)), visible(string(call.Args)), call.Status, call.ApprovalID)
		}
		if m.Ledger != "" {
			fmt.Fprintf(&text, "      — %s\n", visible(m.Ledger))
		}
	}
	if c.Turn.Status == agent.TurnPaused || c.Turn.Status == agent.TurnStalled {
		fmt.Fprintf(&text, "\n%s\n", visible(c.Turn.Answer))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func newAudit(o *options) *cobra.Command {
	return readCommand(o, "audit", "Show who was shown, decided and sent what, when, and what came of it", noArguments,
		func(ctx context.Context, d *desk, _ []string, asJSON bool) error {
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
			table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
			for _, l := range lines {
				by := ""
				if l.By != nil {
					by = "by " + l.By.DisplayName()
				}
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", l.At.Format("2006-01-02 15:04:05"), firstOf(string(l.Approval), string(l.Call)), l.Step, l.Tool, l.State, oneLine(visible(by+" "+l.Note)))
			}
			return table.Flush()
		})
}
