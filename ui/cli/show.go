package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskhand/agent"
)

// shown is a conversation as show prints it.
type shown struct {
	conversationRow
	Turn     agent.Report   `json:"turn"`
	Messages []shownMessage `json:"messages"`
	// Queue are the messages that wait behind the open turn.
	Queue []queuedMessage `json:"queue"`
}

type shownMessage struct {
	Number int                `json:"number"`
	Role   agent.Role         `json:"role"`
	Text   string             `json:"text,omitempty"`
	At     time.Time          `json:"at"`
	Calls  []agent.CallReport `json:"calls,omitempty"`
	Ledger string             `json:"ledger,omitempty"`
}

type queuedMessage struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

func newShow(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a conversation with its calls",
		Example: "  deskhand show 01M8Q4ZJ6Y0000000000000000",
		Args:    anIDFrom("conversations"),
	}
	return readCommand(o, cmd, func(ctx context.Context, d *desk, args []string, asJSON bool) error {
		c, err := d.show(ctx, agent.ConversationID(args[0]))
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(o.out, c)
		}
		return c.print(o.out)
	})
}

// show reads a conversation with everything that it shows.
func (d *desk) show(ctx context.Context, id agent.ConversationID) (shown, error) {
	s, err := d.store.Snapshot(ctx, id)
	if err != nil {
		return shown{}, notFound("conversation", string(id), err)
	}
	out := shown{conversationRow: rowOf(s.Head), Messages: []shownMessage{}, Queue: []queuedMessage{}}
	if out.Turn, err = d.engine.Report(ctx, id); err != nil {
		return out, err
	}
	entries, err := d.engine.Transcript(ctx, id, 0, s.Head.NextMessage)
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		out.Messages = append(out.Messages, messageOf(e))
	}
	for _, q := range s.Head.Queue {
		out.Queue = append(out.Queue, queuedMessage{Text: q.Text, At: q.At})
	}
	return out, nil
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

// margin is what stands before every line that continues one: only the
// beginning of a message reaches the left edge, so that no text can look like
// one.
const margin = "      "

func (c shown) print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s  %s\n\n", c.ID, oneLine(visible(c.Title)))
	for _, m := range c.Messages {
		m.print(&text)
	}
	if c.Turn.Status == agent.TurnPaused || c.Turn.Status == agent.TurnStalled {
		fmt.Fprintf(&text, "\n%s\n", inset(c.Turn.Answer))
	}
	for _, q := range c.Queue {
		fmt.Fprintf(&text, "%s queued: %s\n", q.At.Format("15:04"), inset(q.Text))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (m shownMessage) print(w io.Writer) {
	name := "assistant"
	if m.Role == agent.RoleUser {
		name = "you"
	}
	if m.Text != "" {
		_, _ = fmt.Fprintf(w, "%s %s: %s\n", m.At.Format("15:04"), name, inset(m.Text))
	}
	for _, call := range m.Calls {
		line := fmt.Sprintf("%s %s  [%s] %s", call.Tool, call.Args, call.Status, call.ApprovalID)
		_, _ = fmt.Fprintln(w, margin+oneLine(visible(line)))
	}
	if m.Ledger != "" {
		_, _ = fmt.Fprintln(w, margin+"— "+oneLine(visible(m.Ledger)))
	}
}

// inset makes text safe, with a margin before every line but the first.
func inset(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(visible(text)), "\n", "\n"+margin)
}
