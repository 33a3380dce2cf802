package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deskhand/state/bolt"
	"deskhand/state/kv"
	"deskhand/ui/cli"
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
//	spoil FILE PREFIX    cut the one record short that lies under a key's prefix
//	hostile TEXT LINE    ask TEXT with control characters and one more LINE
//	newest VARIABLE      put the newest conversation's id into a variable
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DESKHAND_HOME", filepath.Join(env.WorkDir, "desk"))
			return os.WriteFile(filepath.Join(env.WorkDir, "default.json"), []byte("{}"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   func(ts *testscript.TestScript, neg bool, args []string) { exits(ts, args) },
			"fails":   fails,
			"damage":  damage,
			"spoil":   spoil,
			"newest":  newest,
			"hostile": hostile,
		},
	})
}

// deskhand runs a command with the frozen clock, in this process: the tests of
// processes are elsewhere.
func deskhand(ts *testscript.TestScript, args ...string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o := outcome{args: append([]string{"--clock", clock, "--config", ts.MkAbs("default.json")}, args...)}
	var out, errs bytes.Buffer
	o.code = cli.Run(ctx, o.args, io.MultiWriter(&out, ts.Stdout()), io.MultiWriter(&errs, ts.Stderr()), ts.Getenv)
	o.out, o.err = out.String(), errs.String()
	return o
}

// exits compares a command's exit code.
func exits(ts *testscript.TestScript, args []string) outcome {
	if len(args) == 0 {
		ts.Fatalf("usage: exits CODE WORD...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	o := deskhand(ts, args[1:]...)
	if o.code != want {
		ts.Fatalf("exit %d, want %d\nstdout: %s\nstderr: %s", o.code, want, o.out, o.err)
	}
	return o
}

// fails is exits for a command that says in one line why it did nothing.
func fails(ts *testscript.TestScript, _ bool, args []string) {
	o := exits(ts, args)
	if !strings.HasPrefix(o.err, "deskhand: ") || strings.Count(o.err, "\n") != 1 {
		ts.Fatalf("standard error is not one line: %q", o.err)
	}
	if o.out != "" {
		ts.Fatalf("standard output is not empty: %q", o.out)
	}
}

// hostile asks what no terminal should see as it is.
func hostile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: hostile TEXT LINE")
	}
	o := deskhand(ts, "ask", args[0]+"\x1b[2J\u202e\n"+args[1])
	if o.code != done || strings.ContainsAny(o.out+o.err, "\x1b\u202e") {
		ts.Fatalf("exit %d: %q %q", o.code, o.out, o.err)
	}
}

// newest sets a variable to the id of the newest conversation.
func newest(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: newest VARIABLE")
	}
	var list []conversation
	ts.Check(json.Unmarshal([]byte(deskhand(ts, "conversations", "--json").out), &list))
	if len(list) == 0 {
		ts.Fatalf("there is no conversation")
	}
	ts.Setenv(args[0], list[0].ID)
}

// spoil cuts a record of a closed desk short.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: spoil FILE PREFIX")
	}
	store, err := bolt.Open(ts.MkAbs(args[0]), bolt.Options{Wait: patience})
	ts.Check(err)
	defer func() { ts.Check(store.Close()) }()
	pairs, err := store.Scan(context.Background(), kv.ScanOptions{Prefix: args[1]})
	ts.Check(err)
	if len(pairs) != 1 {
		ts.Fatalf("%d records lie under %s", len(pairs), args[1])
	}
	ts.Check(store.Update(context.Background(), func(tx kv.Tx) error {
		return tx.Put(pairs[0].Key, pairs[0].Value[:len(pairs[0].Value)/2])
	}))
}

// damage does to a file what failing disks do.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: damage empty|cut|middle|garbage FILE")
	}
	name := ts.MkAbs(args[1])
	switch args[0] {
	case "empty":
		ts.Check(os.Truncate(name, 0))
	case "cut":
		ts.Check(os.Truncate(name, 20_000))
	case "middle":
		data, err := os.ReadFile(name)
		ts.Check(err)
		// All but the pages that say what the file is.
		for i := 4 * os.Getpagesize(); i < len(data); i++ {
			if at := i % os.Getpagesize(); at < 100 { // the pages' heads and first elements
				data[i] = 0x5a
			}
		}
		ts.Check(os.WriteFile(name, data, 0o600))
	case "garbage":
		ts.Check(os.WriteFile(name, []byte(strings.Repeat("not a database ", 8_000)), 0o600))
	default:
		ts.Fatalf("damage: %q is none", args[0])
	}
}
