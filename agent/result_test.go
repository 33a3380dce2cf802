package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

// Everything that is no text is a line that says what it is and how large.
func TestResultText(t *testing.T) {
	for block, want := range map[string]string{
		`{"type":"text","text":"as it is"}`:                                                                     "as it is",
		`{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}`:                                             "[image image/png, 5 bytes]",
		`{"type":"audio","data":"` + strings.Repeat("aGVs", 1000) + `","mimeType":"audio/wav"}`:                 "[audio audio/wav, 3.0 kB]",
		`{"type":"resource_link","uri":"file:///a.pdf","name":"manual","mimeType":"application/pdf"}`:           "[link manual, file:///a.pdf, application/pdf]",
		`{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","text":"inside"}}`:        "[resource file:///a.txt, text/plain]\ninside",
		`{"type":"resource","resource":{"uri":"file:///a.gz","mimeType":"application/gzip","blob":"aGVsbG8="}}`: "[resource file:///a.gz, application/gzip, 5 bytes]",
		`{"type":"something_new"}`: "[something_new]",
		`3`:                        "[unreadable content]",
	} {
		r := &agent.Result{Content: []json.RawMessage{json.RawMessage(block)}}
		if got := r.Text(); got != want {
			t.Errorf("%s reads %q, want %q", block, got, want)
		}
	}
}

// A big result is stored whole. The model gets its beginning and its end, in
// whole characters, and a word that it was shortened.
func TestBigResult(t *testing.T) {
	shop := agenttest.NewSource("shop")
	big := agent.TextResult("begin "+strings.Repeat("é", 5000)+" end", false)
	shop.Add(agent.Tool{Name: "read"}, func(context.Context, agent.CallRequest) (agent.Result, error) { return *big, nil })
	model := &agenttest.Model{Script: agenttest.Replies(agenttest.Call(agenttest.Tool("read", `{}`)), agenttest.Say("Said."))}
	engine := agenttest.NewEngine(t, agent.Config{
		Store: state.New(memory.New()), Model: model, Sources: []agent.Source{shop},
		Policy:    agenttest.NewPolicy(t, agent.PolicyConfig{RunWithoutApproval: []agent.QualifiedName{"shop/read"}}),
		MaxResult: func(server string) int { return map[string]int{"shop": 1000}[server] },
	})
	report, err := engine.Send(t.Context(), agent.SendRequest{Text: "read it"})
	if err != nil {
		t.Fatal(err)
	}
	if stored := report.Calls[0].Result; stored.Text() != big.Text() {
		t.Errorf("%d bytes are stored", len(stored.Text()))
	}
	requests := model.Requests()
	last := requests[len(requests)-1].Messages
	text := last[len(last)-1].Result.Text()
	if !strings.HasPrefix(text, "begin é") || !strings.Contains(text, " end\n[The desk shortened this result") || len(text) > 1300 || !utf8.ValidString(text) {
		t.Errorf("the model got %d bytes: %q", len(text), text)
	}
}

func TestCut(t *testing.T) {
	small := agent.TextResult("small", true)
	if got := small.Cut(1000); got != small {
		t.Error("a small result was changed")
	}
	wide := &agent.Result{Content: agent.TextResult(strings.Repeat("x", 3000), false).Content, Structured: json.RawMessage(`{"id":"PO-1"}`), IsError: true}
	got := wide.Cut(100)
	if string(got.Structured) != `{"id":"PO-1"}` || !got.IsError {
		t.Errorf("what fits was lost: %+v", got)
	}
	deep := &agent.Result{Structured: json.RawMessage(fmt.Sprintf(`{"list":%q}`, strings.Repeat("z", 3000)))}
	if got := deep.Cut(100); got.Structured != nil || !strings.HasPrefix(got.Text(), `{"list":"zzz`) {
		t.Errorf("structured content that does not fit: %q", got.Text())
	}
}
