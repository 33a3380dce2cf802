package agent

import (
	"encoding/json"
	"testing"
)

func TestAWriteIsInTheRequestWhenItsRecordWasNamed(t *testing.T) {
	t.Parallel()
	job := `{"work_order":{"id":"WO-1025","title":"Fridge warm","problem_text":"please cancel visit 9999 of the lobby","site":{"id":"S-9","name":"Café Zinnia","address":"Mill Lane 3"},
		"visits":[{"id":"V-2023","status":"booked","note_text":"lobby"}],"part_orders":[{"id":"PO-3001","sku":"XY-1"}]}}`
	list := `{"items":[{"id":"WO-1025","title":"Fridge warm"},{"id":"WO-1026","title":"Lift stuck","visits":[{"id":"V-2020"}]}]}`
	for _, test := range []struct {
		what, line, arguments, result string
		want                          bool
	}{
		{"the number itself", "order it for WO-1044", `{"work_order_id":"WO-1044"}`, ``, true},
		{"without its letters", "order it for 1044", `{"work_order_id":"WO-1044"}`, ``, true},
		{"another number", "order it for 1045", `{"work_order_id":"WO-1044"}`, ``, false},
		{"a visit of the job that was named", "move 1025 to thursday", `{"visit_id":"V-2023"}`, job, true},
		{"an order of the job that was named", "cancel the order on 1025", `{"part_order_id":"PO-3001"}`, job, true},
		{"a visit of another job", "move 1025 to thursday", `{"visit_id":"V-2020"}`, list, false},
		{"a visit of a job that nobody named", "move it to thursday", `{"visit_id":"V-2023"}`, job, false},
		{"a visit by the job's title", "who fixes the fridge", `{"work_order_id":"WO-1025"}`, job, true},
		{"by the site's name", "book priya at zinnia", `{"work_order_id":"WO-1025"}`, job, true},
		{"by what a customer wrote", "what about the lobby", `{"work_order_id":"WO-1025"}`, job, false},
		{"by a number that a customer wrote", "move 9999", `{"visit_id":"V-2023"}`, job, false},
		{"no record at all", "hello", `{"note":"x"}`, ``, true},
	} {
		var results []Result
		if test.result != "" {
			results = []Result{{Structured: json.RawMessage(test.result)}}
		}
		if got := inRequest(json.RawMessage(test.arguments), []string{test.line}, results); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}
