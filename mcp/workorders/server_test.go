package workorders

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// eras are a client of the newest revision and one with sessions.
var eras = map[string]string{"modern": "", "legacy": "2025-11-25"}

func TestListAndCallInBothEras(t *testing.T) {
	t.Parallel()
	for era, protocol := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			s := connect(t, serve(t, openBook(t)), protocol)
			listed, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(listed.Tools) != len(tools()) {
				t.Fatalf("%d tools are listed, want %d", len(listed.Tools), len(tools()))
			}
			for _, tool := range listed.Tools {
				if a := tool.Annotations; a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
					t.Errorf("%s: not all hints are given", tool.Name)
				}
			}
			var out quoteOutput
			call(t, s, "U-01", "quote_part", args{"sku": "HE-3000-230", "quantity": 1, "work_order_id": "WO-1044"}).into(t, &out)
			if out.Line.Total != (Money{8490, "EUR"}) {
				t.Errorf("total %v", out.Line.Total)
			}
			var ordered orderOutput
			call(t, s, "U-01", "order_part", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1}).into(t, &ordered)
			if ordered.PartOrder.ID != "PO-3021" || ordered.PartOrder.Status != statusOrdered {
				t.Errorf("ordered %+v", ordered.PartOrder)
			}
			var job lookupOutput
			call(t, s, "", "lookup_work_order", args{"work_order_id": "wo-1044"}).into(t, &job)
			if len(job.WorkOrder.PartOrders) != 1 {
				t.Errorf("the job has %d part orders, want 1", len(job.WorkOrder.PartOrders))
			}
		})
	}
}

// Foreign clients hold every structured answer to the output schema that the
// server lists, refusals too.
func TestRefusalsFitTheListedOutputSchemas(t *testing.T) {
	t.Parallel()
	s := connect(t, serve(t, openBook(t)), "")
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		raw, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		check, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := call(t, s, "U-01", tool.Name, args{"no such argument": true})
		if code := r.code(t); code != "invalid_arguments" {
			t.Errorf("%s: code %q", tool.Name, code)
		}
		if err := check.Validate(r.StructuredContent); err != nil {
			t.Errorf("%s: the refusal does not fit the output schema: %v", tool.Name, err)
		}
		if err := check.Validate(map[string]any{"something": "else"}); err == nil {
			t.Errorf("%s: the output schema takes anything", tool.Name)
		}
	}
}
