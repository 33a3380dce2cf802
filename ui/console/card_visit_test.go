package console

import (
	"encoding/json"
	"strings"
	"testing"

	"deskhand/agent"
)

const agendaJSON = `{"visits":[{"id":"V-2023","work_order_id":"WO-1025","title":"Undercounter fridge warm","status":"booked","technician":{"id":"T-07","name":"Priya Sandhollow"},
 "site":{"id":"S-112","name":"Café Zinnia"},"start":{"at":"2026-12-02T08:00:00+01:00","local":"Wed 2 Dec 08:00"},"end":{"at":"2026-12-02T10:00:00+01:00","local":"Wed 2 Dec 10:00"},
 "customer_informed":true,"resolve_by":{"at":"2026-12-02T12:00:00+01:00","local":"Wed 2 Dec 12:00"},"version":1},
 {"id":"V-2030","work_order_id":"WO-1040","status":"booked","technician":{"id":"T-07","name":"Priya Sandhollow"},"start":{"at":"2026-12-03T10:00:00+01:00","local":"Thu 3 Dec 10:00"},"end":{"at":"2026-12-03T12:00:00+01:00","local":"Thu 3 Dec 12:00"}}],
 "gaps":[{"technician":{"id":"T-10","name":"Imke van der Loosten"}}],"off":[],"conflicts":[],"total":2}`

const orderListJSON = `{"items":[{"id":"PO-3011","work_order_id":"WO-1005","sku":"AC-FLT-F7-592","name":"Bag filter F7","quantity":4,"total":{"minor":13920,"currency":"EUR"},
 "supplier":{"id":"SUP-3","name":"Pendrick HVAC Trade"},"status":"ordered","expected_at":{"at":"2026-12-02T12:00:00+01:00","local":"Wed 2 Dec 12:00"}}],"total":1}`

// drawnCard draws the card of a call that waits.
func drawnCard(kind, tool, arguments, preview string) string {
	a := agent.Approval{ID: "A-1", State: agent.ApprovalOpen, Kind: kind, Tool: agent.QualifiedName("work-orders/" + tool), Arguments: json.RawMessage(arguments), Line: "please"}
	if preview != "" {
		a.Preview = &agent.Result{Structured: json.RawMessage(preview)}
	}
	k := card{approval: a, call: agent.Call{State: agent.CallWaiting, Approval: "A-1", Kind: kind, Tool: a.Tool, Arguments: a.Arguments}, user: deskUser}
	c := canvas{width: 80, styles: newStyles(ThemeNone)}
	return strings.Join(k.lines(c), "\n")
}

func TestTheCardsOfVisitsAndCancelledOrdersSayWhatChanges(t *testing.T) {
	for name, test := range map[string]struct {
		kind, tool, arguments, preview string
		says, not                      []string
	}{
		"a move": {"move_visit", "reschedule_visit", `{"visit_id":"V-2023","start":"2026-12-03T09:00:00+01:00","end":"2026-12-03T11:00:00+01:00","idempotency_key":"01KEY"}`, agendaJSON,
			[]string{"V-2023 of WO-1025 Undercounter fridge warm", "Café Zinnia", "now  Wed 2 Dec 08:00–10:00 · Priya Sandhollow", "then Thu 3 Dec 09:00–11:00 · Priya Sandhollow",
				"AFTER the deadline", "Priya Sandhollow has V-2030 of WO-1040 then, Thu 3 Dec 10:00–12:00", "somebody has to tell them", "MOVE VISIT"}, []string{"01KEY", "2026-12-03T"}},
		"a hand-over": {"move_visit", "reschedule_visit", `{"visit_id":"V-2023","start":"2026-12-02T08:00:00+01:00","end":"2026-12-02T10:00:00+01:00","technician":"T-10","reason":"ill"}`, agendaJSON,
			[]string{"then Wed 2 Dec 08:00–10:00 · Imke van der Loosten (T-10)", `Reason: "ill"`, "job must be done by Wed 2 Dec 12:00"}, []string{"AFTER", "then, "}},
		"something else": {"move_visit", "reschedule_visit", `{"visit_id":"V-2023","start":"2026-12-02T08:00:00+01:00","end":"2026-12-02T10:00:00+01:00","override":["double_book"]}`, agendaJSON,
			[]string{`override (from the assistant): ["double_book"]`}, nil},
		"a cancelled visit": {"cancel_visit", "cancel_visit", `{"visit_id":"V-2023","reason":"rain"}`, agendaJSON,
			[]string{"V-2023 of WO-1025", "Wed 2 Dec 08:00–10:00 · Priya Sandhollow · booked", `Reason: "rain"`, "CANCEL VISIT"}, []string{"then "}},
		"a cancelled order": {"cancel_order", "cancel_part_order", `{"part_order_id":"PO-3011","reason":"too late"}`, orderListJSON,
			[]string{"PO-3011 Bag filter F7", "AC-FLT-F7-592", "4 pieces · ordered · Pendrick HVAC Trade · expected Wed 2 Dec", "139.20 EUR", "For WO-1005", `Reason: "too late"`, "the supplier has to be told"}, nil},
		// Where the preview is of something else, everything is shown as it is.
		"another visit": {"move_visit", "reschedule_visit", `{"visit_id":"V-9","start":"2026-12-02T08:00:00+01:00","end":"2026-12-02T10:00:00+01:00"}`, agendaJSON, []string{`visit_id: "V-9"`, `start: "2026-12-02T08:00:00+01:00"`}, []string{"V-2023"}},
		"no times":      {"move_visit", "reschedule_visit", `{"visit_id":"V-2023","start":"soon","end":"later"}`, agendaJSON, []string{`start: "soon"`}, []string{"then "}},
		"another order": {"cancel_order", "cancel_part_order", `{"part_order_id":"PO-1"}`, orderListJSON, []string{`part_order_id: "PO-1"`}, []string{"PO-3011"}},
		"no preview":    {"cancel_visit", "cancel_visit", `{"visit_id":"V-2023"}`, "", []string{`visit_id: "V-2023"`}, nil},
	} {
		text := drawnCard(test.kind, test.tool, test.arguments, test.preview)
		for _, s := range test.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s does not say %q:\n%s", name, s, text)
			}
		}
		for _, s := range test.not {
			if strings.Contains(text, s) {
				t.Errorf("%s says %q:\n%s", name, s, text)
			}
		}
	}
}
