package skills

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deskhand/agent"
)

// boiler is a well-formed SKILL.md.
const boiler = "---\nname: boiler-faults\ndescription: Reads fault codes of boilers.\n---\n# Faults\nF28: no gas.\n"

// write puts files, by their paths, below a new folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// call runs a tool that must give a result.
func call(t testing.TB, dir, tool, arguments string) agent.Result {
	t.Helper()
	result, err := New(dir).Call(t.Context(), agent.CallRequest{Tool: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	return result
}

// refused gives the refusal in a result, and fails if it is none.
func refused(t testing.TB, result agent.Result) refusal {
	t.Helper()
	var wrapped struct {
		Error refusal `json:"error"`
	}
	if err := json.Unmarshal(result.Structured, &wrapped); err != nil || !result.IsError {
		t.Fatalf("not refused: %s, %v", result.Structured, err)
	}
	if wrapped.Error.Message == "" || wrapped.Error.Message != result.Text() || wrapped.Error.Retry == "" {
		t.Fatalf("a refusal that does not say enough: %+v, text %q", wrapped.Error, result.Text())
	}
	return wrapped.Error
}

// listed gives the skills of a list.
func listed(t testing.TB, dir, arguments string) listing {
	t.Helper()
	result := call(t, dir, ListTool, arguments)
	var out listing
	if err := json.Unmarshal(result.Structured, &out); err != nil || result.IsError {
		t.Fatalf("list: %s, %v", result.Structured, err)
	}
	return out
}

// wantOutcome checks an error of Call.
func wantOutcome(t testing.TB, err error, want agent.Outcome) {
	t.Helper()
	var failure *agent.CallError
	if !errors.As(err, &failure) || failure.Outcome != want || failure.Server != Name {
		t.Fatalf("error = %v, want a CallError %q", err, want)
	}
}
