package console

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
)

func (p *pilot) messages(id agent.ConversationID) []string {
	p.t.Helper()
	all, err := p.store.Messages(p.ctx, id, 0, 100)
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, m := range all {
		if m.Role == agent.RoleUser {
			out = append(out, m.Text)
		}
	}
	return out
}

func TestAskBeside(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	first := p.m.open.id
	p.model.script(says("Sam is on WO-1016."))
	p.send("where is sam")
	p.untilText("1 card waits here; typing decides nothing. Enter: ask beside it")
	if len(p.messages(first)) != 1 || p.m.composer.text != "where is sam" {
		t.Fatalf("one Enter did something: %q", p.messages(first))
	}
	p.press("enter")
	p.untilText("Sam is on WO-1016.")
	if p.m.open.id == first {
		t.Error("the answer is in the conversation that waits")
	}
	p.untilText("Ctrl+B: back")
	p.undecided("A-1")
	p.press("ctrl+b")
	p.untilText("A-1 · since 09:04")
	if p.m.open.id != first || p.m.composer.text != "" {
		t.Errorf("Ctrl+B went to %s with %q in the composer", p.m.open.id, p.m.composer.text)
	}
}

func TestQueue(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.send("and a second one")
	p.press("ctrl+o")
	p.untilText("Queued; sent when this request is done")
	p.undecided("A-1")
	p.model.script(says("Not ordered, then."), says("A second what?"))
	p.press("tab", "d", "enter")
	p.untilText("A second what?")
	if got := p.messages(p.m.open.id); len(got) != 2 || got[1] != "and a second one" {
		t.Errorf("the messages are %q", got)
	}
}

func TestQueueComesBack(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.send("and a second one")
	p.press("ctrl+o")
	p.untilText("Queued;")
	p.send("/abort")
	p.untilText("This request was stopped.")
	p.until("the message is in the composer", func() bool { return p.m.composer.text == "and a second one" })
	if p.approval("A-1").State != agent.ApprovalCancelled {
		t.Errorf("A-1 is %s after abort", p.approval("A-1").State)
	}
}

func TestDenyAndSend(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.model.script(says("Not ordered."), says("Two, then."))
	p.send("make it two")
	p.press("ctrl+x")
	p.untilText("Two, then.")
	if a := p.approval("A-1"); a.State != agent.ApprovalDenied {
		t.Errorf("A-1 is %s", a.State)
	}
	if n := p.source.count("order_part"); n != 0 {
		t.Errorf("%d orders went out", n)
	}
}

func TestChoiceClosesOnAnyOtherKey(t *testing.T) {
	p := newPilot(t, 80, 30)
	p.card()
	p.send("make it two")
	if !p.m.choice {
		t.Fatal("no choices")
	}
	p.press("!")
	if p.m.choice || p.m.composer.text != "make it two!" {
		t.Errorf("after another key: choices %t, composer %q", p.m.choice, p.m.composer.text)
	}
	for range 20 { // a held Enter opens the line and goes no further
		p.clock += 20 * time.Millisecond
		p.update(keyMsg("enter"))
	}
	if p.m.composer.text != "make it two!" {
		t.Errorf("a held Enter chose; the composer holds %q", p.m.composer.text)
	}
	p.undecided("A-1")
}

func TestMessageNotKept(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.update(sentMsg{conversation: p.m.open.id, text: "order an element", err: errors.New("keeping the message: disk full")})
	if p.m.composer.text != "order an element" {
		t.Errorf("the composer holds %q; the message is lost", p.m.composer.text)
	}
	if !p.says("That did not work: keeping the message: disk full.") {
		t.Errorf("the screen does not say so:\n%s", p.screen())
	}
}

func TestLeaving(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.write("a draft")
	p.press("ctrl+c")
	if p.m.composer.text != "" || p.quit {
		t.Fatal("the first Ctrl+C clears the draft and does no more")
	}
	p.press("ctrl+c")
	if !p.says("1 decision keeps waiting; nothing is decided by leaving.") || p.quit {
		t.Fatalf("the second Ctrl+C asks:\n%s", p.screen())
	}
	p.press("x", "backspace", "ctrl+c")
	if p.quit || !p.says("Leave? Press Ctrl+C again.") {
		t.Fatal("another key takes the question back")
	}
	p.press("ctrl+c")
	p.until("it leaves", func() bool { return p.quit })
	p.undecided("A-1")
	for _, want := range []string{"You 09:04\n  order a 3 kW", "1 decision waiting", "A-1 waiting: order 1 × Heating element 3 kW"} {
		if !strings.Contains(p.m.LastLines(), want) {
			t.Errorf("the last lines lack %q:\n%s", want, p.m.LastLines())
		}
	}
}

func TestSignalLeaves(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.card()
	p.write("a draft")
	p.update(leaveMsg{})
	p.until("it leaves", func() bool { return p.quit })
	if got := p.m.desk.draft(p.m.open.id); got != "a draft" {
		t.Errorf("the draft is %q", got)
	}
	p.undecided("A-1")
}

func TestCommands(t *testing.T) {
	p := newPilot(t, 80, 40)
	p.card()
	first := p.m.open.id
	p.send("/help")
	p.untilText("go to the card, then to the next")
	p.press("esc")
	p.send("/connect")
	p.untilText("/home/desk/.config/deskhand/deskhand.json")
	p.press("esc")
	p.send("/nonsense")
	p.untilText("There is no command /nonsense. /help lists them.")
	p.press("ctrl+c")
	p.send("/new")
	p.untilText("new conversation")
	p.untilText("1 decision waiting")
	p.send("/approvals")
	p.until("the card has the keyboard", func() bool { return p.m.open.id == first && p.m.focus != "" })
	p.update(keyMsg("a"))
	p.undecided("A-1")
	p.press("esc")
	p.send("/new")
	p.until("another conversation", func() bool { return p.m.open.id != first })
	p.send("/conversations")
	p.untilText("1 1 decision waits · 09:04 · order a 3 kW heating element")
	p.press("1", "enter")
	p.until("it is open", func() bool { return p.m.open.id == first && len(p.m.open.cards) == 1 })
	p.send("/quit")
	p.until("it leaves", func() bool { return p.quit })
}

func TestStall(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.model.script(says(" "))
	p.send("hello")
	p.untilText("The assistant stopped: the model gave an empty answer. /continue tries again")
	p.model.script(says("Here I am."))
	p.send("/continue")
	p.untilText("Here I am.")
}

func TestLiveText(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.model.gate, p.model.live = make(chan struct{}), "WO-1043 is"
	p.model.script(says("WO-1043 is booked."))
	p.send("status of 1043")
	p.untilText("WO-1043 is")
	p.send("and 1044?") // while the assistant thinks
	p.untilText("A request is still open here.")
	close(p.model.gate)
	p.untilText("WO-1043 is booked.")
	if strings.Count(p.screen(), "WO-1043 is") != 1 {
		t.Errorf("the live text stays beside the answer:\n%s", p.screen())
	}
}

func TestHistory(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.send("first")
	p.until("it is answered", func() bool { return !p.m.open.busy() && p.m.open.head != nil })
	p.send("second")
	p.until("it is answered", func() bool { return !p.m.open.busy() && p.m.open.newest() == 4 })
	p.write("half")
	for _, step := range []struct{ key, want string }{
		{"ctrl+p", "second"}, {"ctrl+p", "first"}, {"ctrl+p", "first"}, {"ctrl+n", "second"}, {"ctrl+n", "half"}, {"ctrl+n", "half"},
	} {
		p.press(step.key)
		if p.m.composer.text != step.want {
			t.Errorf("after %s the composer holds %q, want %q", step.key, p.m.composer.text, step.want)
		}
	}
}
