package skills_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/agent/skills"
	"deskhand/state"
	"deskhand/state/memory"
)

const boilerText = "---\nname: boiler-faults\ndescription: Reads fault codes of boilers.\n---\nF28: no gas.\n"

// desk is an engine over a store, a scripted model, and a folder of skills.
type desk struct {
	*agent.Engine
	store  *state.Store
	model  *agenttest.Model
	dir    string
	policy agent.PolicyConfig
	others []agent.Source
}

func newDesk(t *testing.T, policy agent.PolicyConfig, replies ...agent.ModelReply) *desk {
	t.Helper()
	d := &desk{
		store: state.New(memory.New()), model: &agenttest.Model{Script: agenttest.Replies(replies...)},
		dir: filepath.Join(t.TempDir(), "skills"), policy: policy,
	}
	d.putBack(t)
	d.reopen(t)
	t.Cleanup(func() {
		for i, r := range d.model.Requests() {
			if err := agenttest.CheckRequest(r); err != nil {
				t.Errorf("model request %d: %v", i, err)
			}
		}
	})
	return d
}

// reopen is a new start: another engine, and a source that knows nothing yet.
func (d *desk) reopen(t *testing.T) {
	t.Helper()
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: append([]agent.Source{skills.New(d.dir)}, d.others...),
		Policy: agenttest.NewPolicy(t, d.policy),
	})
}

func (d *desk) putBack(t *testing.T) {
	t.Helper()
	at := filepath.Join(d.dir, "boiler-faults")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(boilerText), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(d.dir, path)); err != nil {
		t.Fatal(err)
	}
}

// pause sends a message whose call waits for a person, and starts anew.
func (d *desk) pause(t *testing.T) agent.ConversationID {
	t.Helper()
	report, err := d.Send(t.Context(), agent.SendRequest{Text: "the boiler says F28"})
	if err != nil || report.Status != agent.TurnPaused || report.ApprovalID != "A-1" {
		t.Fatalf("send: %+v, %v", report, err)
	}
	d.reopen(t)
	return report.ConversationID
}

// approve decides yes on the card, which must complete the turn.
func (d *desk) approve(t *testing.T) agent.Report {
	t.Helper()
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if err != nil || report.Status != agent.TurnCompleted {
		t.Fatalf("approve: %+v, %v", report, err)
	}
	return report
}

// heard is what the model got as the result of its newest call.
func (d *desk) heard(t *testing.T) *agent.Result {
	t.Helper()
	requests := d.model.Requests()
	messages := requests[len(requests)-1].Messages
	last := messages[len(messages)-1]
	if last.Role != agent.RoleTool {
		t.Fatalf("the model's newest message is from %s", last.Role)
	}
	return last.Result
}

// Gated by having no policy at all: whatever is not listed asks.
var gated = agent.PolicyConfig{}

// free lets both tools run unasked, as reads.
func free() agent.PolicyConfig {
	names := []agent.QualifiedName{agent.Qualify(skills.Name, skills.ListTool), agent.Qualify(skills.Name, skills.ReadTool)}
	return agent.PolicyConfig{RunWithoutApproval: names, ReadOnly: names}
}

func readCall() agent.ModelReply {
	return agenttest.Call(agenttest.Tool(skills.ReadTool, `{"skill":"boiler-faults"}`))
}

func TestTheModelListsAndReadsSkills(t *testing.T) {
	d := newDesk(t, free(), agenttest.Call(agenttest.Tool(skills.ListTool, `{}`)), readCall(), agenttest.Say("No gas."))
	report, err := d.Send(t.Context(), agent.SendRequest{Text: "the boiler says F28"})
	if err != nil || report.Status != agent.TurnCompleted || report.Answer != "No gas." {
		t.Fatalf("send: %+v, %v", report, err)
	}
	if list := report.Calls[0].Result.Text(); !strings.Contains(list, "boiler-faults: Reads fault codes of boilers.") {
		t.Errorf("list = %q", list)
	}
	if d.heard(t).Text() != boilerText {
		t.Errorf("the model heard %q", d.heard(t).Text())
	}
}

func TestAPausedReadResumesAfterARestartFromItsOwnArguments(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("No gas."))
	d.pause(t)
	d.approve(t)
	after := d.heard(t)

	unasked := newDesk(t, free(), readCall(), agenttest.Say("No gas."))
	if _, err := unasked.Send(t.Context(), agent.SendRequest{Text: "the boiler says F28"}); err != nil {
		t.Fatal(err)
	}
	if want, got := encode(t, unasked.heard(t)), encode(t, after); got != want || after.IsError || after.Text() != boilerText {
		t.Errorf("after an approval the model heard %s, without one %s", got, want)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestTheFolderIsGone: nothing can be said about the call, so nothing is
// recorded, the turn stays paused with the reason, and it goes on once the
// folder is back.
func TestTheFolderIsGone(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("No gas."))
	id := d.pause(t)
	before := encode(t, d.records(t, id))
	d.remove(t, ".")
	var down *agent.UnreachableError
	_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if !errors.As(err, &down) || down.Server != skills.Name || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), d.dir) {
		t.Fatalf("approve: %v", err)
	}
	if after := encode(t, d.records(t, id)); after != before {
		t.Errorf("something was recorded:\n%s\n%s", before, after)
	}
	d.reopen(t)
	report, err := d.Report(t.Context(), id)
	if err != nil || report.Status != agent.TurnPaused || len(report.Approvals) != 1 || report.Approvals[0].Status != agent.CallWaiting {
		t.Fatalf("report = %+v, %v", report, err)
	}
	d.putBack(t)
	d.approve(t)
	if d.heard(t).Text() != boilerText {
		t.Errorf("the model heard %q", d.heard(t).Text())
	}
}

func TestTheFolderIsGoneAndACallCanStillBeDenied(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("I did not look."))
	d.pause(t)
	d.remove(t, ".")
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: "not now"})
	if err != nil || report.Status != agent.TurnCompleted || report.Calls[0].Status != agent.CallDenied {
		t.Errorf("deny: %+v, %v", report, err)
	}
}

// records are what the store holds of a conversation and its calls.
func (d *desk) records(t *testing.T, id agent.ConversationID) any {
	t.Helper()
	s, err := d.store.Snapshot(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := d.store.Audit(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return []any{s, lines}
}

// TestTheSkillIsGone: the folder is there and the skill is not. The decision
// stands, the call is held with the reason, and the model hears nothing wrong.
func TestTheSkillIsGone(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("No gas."))
	id := d.pause(t)
	d.remove(t, "boiler-faults")
	var notSent *agent.NotSentError
	_, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"})
	if !errors.As(err, &notSent) || !strings.Contains(notSent.Reason, `There is no skill "boiler-faults"`) {
		t.Fatalf("approve: %v", err)
	}
	d.reopen(t)
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := d.Report(t.Context(), id)
	if err != nil || report.Status != agent.TurnPaused || !strings.Contains(report.Answer, `There is no skill "boiler-faults"`) {
		t.Fatalf("report = %+v, %v", report, err)
	}
	if n := len(d.model.Requests()); n != 1 {
		t.Errorf("%d model requests, want 1: there is no result yet", n)
	}
	d.putBack(t)
	d.approve(t)
	if d.heard(t).Text() != boilerText {
		t.Errorf("the model heard %q", d.heard(t).Text())
	}
}

func TestTheSkillIsGoneAndTheHeldCallIsDenied(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("I could not look."))
	d.pause(t)
	d.remove(t, "boiler-faults")
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err == nil {
		t.Fatal("approve went through")
	}
	report, err := d.Deny(t.Context(), agent.DecideRequest{Approval: "A-1", Note: "it was deleted"})
	if err != nil || report.Status != agent.TurnCompleted {
		t.Fatalf("deny: %+v, %v", report, err)
	}
	if heard := d.heard(t); !strings.Contains(heard.Text(), "it was deleted") {
		t.Errorf("the model heard %q", heard.Text())
	}
}

// TestTheFileIsGone: the skill is there, so it says itself that it has no such
// file.
func TestTheFileIsGone(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("I could not look."))
	d.pause(t)
	d.remove(t, "boiler-faults/SKILL.md")
	report := d.approve(t)
	if report.Calls[0].Status != agent.CallFailed {
		t.Errorf("call = %+v", report.Calls[0])
	}
	heard := d.heard(t)
	if code, _ := agent.Pointer(heard.Structured, "/error/code"); string(code) != `"unknown_file"` || !heard.IsError {
		t.Errorf("the model heard %s", heard.Structured)
	}
}

func TestAFreeReadOfAnUnknownSkillIsAnsweredWithWhatThereIs(t *testing.T) {
	d := newDesk(t, free(), agenttest.Call(agenttest.Tool(skills.ReadTool, `{"skill":"boilers"}`)), agenttest.Say("There is none."))
	report, err := d.Send(t.Context(), agent.SendRequest{Text: "the boiler says F28"})
	if err != nil || report.Status != agent.TurnCompleted || report.Calls[0].Status != agent.CallFailed {
		t.Fatalf("send: %+v, %v", report, err)
	}
	if first, _ := agent.Pointer(d.heard(t).Structured, "/error/candidates/0/skill"); string(first) != `"boiler-faults"` {
		t.Errorf("the model heard %s", d.heard(t).Structured)
	}
}

func TestArgumentsOutsideTheSchemaNeverReachTheSource(t *testing.T) {
	for _, arguments := range []string{`{}`, `{"skill":7}`, `{"skill":"boiler-faults","limit":0}`, `{"skill":"boiler-faults","path":"x"}`} {
		d := newDesk(t, gated, agenttest.Call(agenttest.Tool(skills.ReadTool, arguments)), agenttest.Say("I see."))
		report, err := d.Send(t.Context(), agent.SendRequest{Text: "the boiler says F28"})
		if err != nil || report.Calls[0].Status != agent.CallRefused {
			t.Errorf("%s: %+v, %v", arguments, report, err)
		}
	}
}

// TestTwoSourcesNeverCross: a server has tools of the same names. Each call
// goes to the source that it was meant for, also after a restart in which the
// sources come in another order.
func TestTwoSourcesNeverCross(t *testing.T) {
	const arguments = `{"skill":"boiler-faults"}`
	docs := agenttest.NewSource("docs")
	docs.Add(agent.Tool{Name: skills.ReadTool}, agenttest.Fixed(agenttest.Structured(`{"from":"docs"}`)))
	docs.Add(agent.Tool{Name: skills.ListTool}, agenttest.Fixed(agenttest.Structured(`{"from":"docs"}`)))
	d := newDesk(t, gated,
		agenttest.Call(agenttest.Tool("skills__"+skills.ReadTool, arguments), agenttest.Tool("docs__"+skills.ReadTool, arguments)),
		agenttest.Say("Read both."))
	d.others = []agent.Source{docs}
	d.reopen(t)
	d.pause(t)
	d.Engine = agenttest.NewEngine(t, agent.Config{
		Store: d.store, Model: d.model, Sources: []agent.Source{docs, skills.New(d.dir)}, Policy: agenttest.NewPolicy(t, gated),
	})
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); err != nil {
		t.Fatal(err)
	}
	if n := len(docs.Ledger(skills.ReadTool)); n != 0 {
		t.Fatalf("the call to the skills reached the other source %d times", n)
	}
	report, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-2"})
	if err != nil || report.Status != agent.TurnCompleted {
		t.Fatalf("approve: %+v, %v", report, err)
	}
	if n := len(docs.Ledger(skills.ReadTool)); n != 1 {
		t.Errorf("the other source was called %d times, want 1", n)
	}
	requests := d.model.Requests()
	messages := requests[len(requests)-1].Messages
	if own, other := messages[len(messages)-2].Result, messages[len(messages)-1].Result; own.Text() != boilerText || other.Text() != `{"from":"docs"}` {
		t.Errorf("the model heard %q and %q", own.Text(), other.Text())
	}
}

// TestOneSourceDownLeavesTheOtherUsable: the folder is gone, and a call to a
// server goes through all the same; and the other way round.
func TestOneSourceDownLeavesTheOtherUsable(t *testing.T) {
	docs := agenttest.NewSource("docs")
	docs.Add(agent.Tool{Name: "look_up"}, agenttest.Fixed(agenttest.Structured(`{"from":"docs"}`)))
	policy := free()
	policy.RunWithoutApproval = append(policy.RunWithoutApproval, "docs/look_up")
	d := newDesk(t, policy, agenttest.Call(agenttest.Tool("look_up", `{}`)), agenttest.Say("one"), readCall(), agenttest.Say("two"))
	d.others = []agent.Source{docs}
	d.reopen(t)
	d.remove(t, ".")
	if report, err := d.Send(t.Context(), agent.SendRequest{Text: "look it up"}); err != nil || report.Answer != "one" || report.Calls[0].Status != agent.CallDone {
		t.Fatalf("send: %+v, %v", report, err)
	}
	d.putBack(t)
	docs.SetDown(errors.New("connection refused"))
	if report, err := d.Send(t.Context(), agent.SendRequest{Text: "the boiler says F28"}); err != nil || report.Answer != "two" || report.Calls[0].Status != agent.CallDone {
		t.Fatalf("send: %+v, %v", report, err)
	}
}

// TestAnotherFolderIsAnotherServer: a card drawn for one folder decides nothing
// about a file of another.
func TestAnotherFolderIsAnotherServer(t *testing.T) {
	d := newDesk(t, gated, readCall(), agenttest.Say("No gas."))
	d.pause(t)
	d.dir = filepath.Join(t.TempDir(), "elsewhere")
	d.putBack(t)
	d.reopen(t)
	var changed *agent.ChangedError
	if _, err := d.Approve(t.Context(), agent.DecideRequest{Approval: "A-1"}); !errors.As(err, &changed) {
		t.Fatalf("approve: %v", err)
	}
}
