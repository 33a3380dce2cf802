package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/mcp/client"
	"deskhand/state"
	"deskhand/state/memory"
)

// referenceServers names the folder in which npm installed the public reference
// servers; .ci/mcp-servers sets it.
const referenceServers = "DESKHAND_REFERENCE_SERVERS"

// puppet is a model that makes the call which the dispatcher's message spells
// out: an alias and its arguments.
type puppet struct {
	heard atomic.Pointer[agent.ModelRequest]
}

func (p *puppet) Name() string { return "puppet" }

func (p *puppet) Respond(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	p.heard.Store(&r)
	last := r.Messages[len(r.Messages)-1]
	if last.Role != agent.RoleUser {
		return agent.ModelReply{Text: "That is all."}, nil
	}
	alias, args, _ := strings.Cut(last.Text, " ")
	return agent.ModelReply{Calls: []agent.ModelCall{{ID: "call-1", Name: alias, Arguments: json.RawMessage(args)}}}, nil
}

// step is one call of a reference server's tool.
type step struct {
	alias, args string
	// holds is what the result must hold as the model gets it; ROOT stands for
	// the folder that the filesystem server may use.
	holds string
	// kinds are the types of the result's content blocks.
	kinds string
	fails bool
}

// steps call every tool of the three servers, in this order.
var steps = []step{
	{"echo", `{"message":"hello"}`, "Echo: hello", "text", false},
	{"get-sum", `{"a":2,"b":3}`, "5", "text", false},
	{"get-annotated-message", `{"messageType":"error","includeImage":true}`, `"audience":["user","assistant"]`, "text image", false},
	{"get-env", `{}`, "PATH", "text", false},
	{"get-resource-links", `{"count":3}`, "demo://resource", "text resource_link resource_link resource_link", false},
	{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "demo://resource", "text resource text", false},
	{"get-structured-content", `{"location":"New York"}`, `"structured":{`, "text", false},
	{"get-tiny-image", `{}`, "image/png", "text image text", false},
	{"gzip-file-as-resource", `{"name":"a.gz","data":"data:text/plain;base64,aGVsbG8=","outputType":"resource"}`, "application/gzip", "resource", false},
	{"simulate-research-query", `{"topic":"heating","ambiguous":false}`, "task", "text", true},
	{"toggle-simulated-logging", `{}`, "logging", "text", false},
	{"toggle-subscriber-updates", `{}`, "resource", "text", false},
	{"trigger-long-running-operation", `{"duration":1,"steps":3}`, "Long running operation completed", "text", false},

	{"list_allowed_directories", `{}`, "ROOT", "text", false},
	{"create_directory", `{"path":"ROOT/jobs"}`, "Successfully created", "text", false},
	{"write_file", `{"path":"ROOT/jobs/a.txt","content":"one\ntwo\n"}`, "Successfully wrote", "text", false},
	{"edit_file", `{"path":"ROOT/jobs/a.txt","edits":[{"oldText":"two","newText":"three"}]}`, "+three", "text", false},
	{"read_text_file", `{"path":"ROOT/jobs/a.txt"}`, `three`, "text", false},
	{"read_file", `{"path":"ROOT/jobs/a.txt"}`, `three`, "text", false},
	{"read_multiple_files", `{"paths":["ROOT/jobs/a.txt","ROOT/pixel.png"]}`, `three`, "text", false},
	{"read_media_file", `{"path":"ROOT/pixel.png"}`, "image/png", "image", false},
	{"move_file", `{"source":"ROOT/jobs/a.txt","destination":"ROOT/jobs/b.txt"}`, "Successfully moved", "text", false},
	{"list_directory", `{"path":"ROOT/jobs"}`, "[FILE] b.txt", "text", false},
	{"list_directory_with_sizes", `{"path":"ROOT/jobs"}`, "b.txt", "text", false},
	{"directory_tree", `{"path":"ROOT"}`, "b.txt", "text", false},
	{"search_files", `{"path":"ROOT","pattern":"**/*.txt"}`, "b.txt", "text", false},
	{"get_file_info", `{"path":"ROOT/jobs/b.txt"}`, "size", "text", false},
	{"read_text_file", `{"path":"/etc/hostname"}`, "Access denied", "text", true},

	{"create_entities", `{"entities":[{"name":"RT-18","entityType":"unit","observations":["leaks"]},{"name":"Saltgrain","entityType":"customer","observations":[]}]}`, "RT-18", "text", false},
	{"create_relations", `{"relations":[{"from":"RT-18","to":"Saltgrain","relationType":"belongs to"}]}`, "belongs to", "text", false},
	{"add_observations", `{"observations":[{"entityName":"RT-18","contents":["drips"]}]}`, "drips", "text", false},
	{"read_graph", `{}`, `"structured":{`, "text", false},
	{"search_nodes", `{"query":"RT"}`, "RT-18", "text", false},
	{"open_nodes", `{"names":["RT-18"]}`, "drips", "text", false},
	{"delete_observations", `{"deletions":[{"entityName":"RT-18","observations":["drips"]}]}`, "success", "text", false},
	{"delete_relations", `{"relations":[{"from":"RT-18","to":"Saltgrain","relationType":"belongs to"}]}`, "success", "text", false},
	{"delete_entities", `{"entityNames":["RT-18"]}`, "success", "text", false},
}

// TestReferenceServers calls every tool of the public reference servers through
// the engine, and looks at what the model gets.
func TestReferenceServers(t *testing.T) {
	dir := os.Getenv(referenceServers)
	if dir == "" {
		t.Skip("runs where the reference servers are installed; see .ci/mcp-servers")
	}
	t.Setenv("DESKHAND_TEST_SECRET", "do-not-tell")
	files := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(files); err == nil {
		files = resolved // the server speaks of the folder's real name
	}
	pixel := "\x89PNG\r\n\x1a\n"
	if err := os.WriteFile(filepath.Join(files, "pixel.png"), []byte(pixel), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(name string, env map[string]string, args ...string) *client.Server {
		program := filepath.Join(dir, "node_modules/@modelcontextprotocol", "server-"+name, "dist/index.js")
		s := client.New(client.Options{Name: name, ConnectTimeout: patience, Command: &client.Command{
			Path: filepath.Join(dir, "node_modules/.bin/node"), Args: append([]string{program}, args...), Env: client.Environment(os.Getenv, env),
		}})
		t.Cleanup(func() {
			if err := s.Close(context.Background()); err != nil {
				t.Errorf("closing %s: %v", name, err)
			}
		})
		return s
	}
	servers := []*client.Server{
		start("everything", nil, "stdio"),
		start("filesystem", nil, files),
		start("memory", map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "graph.jsonl")}),
	}
	model := &puppet{}
	engine, uncalled := drive(t, model, servers)
	for _, want := range steps {
		called := letCall(t, engine, want, files)
		delete(uncalled, called.Tool)
		if called.Result == nil {
			continue
		}
		check(t, model, called, want, files)
	}
	for tool := range uncalled {
		t.Errorf("nobody called %s", tool)
	}
	for _, s := range servers {
		if st := s.State(); st.Phase != client.PhaseReady {
			t.Errorf("%s is %s: %v", s.Name(), st.Phase, st.Err)
		}
	}
}

// drive makes an engine over the servers that runs everything unasked, and says
// which tools there are.
func drive(t *testing.T, model agent.Model, servers []*client.Server) (*agent.Engine, map[agent.QualifiedName]bool) {
	t.Helper()
	var policy agent.PolicyConfig
	var sources []agent.Source
	tools := map[agent.QualifiedName]bool{}
	for _, s := range servers {
		list, err := s.Tools(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		for _, tool := range list.Tools {
			name := agent.Qualify(s.Name(), tool.Name)
			tools[name] = true
			policy.RunWithoutApproval = append(policy.RunWithoutApproval, name)
		}
		sources = append(sources, s)
	}
	t.Logf("%d tools", len(tools))
	compiled, err := agent.NewPolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	store := state.New(memory.New())
	t.Cleanup(func() { _ = store.Close() }) // it keeps nothing
	var ids atomic.Int64
	engine, err := agent.New(agent.Config{
		Store: store, Model: model, Sources: sources, Policy: compiled, Owner: "test",
		User: func() agent.User { return agent.User{ID: "U-01"} }, Now: time.Now,
		NewID: func() string { return "id-" + strconv.FormatInt(ids.Add(1), 10) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return engine, tools
}

// letCall lets the model make one call in a conversation of its own.
func letCall(t *testing.T, engine *agent.Engine, want step, files string) agent.CallReport {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	text := want.alias + " " + strings.ReplaceAll(want.args, "ROOT", files)
	report, err := engine.Send(ctx, agent.SendRequest{Text: text})
	if err != nil || report.Status != agent.TurnCompleted || len(report.Calls) != 1 {
		t.Errorf("%s: %s, %d calls, %v", text, report.Status, len(report.Calls), err)
		return agent.CallReport{}
	}
	return report.Calls[0]
}

// check compares a result with what the model was given and what was wanted.
func check(t *testing.T, model *puppet, called agent.CallReport, want step, files string) {
	t.Helper()
	heard := model.heard.Load().Messages
	got := heard[len(heard)-1].Result
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if kept, _ := json.Marshal(called.Result); string(kept) != string(text) {
		t.Errorf("%s: what is kept is not what the model got:\n%s\n%s", want.alias, kept, text)
	}
	var kinds []string
	for _, block := range got.Content {
		var b struct{ Type string }
		if err := json.Unmarshal(block, &b); err != nil {
			t.Errorf("%s: %v", want.alias, err)
		}
		kinds = append(kinds, b.Type)
	}
	if !slices.Equal(kinds, strings.Fields(want.kinds)) || got.IsError != want.fails {
		t.Errorf("%s: content %v, error %v, want %s, %v", want.alias, kinds, got.IsError, want.kinds, want.fails)
	}
	plain := got.Text() + " " + string(text)
	if !strings.Contains(plain, strings.ReplaceAll(want.holds, "ROOT", files)) {
		t.Errorf("%s: no %q in %.600s", want.alias, want.holds, plain)
	}
	if strings.Contains(plain, "do-not-tell") {
		t.Errorf("%s: the server sees what is none of its business", want.alias)
	}
	fmt.Fprintf(t.Output(), "%s/%s: %.100q\n", called.Tool.Server(), want.alias, got.Text())
}
