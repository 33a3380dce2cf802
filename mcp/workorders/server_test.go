package workorders

import (
	"testing"
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
