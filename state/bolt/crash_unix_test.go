//go:build unix

package bolt

import (
	"bufio"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// TestKill kills a process that counts at random moments, those of making the
// file and of opening it included, fifty times. The lock must be gone with the
// process, the file must open, and hold every value that was acknowledged and
// at most one more.
func TestKill(t *testing.T) {
	t.Parallel()
	const files, kills = 10, 5
	var acknowledged atomic.Int64
	t.Cleanup(func() {
		if acknowledged.Load() == 0 {
			t.Error("no child lived long enough to count")
		}
		t.Logf("%d values acknowledged", acknowledged.Load())
	})
	for file := range files {
		t.Run(strconv.Itoa(file), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "home", "desk.db")
			counter := 0
			for range kills {
				last := killedAfter(t, path, time.Duration(rand.Int64N(int64(25*time.Millisecond))))
				acknowledged.Add(int64(max(0, last-counter)))
				counter = counterOf(t, path, max(last, counter))
			}
		})
	}
}

// counterOf opens what a killed process has left, checks it, and returns the
// counter, which is least or one more: what was being written may be there.
func counterOf(t *testing.T, path string, least int) int {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	value, _, err := s.Get(t.Context(), "counter")
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(string(value))
	if n < least || n > least+1 {
		t.Fatalf("the counter is %d, acknowledged was %d", n, least)
	}
	if n > 0 {
		wantValue(t, s, "zz/copy", string(value))
	}
	wantSound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return n
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
