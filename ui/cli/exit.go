package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"deskhand/agent"
)

// The exit codes of every command.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitWaiting = 3
	exitUnknown = 4
)

// usageError is a mistake on the command line or in the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// exitError ends a command with a code after its output was printed. A nil err
// prints nothing more.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *exitError) Unwrap() error { return e.err }

// report prints an error in one line and gives the exit code that it stands
// for.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	if text := sentence(err); text != "" {
		_, _ = fmt.Fprintln(w, "deskhand: "+oneLine(visible(text))) // there is nowhere to report a failing standard error
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var exit *exitError
	var usage *usageError
	var changed *agent.ChangedError
	var busy *agent.BusyError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &changed), errors.As(err, &busy) && busy.State != agent.TurnStalled:
		return exitWaiting
	}
	return exitFailed
}

// sentence turns an error into what a person reads: what is wrong and what to
// do next.
func sentence(err error) string {
	var (
		changed     *agent.ChangedError
		busy        *agent.BusyError
		unreachable *agent.UnreachableError
		notSent     *agent.NotSentError
		limit       *agent.LimitError
		stalled     *agent.StallError
		idle        *agent.NotStalledError
		decided     *agent.DecidedError
		mistake     *usageError
	)
	switch {
	case errors.As(err, &mistake):
		return err.Error()
	case errors.As(err, &decided):
		return decided.Error() + decidedNext(decided.Approval)
	case errors.As(err, &changed):
		var parts []string
		for _, c := range changed.New.Changes {
			parts = append(parts, fmt.Sprintf("%s now %s (was %s)", c.Term, c.New, c.Old))
		}
		return fmt.Sprintf("nothing was sent: %s; decide on the new card with: deskhand approve %s", strings.Join(parts, ", "), changed.New.ID)
	case errors.As(err, &busy):
		return fmt.Sprintf("the conversation's turn is %s, so it takes no message and nothing was kept; %s, or add --queue", busy.State, busyNext(busy))
	case errors.As(err, &unreachable):
		return fmt.Sprintf("the server %s cannot be reached: %v; nothing was recorded or sent, and what waited still waits: start the server and try again", unreachable.Server, unreachable.Err)
	case errors.As(err, &notSent):
		return fmt.Sprintf("%s is approved, not sent: %s; send it with: deskhand approve %s", notSent.Approval, notSent.Reason, notSent.Approval)
	case errors.As(err, &limit):
		return limit.Error() + "; nothing was recorded: let somebody who may approve it, with --user"
	case errors.As(err, &stalled):
		return fmt.Sprintf("%s; go on with: deskhand continue %s", stalled.Reason, stalled.Conversation)
	case errors.As(err, &idle):
		return idle.Error() + idleNext(idle)
	case errors.Is(err, agent.ErrNoOpenTurn):
		return "the conversation has no open turn, so there is nothing to end"
	case errors.Is(err, syscall.EPIPE):
		return "nobody reads the output any more; what was done is kept: see deskhand conversations"
	case errors.Is(err, context.Canceled):
		return "stopped before it was done; see deskhand conversations"
	}
	return err.Error()
}

// decidedNext says where the decision went that somebody took before.
func decidedNext(a agent.Approval) string {
	if a.State == agent.ApprovalSuperseded {
		return "; decide that one"
	}
	return "; see deskhand show " + string(a.Conversation)
}

// idleNext says what there is to do instead of continuing.
func idleNext(idle *agent.NotStalledError) string {
	switch idle.State {
	case "":
		return fmt.Sprintf("; ask with: deskhand ask --conversation %s TEXT", idle.Conversation)
	case agent.TurnPaused:
		return "; decide what waits (see deskhand approvals), and it goes on by itself"
	}
	return "; it goes on by itself"
}

// busyNext says what ends the turn that keeps a conversation busy.
func busyNext(busy *agent.BusyError) string {
	if busy.State == agent.TurnStalled {
		return fmt.Sprintf("go on with deskhand continue %s", busy.Conversation)
	}
	return "decide first (see deskhand approvals)"
}

// oneLine folds text of several lines into one.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
