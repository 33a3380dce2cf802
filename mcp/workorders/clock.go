package workorders

import (
	"time"
	_ "time/tzdata" // zones must be known on machines without a zone database
)

// Kinds of clock, as the company resource names them.
const (
	clockDemo  = "demo"  // starts at the reference time when the book is made
	clockReal  = "real"  // the machine's
	clockFixed = "fixed" // given in Options.Now
)

// A clockRecord is how a book remembers its time.
type clockRecord struct {
	Kind   string `json:"kind"`
	Start  Stamp  `json:"start"`   // what a demo clock showed ...
	MadeAt Stamp  `json:"made_at"` // ... when the machine's clock showed this
}

// now gives the book's time from the machine's. A demo clock never shows a
// time before its start, even when the machine's clock was set back.
func (r clockRecord) now(wall time.Time) time.Time {
	if r.Kind != clockDemo {
		return wall
	}
	return r.Start.Add(max(0, wall.Sub(r.MadeAt.Time)))
}
