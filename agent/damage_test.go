package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/kv"
	"deskhand/state/memory"
)

// spoilings are what a disk, or a newer program, may have made of a record.
var spoilings = []struct {
	name  string
	spoil func(value string) string // "" deletes the record
}{
	{"deleted", func(string) string { return "" }},
	{"cut short", func(v string) string { return v[:len(v)/2] }},
	{"zeroes", func(v string) string { return strings.Repeat("\x00", len(v)) }},
	{"something else", func(string) string { return `["a","b"]` }},
	{"of a newer version", func(v string) string { return strings.Replace(v, `"v":1`, `"v":99`, 1) }},
}

// TestARecordThatCannotBeReadSendsNothingAndBlocksNobody: whichever record of a
// paused turn it is, a start succeeds, approving says what is wrong and sends
// nothing, and other conversations go on.
func TestARecordThatCannotBeReadSendsNothingAndBlocksNobody(t *testing.T) {
	for _, record := range []string{"turn/", "call/", "approval/", "head/"} {
		for _, spoiling := range spoilings {
			t.Run(record+" "+spoiling.name, func(t *testing.T) {
				backend := memory.New()
				d := newDesk(t, agenttest.Call(orderCall))
				d.store = state.New(backend)
				d.reopen(t)
				d.send(t, orderLine)
				before := export(t, backend, "message/")
				spoil(t, backend, record, spoiling.spoil)

				d.reopen(t) // fails the test if marking fails
				if err := d.Resume(t.Context()); err != nil {
					t.Logf("resume: %v", err)
				}
				if _, err := d.Waiting(t.Context()); err != nil {
					t.Errorf("nothing can be listed any more: %v", err)
				}
				_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
				if err == nil {
					t.Error("it was approved")
				}
				var broken *agent.RecordError
				if !errors.As(err, &broken) || !strings.HasPrefix(broken.Key, record) {
					t.Errorf("approve does not name the record: %v", err)
				}
				if _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil && record != "turn/" {
					t.Error("it was denied, although nobody can say what it was")
				}
				d.orders(t, 0)
				unusable, err := d.Unusable(t.Context())
				if err != nil || len(unusable) != 1 || !strings.HasPrefix(unusable[0].Record.Key, record) {
					t.Errorf("unusable: %+v, %v", unusable, err)
				}
				if n := len(d.model.Requests()); n != 1 {
					t.Errorf("the model was asked %d times", n)
				}
				if after := export(t, backend, "message/"); after != before {
					t.Errorf("the history was changed:\n%s\n%s", before, after)
				}
				d.model.Script = func(int, agent.ModelRequest) (agent.ModelReply, error) { return agenttest.Say("Hello."), nil }
				if report := d.send(t, "hello"); report.Answer != "Hello." {
					t.Errorf("another conversation: %+v", report)
				}
			})
		}
	}
}

// TestEndingATurnWithARecordThatCannotBeReadFreesItsConversation: what cannot be
// read stays as it lies, nothing was sent, and the next request is a whole one.
func TestEndingATurnWithARecordThatCannotBeReadFreesItsConversation(t *testing.T) {
	for _, record := range []string{"turn/", "call/", "approval/"} {
		for _, spoiling := range spoilings {
			t.Run(record+" "+spoiling.name, func(t *testing.T) {
				backend := memory.New()
				d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Hello."))
				d.store = state.New(backend)
				d.reopen(t)
				sent := d.send(t, orderLine)
				spoil(t, backend, record, spoiling.spoil)
				spoiled := export(t, backend, record)
				d.reopen(t)

				ended, err := d.Abort(t.Context(), sent.ConversationID)
				if err != nil || ended.Status != agent.TurnAborted {
					t.Fatalf("abort: %+v, %v", ended, err)
				}
				if after := export(t, backend, record); after != spoiled {
					t.Errorf("the record was changed from\n%sto\n%s", spoiled, after)
				}
				unusable, err := d.Unusable(t.Context())
				if err != nil || len(unusable) != 0 {
					t.Errorf("unusable: %+v, %v", unusable, err)
				}
				if waiting, err := d.Waiting(t.Context()); err != nil || len(waiting) != 0 {
					t.Errorf("waiting: %+v, %v", waiting, err)
				}
				if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
					t.Error("it was approved after the end of its request")
				}
				report, err := d.Send(t.Context(), agent.SendRequest{Text: "hello", Conversation: sent.ConversationID})
				if err != nil || report.Answer != "Hello." {
					t.Errorf("the next message: %+v, %v", report, err)
				}
				d.orders(t, 0)
			})
		}
	}
}

// TestACallThatWasOutAndCannotBeReadStaysListed: it may have happened, so ending
// its request does not make it go away.
func TestACallThatWasOutAndCannotBeReadStaysListed(t *testing.T) {
	backend := memory.New()
	d := newDesk(t, agenttest.Call(orderCall))
	d.store = state.New(backend)
	d.reopen(t)
	sent := d.send(t, orderLine)
	d.wo.SetHandler("order", func(context.Context, agent.CallRequest) (agent.Result, error) {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeUnknown, Server: "work-orders", Err: errors.New("the connection broke")}
	})
	if report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil || report.Calls[0].Status != agent.CallUnknown {
		t.Fatalf("approve: %+v, %v", report, err)
	}
	spoil(t, backend, "call/", func(v string) string { return v[:len(v)/2] })
	d.reopen(t)
	if _, err := d.Abort(t.Context(), sent.ConversationID); err != nil {
		t.Fatal(err)
	}
	unusable, err := d.Unusable(t.Context())
	if err != nil || len(unusable) != 1 || unusable[0].Call == "" {
		t.Errorf("unusable: %+v, %v", unusable, err)
	}
}

// spoil changes the one record under a prefix.
func spoil(t *testing.T, backend kv.Store, prefix string, change func(string) string) {
	t.Helper()
	pairs, err := backend.Scan(t.Context(), kv.ScanOptions{Prefix: prefix})
	if err != nil || len(pairs) != 1 {
		t.Fatalf("%s: %d records, %v", prefix, len(pairs), err)
	}
	value := change(string(pairs[0].Value))
	err = backend.Update(t.Context(), func(tx kv.Tx) error {
		if value == "" {
			return tx.Delete(pairs[0].Key)
		}
		return tx.Put(pairs[0].Key, []byte(value))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// export gives all values under a prefix as one text.
func export(t *testing.T, backend kv.Store, prefix string) string {
	t.Helper()
	pairs, err := backend.Scan(t.Context(), kv.ScanOptions{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, p := range pairs {
		out.WriteString(p.Key + " " + string(p.Value) + "\n")
	}
	return out.String()
}

// breaking is a backend whose next commits fail, as many as Fail says.
type breaking struct {
	kv.Store
	fail int
}

// Update implements kv.Store.
func (b *breaking) Update(ctx context.Context, fn func(kv.Tx) error) error {
	if b.fail > 0 {
		b.fail--
		return errBroken
	}
	return b.Store.Update(ctx, fn)
}

// TestADecisionThatCouldNotBeWrittenCanBeMadeAgain: nothing was decided, nothing
// was sent, the card still waits, and the second try works once.
func TestADecisionThatCouldNotBeWrittenCanBeMadeAgain(t *testing.T) {
	backend := &breaking{Store: memory.New()}
	d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
	d.store = state.New(backend)
	d.reopen(t)
	d.send(t, orderLine)
	for _, decide := range []func() error{
		func() error {
			_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
			return err
		},
		func() error { _, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1"}); return err },
	} {
		backend.fail = 1
		if err := decide(); !errors.Is(err, errBroken) {
			t.Errorf("the failure is not told: %v", err)
		}
		d.orders(t, 0)
		waiting, err := d.Waiting(t.Context())
		if err != nil || len(waiting) != 1 || waiting[0].Status != agent.CallWaiting {
			t.Fatalf("waiting: %+v, %v", waiting, err)
		}
	}
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	d.orders(t, 1)
}

// TestAnAnswerThatCouldNotBeWrittenIsOfferedAgainAndTheCallIsNot: the disk fails
// between the server's answer and its record.
func TestAnAnswerThatCouldNotBeWrittenIsOfferedAgainAndTheCallIsNot(t *testing.T) {
	for _, test := range []struct {
		name  string
		fails int
		state agent.CallState // after a restart and before anybody resumes
	}{{"once", 1, agent.CallDone}, {"until the program ends", 1000, agent.CallUnknown}} {
		t.Run(test.name, func(t *testing.T) {
			backend := &breaking{Store: memory.New()}
			d := newDesk(t, agenttest.Call(orderCall), agenttest.Say("Ordered."))
			d.store = state.New(backend)
			d.reopen(t)
			sent := d.send(t, orderLine)
			inner := d.wo.Handler("order")
			d.wo.SetHandler("order", func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
				result, err := inner(ctx, r)
				backend.fail = test.fails
				return result, err
			})
			_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
			if (test.fails > 1) != errors.Is(err, errBroken) {
				t.Errorf("approve: %v", err)
			}
			backend.fail = 0
			d.wo.SetHandler("order", inner)
			d.reopen(t)
			report, err := d.Report(t.Context(), sent.ConversationID)
			if err != nil || report.Calls[0].Status != test.state {
				t.Errorf("report: %+v, %v", report, err)
			}
			if n := len(d.wo.Ledger("order")); n != 1 {
				t.Errorf("the call went out %d times", n)
			}
			if err := d.Resume(t.Context()); err != nil { // asks by key where nobody knows
				t.Fatal(err)
			}
			d.orders(t, 1)
			if report, err = d.Report(t.Context(), sent.ConversationID); err != nil || report.Answer != "Ordered." {
				t.Errorf("at last: %+v, %v", report, err)
			}
		})
	}
}
