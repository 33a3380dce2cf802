package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/bolt"
)

// sweepStride is how many kill points are left out between two in a bounded
// sweep. It has no factor in common with the two or four steps that go together.
const sweepStride = 13

// TestWhereverAProcessIsKilledTheNextOneKeepsThePromises kills a process right
// before and right after every commit, before every message to a server or
// model, and between a server's work and its answer. After each kill, and again
// when a new process and a person have brought the story to its end, the
// server's ledger and the store must agree on every promise.
func TestWhereverAProcessIsKilledTheNextOneKeepsThePromises(t *testing.T) {
	var points atomic.Int64
	t.Run("stories", func(t *testing.T) {
		for i, script := range sweepScripts() {
			t.Run(script.name, func(t *testing.T) {
				t.Parallel()
				points.Add(int64(sweep(t, script, i)))
			})
		}
	})
	t.Logf("%d kill points", points.Load())
	if testing.Verbose() {
		fmt.Printf("crash sweep: %d kill points\n", points.Load())
	}
}

// sweep tells one story once without a kill, then once for each kill point, and
// gives the number of these.
func sweep(t *testing.T, script sweepScript, offset int) int {
	t.Helper()
	clean := t.TempDir()
	end := mustLive(t, life{Script: script.name, Dir: clean, Number: 1})
	want := readEvidence(t, clean)
	want.check(t, script)
	stride, first := sweepStride, 1+offset%sweepStride
	switch {
	case fullSweep():
		stride, first = 1, 1
	case raceDetector:
		stride *= 3
	}
	points := 0
	for at := first; at <= len(end.Steps) && !t.Failed(); at += stride {
		points++
		killed(t, script, []int{at}, want)
		if fullSweep() && at%4 == 1 {
			// The recovery is killed too, early and late.
			points += 2
			killed(t, script, []int{at, 1 + at%5}, want)
			killed(t, script, []int{at, 2 + at%11, 1 + at%3}, want)
		}
		if t.Failed() {
			t.Logf("killed at step %d of %d, %s", at, len(end.Steps), end.Steps[at-1])
		}
	}
	return points
}

// killed tells a story with a kill in each life but the last.
func killed(t *testing.T, script sweepScript, at []int, want evidence) {
	t.Helper()
	dir := t.TempDir()
	number := 0
	for _, n := range at {
		number++
		_, alive := live(t, life{Script: script.name, Dir: dir, Number: number, KillAt: n})
		checkAtDeath(t, dir)
		if alive { // it had nothing left to do
			break
		}
	}
	mustLive(t, life{Script: script.name, Dir: dir, Number: number + 1})
	got := readEvidence(t, dir)
	got.check(t, script)
	got.compare(t, want)
	if t.Failed() {
		t.Logf("killed at %v", at)
	}
}

// live runs one life; alive says that it ended by itself.
func live(t *testing.T, l life) (end lifeEnd, alive bool) {
	t.Helper()
	task, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	// The race detector waits a second before it lets a process end.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", lifeEnv+"="+string(task))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() && l.KillAt > 0 && stderr.Len() == 0 {
		return end, false
	}
	if err == nil {
		err = json.Unmarshal(stdout.Bytes(), &end)
	}
	if err == nil && end.Error != "" {
		err = errors.New(end.Error)
	}
	if err != nil {
		t.Fatalf("life %d (killed at %d): %v\n%s", l.Number, l.KillAt, err, stderr.Bytes())
	}
	return end, true
}

func mustLive(t *testing.T, l life) lifeEnd {
	t.Helper()
	end, alive := live(t, l)
	if !alive {
		t.Fatalf("life %d died of itself", l.Number)
	}
	return end
}

// evidence is what a story left: in the store, at the server, at the model, and
// what the person saw.
type evidence struct {
	desk     agenttest.Desk
	waiting  int
	receipts []agenttest.Receipt
	asked    []agent.ModelRequest
	shown    []shownCard
	tools    map[string]agent.Tool
	faults   error
}

// readEvidence opens what a life left behind, as a reader that changes nothing.
func readEvidence(t *testing.T, dir string) evidence {
	t.Helper()
	backend, err := bolt.Open(deskFile(dir), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := state.New(backend)
	e := evidence{tools: map[string]agent.Tool{}}
	shop := agenttest.NewShop(dir)
	list, errTools := shop.Tools(t.Context())
	for _, tool := range list.Tools {
		e.tools[tool.Name] = tool
	}
	var errDesk, errOpen, errReceipts, errAsked, errShown error
	e.desk, errDesk = agenttest.ReadDesk(t.Context(), store)
	open, errOpen := store.OpenCalls(t.Context())
	e.waiting = len(open)
	e.receipts, errReceipts = shop.Receipts()
	e.asked, errAsked = agenttest.NewLines[agent.ModelRequest](askedFile(dir)).All()
	e.shown, errShown = agenttest.NewLines[shownCard](shownFile(dir)).All()
	e.faults = agenttest.CheckDesk(t.Context(), store)
	bad, errCheck := store.Check(t.Context())
	if len(bad) > 0 {
		t.Errorf("damaged records: %v", bad)
	}
	if err := errors.Join(errTools, errDesk, errOpen, errReceipts, errAsked, errShown, errCheck, backend.Close()); err != nil {
		t.Fatal(err)
	}
	return e
}
