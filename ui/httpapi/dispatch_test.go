package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"deskhand/agent"
)

func TestAMessageIsAnsweredAndItsConversationGoesOn(t *testing.T) {
	d := newDoor(t)
	first := d.dispatch(`{"message":"hello"}`)
	if first.Answer != "You said: hello" || first.ConversationID == "" || first.ApprovalID != "" || first.OrderIDs == nil {
		t.Errorf("%+v", first)
	}
	second := d.dispatch(fmt.Sprintf(`{"message":"again","conversationId":%q}`, first.ConversationID))
	if second.ConversationID != first.ConversationID || second.Answer != "You said: again" {
		t.Errorf("%+v", second)
	}
	if n := len(d.model.Requests()[1].Messages); n != 3 {
		t.Errorf("the second request has %d messages, want 3", n)
	}
}

func TestAnOrderWaitsAndRunsOnceWhenItIsApproved(t *testing.T) {
	d := newDoor(t)
	asked := d.dispatch(`{"message":"` + orderLine + `"}`)
	if asked.ApprovalID != "A-1" || !strings.Contains(asked.Answer, "A-1 waits for your decision") || fmt.Sprint(asked.OrderIDs) != "[WO-1044]" {
		t.Fatalf("%+v", asked)
	}
	d.orders(0)
	done := d.dispatch(`{"approvalId":"A-1","approved":true,"reason":"agreed"}`)
	if done.ApprovalID != "" || done.ConversationID != asked.ConversationID || !strings.HasPrefix(done.Answer, "The result: ") || !strings.HasPrefix(done.Ledger, "1 order placed") {
		t.Errorf("%+v", done)
	}
	d.orders(1)
	p := d.refused(http.StatusConflict, statusDecided, `{"approvalId":"A-1","approved":false}`)
	if !strings.HasPrefix(p.Message, "A-1 was already approved by ") || p.Details == nil || p.Details.State != agent.ApprovalApproved || p.Details.Decision == nil || p.Details.Decision.Note != "agreed" {
		t.Errorf("%+v", p)
	}
	d.orders(1)
}

func TestADenialOrdersNothing(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	done := d.dispatch(`{"approvalId":"A-1","approved":false,"reason":"wrong size"}`)
	if done.Answer != "You declined it." || done.Ledger != "Nothing was ordered." {
		t.Errorf("%+v", done)
	}
	requests := d.model.Requests()
	if heard := requests[len(requests)-1].Messages[2].Result.Text(); !strings.Contains(heard, "wrong size") {
		t.Errorf("the model heard %q", heard)
	}
	d.orders(0)
}

func TestEditsMakeANewApprovalAndDecideNothing(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	edited := d.dispatch(`{"approvalId":"A-1","edits":{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":2}}`)
	if edited.ApprovalID != "A-2" {
		t.Errorf("%+v", edited)
	}
	d.orders(0)
	p := d.refused(http.StatusConflict, statusDecided, `{"approvalId":"A-1","approved":true}`)
	if p.Message != "A-1 was replaced by A-2" {
		t.Errorf("%s", p.Message)
	}
	p = d.refused(http.StatusBadRequest, statusInvalid, `{"approvalId":"A-2","edits":{"quantity":"two"}}`)
	if !strings.Contains(p.Message, "A-2 was not changed") {
		t.Errorf("%s", p.Message)
	}
	d.dispatch(`{"approvalId":"A-2","approved":true}`)
	d.orders(1)
}

func TestChangedTermsAreANewApproval(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	d.wo.SetPrice(9990)
	changed := d.dispatch(`{"approvalId":"A-1","approved":true}`)
	if changed.ApprovalID != "A-2" || !strings.HasPrefix(changed.Answer, "Nothing was sent: total now 99.90 EUR (was ") {
		t.Errorf("%+v", changed)
	}
	d.orders(0)
}

func TestWhatIsWrongIsSaidAndChangesNothing(t *testing.T) {
	d := newDoor(t)
	asked := d.dispatch(`{"message":"` + orderLine + `"}`)
	for data, want := range map[string]string{
		`{"message":""}`:                                  "the message is empty",
		`{"message":"  "}`:                                "the message is empty",
		`{}`:                                              "the message is empty",
		`{"message":"x","approvalId":"A-1"}`:              "a message or a decision, not both",
		`{"approvalId":"A-1"}`:                            `say "approved": true or false`,
		`{"approvalId":"A-1","approved":"yes"}`:           "not understood",
		`{"approvalId":"A-1","approved":"true"}`:          "not understood",
		`{"approvalId":"A-1","approved":"false"}`:         "not understood",
		`{"approvalId":"A-1","approved":""}`:              "not understood",
		`{"approvalId":"A-1","approved":1}`:               "not understood",
		`{"approvalId":"A-1","approved":0}`:               "not understood",
		`{"approvalId":"A-1","approved":[true]}`:          "not understood",
		`{"approvalId":"A-1","approved":null}`:            `say "approved": true or false`,
		`{"approvalId":"A-1","aproved":true}`:             `unknown field "aproved"`,
		`{"approved":true}`:                               "which approval is meant",
		`{"approvalId":"A-1","approved":true,"edits":{}}`: "edits never approve",
		`{"approvalId":"A-1","edits":{"quantity":0}}`:     "was not changed",
		`null`: "the body must be",
		`{"approvalId":"A-1","approved":true},"more":1,"x":{}`: `unknown field "more"`,
	} {
		if p := d.refused(http.StatusBadRequest, statusInvalid, data); !strings.Contains(p.Message, want) {
			t.Errorf("%s: %q, want %q", data, p.Message, want)
		}
	}
	d.refused(http.StatusNotFound, statusNotFound, `{"approvalId":"A-9","approved":true}`)
	d.refused(http.StatusNotFound, statusNotFound, `{"message":"x","conversationId":"nowhere"}`)
	p := d.refused(http.StatusConflict, statusPrecondition, fmt.Sprintf(`{"message":"x","conversationId":%q}`, asked.ConversationID))
	if !strings.Contains(p.Message, "the conversation's turn is paused, so it takes no message and nothing was kept") {
		t.Errorf("%s", p.Message)
	}
	d.refused(http.StatusConflict, statusPrecondition, `{"approvalId":"A-1","approved":true,"digest":"another"}`)
	for _, body := range []string{"", "{", `{"data":{"message":"x"}} {}`, `[1]`, "\xff"} {
		d.wantError(d.do("POST", "/dispatchAgent", body), http.StatusBadRequest, statusInvalid)
	}
	d.wantError(d.do("POST", "/dispatchAgent", `{"data":{"message":"x"}}`, "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, statusInvalid)
	d.wantError(d.do("POST", "/dispatchAgent", `{"data":{"message":"`+strings.Repeat("x", 10<<20)+`"}}`), http.StatusRequestEntityTooLarge, statusInvalid)
	d.wantError(d.do("GET", "/nothing", ""), http.StatusNotFound, statusNotFound)
	if r := d.do("GET", "/dispatchAgent", ""); r.status != http.StatusMethodNotAllowed && r.status != http.StatusNotFound {
		t.Errorf("GET: %d", r.status)
	}
	d.orders(0)
	if waiting, err := d.engine.Waiting(t.Context()); err != nil || len(waiting) != 1 || waiting[0].ApprovalID != "A-1" {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
}

func TestAServerThatIsDownRecordsNoDecision(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	d.wo.SetDown(context.DeadlineExceeded)
	p := d.refused(http.StatusServiceUnavailable, statusUnavailable, `{"approvalId":"A-1","approved":true}`)
	if !strings.Contains(p.Message, "nothing was recorded or sent") {
		t.Errorf("%s", p.Message)
	}
	d.wo.SetDown(nil)
	d.dispatch(`{"approvalId":"A-1","approved":true}`)
	d.orders(1)
}

func TestAModelThatFailsLeavesTheDecisionStanding(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	d.model.Script = func(int, agent.ModelRequest) (agent.ModelReply, error) {
		return agent.ModelReply{}, context.DeadlineExceeded
	}
	p := d.refused(http.StatusServiceUnavailable, statusUnavailable, `{"approvalId":"A-1","approved":true}`)
	if !strings.Contains(p.Message, "what was decided and done before stands") || p.Details.ConversationID == "" {
		t.Errorf("%+v", p)
	}
	d.orders(1)
}

func TestFiftyDecisionsAtOnceGiveOneOrder(t *testing.T) {
	d := newDoor(t, func(o *Options) { o.MaxTurns = 100 })
	d.dispatch(`{"message":"` + orderLine + `"}`)
	var mu sync.Mutex
	got := map[int]int{}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			r, err := d.fetch(context.Background(), "POST", "/dispatchAgent", fmt.Sprintf(`{"data":{"approvalId":"A-1","approved":%t}}`, i%5 != 0))
			if err != nil {
				t.Error(err)
			}
			if r.status == http.StatusConflict && !strings.Contains(r.body, "A-1 was already ") {
				t.Errorf("a loser was told %s", r.body)
			}
			mu.Lock()
			got[r.status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if got[http.StatusOK] != 1 || got[http.StatusConflict] != 49 {
		t.Errorf("statuses: %v", got)
	}
	if n := len(d.wo.Orders()); n > 1 {
		t.Errorf("%d orders", n)
	}
}

// slow makes the model wait before it answers.
func (d *door) slow() (asked chan struct{}, release func()) {
	asked, gate := make(chan struct{}, 100), make(chan struct{})
	d.model.Script = func(n int, r agent.ModelRequest) (agent.ModelReply, error) {
		asked <- struct{}{}
		<-gate
		return obedient(n, r)
	}
	return asked, sync.OnceFunc(func() { close(gate) })
}

func TestATurnGoesOnWithoutItsCaller(t *testing.T) {
	d := newDoor(t)
	asked, release := d.slow()
	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		_, err := d.fetch(ctx, "POST", "/dispatchAgent", `{"data":{"message":"`+orderLine+`"}}`)
		gone <- err
	}()
	<-asked
	leave()
	<-gone
	changed := d.engine.Watch(t.Context())
	release()
	for {
		waiting, err := d.engine.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(waiting) == 1 {
			break
		}
		<-changed
	}
	d.orders(0)
}

func TestMoreTurnsThanItMayAreRefused(t *testing.T) {
	d := newDoor(t, func(o *Options) { o.MaxTurns = 1 })
	asked, release := d.slow()
	defer release()
	done := make(chan error, 1)
	go func() {
		_, err := d.fetch(context.Background(), "POST", "/dispatchAgent", `{"data":{"message":"hello"}}`)
		done <- err
	}()
	<-asked
	r := d.do("POST", "/dispatchAgent", `{"data":{"message":"hello"}}`)
	d.wantError(r, http.StatusTooManyRequests, statusExhausted)
	if r.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	d.dispatch(`{"message":"hello"}`)
}

func TestAKeySendsAMessageOnce(t *testing.T) {
	d := newDoor(t)
	first := d.dispatch(`{"message":"`+orderLine+`"}`, "Idempotency-Key", "k1")
	again := d.dispatch(`{"message":"`+orderLine+`"}`, "Idempotency-Key", "k1")
	if again.ConversationID != first.ConversationID || again.ApprovalID != first.ApprovalID || again.Answer != first.Answer {
		t.Errorf("first %+v\nagain %+v", first, again)
	}
	p := d.refused(http.StatusBadRequest, statusInvalid, `{"message":"something else"}`, "Idempotency-Key", "k1")
	if !strings.Contains(p.Message, "was used for another message") {
		t.Errorf("%s", p.Message)
	}
	d.open() // a new start on the same desk
	again = d.dispatch(`{"message":"`+orderLine+`"}`, "Idempotency-Key", "k1")
	if again.ConversationID != first.ConversationID || again.ApprovalID != "A-1" {
		t.Errorf("after a restart: %+v", again)
	}
	d.dispatch(`{"approvalId":"A-1","approved":true}`)
	hello := fmt.Sprintf(`{"message":"hello","conversationId":%q}`, first.ConversationID)
	said := d.dispatch(hello, "Idempotency-Key", "k2")
	d.dispatch(fmt.Sprintf(`{"message":"and more","conversationId":%q}`, first.ConversationID))
	if past := d.dispatch(hello, "Idempotency-Key", "k2"); past.Answer != said.Answer {
		t.Errorf("of an earlier turn: %+v, want %+v", past, said)
	}
	if past := d.dispatch(`{"message":"`+orderLine+`"}`, "Idempotency-Key", "k1"); !strings.HasPrefix(past.Ledger, "1 order placed") {
		t.Errorf("of the first turn: %+v", past)
	}
	if n := len(d.model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
	d.refused(http.StatusBadRequest, statusInvalid, `{"message":"x"}`, "Idempotency-Key", strings.Repeat("k", 201))
	d.orders(1)
}

// TestAKeyWhoseMessageWasNeverStored: the process was killed between the two.
func TestAKeyWhoseMessageWasNeverStored(t *testing.T) {
	d := newDoor(t)
	send := agent.SendRequest{Conversation: d.engine.NewConversation(), Text: "hello"}
	killed := fmt.Errorf("killed")
	_, err := d.server.keys.once(t.Context(), d.engine, "", "k", send, true, func(context.Context, agent.SendRequest, bool) (agent.Report, error) {
		return agent.Report{}, killed
	})
	if err == nil {
		t.Fatal("no error")
	}
	again := d.dispatch(`{"message":"hello"}`, "Idempotency-Key", "k")
	if again.Answer != "You said: hello" || again.ConversationID != send.Conversation {
		t.Errorf("%+v", again)
	}
	d.dispatch(`{"message":"hello"}`, "Idempotency-Key", "k")
	if n := len(d.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestTwoRequestsWithOneKeyAtOnceAreOneMessage(t *testing.T) {
	d := newDoor(t)
	var wg sync.WaitGroup
	answers := make(chan Answer, 20)
	for range 20 {
		wg.Go(func() {
			r, err := d.fetch(context.Background(), "POST", "/dispatchAgent", `{"data":{"message":"hello"}}`, "Idempotency-Key", "k")
			var body struct{ Result Answer }
			if jsonErr := json.Unmarshal([]byte(r.body), &body); err != nil || jsonErr != nil || r.status != http.StatusOK {
				t.Errorf("%d %s %v", r.status, r.body, err)
			}
			answers <- body.Result
		})
	}
	wg.Wait()
	first := <-answers
	for range 19 {
		if a := <-answers; a.ConversationID != first.ConversationID || a.Answer != first.Answer {
			t.Errorf("%+v and %+v", first, a)
		}
	}
	if n := len(d.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestTheKeysTakeBoundedRoom(t *testing.T) {
	d := newDoor(t)
	for i := range 3 * keysInSlot {
		if _, _, err := d.server.keys.take(t.Context(), sentKey{Key: sameSlot(i), Request: "r", Conversation: "c"}, true); err != nil {
			t.Fatal(err)
		}
	}
	var kept []sentKey
	if err := d.store.Setting(t.Context(), slotOf(sameSlot(0)), &kept); err != nil || len(kept) != keysInSlot {
		t.Errorf("%d keys are kept, %v", len(kept), err)
	}
}

// sameSlot gives names of keys that share a record.
func sameSlot(i int) string {
	want := slotOf("key")
	for n := 0; ; n++ {
		if name := fmt.Sprintf("key-%d", n); slotOf(name) == want {
			if i == 0 {
				return name
			}
			i--
		}
	}
}
