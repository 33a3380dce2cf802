//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

const besideNotice = "The desk is open in process "

// TestTwoConsolesShowOneDesk: a card that one of them brings up is in both,
// either decides it, and one leaves while the other stays.
func TestTwoConsolesShowOneDesk(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	first := s.open()
	first.see("work-orders ready")
	if info, err := os.Stat(filepath.Join(s.home, "console.sock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	second := s.open()
	second.see(besideNotice, "both consoles show the same", "work-orders ready")

	first.line(orderLine)
	first.see(cardHead, "A-1 · since", "1 decision waiting")
	second.see("1 decision waiting")
	second.line("/approvals")
	second.see("A-1")
	second.keys("\r")
	second.see(cardHead, "TOTAL  84.90 EUR")
	second.press("a", "PO-3021")
	first.see("1 order placed: PO-3021", "nothing waits")
	s.ordersAdded(before, 1)

	// The terminal of the second may change its size, and its text is its own.
	if err := pty.Setsize(second.master, &pty.Winsize{Cols: 60, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	second.screen.Resize(60, 30)
	second.lose(strings.Repeat("─", 20)) // the rule beside the card's title became shorter
	second.keys("words that are not sent")
	second.see("> words that are not sent")
	if strings.Contains(first.text(), "words that are not sent") {
		t.Error("what is typed in one console is in the other")
	}
	for _, line := range strings.Split(second.text(), "\n") {
		if ansi.StringWidth(line) > 60 {
			t.Errorf("a line is wider than the terminal: %q", line)
		}
	}

	third := s.open()
	third.see(besideNotice)
	third.keys("\x03\x03")
	third.end()
	if code := third.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("leaving a further console exits with %d", code)
	}
	first.line("status of WO-1043")
	first.see("Rooftop unit leaks")
}

// TestAConsoleGoesOnWhenTheOneThatHoldsTheDeskIsGone: killed, or left.
func TestAConsoleGoesOnWhenTheOneThatHoldsTheDeskIsGone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		end  func(*terminal)
	}{
		{"killed", (*terminal).kill},
		{"left", func(x *terminal) { x.keys("\x03\x03"); x.end() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			before := s.orders()
			first := s.open()
			first.see("work-orders ready")
			first.line(orderLine)
			first.see(cardHead, decideBy)
			second := s.open()
			second.see(besideNotice, cardHead)
			second.keys("half a line")
			second.see("> half a line")
			second.untilOnDisk(s, "half a line")

			test.end(first)
			second.lose(besideNotice)
			second.see(cardHead, "> half a line", decideBy, "work-orders ready")
			s.ordersAdded(before, 0)
			second.keys("\x03") // the draft goes, so that Tab goes into the card
			second.approve("PO-3021")
			s.ordersAdded(before, 1)
			s.expect(done, "approvals").prints(t, "Nothing waits.") // commands work beside the new holder
		})
	}
}

// TestTwoConsolesAndTenCommandsPlaceOneOrder: all press at once.
func TestTwoConsolesAndTenCommandsPlaceOneOrder(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	before := s.orders()
	first := s.open()
	first.see("work-orders ready")
	first.line(orderLine)
	first.see(cardHead, decideBy)
	second := s.open()
	second.see(cardHead, decideBy)
	for _, x := range []*terminal{first, second} {
		x.keys("\t")
		x.see("[a] order for")
	}
	var commands sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 10 {
		commands.Go(func() {
			if o := s.run("approve", "A-1"); o.code == done {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	first.press("a", "PO-3021")
	second.press("a", "PO-3021")
	commands.Wait()
	if won > 1 {
		t.Errorf("%d commands placed the order", won)
	}
	s.ordersAdded(before, 1)
}

// TestASecondConsoleIsToldWhoHoldsTheDesk: by a holder that cannot be reached.
func TestASecondConsoleIsToldWhoHoldsTheDesk(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.open().see("work-orders ready")
	if err := os.Remove(filepath.Join(s.home, "console.sock")); err != nil {
		t.Fatal(err)
	}
	second := s.open()
	second.see("is in use by")
	second.end()
	if code := second.cmd.ProcessState.ExitCode(); code != failed {
		t.Errorf("the second console ended with %d", code)
	}
}
