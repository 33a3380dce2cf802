package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/ui/httpapi"
)

// streamUntil posts data as a stream and kills the server when the n-th event
// (from 0: before any) has arrived. Without so many it gives false.
func (h *httpDesk) streamUntil(n int, data, key string) (killed bool) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), "POST", h.url+"/dispatchAgent", strings.NewReader(`{"data":`+data+`}`))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Idempotency-Key", key)
	if n == 0 { // while the request is on its way
		killed := make(chan struct{})
		go func() { defer close(killed); h.kill() }()
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
		}
		<-killed
		return true
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for seen := 0; lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: ") {
			seen++
		}
		if seen == n {
			h.kill()
			return true
		}
	}
	return false
}

// settled waits until the conversation's turn needs nobody but a person.
func (h *httpDesk) settled(conversation agent.ConversationID) agent.Report {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		resp, err := http.Get(h.url + "/conversations/" + string(conversation))
		if err != nil {
			h.t.Fatal(err)
		}
		var report agent.Report
		err = json.NewDecoder(resp.Body).Decode(&report)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			h.t.Fatalf("%s: %d, %v", conversation, resp.StatusCode, err)
		}
		switch report.Status {
		case agent.TurnPaused, agent.TurnCompleted, agent.TurnStalled:
			return report
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s is still %s", conversation, report.Status)
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

// TestAServerThatIsKilledInAStreamKeepsOneMessage: whenever it is killed, the
// client that sends its message again with the same key gets the one card.
func TestAServerThatIsKilledInAStreamKeepsOneMessage(t *testing.T) {
	t.Parallel()
	message := fmt.Sprintf(`{"message":%q}`, orderLine)
	for n, killed := 0, true; killed; n++ {
		s := newShell(t)
		h := s.serve()
		if killed = h.streamUntil(n, message, "from-the-client"); killed {
			h = s.serve()
		}
		_, body := h.request(message, "Idempotency-Key", "from-the-client")
		var again struct{ Result httpapi.Answer }
		if err := json.Unmarshal([]byte(body), &again); err != nil || again.Result.ConversationID == "" {
			t.Fatalf("after event %d: %s", n, body)
		}
		report := h.settled(again.Result.ConversationID)
		if report.Status != agent.TurnPaused || report.ApprovalID != "A-1" || len(report.Approvals) != 1 {
			t.Errorf("after event %d: %+v", n, report)
		}
		h.kill()
		if list := s.approvals(); len(list) != 1 {
			t.Errorf("after event %d: %d approvals wait", n, len(list))
		}
		if !killed && n < 3 {
			t.Errorf("the stream had %d events only", n)
		}
	}
}

// TestAServerThatIsKilledInADecisionPlacesOneOrder: whenever it is killed, the
// client that decides again learns what is so, and there is one order.
func TestAServerThatIsKilledInADecisionPlacesOneOrder(t *testing.T) {
	t.Parallel()
	decision := `{"approvalId":"A-1","approved":true}`
	for n, killed := 0, true; killed; n++ {
		s := newShell(t)
		before := s.within().orders()
		asked := s.within().ask(waiting, orderLine)
		h := s.serve()
		if killed = h.streamUntil(n, decision, ""); killed {
			h = s.serve()
		}
		status, body := h.dispatch(decision, "")
		if status != http.StatusOK && (status != http.StatusConflict || !strings.Contains(body, "A-1 was already approved by")) {
			t.Errorf("after event %d: %d %s", n, status, body)
		}
		if report := h.settled(agent.ConversationID(asked.ConversationID)); report.Status != agent.TurnCompleted {
			t.Errorf("after event %d: %+v", n, report)
		}
		h.kill()
		if list := s.approvals(); len(list) > 0 {
			t.Errorf("after event %d: %+v", n, list)
		}
		s.ordersAdded(before, 1)
	}
}
