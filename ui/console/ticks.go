package console

import (
	"context"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// closeTime is from when on the seconds of a card that expires are counted.
	closeTime = 2 * time.Minute
	// idleTick is how often the clock of a desk at rest is drawn.
	idleTick = time.Minute
)

// ticks wakes the console when what it shows of the time changes, and no more
// often: a console that nobody touches costs nothing.
type ticks struct {
	// generation is that of the newest tick; older ones come to nothing.
	generation int
	// due is when it comes, on the desk's clock.
	due time.Time
}

// next is when the screen has to be drawn again because of the time alone.
func (m *Model) next() time.Time {
	now := m.options.Now()
	next := now.Truncate(idleTick).Add(idleTick)
	for _, w := range m.waiting {
		if w.Status != agent.CallWaiting || w.ExpiresAt == nil {
			continue
		}
		at := w.ExpiresAt.Add(-closeTime)
		if !at.After(now) {
			at = now.Add(time.Second)
		}
		if at.Before(next) {
			next = at
		}
	}
	return next
}

// tick waits until the time shows.
func (m *Model) tick() tea.Cmd {
	m.ticks.generation++
	m.ticks.due = m.next()
	msg := tickedMsg{m.ticks.generation}
	return tea.Tick(max(m.ticks.due.Sub(m.options.Now()), time.Millisecond), func(time.Time) tea.Msg { return msg })
}

// tickSooner waits anew if something came that shows the time before the tick
// that is out.
func (m *Model) tickSooner() tea.Cmd {
	if m.ticks.generation == 0 || !m.next().Before(m.ticks.due) {
		return nil
	}
	return m.tick()
}

func (m *Model) ticked(msg tickedMsg) tea.Cmd {
	if msg.generation != m.ticks.generation {
		return nil
	}
	m.refreshCards()
	return tea.Batch(m.tick(), m.expire())
}

// expire closes cards whose time ran out, so that none looks as if it could
// still be approved.
func (m *Model) expire() tea.Cmd {
	now, e := m.options.Now(), m.desk.engine
	for _, w := range m.waiting {
		if w.Status == agent.CallWaiting && w.ExpiresAt != nil && now.After(*w.ExpiresAt) {
			return m.desk.verb(func(ctx context.Context) tea.Msg {
				return verbDoneMsg{what: "expire", err: e.ExpireDue(ctx)}
			})
		}
	}
	return nil
}

// timeLeft says how long an approval still waits; empty if it waits for ever.
func timeLeft(a agent.Approval, now time.Time) string {
	if a.ExpiresAt == nil || a.State != agent.ApprovalOpen {
		return ""
	}
	switch left := a.ExpiresAt.Sub(now); {
	case left <= 0:
		return "its time is over"
	case left < closeTime:
		return plural(int(left.Round(time.Second)/time.Second), "second", "seconds") + " left"
	default:
		return age(left) + " left"
	}
}
