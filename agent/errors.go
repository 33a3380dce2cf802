package agent

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound: the store has no such record.
var ErrNotFound = errors.New("not found")

// RecordError: a record cannot be used: it is missing, damaged, or was written by
// a newer program. It stays as it is, and nothing is sent because of it.
type RecordError struct {
	// Key is the record's key in the store.
	Key    string
	Reason string
	// Missing: there is no such record; the error is [ErrNotFound] too.
	Missing bool
}

// Is implements the interface of [errors.Is].
func (e *RecordError) Is(target error) bool { return e.Missing && target == ErrNotFound }

func (e *RecordError) Error() string {
	return fmt.Sprintf("the record %s cannot be used: %s", e.Key, e.Reason)
}

// UnusableError: what a person wanted to act on has a record that cannot be
// used.
type UnusableError struct{ Unusable }

func (e *UnusableError) Error() string {
	return fmt.Sprintf("%s can be neither approved nor denied: %v; nothing was sent", e.Name(), e.Record)
}

func (e *UnusableError) Unwrap() error { return e.Record }

// isUnusable reports whether a record was asked for that cannot be used.
func isUnusable(err error) bool {
	var broken *RecordError
	return errors.As(err, &broken)
}

// ErrNoOpenTurn: there is nothing in the conversation to end.
var ErrNoOpenTurn = errors.New("the conversation has no open turn")

// TransitionError: an event that the table does not allow in this state.
type TransitionError struct {
	State CallState
	Event Event
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("a call that is %s cannot %s", e.State, e.Event)
}

// Outcome says what became of a call that gave no result.
type Outcome string

// The outcomes of a failed call.
const (
	// OutcomeNotSent: it is certain that the tool did not run.
	OutcomeNotSent Outcome = "not sent"
	// OutcomeAnswered: the server answered with a protocol error; the tool did
	// not run, and asking again would give the same.
	OutcomeAnswered Outcome = "answered"
	// OutcomeUnknown: it may have run.
	OutcomeUnknown Outcome = "unknown"
)

// CallError is the error of every [Source.Call].
type CallError struct {
	Outcome Outcome
	// Server is the source's name.
	Server string
	Err    error
}

func (e *CallError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Server, e.Outcome, e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// BusyError: the conversation has an open turn, so it takes no new message.
type BusyError struct {
	Conversation ConversationID
	State        TurnState
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the conversation's turn is %s", e.State)
}

// NotStalledError: the conversation has no turn that could be continued.
type NotStalledError struct {
	Conversation ConversationID
	// State is that of the open turn; empty if there is none.
	State TurnState
}

func (e *NotStalledError) Error() string {
	if e.State == "" {
		return "the conversation has no open turn"
	}
	return fmt.Sprintf("the conversation's turn is %s, not stalled", e.State)
}

// DecidedError: the approval was decided, or ended, before.
type DecidedError struct{ Approval Approval }

func (e *DecidedError) Error() string {
	a := e.Approval
	switch {
	case a.Decision != nil:
		return fmt.Sprintf("%s was already %s by %s at %s", a.ID, a.State, a.Decision.By.DisplayName(), a.Decision.At.Format("15:04 on Mon 2 Jan 2006"))
	case a.State == ApprovalSuperseded:
		return fmt.Sprintf("%s was replaced by %s", a.ID, a.SupersededBy)
	default:
		return fmt.Sprintf("%s is %s: %s", a.ID, a.State, a.Closed)
	}
}

// DisplayName is the user's name, or the id where no name is known.
func (u User) DisplayName() string {
	if u.Name != "" {
		return u.Name
	}
	if u.ID != "" {
		return string(u.ID)
	}
	return "an unnamed user"
}

// DigestError: what was drawn is not what the store holds, so nothing is
// decided.
type DigestError struct {
	Approval ApprovalID
	Reason   string
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("%s was not decided: %s", e.Approval, e.Reason)
}

// UnreachableError: the server is needed for this and cannot be reached.
// Nothing was recorded.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the server %s cannot be reached: %v", e.Server, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// ChangedError: the terms, the tool or its server changed since the card was
// drawn. The old approval is superseded; the new one waits.
type ChangedError struct{ Old, New Approval }

func (e *ChangedError) Error() string {
	var parts []string
	for _, c := range e.New.Changes {
		parts = append(parts, fmt.Sprintf("%s now %s (was %s)", c.Term, c.New, c.Old))
	}
	return fmt.Sprintf("%s: decide %s", strings.Join(parts, ", "), e.New.ID)
}

// ClosedError: the approval closed while it was being approved, because the
// call can no longer run. Nothing was sent.
type ClosedError struct {
	Approval ApprovalID
	Reason   string
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("%s was closed: %s", e.Approval, e.Reason)
}

// LimitError: the order is above what the user may approve.
type LimitError struct {
	Approval ApprovalID
	User     User
	// Needs is the role that may approve it.
	Needs string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s needs a %s; %s may not approve it", e.Approval, strings.ReplaceAll(e.Needs, "_", " "), e.User.DisplayName())
}

// NotSentError: the call was approved and could not be sent. It stands as
// approved and goes out when a person asks for it again.
type NotSentError struct {
	Approval ApprovalID
	Reason   string
}

func (e *NotSentError) Error() string {
	return fmt.Sprintf("%s is approved, not sent: %s", e.Approval, e.Reason)
}

// ToolError: a call cannot be resolved to a tool. The code tells the cases
// apart.
type ToolError struct {
	Code ToolErrorCode
	// Name is what the model or the record named.
	Name string
	// Known are the names that would have been found.
	Known []string
	// Resumed says on which branch it happened: a stored call, or a new one.
	Resumed bool
}

// ToolErrorCode tells the reasons of a ToolError apart.
type ToolErrorCode string

// The codes of a ToolError.
const (
	// ToolUnmapped: no tool has that alias.
	ToolUnmapped ToolErrorCode = "name-unmapped"
	// ToolGone: the server no longer has the tool.
	ToolGone ToolErrorCode = "tool-gone"
	// ServerUnknown: no configured server has that name.
	ServerUnknown ToolErrorCode = "server-unknown"
)

func (e *ToolError) Error() string {
	branch := "a new call"
	if e.Resumed {
		branch = "a stored call"
	}
	return fmt.Sprintf("%s: no tool %q for %s; known: %s", e.Code, e.Name, branch, strings.Join(e.Known, ", "))
}

// StallError: the turn stopped because of the model or a limit. What was
// decided and done before it stands.
type StallError struct {
	Conversation ConversationID
	Reason       string
}

func (e *StallError) Error() string { return e.Reason }
