package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"deskhand/state/bolt"
)

// hold holds the desk in this process, as a console would.
func (s *shell) hold() *bolt.Store {
	s.t.Helper()
	store, err := bolt.Open(filepath.Join(s.home, "desk.db"), bolt.Options{Wait: patience})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = store.Close() }) // unless the test has closed it
	return store
}

func TestHeldDeskNamesItsHolder(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	s.expect(waiting, "ask", orderLine)
	s.hold()

	for _, command := range [][]string{{"approvals"}, {"ask", "hello"}, {"approve", "A-1"}, {"deny", "A-1"}, {"show", "x"}, {"doctor"}} {
		o := s.expect(failed, append([]string{"--wait", "0"}, command...)...)
		o.says(t, fmt.Sprintf("is in use by process %d on %s since ", os.Getpid(), host), "close that one, or wait longer with --wait")
		if o.out != "" {
			t.Errorf("%v printed %q", o.args, o.out)
		}
	}
	// What has nothing to do with the desk works all the same.
	s.expect(done, "workorders", "export")
	s.expect(done, "config")
}

func TestConsoleDoesNotWaitLongForAHeldDesk(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.expect(done, "approvals")
	s.hold()
	begin := time.Now()
	o := s.expect(failed, []string{}...)
	took := time.Since(begin)
	o.says(t, "is in use by process "+strconv.Itoa(os.Getpid()))
	// A second of waiting, and room for a machine that is busy: a command
	// would wait for thirty.
	if took > 15*time.Second {
		t.Errorf("the console waited for %v", took)
	}
}

func TestCommandWaitsForAHeldDesk(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.expect(waiting, "ask", orderLine)
	store := s.hold()
	finished := make(chan outcome)
	go func() { finished <- s.run("--wait", patience.String(), "approve", "A-1") }()
	select {
	case o := <-finished:
		t.Fatalf("the command did not wait: %+v", o)
	case <-time.After(200 * time.Millisecond): // it waits, as far as one can see
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if o := <-finished; o.code != done {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

func TestBookThatIsServedIsUsedWhereItIs(t *testing.T) {
	t.Parallel()
	v := startServer(t)
	before := v.orders() // the server is asked: it holds the book
	v.expect(waiting, "ask", orderLine)
	v.expect(done, "approve", "A-1").prints(t, "1 order placed")
	v.ordersAdded(before, 1)
	v.expect(failed, "--wait", "10ms", "workorders", "reset", "--yes").says(t, "close the console or server that has it", fmt.Sprintf("process %d", v.cmd.Process.Pid))
	v.expect(failed, "--wait", "10ms", "workorders", "serve", "--addr", "127.0.0.1:0").says(t, "close the console or server that has it")
	copied, csv := filepath.Join(t.TempDir(), "copy.db"), filepath.Join(t.TempDir(), "csv")
	v.expect(done, "workorders", "backup", copied)
	v.expect(done, "workorders", "export", "--csv", csv)
	want := v.expect(done, "workorders", "export").out
	v.stop()
	v.ordersAdded(before, 1)

	// The copy and the folder are the book as it was while it was served.
	s := newShell(t)
	s.expect(done, "workorders", "import", csv)
	if got := s.expect(done, "workorders", "export").out; got != want {
		t.Error("the folder holds another book")
	}
	home := t.TempDir()
	if err := os.Rename(copied, filepath.Join(home, "workorders.db")); err != nil {
		t.Fatal(err)
	}
	if got := s.expect(done, "--home", home, "workorders", "export").out; got != want {
		t.Error("the copy is another book")
	}
}
