//go:build unix

package cli_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is the program in a pseudo-terminal, with a person's eyes on the
// screen and hands on the keys.
type terminal struct {
	t      testing.TB
	cmd    *exec.Cmd
	master *os.File
	screen *vt.SafeEmulator
	gone   chan struct{} // closed when the program has ended
	pumps  sync.WaitGroup
}

// open starts the console in a terminal of 100 by 40.
func (s *shell) open() *terminal {
	s.t.Helper()
	cmd := s.command()
	cmd.Env = append(cmd.Env, "TERM=tmux-256color")
	opened, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 40})
	if err != nil {
		s.t.Fatal(err)
	}
	master := pollable(s.t, opened)
	x := &terminal{t: s.t, cmd: cmd, master: master, screen: vt.NewSafeEmulator(100, 40), gone: make(chan struct{})}
	x.pumps.Go(func() { pump(master.Read, x.screen.Write) })
	x.pumps.Go(func() { pump(x.screen.Read, master.Write) }) // the emulator answers what the program asks
	go func() {
		_ = cmd.Wait() // how it ended is asked through ProcessState
		close(x.gone)
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // unless it ended already
		<-x.gone
		_ = master.Close()
		// Closing the emulator itself is a race with whoever reads its answers;
		// closing their pipe ends the reader just as well.
		if answers, ok := x.screen.InputPipe().(io.Closer); ok {
			_ = answers.Close()
		}
		x.pumps.Wait()
	})
	return x
}

// pollable gives the same end of the terminal in a form that Close really
// closes, also while somebody reads: only then does the program see the
// terminal go.
func pollable(t testing.TB, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.SetNonblock(fd, true), f.Close()); err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "terminal")
}

func pump(read, write func([]byte) (int, error)) {
	buffer := make([]byte, 4096)
	for {
		n, err := read(buffer)
		if n > 0 {
			if _, err := write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// text is what is on the screen, without colours.
func (x *terminal) text() string { return ansi.Strip(x.screen.Render()) }

// see waits until all words are on the screen.
func (x *terminal) see(words ...string) {
	x.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		text, missing := x.text(), ""
		for _, w := range words {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("%q is not on the screen:\n%s", missing, text)
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

// lose waits until a word is not on the screen any more.
func (x *terminal) lose(word string) {
	x.t.Helper()
	deadline := time.Now().Add(patience)
	for strings.Contains(x.text(), word) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%q is still on the screen:\n%s", word, x.text())
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

// keys sends bytes as they come from a keyboard.
func (x *terminal) keys(bytes string) {
	x.t.Helper()
	if _, err := x.master.WriteString(bytes); err != nil {
		x.t.Fatal(err)
	}
}

// line types a line and sends it.
func (x *terminal) line(text string) {
	x.t.Helper()
	x.keys(text)
	x.see("> " + text)
	x.keys("\r")
}

// end waits until the program has ended.
func (x *terminal) end() {
	x.t.Helper()
	select {
	case <-x.gone:
	case <-time.After(patience):
		x.t.Fatalf("the program does not end:\n%s", x.text())
	}
}

// kill ends the program as a crash does.
func (x *terminal) kill() {
	x.t.Helper()
	if err := x.cmd.Process.Kill(); err != nil {
		x.t.Fatal(err)
	}
	x.end()
}

// approve goes into the card and presses a, once the card is quiet: a key that
// comes too early is ignored and said so, so it is pressed again.
func (x *terminal) approve(done string) {
	x.t.Helper()
	x.keys("\t")
	x.see("[a] order for")
	x.press("a", done)
}

// press presses a key until it has done what it should: one that comes too soon
// after another is ignored, as a person's would be.
func (x *terminal) press(key, done string) {
	x.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		x.keys(key)
		next := time.Now().Add(time.Second)
		for time.Now().Before(next) {
			if strings.Contains(x.text(), done) {
				return
			}
			time.Sleep(5 * time.Millisecond) // between two looks
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("pressing %q does nothing:\n%s", key, x.text())
		}
	}
}

const (
	cardHead = "ORDER PART · approval needed"
	decideBy = "Tab or Ctrl+G to decide"
)

func TestAnOrderInATerminalAcrossAKill(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	x := s.open()
	x.see("DEMO: Quillmoor Service, made-up data, no supplier is contacted", "work-orders ready")
	x.line(orderLine)
	x.see(cardHead, "A-1 · since", "TOTAL  84.90 EUR", "Tandrel Thermal Supply", "arrives Thu 3 Dec", decideBy, "1 decision waiting")
	x.kill()
	s.ordersAdded(before, 0)

	x = s.open()
	x.see(cardHead, "A-1 · since", "TOTAL  84.90 EUR", decideBy, "work-orders ready")
	x.approve("PO-3021")
	x.see("Ordered 1 piece of Heating element 3 kW", "1 order placed: PO-3021, 84.90 EUR", "nothing waits")
	x.kill()
	s.ordersAdded(before, 1)
}

func TestLeavingDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name  string
		leave func(x *terminal)
	}{
		{"SIGTERM", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }},
		{"SIGHUP", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }},
		{"a closed terminal", func(x *terminal) { _ = x.master.Close() }},
		{"Ctrl+C out of the card, then twice", func(x *terminal) {
			x.keys("\x03")
			x.see(decideBy)
			x.keys("\x03")
			x.see("Ctrl+C again")
			x.keys("\x03")
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			before := s.orders()
			x := s.open()
			x.see("work-orders ready")
			x.line(orderLine)
			x.see(cardHead, decideBy)
			x.keys("\t") // into the card, where a key could decide
			x.see("[a] order for")
			way.leave(x)
			x.end()
			waiting := s.approvals()
			if len(waiting) != 1 || waiting[0].Status != "waiting" {
				t.Errorf("after leaving: %+v", waiting)
			}
			s.ordersAdded(before, 0)
		})
	}
}

func TestTypingWhileACardAppearsDecidesNothingAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	x := s.open()
	x.see("work-orders ready")
	x.keys(orderLine + "\ryes")
	x.keys("\x1b[200~ a\ny\n\x1b[201~")
	x.keys("ya")
	x.see(cardHead, decideBy, "yes")
	x.keys("\r")
	x.see("Ctrl+O", "Ctrl+X") // the choices
	if waiting := x.text(); !strings.Contains(waiting, "1 decision waiting") {
		t.Errorf("the card is gone:\n%s", waiting)
	}
	x.kill()
	s.ordersAdded(before, 0)
	if waiting := s.approvals(); len(waiting) != 1 || waiting[0].Status != "waiting" {
		t.Errorf("waiting = %+v", waiting)
	}
	x = s.open()
	x.see(cardHead, "yes") // the unsent text survived
}

func TestACallerIsAnsweredBesideACardThatWaits(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	x := s.open()
	x.see("work-orders ready")
	x.line(orderLine)
	x.see(cardHead, decideBy)
	x.line("status 1019")
	x.see("Ctrl+O", "Ctrl+X")
	x.press("\r", "Mairéad Quillin") // an Enter that follows too fast is no second Enter
	x.see("WO-1019", "1 decision waiting")
	x.keys("\x02") // Ctrl+B goes back
	x.see(cardHead, decideBy)
}

func TestUnsentTextOfAFirstConversationSurvivesAKill(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	x := s.open()
	x.see("work-orders ready")
	x.keys("half a line")
	x.untilOnDisk(s, "half a line")
	// Text is in the file a moment before its commit counts. Once the next draft
	// is there, this one was committed.
	x.keys(", and more")
	x.untilOnDisk(s, "half a line, and more")
	x.kill()
	x = s.open()
	x.see("> half a line")
}

// untilOnDisk waits until a text is in the desk's file, which the console holds.
func (x *terminal) untilOnDisk(s *shell, text string) {
	x.t.Helper()
	deadline := time.Now().Add(patience)
	for !strings.Contains(readFile(x.t, s.home+"/desk.db"), text) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%q is not saved:\n%s", text, x.text())
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}
