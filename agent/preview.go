package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// preparation is what a look at a gated call gives: a question to put to a
// person, or a reason why nobody needs to be asked.
type preparation struct {
	approval Approval
	call     Call
	// refused is the result that settles the call; nil if a person is asked.
	refused *Result
	reason  string
}

// prepare looks at a gated call with fresh eyes: it resolves the tool, fetches
// the preview, fills the arguments from it and drafts the approval. Before the
// card and again at approval it is this one function.
func (e *Engine) prepare(ctx context.Context, box *Toolbox, c Call, turn Turn) (preparation, error) {
	entry, err := box.Resolve(c.Tool)
	if err != nil {
		return preparation{}, err
	}
	p := preparation{call: c, approval: newApproval(c, entry, turn)}
	p.call.ServerIdentity, p.call.Definition, p.call.Keyed = entry.Identity, entry.Definition, entry.Tool.keyed()
	p.approval.PreviewTool = e.policy.Preview(c.Tool)
	if p.approval.PreviewTool != "" {
		if err := e.preview(ctx, box, &p); err != nil || p.refused != nil {
			return p, err
		}
	}
	arguments, err := fill(entry.Tool, c.Requested, c.Key, p.approval.Preview)
	if err != nil {
		return p, err
	}
	if err := e.schemas.validate(entry, entry.Tool.InputSchema, arguments); err != nil && p.approval.NoPreview == "" {
		p.reason = fmt.Sprintf("The arguments of %s are not valid: %v.", c.Alias, err)
		p.refused = TextResult(p.reason, true)
		return p, nil
	}
	p.call.Arguments, p.approval.Arguments = arguments, arguments
	return p, nil
}

// preview fetches what fills the card. A preview that refuses for good settles
// the call; one that cannot be had leaves a card that can only be denied.
func (e *Engine) preview(ctx context.Context, box *Toolbox, p *preparation) error {
	entry, err := box.Resolve(p.approval.PreviewTool)
	if err != nil {
		var down *UnreachableError
		if errors.As(err, &down) {
			p.approval.NoPreview = down.Error()
			return nil
		}
		p.approval.NoPreview = fmt.Sprintf("%s, which fills the card, is not there", p.approval.PreviewTool)
		return nil
	}
	arguments, err := previewArguments(entry.Tool, p.call.Requested)
	if err != nil {
		return err
	}
	result, err := e.callTool(ctx, p.call, entry.Name, CallRequest{Arguments: arguments, Call: p.call.ID, User: p.approval.RequestedBy.ID})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		p.approval.NoPreview = err.Error()
	case !result.IsError:
		p.approval.Preview = &result
	case refusal(result):
		p.refused, p.reason = &result, result.Text()
	default:
		p.approval.NoPreview = result.Text()
	}
	return nil
}

// previewArguments are those of the call whose names the preview tool has too.
func previewArguments(tool Tool, arguments json.RawMessage) (json.RawMessage, error) {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		return nil, fmt.Errorf("the input schema of %s cannot be read: %w", tool.Name, err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &object); err != nil {
		return nil, err
	}
	maps.DeleteFunc(object, func(name string, _ json.RawMessage) bool {
		_, known := schema.Properties[name]
		return !known
	})
	return Canonical(mustJSON(object))
}

// refusal reports whether a preview's error means that the call must fail as it
// stands, so that nobody is asked.
func refusal(r Result) bool {
	var structured struct {
		Error struct {
			Retry string `json:"retry"`
		} `json:"error"`
	}
	if json.Unmarshal(r.Structured, &structured) != nil {
		return false
	}
	return structured.Error.Retry == "never" || structured.Error.Retry == "change_arguments"
}

// PreviewWarnings are the warnings in an approval's preview.
func (a *Approval) PreviewWarnings() []Warning {
	warnings := []Warning{}
	if a.Preview == nil {
		return warnings
	}
	raw, ok := Pointer(a.Preview.Structured, "/warnings")
	if !ok || json.Unmarshal(raw, &warnings) != nil {
		return []Warning{}
	}
	return warnings
}
