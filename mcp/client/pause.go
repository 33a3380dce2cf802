package client

import (
	"math/rand/v2"
	"time"
)

// pause says how long a server that failed is left in peace. The Server's mutex
// guards it.
type pause struct {
	first, most time.Duration
	jitter      func() float64

	failures int
	until    time.Time
}

// How long a server is left in peace, from the first failure to many. Starting
// a program costs the machine more than knocking at a port.
const (
	firstKnock, mostKnock = 100 * time.Millisecond, 5 * time.Second
	firstStart, mostStart = time.Second, time.Minute
	// settledTime is how long a session has to live for its end to be no
	// failure of the server.
	settledTime = 10 * time.Second
)

func newPause(o Options) pause {
	p := pause{first: firstKnock, most: mostKnock, jitter: o.Jitter}
	if o.Command != nil {
		p.first, p.most = firstStart, mostStart
	}
	if p.jitter == nil {
		p.jitter = rand.Float64
	}
	return p
}

// failed notes a connect that failed after it had been tried for so long.
func (p *pause) failed(now time.Time, tried time.Duration) {
	p.failures++
	p.set(now, max(p.first<<min(p.failures-1, 20), tried))
}

// died notes the end of a session. The first one is nothing: the server may
// just have been installed anew. One that ends again and again is broken.
func (p *pause) died(now time.Time, lived time.Duration) {
	if lived >= settledTime {
		p.failures = 0
	}
	if p.failures++; p.failures > 1 {
		p.set(now, p.first<<min(p.failures-2, 20))
	}
}

// set spreads the times of servers that failed together, so that they are not
// all tried again at once.
func (p *pause) set(now time.Time, wait time.Duration) {
	wait = min(wait, p.most)
	p.until = now.Add(wait - time.Duration(p.jitter()*float64(wait)/4))
}

// left is how long it still lasts.
func (p *pause) left(now time.Time) time.Duration { return p.until.Sub(now) }
