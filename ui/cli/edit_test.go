package cli_test

import (
	"strings"
	"testing"
)

func TestSetPutsUpANewCardAndApprovesNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	s.ask(waiting, orderLine)
	o := s.expect(waiting, "approve", "A-1", "--set", "quantity=2")
	o.prints(t, "A-2 waits instead of A-1", "order 2 ×", "169.80 EUR")
	s.ordersAdded(before, 0)
	s.expect(failed, "approve", "A-1").says(t, "A-1 was replaced by A-2")
	s.expect(done, "approve", "A-2")
	added := s.ordersAdded(before, 1)
	if added[0].Quantity != 2 {
		t.Errorf("ordered %+v", added[0])
	}
}

func TestSetRefusesWhatCannotBeUsedAndTheCardStays(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.ask(waiting, orderLine)
	for _, test := range []struct {
		set   string
		code  int
		words []string
	}{
		{"quantity", usage, []string{"path=value"}},
		{"quantity=two", failed, []string{"A-1 was not changed"}},
		{"quantity=0", failed, []string{"A-1 was not changed"}},
		{"quantity=10000", failed, []string{"A-1 was not changed"}},
		{"max_total_minor=1", failed, []string{"filled in by the desk"}},
		{"nobody.knows=1", usage, []string{"there is no object"}},
	} {
		o := s.expect(test.code, "approve", "A-1", "--set", test.set)
		o.says(t, test.words...)
		if strings.Contains(o.out, "A-2") {
			t.Errorf("%s: %s", test.set, o.out)
		}
	}
	if waits := s.approvals(); len(waits) != 1 || waits[0].ApprovalID != "A-1" || waits[0].Status != "waiting" {
		t.Errorf("waiting = %+v", waits)
	}
}
