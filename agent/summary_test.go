package agent

import (
	"encoding/json"
	"testing"
)

func TestASummarySaysWhatAnApprovalIsAbout(t *testing.T) {
	t.Parallel()
	visits := `{"visits":[{"id":"V-1","work_order_id":"WO-2","technician":{"id":"T-1","name":"Ada"},"start":{"local":"Wed 2 Dec 08:00"}}]}`
	for _, test := range []struct{ kind, arguments, preview, want string }{
		{kindOrder, `{"work_order_id":"WO-1","sku":"X","quantity":2}`, `{"part":{"name":"Fan","sku":"X"},"line":{"total":{"minor":1050,"currency":"EUR"}},"supplier":{"name":"Acme"}}`,
			"order 2 × Fan (X) for WO-1, 10.50 EUR in total, from Acme"},
		{kindMoveVisit, `{"visit_id":"V-1","start":"2026-12-03T09:00:00+01:00","end":"2026-12-03T11:00:00+01:00"}`, visits, "move V-1 of WO-2, Wed 2 Dec 08:00 with Ada, to Thu 3 Dec 09:00–11:00"},
		{kindMoveVisit, `{"visit_id":"V-1","start":"2026-12-03T09:00:00+01:00","end":"2026-12-03T11:00:00+01:00","technician":"T-2"}`, visits,
			"move V-1 of WO-2, Wed 2 Dec 08:00 with Ada, to Thu 3 Dec 09:00–11:00, T-2"},
		{kindCancelVisit, `{"visit_id":"V-1"}`, visits, "cancel V-1 of WO-2, Wed 2 Dec 08:00 with Ada"},
		{kindCancelOrder, `{"part_order_id":"PO-1"}`, `{"items":[{"id":"PO-1","name":"Fan","sku":"X"}]}`, "cancel PO-1, Fan (X)"},
		{kindCancelVisit, `{"visit_id":"V-2"}`, visits, `s/t {"visit_id":"V-2"}`},
		{kindMoveVisit, `{"visit_id":"V-1","start":"soon"}`, visits, `s/t {"visit_id":"V-1","start":"soon"}`},
		{kindOrder, `{"quantity":1}`, `{}`, `s/t {"quantity":1}`},
		{kindNote, `{"text":"x"}`, `{}`, `s/t {"text":"x"}`},
	} {
		a := &Approval{Tool: "s/t", Kind: test.kind, Arguments: json.RawMessage(test.arguments), Preview: &Result{Structured: json.RawMessage(test.preview)}}
		if got := a.Summary(); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.arguments, got, test.want)
		}
		a.Preview = nil
		if got, want := a.Summary(), "s/t "+test.arguments; got != want {
			t.Errorf("without a preview: %s", got)
		}
	}
}
