//go:build unix

package bolt

import (
	"bufio"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestKill kills a process that counts at random moments, those of making the
// file and of opening it included. The lock must be gone with the process, the
// file must open, and hold every value that was acknowledged and at most one
// more.
func TestKill(t *testing.T) {
	t.Parallel()
	const cycles, freshEvery = 50, 5
	path, counter := "", 0
	acknowledged := 0
	for cycle := range cycles {
		if cycle%freshEvery == 0 {
			path, counter = filepath.Join(t.TempDir(), "home", "desk.db"), 0
		}
		last := killedAfter(t, path, time.Duration(rand.Int64N(int64(25*time.Millisecond))))
		acknowledged += max(0, last-counter)
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("cycle %d: open: %v", cycle, err)
		}
		value, _, err := s.Get(t.Context(), "counter")
		if err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		n, _ := strconv.Atoi(string(value))
		if least := max(last, counter); n < least || n > least+1 {
			t.Fatalf("cycle %d: the counter is %d, acknowledged was %d", cycle, n, least)
		}
		if n > 0 {
			wantValue(t, s, "zz/copy", string(value))
		}
		wantSound(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		counter = n
	}
	if acknowledged == 0 {
		t.Error("no child lived long enough to count")
	}
	t.Logf("%d values acknowledged", acknowledged)
}

// killedAfter runs a counting child, kills it some time after it begins to
// open the store, and returns the last value that it acknowledged, or 0.
func killedAfter(t *testing.T, path string, after time.Duration) int {
	t.Helper()
	cmd := child(t, path, taskCount)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child says %q (%v)", line, err)
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	last := 0
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break // a line that is not complete was not acknowledged
		}
		if err != nil {
			t.Fatal(err)
		}
		if last, err = strconv.Atoi(line[:len(line)-1]); err != nil {
			t.Fatalf("the child says %q", line)
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return last
}
