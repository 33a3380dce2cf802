//go:build unix

package cli_test

import "testing"

// A console that is killed while it reads leaves nothing that spins for ever: the
// next one reads again, or is told to stop, and takes the next line.
func TestAReadThatWasInterruptedByAKill(t *testing.T) {
	t.Parallel()
	_, w, s := behindAWire(t)
	x := s.open()
	x.see("work-orders ready")
	w.holds("lookup_work_order")
	x.line("what's the status of WO-1043")
	<-w.held
	x.kill()

	x = s.open() // the server still says nothing
	<-w.held
	x.see("what's the status of WO-1043", "work-orders ready")
	x.kill()

	w.holds("")
	x = s.open()
	x.see("WO-1043 Rooftop", "nothing waits")
	w.holds("lookup_work_order")
	x.line("status 1019")
	<-w.held
	x.line("/abort")
	x.see("This request was stopped")
	w.holds("")
	x.line("status 1018")
	x.see("WO-1018", "nothing waits")
}
