package client

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
)

// Programs that behave well enough: every call is answered and ran once, however
// much noise there is and whichever era they speak.
func TestProgramsThatAnswer(t *testing.T) {
	for script, protocol := range map[string]string{
		"modern":             "2026-07-28",
		"legacy":             legacyProtocol,
		"noisy":              legacyProtocol,
		"batch":              legacyProtocol,
		"dies of the probe":  legacyProtocol,
		"forks":              legacyProtocol,
		"deaf":               legacyProtocol,
		"silent about probe": legacyProtocol,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s, p := startable(t, script, func(o *Options) {
				if strings.HasPrefix(script, "silent") {
					o.ConnectTimeout = patient / 5
				}
				o.CloseTimeout = 400 * time.Millisecond
			})
			list, err := s.Tools(t.Context())
			if err != nil || len(list.Tools) != 1 {
				t.Fatalf("tools %v, %v", list.Tools, err)
			}
			if self, _ := os.Executable(); list.Identity != self {
				t.Errorf("identity %q", list.Identity)
			}
			for range 2 {
				if r := mustCall(t, s, "order"); r.Text() != "done" {
					t.Errorf("result %q", r.Text())
				}
			}
			if n := p.noted("call"); n != 2 {
				t.Errorf("%d executions, want 2", n)
			}
			if st := s.State(); st.Phase != PhaseReady || st.Protocol != protocol {
				t.Errorf("state %+v", st)
			}
			if err := s.Close(context.Background()); err != nil {
				t.Errorf("close: %v", err)
			}
			p.allGone("start")
			p.allGone("child")
		})
	}
}

// Programs that fail in a call: what became of it, how often it ran, and that
// the next call is answered by a new process where the old one ended.
func TestProgramsThatFailInACall(t *testing.T) {
	for _, test := range []struct {
		script, want string
	}{
		{"dies in a call", "the server's program ended (exit status 7); it said: out of memory"},
		{"half an answer", "the server's program ended"},
		{"unreadable", "the server sent a message that cannot be read"},
		{"huge", "the server sent more than 1048576 bytes at once"},
		{"wrong id", "no answer within"},
		{"never", "no answer within"},
		{"never and deaf", "no answer within"},
	} {
		t.Run(test.script, func(t *testing.T) {
			t.Parallel()
			s, p := startable(t, test.script, func(o *Options) {
				o.MaxAnswer = 1 << 20
				o.CloseTimeout = 400 * time.Millisecond
				if strings.HasPrefix(test.want, "no answer") {
					o.CallTimeout = 10 * short
				}
			})
			defer func() {
				_ = s.Close(context.Background()) // it says so when it had to cut
				p.allGone("start")
			}()
			if _, err := s.Tools(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := call(t, s, "order")
			ce := wantOutcome(t, err, agent.OutcomeUnknown)
			if !strings.Contains(ce.Err.Error(), test.want) {
				t.Errorf("error %q, want %q", ce.Err, test.want)
			}
			if n := p.noted("call"); n != 1 {
				t.Errorf("%d executions, want 1", n)
			}
			if strings.HasPrefix(test.want, "no answer") {
				return // saves the time of waiting once more
			}
			// A call in doubt is never sent again by itself; the next one is a
			// call of its own, in a new process.
			_, err = call(t, s, "order")
			wantOutcome(t, err, agent.OutcomeUnknown)
			if n := p.noted("call"); n != 2 {
				t.Errorf("%d executions after the second call, want 2", n)
			}
			if n := p.noted("start"); n != 2 {
				t.Errorf("%d starts, want 2", n)
			}
		})
	}
}

// A program that is killed between two calls is started again without a word,
// with its tools.
func TestProgramKilledBetweenCalls(t *testing.T) {
	t.Parallel()
	s, p := startable(t, "legacy forks")
	if _, err := s.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustCall(t, s, "order")
	first, err := os.FindProcess(p.pids("start")[0])
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Kill()
	eventually(t, "the session is dead", func() bool { return s.State().Phase == PhaseDown })
	if st := s.State(); !strings.Contains(st.Err.Error(), "signal: killed") {
		t.Errorf("state %+v", st)
	}
	p.allGone("child") // it would hold the port of its server
	if list, err := s.Tools(t.Context()); err != nil || len(list.Tools) != 1 {
		t.Errorf("tools %v, %v", list.Tools, err)
	}
	mustCall(t, s, "order")
	if n := p.noted("call"); n != 2 {
		t.Errorf("%d executions, want 2", n)
	}
}

// Cancelling reaches the program, the outcome is unknown, and a late answer
// disturbs nothing.
func TestProgramCallCancelled(t *testing.T) {
	for _, script := range []string{"modern", "late"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s, p := startable(t, script)
			if _, err := s.Tools(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			came := make(chan error, 1)
			go func() {
				_, err := s.Call(ctx, agent.CallRequest{Tool: "order", Arguments: []byte(`{"wait":true}`)})
				came <- err
			}()
			eventually(t, "the call runs", func() bool { return p.noted("call") == 1 })
			cancel()
			wantOutcome(t, <-came, agent.OutcomeUnknown)
			eventually(t, "the program hears of it", func() bool { return p.noted("cancelled") == 1 })
			if script == "modern" {
				mustCall(t, s, "order")
			}
			if n := p.noted("start"); n != 1 {
				t.Errorf("%d starts, want 1", n)
			}
		})
	}
}

// Programs with which there is no connection: why, in words, and no process
// left.
func TestProgramsThatDoNotConnect(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"crashes", "the server's program ended (exit status 3); it said: cannot read [31mshop.db / no such file"},
		{"silent at all, deaf, forks", "the server did not answer within"},
		{"blind", "the server did not answer within"},
	} {
		t.Run(test.script, func(t *testing.T) {
			t.Parallel()
			s, p := startable(t, test.script, func(o *Options) {
				if test.script != "crashes" {
					o.ConnectTimeout = 10 * short
				}
				o.CloseTimeout = 400 * time.Millisecond
			})
			_, err := s.Tools(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			_, err = call(t, s, "order")
			wantOutcome(t, err, agent.OutcomeNotSent)
			if st := s.State(); st.Phase != PhaseDown {
				t.Errorf("state %+v", st)
			}
			_ = s.Close(context.Background())
			p.allGone("start")
			p.allGone("child")
		})
	}
}

// Programs that cannot be started, and one that may not be.
func TestProgramsThatDoNotStart(t *testing.T) {
	forbidden := errors.New("its command line was not accepted")
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"missing":    {func(o *Options) { o.Command.Path = "no-such-program" }, "the program no-such-program is not found"},
		"wrong path": {func(o *Options) { o.Command.Path = "/no/such/program" }, "the program /no/such/program is not found"},
		"no folder":  {func(o *Options) { o.Command.Dir = "/no/such/folder" }, "its folder /no/such/folder is not there"},
		"a folder":   {func(o *Options) { o.Command.Path = os.TempDir() }, "may not be run"},
		"forbidden":  {func(o *Options) { o.Permit = func() error { return forbidden } }, forbidden.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := startable(t, "legacy", test.change)
			_, err := s.Tools(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			_, err = call(t, s, "order")
			wantOutcome(t, err, agent.OutcomeNotSent)
			if n := p.noted("start"); n != 0 {
				t.Errorf("%d starts", n)
			}
		})
	}
}

// A program sees nothing of this program's environment but what it needs.
func TestProgramEnvironment(t *testing.T) {
	t.Setenv("DESKHAND_TEST_SECRET", "do-not-tell")
	s, _ := startable(t, "tells its environment")
	r := mustCall(t, s, "order")
	if text := string(r.Structured); strings.Contains(text, "do-not-tell") || !strings.Contains(text, "PATH=") {
		t.Errorf("environment %s", text)
	}
}

// A program that crashes again and again is left in peace for longer and
// longer; a call that somebody decided is tried all the same.
func TestCrashingProgramIsLeftInPeace(t *testing.T) {
	now := time.Now()
	s, p := startable(t, "crashes", func(o *Options) {
		o.Now = func() time.Time { return now }
		o.Jitter = func() float64 { return 0 }
	})
	const eachTry = 2 // modern, then legacy
	for i, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		for range 3 {
			if _, err := s.Tools(t.Context()); err == nil {
				t.Fatal("no error")
			}
		}
		if n := p.noted("start"); n != eachTry*(i+1) {
			t.Fatalf("%d starts after try %d", n, i+1)
		}
		now = now.Add(wait - time.Millisecond)
		if _, err := s.Tools(t.Context()); err == nil || p.noted("start") != eachTry*(i+1) {
			t.Fatalf("started again before %v had passed, or %v", wait, err)
		}
		now = now.Add(time.Millisecond)
	}
	_, err := call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeNotSent)
	if n := p.noted("start"); n != eachTry*4 {
		t.Errorf("%d starts after the call", n)
	}
}

// The guard ends the group when the program that started it is killed, which
// leaves that no time to do anything.
func TestGuard(t *testing.T) {
	t.Parallel()
	leader := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	ownGroup(leader)
	out, err := leader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 64)
	n, _ := out.Read(word)
	g := guardGroup(leader.Process.Pid, New(Options{}).log)
	g.pipe.Close() // as the kernel does for a process that was killed
	_ = g.cmd.Wait()
	_ = leader.Wait()
	p := &program{t: t, ledger: t.TempDir() + "/ledger"}
	if err := os.WriteFile(p.ledger, append([]byte("child "), word[:n]...), 0o600); err != nil {
		t.Fatal(err)
	}
	p.allGone("child")
}
