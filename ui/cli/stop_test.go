//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// started is a command that runs.
type started struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

func (s *shell) start(args ...string) *started {
	s.t.Helper()
	r := &started{cmd: s.command(args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// end sends a signal and waits for the command's own end.
func (r *started) end(t *testing.T, signal syscall.Signal) outcome {
	t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait() // the state says how it ended
	if !r.cmd.ProcessState.Exited() {
		t.Errorf("%v did not end by itself: %v", r.cmd.Args, r.cmd.ProcessState)
	}
	return outcome{args: r.cmd.Args[1:], code: r.cmd.ProcessState.ExitCode(), out: r.out.String(), err: r.errs.String()}
}

// kill ends it as a crash would.
func (r *started) kill(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait() // killed
}

func TestSignalWhileTheServerIsAskedLeavesAStalledTurn(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			_, w, s := behindAWire(t)
			w.holds("lookup_work_order")
			asked := s.start("ask", "--json", "what's the status of WO-1043")
			<-w.held
			o := asked.end(t, signal)
			if o.code != failed {
				t.Errorf("exit %d", o.code)
			}
			var a answer
			decodeOne(t, o.out, &a)
			o.says(t, "go on with: deskhand continue "+a.ConversationID)
			if a.Status != "stalled" {
				t.Errorf("the turn is %s", a.Status)
			}
			s.expect(failed, "ask", "--conversation", a.ConversationID, "hello").says(t, "stalled", "deskhand continue "+a.ConversationID)
			w.holds("")
			s.expect(done, "continue", a.ConversationID).prints(t, "WO-1043 Rooftop")
			if got := s.show(a.ConversationID); got.Status != "idle" {
				t.Errorf("the conversation is %s", got.Status)
			}
		})
	}
}

func TestSignalWhileAnOrderIsOutLeavesItUnknown(t *testing.T) {
	t.Parallel()
	v, w, s := behindAWire(t)
	before := v.orders()
	a := s.within().ask(waiting, orderLine)
	w.holds("order_part")
	approving := s.start("approve", a.ApprovalID)
	<-w.held
	if o := approving.end(t, syscall.SIGTERM); o.code != unknown || !strings.Contains(o.out, "deskhand settle") {
		t.Fatalf("exit %d\n%s%s", o.code, o.out, o.err)
	}
	w.holds("")
	if list := s.approvals(); len(list) != 1 || list[0].Status != "unknown" {
		t.Fatalf("approvals lists %+v", list)
	}
	s.expect(done, "settle", a.ApprovalID, "resend").prints(t, "1 order placed")
	v.ordersAdded(before, 1)
}

func TestKillWhileAnOrderIsOutLeavesItUnknown(t *testing.T) {
	t.Parallel()
	v, w, s := behindAWire(t)
	before := v.orders()
	a := s.within().ask(waiting, orderLine)
	w.holds("order_part")
	approving := s.start("approve", a.ApprovalID)
	<-w.held
	approving.kill(t)
	sent := w.count("order_part")
	w.holds("")
	s.within().expect(done, "approvals").prints(t, "unknown")
	s.expect(done, "ask", "what's the status of WO-1043")
	if w.count("order_part") != sent {
		t.Error("a command that is about something else sent the order again")
	}
	s.expect(done, "settle", a.ApprovalID, "resend").prints(t, "1 order placed")
	v.ordersAdded(before, 1)
}

func TestKilledWhileThinkingCanBeContinued(t *testing.T) {
	t.Parallel()
	_, w, s := behindAWire(t)
	w.holds("quote_part")
	asked := s.start("ask", orderLine)
	<-w.held
	asked.kill(t)
	w.holds("")
	var list []conversation
	s.decode(&list, done, "conversations", "--json")
	if len(list) != 1 || list[0].Status != "stalled" {
		t.Fatalf("the conversations are %+v", list)
	}
	s.expect(waiting, "continue", list[0].ID).prints(t, "A-1 waits for your decision")
	s.expect(done, "approve", "A-1").prints(t, "1 order placed")
}

func TestReaderThatWentAwayLosesNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := s.command("ask", "--json", orderLine)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &errs
	_ = cmd.Run() // the state says how it ended
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	o := outcome{args: cmd.Args[1:], code: cmd.ProcessState.ExitCode(), err: errs.String()}
	if o.code != failed {
		t.Errorf("exit %d", o.code)
	}
	o.says(t, "nobody reads the output any more; what was done is kept")
	if list := s.approvals(); len(list) != 1 {
		t.Errorf("approvals lists %+v", list)
	}
}

func TestStreamsThatAreClosed(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	script := `deskhand --clock ` + clock + ` ask "what's the status of WO-1043" <&- >answer 2>errors`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = t.TempDir(), s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("with a closed standard input: %v\n%s", err, out)
	}
	text, err := os.ReadFile(cmd.Dir + "/answer")
	if err != nil || !strings.Contains(string(text), "WO-1043 Rooftop") {
		t.Errorf("the answer is %q, %v", text, err)
	}
	cmd = exec.Command("sh", "-c", `deskhand --clock `+clock+` ask "`+orderLine+`" <&- >&- 2>&-`)
	cmd.Dir, cmd.Env = t.TempDir(), s.env
	_ = cmd.Run() // nobody can be told anything
	if list := s.approvals(); len(list) != 1 {
		t.Errorf("with all streams closed, approvals lists %+v", list)
	}
}
