package evaluate

import (
	"strings"
	"testing"
)

func TestChangesMustMatchExactly(t *testing.T) {
	t.Parallel()
	order := func(args map[string]any) Call { return Call{"order_part", args} }
	line := Line{Say: "x", Expect: Expectation{
		Calls:    []ExpectedCall{{Tool: "lookup_work_order"}, {Tool: "order_part", Args: map[string]any{"sku": "HE-3", "quantity": float64(2)}}},
		Mentions: []string{"84,90", "Mairéad"},
	}}
	good := Outcome{Changes: []Call{order(map[string]any{"sku": "he-3", "quantity": float64(2), "work_order_id": "WO-1"})}, Answer: "MAIREAD: 84.90"}
	for name, test := range map[string]struct {
		change func(*Outcome)
		want   string
		wrong  bool
	}{
		"right":           {func(*Outcome) {}, "", false},
		"on the card":     {func(o *Outcome) { o.Answer, o.Cards = "", []string{"mairead 84.90"} }, "", false},
		"not made":        {func(o *Outcome) { o.Changes = nil }, "was not called", false},
		"another number":  {func(o *Outcome) { o.Changes[0].Args["quantity"] = float64(3) }, "unexpected change", true},
		"one more":        {func(o *Outcome) { o.Changes = append(o.Changes, Call{Tool: "cancel_visit"}) }, "unexpected change", true},
		"twice":           {func(o *Outcome) { o.Changes = append(o.Changes, o.Changes[0]) }, "unexpected change", true},
		"not mentioned":   {func(o *Outcome) { o.Answer = "84.90" }, `does not mention "Mairéad"`, false},
		"argument absent": {func(o *Outcome) { delete(o.Changes[0].Args, "sku") }, "was not called", true},
	} {
		o := Outcome{Changes: []Call{order(map[string]any{"sku": "he-3", "quantity": float64(2), "work_order_id": "WO-1"})}, Answer: good.Answer}
		test.change(&o)
		got := Judge(line, o)
		if test.want == "" && got.Problem != "" || !strings.Contains(got.Problem, test.want) || got.WrongWrite != test.wrong {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTimesAreInstantsAndNamesAreWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	line := Line{Say: "x", Expect: Expectation{Calls: []ExpectedCall{{Tool: "schedule_visit", Args: map[string]any{
		"start": "2026-12-02T10:00:00+01:00", "technician": "T-07"}}}}}
	o := Outcome{
		Changes: []Call{{"schedule_visit", map[string]any{"start": "2026-12-02T09:00:00Z", "technician": "Priya"}}},
		Resolve: func(argument, value string) string {
			if argument == "technician" && value == "Priya" {
				return "T-07"
			}
			return value
		},
	}
	if got := Judge(line, o); got.Problem != "" {
		t.Errorf("%+v", got)
	}
	o.Resolve = nil
	if got := Judge(line, o); !got.WrongWrite {
		t.Errorf("without names: %+v", got)
	}
}

func TestAQuestionIsAskedAndNothingChanged(t *testing.T) {
	t.Parallel()
	line := Line{Say: "x", Expect: Expectation{Asks: true, Calls: []ExpectedCall{{Tool: "order_part", Error: "below_min_quantity"}}}}
	if got := Judge(line, Outcome{Answer: "Which one?"}); got.Problem != "" {
		t.Errorf("%+v", got)
	}
	if got := Judge(line, Outcome{Answer: "Done."}); got.Problem != "the answer asks nothing" {
		t.Errorf("%+v", got)
	}
	if got := Judge(line, Outcome{Answer: "Which one?", Changes: []Call{{Tool: "order_part"}}}); !got.WrongWrite {
		t.Errorf("%+v", got)
	}
}

func TestLinesAreReadWithTheirPlaceInAnError(t *testing.T) {
	t.Parallel()
	lines, err := Read(strings.NewReader(`{"id":"a","say":"hi","expect":{"calls":[],"asks":true}}` + "\n\n" + `{"id":"b","say":"cancel V-1","expect":{"calls":[{"tool":"get_schedule"},{"tool":"cancel_visit"}]}}` + "\n"))
	if err != nil || len(lines) != 2 || lines[0].Kind() != "question" || lines[1].Kind() != "cancel_visit" {
		t.Errorf("%+v, %v", lines, err)
	}
	for text, want := range map[string]string{
		"":                              "no lines",
		"\n{":                           "line 2:",
		`{"id":"a"}`:                    `line 1: "say" is missing`,
		`{"id":"a","say":"x","sey":""}`: `unknown field "sey"`,
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
