package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// provider is a server that speaks Chat Completions, with a model that orders
// when it is asked to, and says what came of it.
type provider struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	// fail, if set, is the status of every answer.
	fail int
}

const modelKey = "sk-nobody-may-see-this"

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Authorization") != "Bearer "+modelKey {
		http.Error(w, `{"error":{"message":"wrong key `+r.Header.Get("Authorization")+`"}}`, http.StatusUnauthorized)
		return
	}
	p.mu.Lock()
	p.requests = append(p.requests, string(raw))
	fail := p.fail
	p.mu.Unlock()
	if fail != 0 {
		http.Error(w, `{"error":{"message":"out of order"}}`, fail)
		return
	}
	var request struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	last := request.Messages[len(request.Messages)-1]
	delta := map[string]any{"content": "You said: " + last.Content}
	reason := "stop"
	switch {
	case last.Role == "tool":
		delta = map[string]any{"content": "So it is: " + last.Content}
	case strings.Contains(last.Content, "order"):
		sku := "HE-3000-230"
		if strings.Contains(last.Content, "stainless") {
			sku += "S"
		}
		delta = map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": "call_1", "type": "function",
			"function": map[string]string{"name": "order_part", "arguments": `{"work_order_id":"WO-1044","sku":"` + sku + `","quantity":1}`},
		}}}
		reason = "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range []any{
		map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}},
		map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}},
		map[string]any{"choices": []any{}, "usage": map[string]int{"prompt_tokens": 100, "completion_tokens": 5}},
	} {
		text, _ := json.Marshal(c) // maps of plain values
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func (p *provider) set(fail int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

// configured is a shell whose configuration names the provider; more are members
// of "model" beside those that every test has.
func (p *provider) configured(t *testing.T, more ...string) *shell {
	s := newShell(t)
	path := filepath.Join(filepath.Dir(s.home), "model.json")
	config := fmt.Sprintf(`{"model": {"provider": "openai", "name": "test-model", "baseURL": %q, "apiKeyEnv": "TEST_MODEL_KEY", "headers": {"X-Title": "${TEST_TITLE:-desk}"}, "timeout": "50s"%s}, "promptFile": "prompt.txt"}`, p.URL+"/v1", strings.Join(append([]string{""}, more...), ", "))
	prompt := filepath.Join(filepath.Dir(path), "prompt.txt")
	if err := os.WriteFile(prompt, []byte("Answer {{user}} in verse. It is {{time}}, {{offset}}."), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "TEST_MODEL_KEY="+modelKey)
	s.flags = append(s.flags, "--config", path)
	return s
}

func TestAnOrderThroughARealModelAcrossProcesses(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := p.configured(t)
	before := s.orders()
	a := s.ask(waiting, orderLine)
	if a.ApprovalID != "A-1" {
		t.Fatalf("%+v", a)
	}
	s.within().expect(done, "approvals").prints(t, "HE-3000-230", "84.90 EUR")
	s.expect(done, "approve", "A-1").prints(t, "So it is:", "PO-3021", "1 order placed: PO-3021, 84.90 EUR")
	s.ordersAdded(before, 1)
	s.expect(done, "show", a.ConversationID, "--json").prints(t, `"input": 200`, `"output": 10`)
	s.expect(done, "doctor").prints(t, "Model    openai:test-model\n", "order_part")
	p.mu.Lock()
	first := p.requests[0]
	p.mu.Unlock()
	for _, want := range []string{`"model":"test-model"`, `"name":"order_part"`, "THIS COSTS MONEY", "Answer Dispatch Desk 1 in verse. It is Tuesday 1 December 2026, 09:00, 2026-12-01T09:00:00+01:00.", `"content":"` + orderLine + `"`} {
		if !strings.Contains(first, want) {
			t.Errorf("the request does not hold %q: %s", want, first)
		}
	}
	for _, hidden := range []string{"idempotency_key", "max_total_minor"} {
		if strings.Contains(first, hidden) {
			t.Errorf("the model sees %s", hidden)
		}
	}
}

func TestAModelThatFailsAfterADecision(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := p.configured(t)
	before := s.orders()
	s.ask(waiting, orderLine)
	p.set(http.StatusBadRequest)
	o := s.expect(failed, "approve", "A-1")
	o.says(t, "the decision stands", "refused the request (400): out of order", "go on with: deskhand continue ")
	s.ordersAdded(before, 1)
	s.expect(failed, "doctor").prints(t, "openai:test-model, which does not answer: ")
	p.set(0)
	var list []conversation
	s.within().decode(&list, done, "conversations", "--json")
	s.expect(done, "continue", list[0].ID).prints(t, "So it is:", "1 order placed: PO-3021")
	s.ordersAdded(before, 1)

	// Declining stands as well, and the model hears of it later.
	s.ask(waiting, "order the stainless one for WO-1044")
	p.set(http.StatusInternalServerError + 1)
	s.expect(failed, "deny", "A-2", "--reason", "wrong size").says(t, "the decision stands")
	p.set(0)
	s.within().decode(&list, done, "conversations", "--json")
	s.expect(done, "continue", list[0].ID).prints(t, "Declined by the dispatcher. Nothing was ordered.", "wrong size", "— Nothing was ordered.")
	s.ordersAdded(before, 1)
}

// TestTheBuiltInModelStandsIn for one that cannot be reached, and the screen says
// who answers. What it asked for is approved as anything else, and the model that
// is back knows of it.
func TestTheBuiltInModelStandsIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := p.configured(t, `"fallback": "offline"`)
	before := s.orders()
	p.set(http.StatusServiceUnavailable)
	a := s.ask(waiting, orderLine)
	p.set(0)
	s.expect(done, "approve", a.ApprovalID).prints(t, "1 order placed: PO-3021")
	s.ordersAdded(before, 1)
	s.expect(done, "show", a.ConversationID).prints(t, "(openai:test-model cannot be reached: the built-in model answers.)")
	s.expect(done, "ask", "--conversation", a.ConversationID, "hello").prints(t, "You said: hello")
}

func TestAModelsKeyIsNowhereButInItsRequests(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := p.configured(t)
	var said strings.Builder
	for _, command := range [][]string{{"ask", orderLine}, {"approvals", "--json"}, {"deny", "A-1"}, {"doctor", "--json"}, {"config"}, {"config", "--json"}, {"export"}, {"audit", "--json"}, {"conversations"}} {
		o := s.run(command...)
		said.WriteString(o.out + o.err)
	}
	// A wrong key, which the server repeats in its answer.
	wrong := "sk-wrong-and-secret-too"
	s.env = append(s.env, "TEST_MODEL_KEY="+wrong)
	o := s.run("ask", "hello")
	o.says(t, "the key was refused (401); check model.apiKeyEnv")
	said.WriteString(o.out + o.err)
	texts := map[string]string{"output": said.String()}
	err := filepath.WalkDir(s.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		texts[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range texts {
		if strings.Contains(text, modelKey) || strings.Contains(text, wrong) {
			t.Errorf("a key is in %s", where)
		}
	}
	if len(texts) < 3 {
		t.Errorf("only %d files were looked at", len(texts))
	}
}

func TestHowAModelIsChosen(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := p.configured(t)
	s.expect(usage, "--model", "openai", "--config", filepath.Join(filepath.Dir(s.home), "none.json"), "ask", "x").says(t, "there is no configuration file")
	s.expect(usage, "--model", "gpt", "ask", "x").says(t, `the model "gpt" is not available; this version has: offline, openai:NAME, anthropic:NAME`)
	s.expect(done, "--model", "offline", "ask", "status of WO-1043").prints(t, "Sam Orrin")
	s.expect(done, "--model", "openai:another", "ask", "hello").prints(t, "You said: hello")
	p.mu.Lock()
	last := p.requests[len(p.requests)-1]
	p.mu.Unlock()
	if !strings.Contains(last, `"model":"another"`) {
		t.Errorf("asked for %s", last)
	}
	path := filepath.Join(filepath.Dir(s.home), "command.json")
	config := fmt.Sprintf(`{"model": {"provider": "openai", "name": "m", "baseURL": %q, "apiKeyCommand": ["sh", "-c", "echo %s"]}}`, p.URL+"/v1", modelKey)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expect(done, "--config", path, "ask", "hello").prints(t, "You said: hello")
	for text, want := range map[string]string{
		`{"model":{"provider":"openai"}}`:                                "say which model",
		`{"model":{"provider":"openai","name":"m","timeout":"soon"}}`:    `model.timeout is "soon"`,
		`{"model":{"provider":"openai","name":"m","baseURL":"nowhere"}}`: "model.baseURL must look like",
		`{"model":{"provider":"openai","name":"m","maxTokens":-1}}`:      "model.maxTokens must not be negative",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.expect(usage, "--config", path, "ask", "hello").says(t, want)
	}
	if err := os.WriteFile(path, []byte(`{"model":{"provider":"openai","name":"m"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expect(failed, "--config", path, "ask", "hello").says(t, "OPENAI_API_KEY is not set", "deskhand continue")
	s.expect(failed, "--config", path, "--model", "anthropic:m", "ask", "hello").says(t, "ANTHROPIC_API_KEY is not set", "deskhand continue")
	s.expect(usage, "--config", path, "--model", "anthropic", "ask", "hello").says(t, "say which model: --model anthropic:NAME")
}

// A key may also stand in a header or in the address, and a server may repeat it.
func TestAKeyInAHeaderOrInTheAddressIsNowhereElse(t *testing.T) {
	t.Parallel()
	secrets := []string{"header-secret-1", "query-secret-2", "password-secret-3"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		if r.Header.Get("Api-Key") != secrets[0] || r.URL.Query().Get("code") != secrets[1] || password != secrets[2] {
			t.Errorf("asked with %v, %v", r.URL, r.Header)
		}
		http.Error(w, `{"error":{"message":"refused: `+strings.Join(secrets, " ")+`"}}`, http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	s := newShell(t)
	path := filepath.Join(filepath.Dir(s.home), "model.json")
	address := strings.Replace(server.URL, "http://", "http://desk:"+secrets[2]+"@", 1) + "/v1?code=" + secrets[1]
	config := fmt.Sprintf(`{"model": {"provider": "openai", "name": "m", "baseURL": %q, "headers": {"Api-Key": "${TEST_HEADER_KEY}"}}}`, address)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "TEST_HEADER_KEY="+secrets[0])
	s.flags = append(s.flags, "--config", path)
	s.expect(failed, "ask", "hello").says(t, "refused: … … …")
	var said strings.Builder
	for _, command := range [][]string{{"config"}, {"config", "--json"}, {"doctor", "--json"}, {"export"}, {"audit", "--json"}, {"conversations", "--json"}} {
		o := s.run(command...)
		said.WriteString(o.out + o.err)
	}
	store, err := os.ReadFile(filepath.Join(s.home, "desk.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s is printed", secret)
		}
		if strings.Contains(string(store), secret) {
			t.Errorf("%s is in the store", secret)
		}
	}
}
