package console

import "time"

const (
	// quietTime is how long no key may be pressed after a card got the keyboard
	// before it takes decisions. Fast typists pause less than this between
	// words, and people need longer than this to read a card.
	quietTime = 400 * time.Millisecond
	// burstTime is less than any finger needs between two keys: keys that come
	// faster are a paste, a held key or a full buffer.
	burstTime = 30 * time.Millisecond
	// aloneTime is how long before and after a key that decides no other key may
	// come. Keyboards repeat a held key every 25 to 50 ms after a first pause of
	// half a second, and a paste without brackets comes all at once: neither
	// leaves a key alone, and a finger that means one key does.
	aloneTime = 120 * time.Millisecond
)

// guard keeps keys that were meant for something else from deciding. It uses a
// monotonic clock, which tests inject.
type guard struct {
	now func() time.Duration

	pressed bool          // a key was ever pressed
	last    time.Duration // when
	burst   bool          // the newest key came within burstTime of the one before
	crowded bool          // the newest key came within aloneTime of the one before
	presses int           // how many keys there were
	since   time.Duration // since when it has been quiet
	armed   bool          // it has been quiet for long enough since the landing
	blurred bool          // the terminal window is not in front
}

// key is told of every key, whatever it is for.
func (g *guard) key() {
	now := g.now()
	g.burst = g.pressed && now-g.last < burstTime
	g.crowded = g.pressed && now-g.last < aloneTime
	g.presses++
	g.pressed, g.last = true, now
	if g.blurred { // terminals lose focus reports; a key says the window is in front
		g.blurred = false
		g.land()
		return
	}
	if g.armed {
		return
	}
	if now-g.since >= quietTime {
		g.armed = true
		return
	}
	g.since = now
}

// land is told when a card gets the keyboard, a new question appears in its
// place, or the window comes to the front.
func (g *guard) land() { g.armed, g.since = false, g.now() }

// refusal says why the newest key may not decide; empty if it may.
func (g *guard) refusal() string {
	if g.crowded || !g.armed {
		return "Just a moment: keys count when it has been quiet for a while. Press it again."
	}
	return ""
}
