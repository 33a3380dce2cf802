package cli_test

import (
	"strings"
	"testing"
)

func TestServerOfItsOwnIsStoppedBeforeTheDecision(t *testing.T) {
	t.Parallel()
	v := startServer(t)
	s := v.configure(v.addr)
	before := v.orders()
	first := s.within().ask(waiting, orderLine)
	second := s.within().ask(waiting, "order a HE-3000-230S for WO-1044")
	v.stop()

	o := s.expect(failed, "approve", first.ApprovalID)
	o.says(t, "work-orders cannot be reached", "nothing was recorded", "start the server and try again")
	if list := s.approvals(); len(list) != 2 || list[0].Status != "waiting" {
		t.Fatalf("after approving without a server, approvals lists %+v", list)
	}
	if audit := s.within().expect(done, "audit").out; strings.Contains(audit, "decided") {
		t.Errorf("a decision was recorded:\n%s", audit)
	}
	s.expect(done, "deny", second.ApprovalID, "--reason", "not now").prints(t, "Nothing was ordered", "not now")

	v.start()
	v.ordersAdded(before, 0)
	s.expect(done, "approve", first.ApprovalID).prints(t, "1 order placed")
	v.ordersAdded(before, 1)
}

func TestServerIsGoneBetweenDecisionAndSending(t *testing.T) {
	t.Parallel()
	v, w, s := behindAWire(t)
	before := v.orders()
	a := s.within().ask(waiting, orderLine)
	w.set(func(w *wire) { w.closeAfter = "quote_part" })

	o := s.expect(failed, "approve", a.ApprovalID)
	o.says(t, a.ApprovalID+" is approved, not sent", "send it with: deskhand approve "+a.ApprovalID)
	o.prints(t, "approved, not sent")
	w.set(func(w *wire) { w.closeAfter = "" })
	w.close()
	w.open()

	// Whatever is started now, nothing goes out by itself.
	s.within().expect(done, "approvals").prints(t, "approved, not sent")
	s.expect(done, "ask", "what's the status of WO-1043").prints(t, "WO-1043")
	s.within().expect(done, "doctor")
	s.within().expect(done, "conversations")
	s.expect(waiting, "ask", "--conversation", a.ConversationID, "--queue", "what's the status of WO-1043")
	if n := w.count("order_part"); n != 0 {
		t.Fatalf("order_part was sent %d times", n)
	}
	list := s.approvals()
	if len(list) != 1 || list[0].Status != "approved" || list[0].Reason == "" {
		t.Fatalf("approvals lists %+v", list)
	}

	s.expect(done, "approve", a.ApprovalID).prints(t, "1 order placed", "WO-1043 Rooftop")
	v.ordersAdded(before, 1)
	if n := w.count("order_part"); n != 1 {
		t.Errorf("order_part was sent %d times", n)
	}
	s.expect(failed, "approve", a.ApprovalID).says(t, "already approved by")
	v.ordersAdded(before, 1)
}

func TestApprovedAndNotSentCanBeDropped(t *testing.T) {
	t.Parallel()
	v, w, s := behindAWire(t)
	before := v.orders()
	a := s.within().ask(waiting, orderLine)
	w.set(func(w *wire) { w.closeAfter = "quote_part" })
	s.expect(failed, "approve", a.ApprovalID).says(t, "approved, not sent")

	s.expect(done, "deny", a.ApprovalID, "--reason", "too late").prints(t, "Nothing was ordered")
	w.set(func(w *wire) { w.closeAfter = "" })
	w.close()
	w.open()
	s.expect(failed, "approve", a.ApprovalID)
	v.ordersAdded(before, 0)
}

func TestAnswerIsLostOnceAndTheKeyFindsTheOrder(t *testing.T) {
	t.Parallel()
	v, w, s := behindAWire(t)
	before := v.orders()
	a := s.within().ask(waiting, orderLine)
	w.set(func(w *wire) { w.cut, w.cutLeft = "order_part", 1 })

	s.expect(done, "approve", a.ApprovalID).prints(t, "1 order placed")
	v.ordersAdded(before, 1)
	if n := w.count("order_part"); n != 2 {
		t.Errorf("order_part was sent %d times", n)
	}
}

func TestAnswerStaysLostAndAPersonSettlesIt(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"happened", "resend"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			v, w, s := behindAWire(t)
			before := v.orders()
			a := s.within().ask(waiting, orderLine)
			w.set(func(w *wire) { w.cut, w.cutLeft = "order_part", 1000 })

			s.expect(unknown, "approve", a.ApprovalID).prints(t, "It is not known whether", "deskhand settle "+a.ApprovalID)
			v.ordersAdded(before, 1)
			if list := s.approvals(); len(list) != 1 || list[0].Status != "unknown" || list[0].Reason == "" {
				t.Fatalf("approvals lists %+v", list)
			}
			s.expect(failed, "approve", a.ApprovalID).says(t, "already approved by")
			w.set(func(w *wire) { w.cutLeft = 0 })
			sent := w.count("order_part")
			s.within().expect(done, "approvals").prints(t, "unknown")

			o := s.expect(done, "settle", a.ApprovalID, how, "--note", "looked it up")
			made := v.ordersAdded(before, 1)[0]
			switch {
			case how == "resend":
				o.prints(t, "1 order placed: "+made.ID)
			case w.count("order_part") != sent:
				t.Error("settling as happened sent something")
			default:
				heard := s.show(a.ConversationID).tool(orderPart).text()
				if !strings.Contains(heard, "A person confirmed that this happened") || !strings.Contains(heard, "looked it up") {
					t.Errorf("the model hears %q", heard)
				}
			}
			s.expect(failed, "settle", a.ApprovalID, how).says(t, "there is nothing to settle")
			if list := s.approvals(); len(list) != 0 {
				t.Errorf("approvals lists %+v", list)
			}
		})
	}
}
