//go:build unix

package console

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deskhand/agent"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal is the other end of a console's terminal.
type terminal struct {
	t      *testing.T
	master *os.File
	mu     sync.Mutex
	output bytes.Buffer
	grown  chan struct{}
	ended  chan error
}

// inTerminal runs a console over the pilot's store in a pseudo-terminal.
func (p *pilot) inTerminal(owner agent.OwnerID) *terminal {
	p.t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		p.t.Skip("no pseudo-terminal:", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		p.t.Fatal(err)
	}
	// Only a file that the runtime polls can be closed while it is being read.
	fd, err := unix.Dup(int(master.Fd()))
	if err != nil {
		p.t.Fatal(err)
	}
	_ = master.Close()
	if err := unix.SetNonblock(fd, true); err != nil {
		p.t.Fatal(err)
	}
	x := &terminal{t: p.t, master: os.NewFile(uintptr(fd), "terminal"), grown: make(chan struct{}, 1), ended: make(chan error, 1)}
	p.t.Cleanup(func() { _ = x.master.Close(); _ = slave.Close() })
	go x.pump()
	o := p.m.options
	o.Input, o.Output, o.Quiet, o.Theme = slave, slave, nil, ThemeDark
	go func() { x.ended <- Run(p.ctx, o) }()
	return x
}

func (x *terminal) pump() {
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		x.output.Write(buf[:n])
		x.mu.Unlock()
		select {
		case x.grown <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (x *terminal) raw() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.output.String()
}

// see waits until the terminal was told something.
func (x *terminal) see(text string) {
	x.t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for !strings.Contains(ansi.Strip(x.raw()), text) {
		select {
		case <-x.grown:
		case <-deadline.C:
			x.t.Fatalf("the terminal never shows %q; it was told %q", text, x.raw())
		}
	}
}

func (x *terminal) typing(text string) {
	x.t.Helper()
	if _, err := io.WriteString(x.master, text); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) end() {
	x.t.Helper()
	select {
	case err := <-x.ended:
		if err != nil {
			x.t.Errorf("the console ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		x.t.Fatal("the console does not end")
	}
}

func TestRun(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.model.script(calls("order_part", orderArgs))
	x := p.inTerminal("owner-2")
	x.see("who's free for 1047")
	x.typing("order a 3 kW heating element for WO-1044\r")
	x.see("Tab or Ctrl+G to decide")
	x.typing("a draft, äö天")
	x.see("äö天")
	if !strings.Contains(x.raw(), "\x1b[23;16H"+showCursor) {
		t.Errorf("the cursor is not behind the draft: %q", x.raw())
	}
	p.undecided("A-1")
	x.typing("\x03") // clears
	x.see("Cleared.")
	x.typing("\x03")
	x.see("1 decision keeps waiting")
	x.typing("\x03")
	x.end()
	x.see("start again to decide:")
	for _, want := range []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[?2004l", syncBegin} {
		if !strings.Contains(x.raw(), want) {
			t.Errorf("the terminal was never told %q", want)
		}
	}
	p.undecided("A-1")
}

// The terminal goes away, or the process is told to end: nothing is decided,
// the draft is saved, and the card waits after the next start.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(x *terminal){
		"the window is closed": func(x *terminal) { _ = x.master.Close() },
		"SIGTERM":              func(*terminal) { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) },
		"SIGHUP":               func(*terminal) { _ = syscall.Kill(os.Getpid(), syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPilot(t, 80, 24)
			p.card()
			x := p.inTerminal("owner-2")
			x.see("Tab or Ctrl+G to decide")
			x.typing("half a line")
			x.see("half a line")
			end(x)
			x.end()
			p.undecided("A-1")
			p.start("owner-3", 80, 24)
			if !p.says("A-1 · since 09:04") || !p.says("> half a line") {
				t.Errorf("after the next start:\n%s", p.screen())
			}
		})
	}
}
