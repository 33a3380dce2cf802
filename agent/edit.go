package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// EditRequest replaces the whole argument object of a call that waits. The tool
// stays the same.
type EditRequest struct {
	Approval ApprovalID
	// Digest is that of the card as it was drawn; empty where the id alone was
	// seen.
	Digest string
	// Arguments are the new ones, without those that the engine fills; an
	// explicit {} is an edit too.
	Arguments json.RawMessage
}

// EditError: the new arguments cannot be used; the card still waits.
type EditError struct {
	Approval ApprovalID
	Reason   string
}

func (e *EditError) Error() string {
	return fmt.Sprintf("%s was not changed: %s", e.Approval, e.Reason)
}

// Edit puts a new approval with other arguments in the place of one that waits.
// It decides nothing: the new card waits like any other, and the model is told
// that a person changed the arguments. It fails with an [*EditError] if the
// arguments are not valid or the preview refuses them, and like
// [Engine.Approve] where the approval is not open any more.
func (e *Engine) Edit(ctx context.Context, r EditRequest) (Approval, error) {
	a, c, err := e.load(ctx, r.Approval)
	if err != nil {
		return Approval{}, err
	}
	if err := checkOpen(a, c, r.Digest); err != nil {
		return Approval{}, err
	}
	box, err := e.toolbox(ctx, c.Conversation)
	if err != nil {
		return Approval{}, err
	}
	entry, err := box.Resolve(c.Tool)
	if err != nil {
		return Approval{}, err
	}
	if c.Requested, err = e.editedArguments(entry, r); err != nil {
		return Approval{}, err
	}
	turn, err := e.turnOf(ctx, a)
	if err != nil {
		return Approval{}, err
	}
	p, err := e.prepare(ctx, box, c, turn)
	if err != nil {
		return Approval{}, err
	}
	if p.refused != nil {
		return Approval{}, &EditError{Approval: a.ID, Reason: p.reason}
	}
	user := e.userIn(ctx)
	p.call.EditedBy = &user
	changes := append([]Change{{Term: "arguments", Old: string(a.Arguments), New: string(p.call.Arguments)}}, differences(a, p.approval)...)
	err = e.replace(ctx, a, p, changes)
	var changed *ChangedError
	if errors.As(err, &changed) {
		return changed.New, nil
	}
	return Approval{}, err
}

// editedArguments checks what a person wrote as arguments.
func (e *Engine) editedArguments(entry Entry, r EditRequest) (json.RawMessage, error) {
	arguments, err := CanonicalObject(r.Arguments)
	if err != nil {
		return nil, &EditError{Approval: r.Approval, Reason: err.Error()}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &object); err != nil {
		return nil, &EditError{Approval: r.Approval, Reason: err.Error()}
	}
	for name := range entry.Tool.Desk.Fill {
		if _, set := object[name]; set {
			return nil, &EditError{Approval: r.Approval, Reason: fmt.Sprintf("%q is filled in by the desk and cannot be set", name)}
		}
	}
	if err := e.schemas.validate(entry, hideFilled(entry.Tool), arguments); err != nil {
		return nil, &EditError{Approval: r.Approval, Reason: err.Error()}
	}
	return arguments, nil
}
