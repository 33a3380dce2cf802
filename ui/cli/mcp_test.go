//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// twins is a desk with two work-orders servers that are programs, each with a
// book of its own.
type twins struct {
	*shell
	dir string
}

// twinPolicy lets both look things up, and asks about orders with a quote.
const twinPolicy = `"policy": {
  "runWithoutApproval": [%s],
  "previews": {"alpha/order_part": "alpha/quote_part", "beta/order_part": "beta/quote_part"}}`

func newTwins(t *testing.T) *twins {
	t.Helper()
	s := newShell(t)
	w := &twins{shell: s, dir: filepath.Dir(s.home)}
	s.flags = append(s.flags, "--config", filepath.Join(w.dir, "twins.json"))
	w.configure("alpha", "beta")
	return w
}

// configure writes the configuration with the servers in this order.
func (w *twins) configure(order ...string) {
	w.t.Helper()
	servers := []string{`"work-orders": {"disabled": true}`}
	var free []string
	for _, name := range order {
		args, err := json.Marshal([]string{"--home", filepath.Join(w.dir, name), "--clock", clock, "workorders", "serve", "--stdio"})
		if err != nil {
			w.t.Fatal(err)
		}
		servers = append(servers, fmt.Sprintf(`%q: {"command": "deskhand", "args": %s, "env": {"TZ": "UTC", "GORACE": "atexit_sleep_ms=0"}}`, name, args))
		for _, tool := range []string{"lookup_work_order", "search_work_orders", "search_parts", "quote_part", "list_part_orders"} {
			free = append(free, fmt.Sprintf("%q", name+"/"+tool))
		}
	}
	text := fmt.Sprintf(`{"mcpServers": {%s}, %s}`, strings.Join(servers, ",\n"), fmt.Sprintf(twinPolicy, strings.Join(free, ",")))
	if err := os.WriteFile(filepath.Join(w.dir, "twins.json"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// accept accepts both programs as a script does: by the digest that was shown.
func (w *twins) accept() {
	w.t.Helper()
	var listed []struct{ Name, Digest string }
	w.decode(&listed, done, "servers", "--json")
	for _, server := range listed {
		if server.Digest != "" {
			w.expect(done, "servers", "accept", server.Name, "--digest", server.Digest)
		}
	}
}

// orders are the part orders in the book of a server.
func (w *twins) orders(name string) int {
	w.t.Helper()
	var book struct {
		PartOrders []json.RawMessage `json:"part_orders"`
	}
	w.decode(&book, done, "--home", filepath.Join(w.dir, name), "workorders", "export")
	return len(book.PartOrders)
}

// A program is not started before a person has looked at it: not by a command,
// and not under another command line than the one that was accepted.
func TestProgramsAreAccepted(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	o := w.expect(failed, "doctor")
	o.prints(t, "Server alpha: down", "deskhand servers accept alpha")
	if _, err := os.Stat(filepath.Join(w.dir, "alpha")); err == nil {
		t.Fatal("a program ran that nobody had accepted")
	}
	o = w.expect(waiting, "servers", "accept", "alpha")
	o.prints(t, "deskhand --home "+filepath.Join(w.dir, "alpha"), "workorders serve --stdio", "with TZ=UTC", "Digest: ")
	o.says(t, "nothing was accepted: without a terminal, give --digest")
	w.expect(usage, "servers", "accept", "alpha", "--digest", strings.Repeat("0", 64)).says(t, "another digest")
	w.expect(usage, "servers", "accept", "gamma").says(t, "there is no server")
	w.expect(usage, "servers", "accept", "work-orders").says(t, "is disabled")
	w.accept()
	w.expect(done, "doctor").prints(t, "Server alpha: ready", "alpha__order_part", "beta/order_part")

	// Another command line is another program.
	path := filepath.Join(w.dir, "twins.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"--stdio"`, `"--stdio", "--plain"`, 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	o = w.expect(failed, "doctor")
	o.prints(t, "Server alpha: down", "Server beta: ready")
}

// The console asks at its start about every program, takes one line for each,
// and can be left at the question.
func TestConsoleAsksAboutPrograms(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	x := w.open()
	x.see("The server alpha is a program", "Type yes")
	x.keys("\x03")
	x.end()
	x = w.open()
	x.see("The server alpha is a program", "Type yes")
	x.keys("yes\r")
	x.see("The server beta is a program")
	x.keys("\r")
	x.see("Quillmoor", "beta down")
	x.kill()
	w.expect(failed, "doctor").prints(t, "Server alpha: ready", "Server beta: down")
}

// Two servers have the tool order_part. What was approved for one runs there,
// and never at the other, also when the desk starts again with the servers in
// the other order.
func TestTwoServersWithOneToolName(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	w.accept()
	var asked struct {
		Approvals []struct{ ApprovalID, Tool string }
		Calls     []struct{ Alias, Tool string }
	}
	w.decode(&asked, waiting, "ask", "--json", "order a 3 kW heating element for WO-1044")
	if len(asked.Approvals) != 1 || asked.Approvals[0].Tool != "alpha/order_part" {
		t.Fatalf("approvals %+v", asked.Approvals)
	}
	for _, c := range asked.Calls {
		if server, tool, _ := strings.Cut(c.Tool, "/"); c.Alias != server+"__"+tool {
			t.Errorf("the alias of %s is %s", c.Tool, c.Alias)
		}
	}
	before := map[string]int{"alpha": w.orders("alpha"), "beta": w.orders("beta")}

	// While its server is gone the other one is no replacement.
	w.configure("beta")
	if o := w.run("approve", asked.Approvals[0].ApprovalID); o.code == done {
		t.Errorf("approved without its server: %s", o.out)
	}
	w.configure("beta", "alpha")
	w.expect(done, "approve", asked.Approvals[0].ApprovalID)
	if n := w.orders("alpha"); n != before["alpha"]+1 {
		t.Errorf("alpha has %d orders, want %d", n, before["alpha"]+1)
	}
	if n := w.orders("beta"); n != before["beta"] {
		t.Errorf("beta has %d orders, want %d", n, before["beta"])
	}
}

// A console that is killed hard leaves none of the programs that it started.
func TestProgramsOfAKilledConsole(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	w.accept()
	x := w.open()
	x.see("Quillmoor")
	var pids []int
	deadline := time.Now().Add(patience)
	for len(pids) < 2 && time.Now().Before(deadline) {
		pids = w.running()
		time.Sleep(20 * time.Millisecond)
	}
	if len(pids) != 2 {
		t.Fatalf("%d programs run, want 2", len(pids))
	}
	_ = x.cmd.Process.Kill()
	<-x.gone
	for len(w.running()) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("the programs %v outlive the console", w.running())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// running are the processes that serve the twins' books.
func (w *twins) running() []int {
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(found) == 0 {
		w.t.Skip("this system does not list its processes in /proc")
	}
	var pids []int
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		words := strings.Split(string(text), "\x00")
		if slices.Contains(words, "--stdio") && strings.Contains(string(text), w.dir) {
			var pid int
			if _, err := fmt.Sscanf(file, "/proc/%d/", &pid); err == nil && syscall.Kill(pid, 0) == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
