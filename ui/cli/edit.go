package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskhand/agent"
)

// edit puts up a new card with changed arguments. It never approves: it prints
// the new id and ends with the code of something that waits.
func (d *desk) edit(ctx context.Context, id agent.ApprovalID, sets []string, asJSON bool) error {
	old, err := d.approval(ctx, id)
	if err != nil {
		return err
	}
	calls, err := d.store.Calls(ctx, []agent.CallID{old.Call})
	if err != nil || len(calls) == 0 {
		return fmt.Errorf("the call of %s cannot be read; it can be declined with: deskhand deny %s", id, id)
	}
	arguments, err := changed(calls[0].Requested, sets)
	if err != nil {
		return &usageError{err}
	}
	a, err := d.engine.Edit(ctx, agent.EditRequest{Approval: id, Arguments: arguments})
	if err != nil {
		return err
	}
	if err := d.printEdited(ctx, a, asJSON); err != nil {
		return err
	}
	return &exitError{code: exitWaiting}
}

// printEdited prints the card that took another one's place.
func (d *desk) printEdited(ctx context.Context, a agent.Approval, asJSON bool) error {
	waiting, err := d.engine.Waiting(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(waiting, func(w agent.ApprovalReport) bool { return w.ApprovalID == a.ID })
	if i < 0 {
		return fmt.Errorf("%s does not wait any more; see deskhand show %s", a.ID, a.Conversation)
	}
	if asJSON {
		return printJSON(d.options.out, waiting[i])
	}
	_, err = fmt.Fprintf(d.options.out, "%s waits instead of %s: %s\n%s\n", a.ID, a.Supersedes, oneLine(visible(a.Summary())), nextStep(waiting[i]))
	return err
}

// changed sets values in an argument object. A path is names with dots between;
// a value is JSON where it is valid JSON, else text.
func changed(arguments json.RawMessage, sets []string) (json.RawMessage, error) {
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(arguments)))
	decoder.UseNumber() // numbers keep their text
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	for _, set := range sets {
		path, text, ok := strings.Cut(set, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("--set %q: write path=value, e.g. quantity=2", set)
		}
		var value any = text
		if json.Valid([]byte(text)) {
			value = json.RawMessage(text)
		}
		if err := setAt(object, strings.Split(path, "."), value); err != nil {
			return nil, fmt.Errorf("--set %q: %w", set, err)
		}
	}
	return json.Marshal(object)
}

func setAt(object map[string]any, path []string, value any) error {
	if len(path) == 1 {
		object[path[0]] = value
		return nil
	}
	inner, ok := object[path[0]].(map[string]any)
	if !ok {
		return fmt.Errorf("there is no object %q", path[0])
	}
	return setAt(inner, path[1:], value)
}
