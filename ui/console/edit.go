package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// edit asks for a change of a card that waits. Enter decides nothing: it puts a
// new card in the place of this one.
func edit(c card) *field {
	help := "Enter puts up a new card to decide on, in the place of " + string(c.approval.ID) + " · Esc goes back, nothing changes"
	label, typed := "Change (argument=value): ", ""
	if _, args, ok := readQuote(c.approval); ok {
		label, typed = "Quantity (or argument=value): ", args.Quantity.String()
	}
	f := newField(c, label, help, func(m *Model, text string) (tea.Cmd, string) {
		arguments, refusal := c.changed(text)
		if refusal != "" {
			return nil, refusal
		}
		e := m.desk.engine
		r := agent.EditRequest{Approval: c.approval.ID, Digest: c.approval.Digest, Arguments: arguments}
		return m.run(c, "asking the server for the new terms…", func(ctx context.Context) (agent.Report, error) {
			_, err := e.Edit(ctx, r)
			return agent.Report{}, err
		}), ""
	})
	f.editor.insert(typed)
	return f
}

// changed gives the card's arguments with a change: argument=value, or, on an
// order's card, a quantity alone. A value is JSON where it is valid JSON, else
// text.
func (k card) changed(text string) (arguments json.RawMessage, refusal string) {
	var object map[string]json.RawMessage
	if unmarshal(k.call.Requested, &object) != nil {
		return nil, "The arguments of this call cannot be changed. d declines it."
	}
	name, value, named := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if _, args, ok := readQuote(k.approval); ok && !named {
		if name == args.Quantity.String() {
			return nil, "That is the quantity on the card already."
		}
		name, value, named = "quantity", name, true
	}
	if !named || name == "" {
		return nil, "Write an argument and its value, such as " + k.example(object) + "."
	}
	raw := json.RawMessage(value)
	if !json.Valid(raw) {
		raw, _ = json.Marshal(value) // text always marshals
	}
	object[name] = raw
	arguments, err := json.Marshal(object)
	if err != nil {
		return nil, "That is no value: " + say(err.Error()) + "."
	}
	return arguments, ""
}

// example is a change that the card could take.
func (k card) example(object map[string]json.RawMessage) string {
	for _, m := range membersOf(object) {
		return m.name + "=" + m.value
	}
	return "name=value"
}

// changes draws what a new card has that the old one had not.
func (k card) changes(b *box) {
	by := ""
	if u := k.call.EditedBy; u != nil {
		by = ", changed by " + safeLine(u.DisplayName(), evidence)
	}
	for _, c := range k.approval.Changes {
		switch {
		case c.Term == "arguments":
			for _, line := range argumentChanges(c) {
				b.warning(line+by, true)
			}
		case c.Term == "warnings": // all stand on the card; these are new
			for _, w := range k.approval.PreviewWarnings() {
				if !strings.Contains(c.Old, w.Message) {
					b.warning("new warning: "+safeLine(w.Message, evidence), true)
				}
			}
		case c.Old != "": // a card whose preview was missing had nothing to compare
			b.warning(safeLine(c.Term, evidence)+" now "+safeLine(c.New, evidence)+" (was "+safeLine(c.Old, evidence)+")", true)
		}
	}
}

// argumentChanges names the arguments that a person changed. What follows from
// them, such as the total, has a line of its own.
func argumentChanges(c agent.Change) []string {
	var was, is map[string]json.RawMessage
	if unmarshal(json.RawMessage(c.Old), &was) != nil || unmarshal(json.RawMessage(c.New), &is) != nil {
		return []string{"arguments now " + safeLine(c.New, evidence) + " (were " + safeLine(c.Old, evidence) + ")"}
	}
	var out []string
	names := []string{}
	for _, all := range []map[string]json.RawMessage{was, is} {
		for name := range all {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		before, had := was[name]
		now, has := is[name]
		shown := safeLine(name, evidence)
		switch {
		case name == "idempotency_key" || name == "max_total_minor" || string(before) == string(now):
		case !has:
			out = append(out, fmt.Sprintf("%s left out (was %s)", shown, quoted(before)))
		case !had:
			out = append(out, fmt.Sprintf("%s now %s", shown, quoted(now)))
		default:
			out = append(out, fmt.Sprintf("%s now %s (was %s)", shown, quoted(now), quoted(before)))
		}
	}
	return out
}
