package offline_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/unicode/norm"

	"deskhand/agent"
	"deskhand/agent/offline"
	"deskhand/mcp/workorders"
)

// floor is how many dispatcher lines work today. It only ever goes up.
const floor = 100

// utterance is one line of testdata/utterances.jsonl.
type utterance struct {
	ID      string   `json:"id"`
	Context []string `json:"context"`
	Say     string   `json:"say"`
	Expect  struct {
		Calls []struct {
			Tool  string         `json:"tool"`
			Args  map[string]any `json:"args"`
			Error string         `json:"error"`
		} `json:"calls"`
		Mentions []string `json:"answer_mentions"`
		Asks     bool     `json:"asks"`
	} `json:"expect"`
}

// TestUtterances says every dispatcher line to the model, against the real
// server on a fresh demo book, and counts those that come out right.
func TestUtterances(t *testing.T) {
	t.Parallel()
	right, total := 0, 0
	for _, u := range readUtterances(t) {
		total++
		d := newDesk(t)
		for _, line := range u.Context {
			d.say(line)
		}
		d.changes, d.cards, d.counting = nil, nil, true
		d.say(u.Say)
		if problem := d.compare(u); problem != "" {
			t.Logf("%s %q: %s\n%s", u.ID, u.Say, problem, d.story)
			continue
		}
		right++
	}
	t.Logf("%d of %d lines", right, total)
	if right < floor {
		t.Errorf("%d of %d lines work, want at least %d", right, total, floor)
	}
}

func readUtterances(t *testing.T) []utterance {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "utterances.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []utterance
	for scanner := bufio.NewScanner(bytes.NewReader(raw)); scanner.Scan(); {
		var u utterance
		if err := json.Unmarshal(scanner.Bytes(), &u); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

// desk drives the model against a real server, in place of the engine.
type desk struct {
	t        *testing.T
	session  *mcp.ClientSession
	model    *offline.Model
	tools    []agent.ModelTool
	messages []agent.ModelMessage
	now      time.Time
	counting bool // orders count as made, and are not sent
	keys     int
	changes  []change
	cards    []string
	answer   string
	story    string
}

// change is a write that happened, or that would be on a card.
type change struct {
	tool string
	args map[string]any
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Brussels")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, zone)
	book, err := workorders.Open(filepath.Join(t.TempDir(), "book"), workorders.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	server := workorders.NewServer(book, workorders.ServerOptions{Token: "token-of-the-tests"})
	listener := httptest.NewServer(server.Handler())
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: listener.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = server.Close(context.Background())
		listener.CloseClientConnections()
		listener.Close()
		_ = book.Close()
	})
	d := &desk{t: t, session: session, model: offline.New(), now: now}
	d.list()
	return d
}

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer token-of-the-tests")
	return http.DefaultTransport.RoundTrip(r)
}

func (d *desk) list() {
	for tool, err := range d.session.Tools(d.t.Context(), nil) {
		if err != nil {
			d.t.Fatal(err)
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			d.t.Fatal(err)
		}
		d.tools = append(d.tools, agent.ModelTool{Name: tool.Name, Description: tool.Description, InputSchema: schema})
	}
}

// say runs one turn to its answer, or to its card.
func (d *desk) say(line string) {
	d.answer, d.story = "", ""
	d.messages = append(d.messages, agent.ModelMessage{Role: agent.RoleUser, Text: line})
	for step := 0; ; step++ {
		if step > 12 {
			d.t.Fatalf("%q: no answer after %d steps\n%s", line, step, d.story)
		}
		reply, err := d.model.Respond(d.t.Context(), agent.ModelRequest{Now: d.now, Messages: d.messages, Tools: d.tools}, func(string) {})
		if err != nil {
			d.t.Fatal(err)
		}
		d.messages = append(d.messages, agent.ModelMessage{Role: agent.RoleAssistant, Text: reply.Text, Calls: reply.Calls, Opaque: reply.Opaque})
		d.answer = reply.Text
		if len(reply.Calls) == 0 {
			d.story += "  " + strings.ReplaceAll(reply.Text, "\n", "\n  ") + "\n"
			return
		}
		for _, c := range reply.Calls {
			d.story += "  > " + c.Name + " " + string(c.Arguments) + "\n"
			d.messages = append(d.messages, d.run(c))
		}
		if d.counting && len(d.cards) > 0 {
			return // the turn waits at its card
		}
	}
}

func (d *desk) run(c agent.ModelCall) agent.ModelMessage {
	var args map[string]any
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		d.t.Fatalf("arguments of %s: %v", c.Name, err)
	}
	m := agent.ModelMessage{Role: agent.RoleTool, CallID: c.ID, Name: c.Name, State: agent.CallDone}
	if preview := previews[c.Name]; preview != "" {
		shown := d.call(preview, previewArgs(c.Name, args))
		if shown.IsError {
			m.State, m.Result = agent.CallRefused, shown
			return m
		}
		d.changes = append(d.changes, change{c.Name, args})
		if d.counting {
			d.cards = append(d.cards, string(c.Arguments)+string(shown.Structured)+shown.Text())
			m.Result = agent.TextResult("waiting", false)
			return m
		}
	}
	if keyed[c.Name] {
		d.keys++
		args["idempotency_key"] = fmt.Sprintf("key-of-test-%d", d.keys)
	}
	m.Result = d.call(c.Name, args)
	switch {
	case m.Result.IsError:
		m.State = agent.CallFailed
	case c.Name == "schedule_visit" || c.Name == "add_note":
		d.changes = append(d.changes, change{c.Name, args})
	}
	return m
}

// previews are the tools that wait at a card, with what fills it.
var previews = map[string]string{
	"order_part": "quote_part", "reschedule_visit": "get_schedule", "cancel_visit": "get_schedule", "cancel_part_order": "list_part_orders",
}

// keyed are the tools that keep keys, which an engine fills in.
var keyed = map[string]bool{"order_part": true, "schedule_visit": true, "reschedule_visit": true, "add_note": true}

// previewArgs are those arguments that the preview has too.
func previewArgs(tool string, args map[string]any) map[string]any {
	has := map[string][]string{
		"order_part": {"work_order_id", "sku", "quantity", "allow_duplicate"}, "reschedule_visit": {"visit_id", "technician"},
		"cancel_visit": {"visit_id"}, "cancel_part_order": {"part_order_id"},
	}
	out := map[string]any{}
	for _, k := range has[tool] {
		if v, ok := args[k]; ok {
			out[k] = v
		}
	}
	return out
}

func (d *desk) call(tool string, args map[string]any) *agent.Result {
	got, err := d.session.CallTool(d.t.Context(), &mcp.CallToolParams{
		Name: tool, Arguments: args, Meta: mcp.Meta{"deskhand/user": "U-01"},
	})
	if err != nil {
		d.t.Fatalf("%s %v: %v", tool, args, err)
	}
	result := &agent.Result{IsError: got.IsError}
	for _, block := range got.Content {
		raw, err := json.Marshal(block)
		if err != nil {
			d.t.Fatal(err)
		}
		result.Content = append(result.Content, raw)
	}
	if result.Structured, err = json.Marshal(got.StructuredContent); err != nil {
		d.t.Fatal(err)
	}
	return result
}

// compare applies the rules of comparison: changes must match exactly, reading
// is free, and what must be mentioned stands in the answer or on the card.
func (d *desk) compare(u utterance) string {
	changing := []string{"schedule_visit", "reschedule_visit", "cancel_visit", "order_part", "cancel_part_order", "add_note"}
	left := slices.Clone(d.changes)
	for _, want := range u.Expect.Calls {
		if !slices.Contains(changing, want.Tool) || want.Error != "" {
			continue
		}
		i := slices.IndexFunc(left, func(c change) bool { return c.tool == want.Tool && subset(want.Args, c.args) })
		if i < 0 {
			return fmt.Sprintf("%s %v was not called", want.Tool, want.Args)
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		return fmt.Sprintf("unexpected change: %v", left)
	}
	text := comparable(d.answer + "\n" + strings.Join(d.cards, "\n"))
	for _, m := range u.Expect.Mentions {
		if !strings.Contains(text, comparable(m)) {
			return fmt.Sprintf("the answer does not mention %q", m)
		}
	}
	if u.Expect.Asks && !strings.Contains(d.answer, "?") {
		return "the answer asks nothing"
	}
	return ""
}

// subset reports whether every listed argument is equal; times as instants.
func subset(want, got map[string]any) bool {
	for k, v := range want {
		a, b := fmt.Sprint(v), fmt.Sprint(got[k])
		ta, errA := time.Parse(time.RFC3339, a)
		tb, errB := time.Parse(time.RFC3339, b)
		if errA == nil && errB == nil && ta.Equal(tb) {
			continue
		}
		if comparable(a) != comparable(b) {
			return false
		}
	}
	return true
}

// comparable takes case, accents and thousands separators away.
func comparable(s string) string {
	s = strings.NewReplacer("ø", "o", "ł", "l", "84,90", "84.90").Replace(strings.ToLower(s))
	return strings.Map(func(r rune) rune {
		if r >= 0x300 && r < 0x370 {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}
