package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// meanwhile does something once, in the middle of the next fetching of a
// preview, and gives the preview that is then the answer.
func meanwhile(t *testing.T, d *desk, do func(), preview func() agent.Result) {
	t.Helper()
	inner, done := d.wo.Handler("quote"), false
	d.wo.SetHandler("quote", func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
		if done {
			return inner(ctx, r)
		}
		done = true
		do()
		return preview(), nil
	})
}

// TestWhoeverComesTooLateLearnsWhoDecidedAlsoIfThePreviewChanged: between the
// look at the card and the decision somebody else decided, and the order itself
// changed the preview. The late ones were told of a transition that the table
// does not have.
func TestWhoeverComesTooLateLearnsWhoDecidedAlsoIfThePreviewChanged(t *testing.T) {
	quantity2 := json.RawMessage(`{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":2}`)
	late := map[string]func(*desk) error{
		"approve": func(d *desk) error {
			_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
			return err
		},
		"edit": func(d *desk) error {
			_, err := d.Edit(t.Context(), agent.EditRequest{Approval: "A-1", Arguments: quantity2})
			return err
		},
	}
	early := map[string]func(*desk) error{
		"approved": late["approve"],
		"denied": func(d *desk) error {
			_, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"})
			return err
		},
		"superseded": late["edit"],
	}
	previews := map[string]func() agent.Result{
		"the same preview": func() agent.Result { return agenttest.Structured(agenttest.Quote(1, 8490)) },
		"a dearer preview": func() agent.Result { return agenttest.Structured(agenttest.Quote(1, 9990)) },
		"a preview that refuses": func() agent.Result {
			r := agenttest.Structured(`{"error":{"code":"closed","retry":"never"}}`)
			r.IsError = true
			return r
		},
	}
	for verb, tooLate := range late {
		for state, decide := range early {
			for name, preview := range previews {
				if verb == "edit" && name == "a preview that refuses" {
					continue // whoever decided what: nobody could make this edit
				}
				t.Run(verb+" after "+state+" with "+name, func(t *testing.T) {
					d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("All right."))
					d.send(t, orderLine)
					meanwhile(t, d, func() {
						if err := decide(d); err != nil {
							t.Errorf("the early one: %v", err)
						}
					}, preview)
					var decided *agent.DecidedError
					if err := tooLate(d); !errors.As(err, &decided) || string(decided.Approval.State) != state {
						t.Errorf("the late one was told %v", err)
					}
					d.orders(t, boolToInt(state == "approved"))
					if err := agenttest.CheckDesk(t.Context(), d.store); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
