package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"deskhand/agent"
)

// events reads a stream to its end as a client does: blank lines part the
// events, and each is "data: " and one JSON object with one member.
func events(t *testing.T, body string) (messages []Event, last map[string]json.RawMessage) {
	t.Helper()
	for part := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		text, ok := strings.CutPrefix(part, "data: ")
		var event map[string]json.RawMessage
		if !ok || strings.Contains(text, "\n") || json.Unmarshal([]byte(text), &event) != nil || len(event) != 1 {
			t.Fatalf("not an event: %q", part)
		}
		if last != nil {
			t.Fatalf("an event after the end: %q", part)
		}
		if raw, ok := event["message"]; ok {
			var e Event
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			messages = append(messages, e)
			continue
		}
		last = event
	}
	return messages, last
}

func TestAStreamTellsOfWordsCallsAndCardsAndEndsWithTheResult(t *testing.T) {
	d := newDoor(t)
	r := d.do("POST", "/dispatchAgent", `{"data":{"message":"`+orderLine+`"}}`, "Accept", "text/event-stream")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", r.status, r.header)
	}
	messages, last := events(t, r.body)
	var cards []agent.ApprovalID
	var calls []agent.CallState
	for _, m := range messages {
		if m.Approval != nil {
			cards = append(cards, m.Approval.ApprovalID)
		}
		if m.Call != nil {
			calls = append(calls, m.Call.Status)
		}
	}
	if len(cards) != 1 || cards[0] != "A-1" || len(calls) == 0 || calls[len(calls)-1] != agent.CallWaiting {
		t.Errorf("cards %v, calls %v", cards, calls)
	}
	var result Answer
	if err := json.Unmarshal(last["result"], &result); err != nil || result.ApprovalID != "A-1" {
		t.Errorf("result %s, %v", last["result"], err)
	}

	r = d.do("POST", "/dispatchAgent", `{"data":{"approvalId":"A-1","approved":true}}`, "Accept", "text/event-stream")
	messages, last = events(t, r.body)
	var text strings.Builder
	calls = nil
	for _, m := range messages {
		text.WriteString(m.Text)
		if m.Call != nil {
			calls = append(calls, m.Call.Status)
		}
		if m.Approval != nil {
			t.Errorf("the old card is told again: %+v", m.Approval)
		}
	}
	if len(calls) == 0 || calls[len(calls)-1] != agent.CallDone {
		t.Errorf("calls %v", calls)
	}
	if err := json.Unmarshal(last["result"], &result); err != nil || !strings.HasPrefix(result.Answer, "The result") {
		t.Errorf("result %s, %v", last["result"], err)
	}
	if !strings.HasPrefix(result.Answer, text.String()) {
		t.Errorf("the words %q are not those of the answer %q", text.String(), result.Answer)
	}
}

func TestAStreamEndsWithItsError(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	d.dispatch(`{"approvalId":"A-1","approved":false}`)
	r := d.do("POST", "/dispatchAgent", `{"data":{"approvalId":"A-1","approved":true}}`, "Accept", "text/event-stream")
	_, last := events(t, r.body)
	var p problem
	if err := json.Unmarshal(last["error"], &p); err != nil || p.Status != statusDecided || !strings.Contains(p.Message, "already denied") {
		t.Errorf("%s, %v", last["error"], err)
	}
	// What is wrong before anything begins is an answer like any other.
	d.wantError(d.do("POST", "/dispatchAgent", `{"data":{"approvalId":"A-9","approved":true}}`, "Accept", "text/event-stream"), http.StatusNotFound, statusNotFound)
	d.wantError(d.do("POST", "/dispatchAgent", `{"data":{}}`, "Accept", "text/event-stream"), http.StatusBadRequest, statusInvalid)
}

// TestWordsArriveAsTheyAreWritten: the first words are there before the model
// has said the last.
func TestWordsArriveAsTheyAreWritten(t *testing.T) {
	d := newDoor(t)
	gate := make(chan struct{})
	d.model.Script = func(int, agent.ModelRequest) (agent.ModelReply, error) {
		return agent.ModelReply{Text: "Hello there."}, nil
	}
	spelling := &speller{inner: d.model, words: []string{"Hello ", "there."}, gate: gate}
	d.reopenWith(spelling)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", d.http.URL+"/dispatchAgent", strings.NewReader(`{"data":{"message":"hi"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := d.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReader(resp.Body)
	first, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(first, `{"message":{"text":"Hello "}}`) {
		t.Fatalf("first line %q, %v", first, err)
	}
	close(gate)
	rest := new(strings.Builder)
	if _, err := lines.WriteTo(rest); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(rest.String(), `"answer":"Hello there."`) {
		t.Errorf("the rest is %q", rest)
	}
}

func TestClosingEndsAStreamWithAnEventAndKeepsWhatWaits(t *testing.T) {
	d := newDoor(t)
	d.dispatch(`{"message":"` + orderLine + `"}`)
	spelling := &speller{inner: d.model, words: []string{"Wait "}, gate: make(chan struct{})}
	d.reopenWith(spelling)
	body := make(chan string, 1)
	go func() {
		r, err := d.fetch(context.Background(), "POST", "/dispatchAgent", `{"data":{"message":"hi"}}`, "Accept", "text/event-stream")
		if err != nil {
			t.Error(err)
		}
		body <- r.body
	}()
	changed := d.engine.Watch(t.Context())
	for len(d.engine.Live()) == 0 {
		<-changed
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d.server.Close(ctx)
	_, last := events(t, <-body)
	var p problem
	if err := json.Unmarshal(last["error"], &p); err != nil || p.Status != statusUnavailable {
		t.Errorf("%s, %v", last["error"], err)
	}
	waiting, err := d.engine.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ApprovalID != "A-1" {
		t.Errorf("waiting %+v, %v", waiting, err)
	}
}

// speller gives its words one by one; it waits before the last, and for ever if
// its gate stays shut and the context does not end.
type speller struct {
	inner agent.Model
	words []string
	gate  chan struct{}
}

func (s *speller) Name() string { return "speller" }

func (s *speller) Respond(ctx context.Context, _ agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	for i, w := range s.words {
		if i > 0 {
			if err := s.wait(ctx); err != nil {
				return agent.ModelReply{}, err
			}
		}
		emit(w)
	}
	if err := s.wait(ctx); err != nil {
		return agent.ModelReply{}, err
	}
	return agent.ModelReply{Text: strings.Join(s.words, "")}, nil
}

func (s *speller) wait(ctx context.Context) error {
	select {
	case <-s.gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
