package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskhand/agent"
)

// httpDesk is `deskhand serve` in a process of its own.
type httpDesk struct {
	*shell
	cmd *exec.Cmd
	url string
}

// serve starts it and waits until it listens.
func (s *shell) serve(args ...string) *httpDesk {
	s.t.Helper()
	h := &httpDesk{shell: s}
	h.cmd = s.command(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	var errs bytes.Buffer
	h.cmd.Stderr = &errs
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(h.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	_, rest, found := strings.Cut(line, "The desk is served at ")
	if err != nil || !found {
		_ = h.cmd.Wait() // it has ended; what it said counts
		s.t.Fatalf("the server did not start: %q, %v, %s", line, err, errs.String())
	}
	h.url, _, _ = strings.Cut(rest, " ")
	return h
}

// kill ends it as a crash would.
func (h *httpDesk) kill() {
	if h.cmd.ProcessState == nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait() // it was killed
	}
}

// term ends it in order.
func (h *httpDesk) term() {
	h.t.Helper()
	_ = h.cmd.Process.Signal(syscall.SIGTERM) // the wait tells how it ended
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("it ended with %v", err)
	}
}

// dispatch posts data and gives status and body.
func (h *httpDesk) dispatch(data, token string) (int, string) {
	h.t.Helper()
	if token == "" {
		return h.request(data)
	}
	return h.request(data, "Authorization", "Bearer "+token)
}

// request posts data with headers: name, value, name, value.
func (h *httpDesk) request(data string, headers ...string) (int, string) {
	h.t.Helper()
	req, err := http.NewRequest("POST", h.url+"/dispatchAgent", strings.NewReader(`{"data":`+data+`}`))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// result posts data and wants an answer.
func (h *httpDesk) result(data string) agent.DispatchAnswer {
	h.t.Helper()
	status, body := h.dispatch(data, "")
	var answer struct{ Result agent.DispatchAnswer }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		h.t.Fatalf("%s: %d %s", data, status, body)
	}
	return answer.Result
}

func TestAServedDeskKeepsWhatWaitsAcrossAKill(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.within().orders()
	h := s.serve()
	asked := h.result(fmt.Sprintf(`{"message":%q}`, orderLine))
	if asked.ApprovalID != "A-1" {
		t.Fatalf("%+v", asked)
	}
	h.kill()
	if list := s.approvals(); len(list) != 1 || list[0].ApprovalID != "A-1" {
		t.Fatalf("after the kill: %+v", list)
	}
	h = s.serve()
	done := h.result(`{"approvalId":"A-1","approved":true}`)
	if !strings.Contains(done.Answer, "PO-") || done.ApprovalID != "" {
		t.Errorf("%+v", done)
	}
	if status, body := h.dispatch(`{"approvalId":"A-1","approved":true}`, ""); status != http.StatusConflict || !strings.Contains(body, "A-1 was already approved by") {
		t.Errorf("%d %s", status, body)
	}
	h.term()
	s.expect(failed, "approve", "A-1").says(t, "already approved by")
	s.ordersAdded(before, 1)
}

func TestAServedDeskKnowsItsUsersByTheirTokens(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.expect(usage, "serve", "--addr", "0.0.0.0:0").says(t, "every request needs a token and there is none: make one with deskhand token new USER")
	s.expect(usage, "serve", "--addr", "nowhere").says(t, `"nowhere" is no address; write HOST:PORT`)
	first := strings.TrimSpace(s.expect(done, "token", "new", "U-01").out)
	manager := strings.TrimSpace(s.expect(done, "token", "new", "U-02").out)
	s.expect(done, "token", "list").prints(t, "U-01", "U-02")
	path := filepath.Join(s.home, "tokens.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte(first)) {
		t.Errorf("the file holds the token itself: %s, %v", text, err)
	}
	s.env = append(s.env, "DESKHAND_TOKENS=U-01=from-the-environment")
	h := s.serve()
	for token, want := range map[string]int{"": 401, "wrong": 401, first: 200, manager: 200, "from-the-environment": 200} {
		if status, body := h.dispatch(`{"message":"status of WO-1043"}`, token); status != want {
			t.Errorf("%q: %d %s", token, status, body)
		}
	}
	if status, body := h.dispatch(`{"message":"order 4 HE-3000-230S for WO-1044"}`, first); status != http.StatusOK || !strings.Contains(body, `"approvalId":"A-1"`) {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := h.dispatch(`{"approvalId":"A-1","approved":true}`, first); status != http.StatusForbidden || !strings.Contains(body, "A-1 needs a senior dispatcher") {
		t.Errorf("above the limit: %d %s", status, body)
	}
	if status, body := h.dispatch(`{"approvalId":"A-1","approved":true}`, manager); status != http.StatusOK || !strings.Contains(body, "1 order placed") {
		t.Errorf("%d %s", status, body)
	}
	h.term()
	s.expect(done, "token", "revoke", "U-01").prints(t, "1 of U-01 taken back")
	s.expect(failed, "token", "revoke", "U-01").says(t, "U-01 has no token")
	if err := os.WriteFile(path, []byte(`[{"user":"U-01","sha256":"12"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expect(failed, "serve", "--addr", "127.0.0.1:0").says(t, "tokens.json is damaged", "remove the file and make the tokens again")
}
