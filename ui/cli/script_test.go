package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs what people type, with the exit codes and the one line on
// standard error that each mistake gives.
//
// Beside testscript's own commands there are
//
//	exits CODE WORD...   run deskhand, which must end with this code
//	fails CODE WORD...   the same, with exactly one line on standard error and
//	                     nothing on standard output
//	damage HOW FILE      do to a file what failing disks do
//	newest VARIABLE      put the newest conversation's id into a variable
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("DESKHAND_HOME", filepath.Join(env.WorkDir, "desk"))
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  func(ts *testscript.TestScript, neg bool, args []string) { exits(ts, args) },
			"fails":  fails,
			"damage": damage,
			"newest": newest,
		},
	})
}

// exits runs deskhand with the frozen clock and compares its exit code.
func exits(ts *testscript.TestScript, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: exits CODE WORD...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("deskhand", append([]string{"--clock", clock}, args[1:]...)...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit %d, want %d\nstdout: %s\nstderr: %s", code, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// fails is exits for a command that says in one line why it did nothing.
func fails(ts *testscript.TestScript, _ bool, args []string) {
	exits(ts, args)
	errs := ts.ReadFile("stderr")
	if !strings.HasPrefix(errs, "deskhand: ") || strings.Count(errs, "\n") != 1 {
		ts.Fatalf("standard error is not one line: %q", errs)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output is not empty: %q", out)
	}
}

// newest sets a variable to the id of the newest conversation.
func newest(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: newest VARIABLE")
	}
	ts.Check(ts.Exec("deskhand", "conversations", "--json"))
	var list []conversation
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	if len(list) == 0 {
		ts.Fatalf("there is no conversation")
	}
	ts.Setenv(args[0], list[0].ID)
}

// damage does to a file what failing disks do.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: damage empty|cut|garbage FILE")
	}
	name := ts.MkAbs(args[1])
	switch args[0] {
	case "empty":
		ts.Check(os.Truncate(name, 0))
	case "cut":
		ts.Check(os.Truncate(name, 20_000))
	case "garbage":
		ts.Check(os.WriteFile(name, []byte(strings.Repeat("not a database ", 8_000)), 0o600))
	default:
		ts.Fatalf("damage: %q is none", args[0])
	}
}
