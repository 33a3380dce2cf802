package cli_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// commands are all that the program has, each with how it may end.
var commands = []string{
	"ask", "approvals", "approve", "deny", "settle", "continue", "abort", "conversations", "show", "audit",
	"config", "doctor", "workorders", "workorders serve", "workorders token", "workorders import", "workorders export",
	"workorders backup", "workorders reset", "workorders new", "workorders set-status", "workorders receive",
	"workorders approve", "workorders reject", "workorders order-text",
}

func TestHelpOfEveryCommandSaysWhatToType(t *testing.T) {
	t.Parallel()
	s := newShell(t).within()
	for _, name := range commands {
		words := strings.Fields(name)
		o := s.expect(done, append(append([]string{}, words...), "--help")...)
		o.quiet(t)
		o.prints(t, "Usage:\n  deskhand "+name, "Examples:\n  ", "deskhand "+words[0])
		readable(t, name, o.out)
		if other := s.expect(done, append([]string{"help"}, words...)...); other.out != o.out {
			t.Errorf("help %s and %s --help differ", name, name)
		}
	}
}

func TestHelpOfTheProgramListsEveryCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t).within()
	o := s.expect(done, "--help")
	for _, name := range commands {
		if !strings.Contains(name, " ") {
			o.prints(t, "\n  "+name+" ")
		}
	}
	o.prints(t, "Exit codes", "--home DIR", "--config FILE", "--user ID", "--wait TIME", "DESKHAND_HOME")
	readable(t, "deskhand", o.out)
}

// readable makes sure that help fits a terminal and holds none of cobra's
// placeholders.
func readable(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 120 {
			t.Errorf("%s: a line of %d columns: %s", name, n, line)
		}
		if strings.Contains(line, " string ") || strings.Contains(line, "help for ") {
			t.Errorf("%s: a line that nobody wrote: %s", name, line)
		}
	}
}
