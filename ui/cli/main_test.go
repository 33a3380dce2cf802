package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deskhand/ui/cli"
)

// TestMain puts this test binary on the path as deskhand, so that every test
// runs the program as people do, in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"deskhand": func() { os.Exit(cli.Main(os.Args[1:])) },
	})
}

// The exit codes that the command line promises.
const (
	done    = 0
	failed  = 1
	usage   = 2
	waiting = 3
	unknown = 4
)

// clock is the moment at which the tests' desks stand still.
const clock = "2026-12-01T09:00:00+01:00"

// raceOptions keep a program with a race detector from sleeping for a second
// before it ends.
const raceOptions = "GORACE=atexit_sleep_ms=0"

// patience bounds every wait. It only ends tests that are lost.
const patience = time.Minute

// shell is a home with its environment, in which commands run one by one.
type shell struct {
	t    testing.TB
	home string
	env  []string
	// flags stand before every command.
	flags []string
	// inside runs commands in the process of the test.
	inside bool
}

func newShell(t testing.TB) *shell {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	return &shell{
		t: t, home: home,
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir,
			"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_DATA_HOME=" + filepath.Join(dir, "data"),
			"DESKHAND_HOME=" + home, "TZ=UTC", raceOptions,
		},
		flags: []string{"--clock", clock},
	}
}

// within is the same home and environment, for commands that need no process of
// their own.
func (s *shell) within() *shell {
	inside := *s
	inside.inside = true
	return &inside
}

// outcome is what a command left.
type outcome struct {
	args     []string
	code     int
	out, err string
}

// command prepares a command that is killed when the test has lost patience.
func (s *shell) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "deskhand", append(append([]string{}, s.flags...), args...)...)
	cmd.Env = s.env
	return cmd
}

// run runs a command to its end.
func (s *shell) run(args ...string) outcome {
	s.t.Helper()
	if s.inside {
		return s.runInside(args...)
	}
	return s.finish(s.command(args...))
}

// runInside runs a command in the process of the test. The configuration is an
// empty one, unless the command or the flags name another.
func (s *shell) runInside(args ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config := filepath.Join(filepath.Dir(s.home), "empty.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	getenv := func(name string) string {
		for _, variable := range slices.Backward(s.env) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}
	o := outcome{args: slices.Concat([]string{"--config", config}, s.flags, args)}
	var out, errs bytes.Buffer
	o.code = cli.Run(ctx, o.args, &out, &errs, getenv)
	o.out, o.err = out.String(), errs.String()
	return o
}

func (s *shell) finish(cmd *exec.Cmd) outcome {
	s.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Errorf("%v: %v", cmd.Args, err)
	}
	return outcome{args: cmd.Args[1:], code: cmd.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
}

// expect runs a command that must end with this code.
func (s *shell) expect(code int, args ...string) outcome {
	s.t.Helper()
	o := s.run(args...)
	if o.code != code {
		s.t.Fatalf("%v: exit %d, want %d\nstdout: %s\nstderr: %s", o.args, o.code, code, o.out, o.err)
	}
	return o
}

// decode runs a command that must end with this code, and reads its output as
// exactly one JSON value.
func (s *shell) decode(into any, code int, args ...string) {
	s.t.Helper()
	decodeOne(s.t, s.expect(code, args...).out, into)
}

func decodeOne(t testing.TB, text string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("the output is no JSON: %v\n%s", err, text)
	}
	if decoder.More() {
		t.Fatalf("the output is more than one JSON value:\n%s", text)
	}
}

// says makes sure that a command failed with one line on standard error that
// holds these words.
func (o outcome) says(t *testing.T, words ...string) {
	t.Helper()
	if !strings.HasPrefix(o.err, "deskhand: ") || strings.Count(o.err, "\n") != 1 || !strings.HasSuffix(o.err, "\n") {
		t.Errorf("%v: standard error is not one line that begins with the program's name:\n%s", o.args, o.err)
	}
	for _, w := range words {
		if !strings.Contains(o.err, w) {
			t.Errorf("%v: standard error does not say %q:\n%s", o.args, w, o.err)
		}
	}
}

// prints makes sure that standard output holds these words.
func (o outcome) prints(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(o.out, w) {
			t.Errorf("%v: standard output does not hold %q:\n%s", o.args, w, o.out)
		}
	}
}

// quiet makes sure that standard error is empty.
func (o outcome) quiet(t *testing.T) {
	t.Helper()
	if o.err != "" {
		t.Errorf("%v: standard error: %s", o.args, o.err)
	}
}
