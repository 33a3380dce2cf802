package bolt

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"deskhand/state/kv"
)

// The environment that makes the test binary a child: the path of the store,
// and what to do with it.
const (
	childEnv     = "BOLT_TEST_CHILD"
	childTaskEnv = "BOLT_TEST_CHILD_TASK"

	taskHold  = "hold"  // open it, say so, wait for the end of standard input
	taskOpen  = "open"  // open it and close it
	taskCount = "count" // count in it for ever
)

// child prepares a child process; the caller starts it.
func child(t *testing.T, path, task string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	// The race detector waits a second before it lets a process end.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childEnv+"="+path, childTaskEnv+"="+task)
	cmd.Stderr = os.Stderr
	return cmd
}

func runChild(path, task string) error {
	fmt.Println("ready")
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	switch task {
	case taskHold:
		fmt.Println("open")
		_, _ = os.Stdin.Read(make([]byte, 1))
	case taskCount:
		return count(s)
	}
	return s.Close()
}

// count adds one to the counter, over and over, and prints each value when it
// is acknowledged. Every update also writes a copy of the counter and makes
// and removes values of all sizes, so that the tree and the list of free pages
// keep changing.
func count(s *Store) error {
	ctx := context.Background()
	value, _, err := s.Get(ctx, "counter")
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(string(value))
	for {
		n++
		now := []byte(strconv.Itoa(n))
		err := s.Update(ctx, func(tx kv.Tx) error {
			if err := tx.Put("counter", now); err != nil {
				return err
			}
			if err := tx.Put(fmt.Sprintf("v/%d", n%97), make([]byte, n*n%30_000)); err != nil {
				return err
			}
			if err := tx.Delete(fmt.Sprintf("v/%d", n*7%97)); err != nil {
				return err
			}
			return tx.Put("zz/copy", now)
		})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}
