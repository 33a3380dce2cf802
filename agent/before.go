package agent

import (
	"bytes"
	"context"
	"fmt"
)

// before says what a person did earlier about what a call asks for, so that its
// card does not look like the first one: the same call was declined in an
// earlier turn, or changed before it was decided, or something else that this
// turn wanted was declined. It is empty where there is nothing to say.
func (e *Engine) before(ctx context.Context, c Call, entry Entry, past history) (string, error) {
	for i := len(past.calls) - 1; i >= 0; i-- {
		old := past.calls[i]
		switch {
		case old.State == CallDenied && equalCalls(c, old):
			reason, err := e.reasonOf(ctx, old)
			return fmt.Sprintf("the same was declined before, in %s%s", old.Approval, reason), err
		case old.EditedBy != nil && proposedAs(entry, old, c.Requested):
			return fmt.Sprintf("%s changed the same call before deciding, in %s", old.EditedBy.DisplayName(), old.Approval), nil
		}
	}
	for i := len(past.turnCalls) - 1; i >= 0; i-- {
		if old := past.turnCalls[i]; old.State == CallDenied {
			reason, err := e.reasonOf(ctx, old)
			return fmt.Sprintf("%s was declined in this turn%s", old.Approval, reason), err
		}
	}
	return "", nil
}

// proposedAs reports whether the model asked for the tool of entry with just
// these arguments, whatever a person made of them.
func proposedAs(entry Entry, old Call, requested []byte) bool {
	if old.Tool != entry.Name {
		return false
	}
	proposed, err := CanonicalObject(old.Proposed)
	if err == nil {
		proposed, err = dropFilled(entry.Tool, proposed)
	}
	return err == nil && bytes.Equal(proposed, requested)
}

// reasonOf is the reason that a person gave for declining a call, to be put
// behind what is said of it.
func (e *Engine) reasonOf(ctx context.Context, c Call) (string, error) {
	approvals, err := e.store.Approvals(ctx, []ApprovalID{c.Approval})
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", c.Approval, err)
	}
	if len(approvals) == 0 || approvals[0].Decision == nil || approvals[0].Decision.Approved || approvals[0].Decision.Note == "" {
		return "", nil
	}
	return ": " + oneLine(approvals[0].Decision.Note), nil
}
