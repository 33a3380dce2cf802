package cli_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// object is a JSON object as it came.
type object = map[string]json.RawMessage

// keys are those that an object must have, and those that it may have.
type keys struct{ must, may []string }

func (k keys) check(t *testing.T, what string, o object) {
	t.Helper()
	for _, name := range k.must {
		if _, ok := o[name]; !ok {
			t.Errorf("%s has no %q", what, name)
		}
	}
	for name := range o {
		if !slices.Contains(k.must, name) && !slices.Contains(k.may, name) {
			t.Errorf("%s has %q, which is promised nowhere", what, name)
		}
	}
}

// What the JSON of the command line may hold. Scripts rely on it.
var (
	answerKeys = keys{
		must: []string{"answer", "orderIds", "conversationId", "turnId", "status", "approvals", "calls"},
		may:  []string{"approvalId", "ledger", "stall", "usage"},
	}
	approvalKeys = keys{
		must: []string{"approvalId", "callId", "conversationId", "turnId", "tool", "args", "digest", "warnings", "because", "status", "requestedAt"},
		may:  []string{"preview", "expiresAt", "reason", "decision"},
	}
	callKeys = keys{
		must: []string{"id", "modelId", "tool", "alias", "args", "status"},
		may:  []string{"result", "approvalId"},
	}
	auditKeys = keys{
		must: []string{"number", "at", "step", "conversationId", "turnId", "callId", "tool", "state"},
		may:  []string{"modelId", "approvalId", "key", "digest", "by", "note"},
	}
	conversationKeys = keys{must: []string{"conversationId", "title", "status", "created", "updated"}}
	showKeys         = keys{must: append([]string{"turn", "messages", "queue"}, conversationKeys.must...)}
	messageKeys      = keys{must: []string{"number", "role", "at"}, may: []string{"text", "calls", "ledger"}}
	doctorKeys       = keys{
		must: []string{"home", "config", "store", "model", "clock", "waiting", "damaged", "unusable", "servers", "tools"},
		may:  []string{"company", "user"},
	}
)

func TestJSONHoldsWhatIsPromised(t *testing.T) {
	t.Parallel()
	s := newShell(t).within()
	var asked object
	s.decode(&asked, waiting, "ask", "--json", orderLine)
	checkAnswer(t, "ask", asked)
	if string(asked["status"]) != `"paused"` {
		t.Errorf("status = %s", asked["status"])
	}

	var structured object
	s.decode(&structured, done, "ask", "--json", "--structured", "what's the status of WO-1043")
	keys{must: []string{"answer", "orderIds"}}.check(t, "ask --structured", structured)
	var named []string
	decodeOne(t, string(structured["orderIds"]), &named)
	if !slices.Equal(named, []string{"WO-1043"}) {
		t.Errorf("orderIds = %s", named)
	}

	var list []object
	s.decode(&list, done, "approvals", "--json")
	for _, a := range list {
		approvalKeys.check(t, "an entry of approvals", a)
	}
	var inAnswer []object
	decodeOne(t, string(asked["approvals"]), &inAnswer)
	if len(list) != 1 || len(inAnswer) != 1 || string(list[0]["digest"]) != string(inAnswer[0]["digest"]) {
		t.Error("ask and approvals do not list the same")
	}

	var approved object
	s.decode(&approved, done, "approve", "A-1", "--json", "--note", "by phone")
	checkAnswer(t, "approve", approved)

	var audit, conversations []object
	s.decode(&audit, done, "audit", "--json")
	for _, line := range audit {
		auditKeys.check(t, "a line of the audit", line)
	}
	if n := len(audit); n == 0 {
		t.Error("the audit is empty")
	}
	s.decode(&conversations, done, "conversations", "--json")
	for _, c := range conversations {
		conversationKeys.check(t, "a conversation", c)
	}
	checkShown(t, s)

	var found object
	s.decode(&found, done, "doctor", "--json")
	doctorKeys.check(t, "doctor", found)
	s.decode(&found, done, "config", "--json")
}

func checkAnswer(t *testing.T, what string, a object) {
	t.Helper()
	answerKeys.check(t, what, a)
	var approvals, calls []object
	decodeOne(t, string(a["approvals"]), &approvals)
	for _, entry := range approvals {
		approvalKeys.check(t, "an approval of "+what, entry)
	}
	decodeOne(t, string(a["calls"]), &calls)
	if len(calls) == 0 {
		t.Errorf("%s lists no calls", what)
	}
	for _, c := range calls {
		callKeys.check(t, "a call of "+what, c)
		if !strings.HasPrefix(string(c["args"]), "{") {
			t.Errorf("the arguments of a call of %s are no object: %s", what, c["args"])
		}
	}
}

func checkShown(t *testing.T, s *shell) {
	t.Helper()
	var list []conversation
	s.decode(&list, done, "conversations", "--json")
	var shown object
	s.decode(&shown, done, "show", "--json", list[0].ID)
	showKeys.check(t, "show", shown)
	var messages []object
	decodeOne(t, string(shown["messages"]), &messages)
	for _, m := range messages {
		messageKeys.check(t, "a message", m)
	}
}

func TestListsThatAreEmptyAreLists(t *testing.T) {
	t.Parallel()
	s := newShell(t).within()
	for _, command := range []string{"approvals", "conversations", "audit"} {
		if out := strings.TrimSpace(s.expect(done, command, "--json").out); out != "[]" {
			t.Errorf("%s --json prints %s", command, out)
		}
	}
}

func TestAuditSaysWhoDidWhat(t *testing.T) {
	t.Parallel()
	s := newShell(t).within()
	a := s.ask(waiting, orderLine)
	s.expect(done, "--user", "U-02", "approve", a.ApprovalID, "--note", "by phone")
	var lines []struct {
		Step, ApprovalID, Tool, Note, Digest string
		By                                   *struct{ ID string }
	}
	s.decode(&lines, done, "audit", "--json")
	var steps []string
	for _, l := range lines {
		if l.Tool != orderPart {
			continue
		}
		steps = append(steps, l.Step)
		if l.Step == "decided" && (l.By == nil || l.By.ID != "U-02" || l.Note != "by phone") {
			t.Errorf("the decision's line is %+v", l)
		}
		if l.Step != "proposed" && (l.ApprovalID != a.ApprovalID || l.Digest != a.Approvals[0].Digest) {
			t.Errorf("%s is of %q with digest %q", l.Step, l.ApprovalID, l.Digest)
		}
	}
	if want := []string{"proposed", "shown", "decided", "sent", "result"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %v, want %v", steps, want)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	s := newShell(t).within()
	a := s.ask(waiting, orderLine)
	s.expect(done, "approve", a.ApprovalID)
	s.expect(done, "workorders", "token")
	seen := 0
	err := filepath.WalkDir(s.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		seen++
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		return nil
	})
	if err != nil || seen < 4 {
		t.Errorf("looked at %d files: %v", seen, err)
	}
}
