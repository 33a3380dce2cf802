package cli_test

import (
	"strings"
	"sync"
	"testing"
)

func TestAskAnswersWithoutAnybodysDecision(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	var a answer
	o := s.expect(done, "--home", s.home, "ask", "--json", "what's the status of WO-1043")
	o.quiet(t)
	decodeOne(t, o.out, &a)
	for _, words := range []string{"Sam Orrin", "Tue 1 Dec 13:00", "V-2019"} {
		if !strings.Contains(a.Answer, words) {
			t.Errorf("the answer does not name %q: %s", words, a.Answer)
		}
	}
	if len(a.OrderIDs) != 1 || a.OrderIDs[0] != "WO-1043" {
		t.Errorf("orderIds = %v", a.OrderIDs)
	}
	if a.ApprovalID != "" || len(a.Approvals) != 0 || a.Status != "completed" {
		t.Errorf("something waits: %+v", a)
	}
	if list := s.approvals(); len(list) != 0 {
		t.Errorf("approvals lists %v", list)
	}
}

func TestOrderWaitsInTheStoreUntilItIsApproved(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()

	a := s.ask(waiting, orderLine)
	if a.ApprovalID == "" || a.Status != "paused" || !strings.Contains(a.Answer, "84.90 EUR") || strings.Contains(a.Answer, "{") {
		t.Fatalf("no readable question: %+v", a)
	}
	checkCard(t, s.approvals())
	s.ordersAdded(before, 0)

	o := s.expect(done, "approve", a.ApprovalID)
	o.quiet(t)
	made := s.ordersAdded(before, 1)[0]
	o.prints(t, made.ID, "1 order placed: "+made.ID+", 84.90 EUR")
	if made.SKU != "HE-3000-230" || made.Quantity != 1 || made.Total != 8490 || made.WorkOrder != "WO-1044" || made.ApprovedBy != "U-01" {
		t.Errorf("ordered %+v", made)
	}
	again := s.expect(failed, "approve", a.ApprovalID)
	again.says(t, a.ApprovalID+" was already approved by Dispatch Desk 1 at 09:00 on Tue 1 Dec 2026")
	s.expect(failed, "deny", a.ApprovalID).says(t, "already approved by Dispatch Desk 1")
	s.ordersAdded(before, 1)
}

// checkCard makes sure that the list holds one waiting order with everything
// that a person needs to decide.
func checkCard(t *testing.T, list []approval) {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("approvals lists %d entries", len(list))
	}
	c := list[0]
	total := c.Preview.Line.Total
	if c.Tool != orderPart || c.Status != "waiting" || c.Args.SKU != "HE-3000-230" || c.Args.Quantity != 1 || c.Args.WorkOrder != "WO-1044" {
		t.Errorf("the card is %+v", c)
	}
	if total.Minor != 8490 || total.Currency != "EUR" || c.Args.Limit != 8490 {
		t.Errorf("the card's total is %+v, its limit %d", total, c.Args.Limit)
	}
	if c.Preview.Supplier.Name != "Tandrel Thermal Supply" || c.Preview.Expected.Local != "Thu 3 Dec 12:00" || c.Preview.Expected.At.IsZero() {
		t.Errorf("the card's supplier and arrival are %+v, %+v", c.Preview.Supplier, c.Preview.Expected)
	}
	if c.Because == "" || len(c.Digest) != 64 || c.Args.Key == "" || c.RequestedAt.IsZero() {
		t.Errorf("the card lacks something: %+v", c)
	}
}

func TestDenyTellsTheAssistantWhyAndOrdersNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	a := s.ask(waiting, orderLine)

	s.expect(done, "deny", a.ApprovalID, "--reason", "wrong size").prints(t, "not ordered", "Nothing was ordered")
	c := s.show(a.ConversationID)
	made := c.tool(orderPart)
	if made.Status != "denied" || made.Result == nil || made.Result.IsError {
		t.Fatalf("the call is %+v", made)
	}
	if want := "Declined by the dispatcher. Nothing was ordered. Reason: wrong size"; made.text() != want {
		t.Errorf("the model hears %q, want %q", made.text(), want)
	}
	last := c.Messages[len(c.Messages)-1]
	if last.Role != "assistant" || !strings.Contains(last.Text, "ordered") || last.Ledger != "Nothing was ordered." {
		t.Errorf("the answer is %+v", last)
	}
	s.ordersAdded(before, 0)
	s.expect(failed, "approve", a.ApprovalID).says(t, "already denied by Dispatch Desk 1")
	s.ordersAdded(before, 0)
}

// manyProcesses approve at once. Each waits for the desk, finds out what was
// decided, and only one sends.
const manyProcesses = 50

func TestFiftyProcessesApproveAndOneOrderIsPlaced(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	a := s.ask(waiting, orderLine)

	outcomes := make([]outcome, manyProcesses)
	var wait sync.WaitGroup
	for i := range outcomes {
		wait.Go(func() { outcomes[i] = s.run("--wait", patience.String(), "approve", a.ApprovalID) })
	}
	wait.Wait()
	won := 0
	for _, o := range outcomes {
		if o.code == done {
			won++
			o.prints(t, "1 order placed")
			continue
		}
		if o.code != failed {
			t.Errorf("exit %d: %s", o.code, o.err)
		}
		o.says(t, "was already approved by Dispatch Desk 1")
	}
	if won != 1 {
		t.Errorf("%d processes approved", won)
	}
	s.ordersAdded(before, 1)
}

func TestChangedTermsPutUpANewCard(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	a := s.ask(waiting, orderLine)

	tomorrow := []string{"--clock", "2026-12-02T09:00:00+01:00"}
	later := &shell{t: t, home: s.home, env: s.env, flags: tomorrow}
	later.expect(waiting, "approve", a.ApprovalID).says(t, "nothing was sent", "Thu 3 Dec", "Fri 4 Dec", "deskhand approve A-2")
	s.ordersAdded(before, 0)
	later.expect(failed, "approve", a.ApprovalID).says(t, "A-1 was replaced by A-2")
	later.expect(done, "approve", "A-2").prints(t, "1 order placed")
	s.ordersAdded(before, 1)
}
