package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestCommandsWorkBesideTheProcessThatHoldsTheDesk(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.within().orders()
	h := s.serve()
	if info, err := os.Stat(filepath.Join(s.home, "desk.sock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	a := s.ask(waiting, orderLine)
	if status, body := h.dispatch(fmt.Sprintf(`{"message":%q}`, "order a HE-3000-230S for WO-1044"), ""); status != http.StatusOK || !strings.Contains(body, "A-2") {
		t.Fatalf("%d %s", status, body)
	}
	s.expect(done, "approvals").prints(t, "A-1", "A-2")
	s.within().expect(done, "conversations").prints(t, "order a 3 kW heating element")
	s.expect(done, "show", a.ConversationID).prints(t, "A-1")
	s.expect(done, "--user", "U-02", "approve", a.ApprovalID, "--note", "by phone").prints(t, "1 order placed")
	s.expect(failed, "approve", a.ApprovalID).says(t, "A-1 was already approved by", "; see deskhand show ")
	s.expect(done, "deny", "A-2", "--reason", "not now").prints(t, "not now")
	s.expect(done, "audit").prints(t, "by phone", "not now")
	s.expect(done, "doctor").prints(t, "work-orders/order_part")
	s.expect(usage, "ask").says(t, "say what to ask")
	s.expect(usage, "--user", "U-77", "approvals").says(t, "there is no desk user")
	s.expect(failed, "serve", "--addr", "127.0.0.1:0").says(t, "is in use by process")
	s.expect(failed, "--clock", "2026-12-02T09:00:00+01:00", "approvals").says(t, "is open in another process, and it has another --clock")
	other := filepath.Join(filepath.Dir(s.home), "other.json")
	if err := os.WriteFile(other, []byte(`{"user":"U-02"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expect(failed, "--config", other, "approvals").says(t, "is open in another process, and it has another configuration")
	s.ordersAdded(before, 1)
	// Nothing is left behind by a kill that stands in the way.
	h.kill()
	s.expect(done, "approvals").prints(t, "Nothing waits.")
}

func TestManyCommandsBesideOneDeskDecideOnce(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.within().orders()
	h := s.serve()
	s.ask(waiting, orderLine)
	var mu sync.Mutex
	codes := map[int]int{}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			o := s.run("approve", "A-1")
			if o.code == failed && !strings.Contains(o.err, "A-1 was already approved by") {
				t.Errorf("a loser was told %q", o.err)
			}
			mu.Lock()
			codes[o.code]++
			mu.Unlock()
		})
	}
	all.Wait()
	if codes[done] != 1 || codes[failed] != 9 {
		t.Errorf("exit codes %v", codes)
	}
	h.term()
	s.ordersAdded(before, 1)
}
