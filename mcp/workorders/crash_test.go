package workorders

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Variables that make the test binary the process that is to be killed.
const (
	envBook  = "DESKHAND_TEST_BOOK"  // its book
	envFrom  = "DESKHAND_TEST_FROM"  // the first call of the script
	envStage = "DESKHAND_TEST_STAGE" // where in its first change it dies

	envSweep = "DESKHAND_SWEEP" // "full": at every write of 10,000 calls
)

// TestMain lets the test binary be the victim of its own crash test, or the
// fixture server of the conformance suite.
func TestMain(m *testing.M) {
	if token := os.Getenv(envFixtures); token != "" {
		serveFixtures(token)
	}
	if path := os.Getenv(envBook); path != "" {
		victim(path)
	}
	os.Exit(m.Run())
}

// victim runs the script and kills itself at the stage of its first change. It
// prints the number of each call that was answered.
func victim(path string) {
	from, err := strconv.ParseUint(os.Getenv(envFrom), 10, 64)
	if err != nil {
		panic(err)
	}
	die := os.Getenv(envStage)
	b, err := Open(path, Options{Now: demoNow, step: func(stage string) {
		if stage == die {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		}
	}})
	if err != nil {
		panic(err)
	}
	d := newDirect(&testing.T{}, b)
	for n := from; ; n++ {
		tool, user, a := scriptAt(n).call(n)
		_, _ = d.call(tool, user, a)
		fmt.Println(n)
	}
}

// TestKillAtEveryWrite kills a process at each stage of its writes, one after
// another in one book: what was answered is there, what was committed is there
// with its answer, what was not is not, and the same call again is done once.
func TestKillAtEveryWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	calls, kills := uint64(10_000), 1<<30
	if os.Getenv(envSweep) != "full" {
		kills = 24
	}
	path := filepath.Join(t.TempDir(), "book.db")
	b, err := Open(path, Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	stages := []string{"checked", "written", "committed", "published"}
	for kill, next := 0, uint64(0); kill < kills && next < calls; kill++ {
		next = afterKill(t, path, killed(t, path, next, stages[kill%len(stages)]), stages[kill%len(stages)])
		if t.Failed() {
			t.Fatalf("after kill %d, at call %d", kill, next-1)
		}
	}
}

// killed runs a victim and returns the call during which it died.
func killed(t *testing.T, path string, from uint64, stage string) uint64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envBook+"="+path, envFrom+"="+strconv.FormatUint(from, 10), envStage+"="+stage)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	died := from
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		n, err := strconv.ParseUint(strings.TrimSpace(lines.Text()), 10, 64)
		if err != nil {
			t.Fatalf("the victim said %q", lines.Text())
		}
		died = n + 1
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("the victim ended by itself: %v\n%s", err, stderr.String())
	}
	return died
}

// afterKill opens the book, looks whether the call is in it, and makes it again.
func afterKill(t *testing.T, path string, n uint64, stage string) (next uint64) {
	t.Helper()
	b, err := Open(path, Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	tool, user, a := scriptAt(n).call(n)
	durable := stage == "committed" || stage == "published"
	key, keyed := a["idempotency_key"].(string)
	if keyed {
		kept, err := b.kept(key)
		if err != nil || (kept != nil) != durable {
			t.Errorf("call %d (%s) killed when %s: kept %v, %v", n, tool, stage, kept, err)
		}
	}
	before := b.state.Load()
	_, err = newDirect(t, b).call(tool, user, a)
	if err != nil {
		t.Errorf("call %d (%s) again: %v", n, tool, err)
	}
	if again := b.state.Load() != before; again == durable {
		t.Errorf("call %d (%s) killed when %s: made again %t", n, tool, stage, again)
	}
	checked(t, b)
	return n + 1
}

// TestTornCommit writes the pages of a commit one by one over the file before
// it, without the page that makes them count, as a crash of the machine would
// leave them: the book opens as it was.
func TestTornCommit(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	d := newDirect(t, b)
	whole := func() []byte {
		var buf bytes.Buffer
		f, err := os.Open(b.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if _, err := io.Copy(&buf, f); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	before, want := whole(), exportText(t, b)
	if _, err := d.call("order_part", "U-01", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1}); err != nil {
		t.Fatal(err)
	}
	after := whole()
	page := os.Getpagesize()
	torn := bytes.Clone(before)
	if len(after) > len(torn) {
		torn = append(torn, make([]byte, len(after)-len(torn))...)
	}
	for at := 2 * page; at < len(after); at += page { // the first two pages say what counts
		if bytes.Equal(torn[at:at+page], after[at:at+page]) {
			continue
		}
		copy(torn[at:at+page], after[at:at+page])
		path := filepath.Join(t.TempDir(), "book.db")
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		left, err := Open(path, Options{Now: demoNow})
		if err != nil {
			t.Fatalf("with page %d written: %v", at/page, err)
		}
		if exportText(t, left) != want {
			t.Errorf("with page %d written the book is another", at/page)
		}
		checked(t, left)
		_ = left.Close()
	}
}

func exportText(t *testing.T, b *Book) string {
	t.Helper()
	var buf bytes.Buffer
	if err := b.Export(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestCancelledBeforeTheChange: a call whose context has ended changes nothing.
func TestCancelledBeforeTheChange(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := b.state.Load()
	_, err := addNoteTool().handle(ctx, b, caller{}, []byte(`{"work_order_id":"1044","text":"late"}`))
	if r := refusalOf(err); err == nil || r.Code != "interrupted" || r.Retry != retrySame || b.state.Load() != before {
		t.Errorf("error %v", err)
	}
}
