package console

import (
	"testing"
	"time"

	"deskhand/agent"
)

// A desk at rest wakes up once a minute; one with a card that is about to
// expire counts its seconds, and the count is on the card.
func TestTheClockTicksNoMoreOftenThanItShows(t *testing.T) {
	p := newPilot(t, 80, 24)
	p.now = p.now.Add(10 * time.Second)
	if next := p.m.next().Sub(p.now); next != 50*time.Second {
		t.Errorf("at rest the next tick is in %v", next)
	}
	p = newPilot(t, 80, 24)
	p.expiresAfter = "30m"
	p.start("owner-2", 80, 24)
	p.card()
	p.untilText("until 09:34 (30 min left)")
	p.now = p.now.Add(28*time.Minute + 15*time.Second)
	p.update(tickedMsg{p.m.ticks.generation})
	if !p.says("(1 min left)") && !p.says("(105 seconds left)") {
		t.Errorf("the card does not count down:\n%s", p.screen())
	}
	if next := p.m.next().Sub(p.now); next != time.Second {
		t.Errorf("the next tick is in %v", next)
	}
	generation := p.m.ticks.generation
	p.update(tickedMsg{generation - 1})
	if p.m.ticks.generation != generation {
		t.Error("an old tick started another one")
	}
	p.now = p.now.Add(2 * time.Minute)
	p.update(tickedMsg{generation})
	p.until("the card to expire", func() bool { return len(p.m.open.cards) == 0 })
	if a := p.approval("A-1"); a.State != agent.ApprovalExpired {
		t.Errorf("it is %s", a.State)
	}
}
