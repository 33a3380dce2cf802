//go:build unix

package cli_test

import (
	"strings"
	"testing"
	"time"
)

// BenchmarkStartToCard measures from the start of the process to the restored
// card on the screen, beside the start of a program that only prints its help.
func BenchmarkStartToCard(b *testing.B) {
	s := newShell(b)
	s.ask(waiting, orderLine)
	var card, help time.Duration
	for b.Loop() {
		begun := time.Now()
		x := s.open()
		for !strings.Contains(x.text(), cardHead) {
			if time.Since(begun) > patience {
				b.Fatalf("no card:\n%s", x.text())
			}
			time.Sleep(time.Millisecond / 2) // between two looks
		}
		card += time.Since(begun)
		x.kill()
		begun = time.Now()
		s.expect(done, "--help")
		help += time.Since(begun)
	}
	b.ReportMetric(float64(card.Microseconds())/1000/float64(b.N), "ms/card")
	b.ReportMetric(float64(card)/float64(help), "x-help")
}
