package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"deskhand/agent"
)

func TestToolsAreTypedReadOnlyAndNamedOnce(t *testing.T) {
	t.Parallel()
	dir := write(t, nil)
	list, err := New(dir).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if list.Identity != "skills:"+dir {
		t.Errorf("identity = %q", list.Identity)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			resolved(t, schema)
		}
		if tool.Title == "" || tool.Description == "" || string(tool.Annotations) != readOnly || !json.Valid(tool.Annotations) {
			t.Errorf("definition = %+v", tool)
		}
	}
	if !reflect.DeepEqual(names, []string{ListTool, ReadTool}) {
		t.Errorf("tools = %v", names)
	}
}

func TestTheNamesOfTheToolsStandInOnePlace(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ListTool, ReadTool} {
		found := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found += bytes.Count(text, []byte(name))
		}
		if found != 1 {
			t.Errorf("%s is spelled %d times in the package", name, found)
		}
	}
}

func resolved(t testing.TB, text json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestResultsFitTheOutputSchemas(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"boiler-faults/SKILL.md": boiler, "boiler-faults/long.txt": strings.Repeat("x", maxRead+1), "broken/notes.md": "x",
	})
	link(t, "nowhere", filepath.Join(dir, "broken", "link"))
	for _, c := range []struct{ tool, arguments string }{
		{ListTool, `{}`},
		{ListTool, `{"skill":"broken"}`},
		{ReadTool, `{"skill":"boiler-faults"}`},
		{ReadTool, `{"skill":"boiler-faults","file":"long.txt","offset":1,"limit":5}`},
	} {
		tool, _ := toolNamed(c.tool)
		result := call(t, dir, c.tool, c.arguments)
		var value any
		if err := json.Unmarshal(result.Structured, &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved(t, json.RawMessage(tool.output)).Validate(value); err != nil || result.IsError {
			t.Errorf("%s %s gives %s: %v", c.tool, c.arguments, result.Structured, err)
		}
	}
}

func TestANewSkillChangesNoDefinition(t *testing.T) {
	t.Parallel()
	dir := write(t, nil)
	before, err := New(dir).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "boiler-faults", skillFile), boiler)
	after, err := New(dir).Tools(t.Context())
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("before %+v, after %+v, %v", before, after, err)
	}
}

func TestAFolderThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"file": "x"})
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o000); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, dir string
		is        error
	}{
		{"gone", filepath.Join(dir, "gone"), fs.ErrNotExist},
		{"a file", filepath.Join(dir, "file"), nil},
		{"not allowed", locked, fs.ErrPermission},
		{"not named", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.dir == locked && os.Geteuid() == 0 {
				t.Skip("nothing is locked for root")
			}
			_, err := New(test.dir).Tools(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.dir) || test.is != nil && !errors.Is(err, test.is) {
				t.Fatalf("tools: %v", err)
			}
			for _, approval := range []agent.ApprovalID{"", "A-1"} {
				_, callErr := New(test.dir).Call(t.Context(), agent.CallRequest{Tool: ListTool, Approval: approval})
				wantOutcome(t, callErr, agent.OutcomeNotSent)
				if !strings.Contains(callErr.Error(), err.Error()) {
					t.Errorf("call says %q, tools say %q", callErr, err)
				}
			}
		})
	}
}

func TestARelativeFolderIsFixedWhenTheSourceIsMade(t *testing.T) {
	dir := write(t, map[string]string{"skills/boiler-faults/SKILL.md": boiler})
	t.Chdir(dir)
	s := New("skills")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	list, err := s.Tools(t.Context())
	if err != nil || list.Identity != "skills:"+filepath.Join(here, "skills") {
		t.Errorf("tools = %+v, %v", list, err)
	}
}

func TestAnUnknownToolIsNoTool(t *testing.T) {
	t.Parallel()
	_, err := New(write(t, nil)).Call(t.Context(), agent.CallRequest{Tool: "delete_skill"})
	wantOutcome(t, err, agent.OutcomeAnswered)
}

func TestACallThatWasStoppedWasNotSent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := New(write(t, map[string]string{"boiler-faults/SKILL.md": boiler}))
	for _, tool := range tools {
		_, err := s.Call(ctx, agent.CallRequest{Tool: tool.name, Arguments: json.RawMessage(`{"skill":"boiler-faults"}`)})
		wantOutcome(t, err, agent.OutcomeNotSent)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool.name, err)
		}
	}
	if _, err := s.Tools(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("tools: %v", err)
	}
}

func TestArgumentsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"boiler-faults/SKILL.md": boiler})
	for _, test := range []struct{ tool, arguments string }{
		{ListTool, `[]`},
		{ListTool, `{"skill":7}`},
		{ListTool, `{"skills":"boiler-faults"}`},
		{ListTool, `{} {}`},
		{ReadTool, `{"skill":"boiler-faults","offset":-1}`},
		{ReadTool, `{"skill":"boiler-faults","offset":1.5}`},
		{ReadTool, `{"skill":"boiler-faults","offset":1e300}`},
		{ReadTool, `{"skill":"boiler-faults","offset":"1"}`},
		{ReadTool, `{"skill":"boiler-faults","limit":0}`},
		{ReadTool, `{"skill":"boiler-faults","limit":32001}`},
		{ReadTool, `{"skill":"boiler-faults","path":"SKILL.md"}`},
		{ReadTool, `{"skill":`},
	} {
		if no := refused(t, call(t, dir, test.tool, test.arguments)); no.Code != codeArguments || no.Retry != retryChange {
			t.Errorf("%s %s: %+v", test.tool, test.arguments, no)
		}
	}
}

func TestOneSourceServesManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	s := New(write(t, map[string]string{"boiler-faults/SKILL.md": boiler}))
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			for _, tool := range tools {
				result, err := s.Call(t.Context(), agent.CallRequest{Tool: tool.name, Arguments: json.RawMessage(`{"skill":"boiler-faults"}`)})
				if err != nil || result.IsError {
					t.Errorf("%s: %+v, %v", tool.name, result, err)
				}
			}
		})
	}
	wait.Wait()
}
