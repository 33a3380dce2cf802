package offline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
	"deskhand/agent/evaluate"
	"deskhand/agent/offline"
	"deskhand/mcp/workorders"
)

// floors are how many lines of each file of testdata come out right. They only
// ever go up. The lines of utterances_held.jsonl and utterances_kept.jsonl are
// kept back from the work on the model: they say how it does on lines that
// nobody looked at.
var floors = map[string]int{
	"utterances.jsonl": 100, "utterances_more.jsonl": 172, "utterances_own.jsonl": 286,
	"utterances_held.jsonl": 74, "utterances_kept.jsonl": 96,
}

// TestUtterances says every dispatcher line to the model, against the real
// server on an unchanged demo book, and counts those that come out right.
func TestUtterances(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptBack := name == "utterances_held.jsonl" || name == "utterances_kept.jsonl"
			o, right, wrong := newOffice(t), 0, 0
			lines := readUtterances(t, name)
			for _, u := range lines {
				d := o.newDesk(t)
				for _, line := range u.Context {
					d.say(line)
				}
				d.changes, d.cards, d.counting = nil, nil, true
				d.say(u.Say)
				verdict := evaluate.Judge(u, evaluate.Outcome{Changes: d.changes, Answer: d.answer, Cards: d.cards})
				switch {
				case verdict.WrongWrite:
					wrong++
					t.Errorf("%s %q: %s\n%s", u.ID, u.Say, verdict.Problem, d.story)
				case verdict.Problem == "":
					right++
				case !keptBack:
					t.Logf("%s %q: %s\n%s", u.ID, u.Say, verdict.Problem, d.story)
				}
			}
			t.Logf("%d of %d lines, %d wrong writes", right, len(lines), wrong)
			if right < floors[name] {
				t.Errorf("%d of %d lines work, want at least %d", right, len(lines), floors[name])
			}
		})
	}
}

func readUtterances(t *testing.T, name string) []evaluate.Line {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := evaluate.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// office is a server on a demo book that desks use one after another. The book
// is made anew after a desk that changed it.
type office struct {
	book    *workorders.Book
	session *mcp.ClientSession
	tools   []agent.ModelTool
	now     time.Time
	touched bool
}

// desk drives the model against a real server, in place of the engine.
type desk struct {
	t *testing.T
	*office
	model    *offline.Model
	messages []agent.ModelMessage
	counting bool // orders count as made, and are not sent
	keys     int
	changes  []evaluate.Call
	cards    []string
	answer   string
	story    string
}

func newOffice(t *testing.T) *office {
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
	o := &office{book: book, session: session, now: now}
	o.list(t)
	return o
}

// newDesk begins a conversation on an unchanged book.
func (o *office) newDesk(t *testing.T) *desk {
	t.Helper()
	if o.touched {
		if err := o.book.Reset(); err != nil {
			t.Fatal(err)
		}
		o.touched = false
	}
	return &desk{t: t, office: o, model: offline.New()}
}

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer token-of-the-tests")
	return http.DefaultTransport.RoundTrip(r)
}

func (o *office) list(t *testing.T) {
	t.Helper()
	for tool, err := range o.session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		o.tools = append(o.tools, agent.ModelTool{Name: tool.Name, Description: tool.Description, InputSchema: schema})
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
		d.changes = append(d.changes, evaluate.Call{Tool: c.Name, Args: args})
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
	d.touched = d.touched || evaluate.Changes(c.Name)
	switch {
	case m.Result.IsError:
		m.State = agent.CallFailed
	case c.Name == "schedule_visit" || c.Name == "add_note":
		d.changes = append(d.changes, evaluate.Call{Tool: c.Name, Args: args})
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
