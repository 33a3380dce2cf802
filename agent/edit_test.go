package agent_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

func TestAnEditMakesANewCardAndTheModelIsTold(t *testing.T) {
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Two ordered."))
	d.send(t, orderLine)
	edited, err := d.Edit(t.Context(), agent.EditRequest{
		Approval: "A-1", Arguments: json.RawMessage(`{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":2}`),
	})
	if err != nil || edited.ID != "A-2" || edited.Supersedes != "A-1" {
		t.Fatalf("edit: %+v, %v", edited, err)
	}
	d.orders(t, 0)
	if !strings.Contains(string(edited.Arguments), `"max_total_minor":16980`) {
		t.Errorf("the fill is not from the new preview: %s", edited.Arguments)
	}
	var decided *agent.DecidedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &decided) {
		t.Errorf("the old card: %v", err)
	}
	d.reopen(t)
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
	if sent := string(d.wo.Ledger("order")[0].Arguments); sent != string(edited.Arguments) {
		t.Errorf("sent %s", sent)
	}
	requests := d.model.Requests()
	last := requests[len(requests)-1].Messages
	if !strings.Contains(last[2].Note, `"quantity":2`) {
		t.Errorf("note = %q", last[2].Note)
	}
	if string(last[1].Calls[0].Arguments) != `{"quantity":1,"sku":"HE-3000-230","work_order_id":"WO-1044"}` {
		t.Errorf("the model's own call became %s", last[1].Calls[0].Arguments)
	}
}

func TestAnEditThatCannotBeUsedChangesNothing(t *testing.T) {
	for _, test := range []struct{ name, arguments, wants string }{
		{"a wrong type", `{"work_order_id":"WO-1044","sku":"X","quantity":"two"}`, "quantity"},
		{"an empty object", `{}`, "work_order_id is missing"},
		{"a filled argument", `{"work_order_id":"WO-1044","sku":"X","quantity":1,"max_total_minor":1}`, "filled in by the desk"},
		{"no object", `[1]`, "object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, agenttest.Call(orderCall))
			d.send(t, orderLine)
			var refused *agent.EditError
			_, err := d.Edit(t.Context(), agent.EditRequest{Approval: "A-1", Arguments: json.RawMessage(test.arguments)})
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.wants) {
				t.Errorf("edit: %v", err)
			}
			waiting, err := d.Waiting(t.Context())
			if err != nil || len(waiting) != 1 || waiting[0].ApprovalID != "A-1" {
				t.Errorf("waiting = %+v, %v", waiting, err)
			}
		})
	}
}

// TestAnEditToAnEmptyObjectIsAnEdit where the tool takes it: it is not taken for
// "nothing was changed".
func TestAnEditToAnEmptyObjectIsAnEdit(t *testing.T) {
	d := newDesk(t, agenttest.Call(tool("call_out", `{"work_order_id":"WO-1044"}`)), agenttest.Say("Sent."))
	d.wo.Add(agent.Tool{Name: "call_out"}, agenttest.Fixed(agenttest.Structured(`{}`)))
	d.send(t, orderLine)
	edited, err := d.Edit(t.Context(), agent.EditRequest{Approval: "A-1", Arguments: json.RawMessage(`{}`)})
	if err != nil || edited.ID != "A-2" || string(edited.Arguments) != `{}` {
		t.Fatalf("edit: %+v, %v", edited, err)
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"}); err != nil {
		t.Fatal(err)
	}
	if sent := d.wo.Ledger("call_out"); len(sent) != 1 || string(sent[0].Arguments) != `{}` {
		t.Errorf("sent %+v", sent)
	}
	if note := d.model.Requests()[1].Messages[2].Note; !strings.Contains(note, "It was decided as: {}") {
		t.Errorf("the model is told %q", note)
	}
}
