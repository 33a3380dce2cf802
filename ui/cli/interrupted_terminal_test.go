//go:build unix

package cli_test

import "testing"

// A console that is killed while it reads leaves nothing that spins for ever: the
// next one reads again, or is told to stop, and takes the next line.
func TestAReadThatWasInterruptedByAKill(t *testing.T) {
	t.Parallel()
	v := startServer(t)
	w := newWire(v)
	s := v.configure(w.addr)
	hold := func(tool string) { w.set(func(w *wire) { w.hold = tool }) }
	x := s.open()
	x.see("work-orders ready")
	hold("lookup_work_order")
	x.line("what's the status of WO-1043")
	<-w.held
	x.kill()

	x = s.open() // the server still says nothing
	<-w.held
	x.see("what's the status of WO-1043", "work-orders ready")
	x.kill()

	hold("")
	x = s.open()
	x.see("WO-1043 Rooftop", "nothing waits")
	hold("lookup_work_order")
	x.line("status 1019")
	<-w.held
	x.line("/abort")
	x.see("This request was stopped")
	hold("")
	x.line("status 1018")
	x.see("WO-1018", "nothing waits")
}
