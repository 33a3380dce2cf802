//go:build unix

package cli_test

import "testing"

func TestADecisionBesideAnOpenConsoleIsSeenInIt(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	x := s.open()
	x.see("work-orders ready")
	x.line(orderLine)
	x.see(cardHead, "1 decision waiting")
	s.expect(done, "approvals").prints(t, "A-1")
	s.expect(waiting, "ask", "order a HE-3000-230S for WO-1044").prints(t, "A-2 waits for your decision")
	x.see("2 decisions waiting")
	s.expect(done, "approve", "A-1").prints(t, "1 order placed: PO-3021")
	x.see("1 order placed: PO-3021", "1 decision waiting")
	s.expect(done, "deny", "A-2")
	x.see("nothing waits")
	s.ordersAdded(before, 1)
	x.kill()
	s.expect(done, "approvals").prints(t, "Nothing waits.")
}
