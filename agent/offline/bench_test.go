package offline

import (
	"strings"
	"testing"

	"deskhand/agent"
)

// BenchmarkFirstCall is a line to its first call.
func BenchmarkFirstCall(b *testing.B) {
	request := agent.ModelRequest{Now: tuesday(b), Tools: allTools(""), Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: "order a heater for 7001 and book ada friday 8-10"}}}
	model := New()
	for b.Loop() {
		reply, err := model.Respond(b.Context(), request, nil)
		if err != nil || len(reply.Calls) == 0 {
			b.Fatal(reply, err)
		}
	}
}

// BenchmarkAnswer is a line to its answer, with results that come at once.
func BenchmarkAnswer(b *testing.B) {
	for b.Loop() {
		d := newDesk(b)
		d.say("order a heater for 7001")
	}
}

// BenchmarkLongLine is a line of 100 kB, beside one as long as is read.
func BenchmarkLongLine(b *testing.B) {
	for name, line := range map[string]string{
		"100 kB": strings.Repeat("order a heater for 7001 and ", 100<<10/28),
		"4 kB":   strings.Repeat("order a heater for 7001 ", maxLine/24),
	} {
		b.Run(name, func(b *testing.B) {
			request := agent.ModelRequest{Now: tuesday(b), Tools: allTools(""), Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: line}}}
			model := New()
			for b.Loop() {
				if _, err := model.Respond(b.Context(), request, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestALineThatIsTooLongAsksForNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	mustHold(t, d.say(strings.Repeat("order a heater for 7001. ", 4000)), "more text than I read")
	if len(d.calls) > 0 {
		t.Errorf("%v", d.calls)
	}
}

func TestAnOrderThatCannotBeCancelledAnyMoreIsNotAskedFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	mustHold(t, d.say("cancel po-7200"), "PO-7200", "shipped", "Nothing was cancelled")
	if len(d.wrote()) > 0 {
		t.Errorf("%v", d.wrote())
	}
}
