package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"deskhand/agent"
	"deskhand/ui/console"
)

// conclude prints where a turn stands and turns that into an exit code. A turn
// that stalled, or a call that was not sent, is printed before its error.
func (d *desk) conclude(report agent.Report, err error, asJSON bool) error {
	if report.TurnID == "" {
		return err
	}
	if printErr := d.print(report, asJSON); printErr != nil {
		return errors.Join(err, printErr)
	}
	if err != nil {
		return err
	}
	return statusExit(report)
}

// statusExit is the exit code of a turn that went as far as it could.
func statusExit(r agent.Report) error {
	for _, c := range r.Calls {
		if c.Status == agent.CallUnknown {
			return &exitError{code: exitUnknown}
		}
	}
	switch r.Status {
	case agent.TurnPaused, agent.TurnThinking, agent.TurnActing:
		return &exitError{code: exitWaiting}
	case agent.TurnStalled:
		return &agent.StallError{Conversation: r.ConversationID, Reason: r.Stall}
	}
	return nil
}

// print prints a report, with what a person can do next.
func (d *desk) print(r agent.Report, asJSON bool) error {
	if asJSON && d.options.answerOnly {
		return printJSON(d.options.out, r.DispatchAnswer)
	}
	if asJSON {
		return printJSON(d.options.out, r)
	}
	var text strings.Builder
	text.WriteString(answerText(r.Answer, r.Ledger))
	for _, a := range r.Approvals {
		text.WriteString(remarks(a))
		if step := nextStep(a); step != "" && d.options.store != storeMemory {
			text.WriteString(step + "\n")
		}
	}
	if len(r.Approvals) > 0 && d.options.store == storeMemory {
		text.WriteString("Nothing of this was kept, so it cannot be decided: ask again without --store memory.\n")
	}
	_, err := io.WriteString(d.options.out, text.String())
	return err
}

// answerText is an answer with its ledger line.
func answerText(answer, ledger string) string {
	var text strings.Builder
	if answer != "" {
		text.WriteString(visible(console.PlainText(answer)) + "\n")
	}
	if ledger != "" {
		text.WriteString("— " + visible(ledger) + "\n")
	}
	return text.String()
}

// remarks are what a person should know before deciding, beside the summary: why
// it is asked at all, and what the preview warns of.
func remarks(a agent.ApprovalReport) string {
	if a.Status != agent.CallWaiting {
		return ""
	}
	var text strings.Builder
	if a.Because != "" {
		fmt.Fprintf(&text, "%s asks because: %s\n", a.ApprovalID, oneLine(visible(a.Because)))
	}
	for _, w := range a.Warnings {
		fmt.Fprintf(&text, "%s warns: %s\n", a.ApprovalID, oneLine(visible(w.Message)))
	}
	return text.String()
}

// nextStep says how to act on what waits.
func nextStep(a agent.ApprovalReport) string {
	switch a.Status {
	case agent.CallWaiting:
		return fmt.Sprintf("Decide with: deskhand approve %s, or deskhand deny %s", a.ApprovalID, a.ApprovalID)
	case agent.CallApproved:
		return fmt.Sprintf("Send it with: deskhand approve %s, or drop it with: deskhand deny %s", a.ApprovalID, a.ApprovalID)
	case agent.CallUnknown:
		return fmt.Sprintf("Settle it with: deskhand settle %s happened|did-not-happen|resend", nameOf(a))
	}
	return ""
}

// nameOf is how people address what waits: by its approval where it had one,
// else by the call's own id.
func nameOf(a agent.ApprovalReport) string {
	return cmp.Or(string(a.ApprovalID), string(a.CallID))
}

// notFound words the error of a record that a person named.
func notFound(what, id string, err error) error {
	if errors.Is(err, agent.ErrNotFound) {
		return fmt.Errorf("there is no %s %s", what, id)
	}
	return err
}

// answered prints the answer of a turn that has ended, if it is not the one
// that report is about: after a decision, a queued message may have begun the
// next turn already.
func (d *desk) answered(ctx context.Context, turn agent.TurnID, report agent.Report) error {
	if turn == "" || turn == report.TurnID {
		return nil
	}
	turns, err := d.store.Turns(ctx, []agent.TurnID{turn})
	if err != nil || len(turns) == 0 || turns[0].LastMessage == 0 {
		return err
	}
	messages, err := d.store.Messages(ctx, turns[0].Conversation, turns[0].LastMessage+1, 1)
	if err != nil || len(messages) == 0 {
		return err
	}
	_, err = io.WriteString(d.options.out, answerText(messages[0].Text, turns[0].Ledger))
	return err
}
