//go:build unix

package cli_test

import "testing"

func TestCommandsInATerminal(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	x := s.open()
	x.see("work-orders ready")
	x.line("/today")
	x.see("open jobs due", "Boiler lockout")
	x.line("/find boiler")
	x.see("1 message has", "[Boiler]")
	x.keys("\x1b")
	x.see("open jobs due")
	x.line("/rename The first of December")
	x.see("#1 The first of December")
	x.keys("/con\t")
	x.see("/conversations  /continue  /connect")
}
