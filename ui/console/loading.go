package console

import (
	"strings"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// reload reads the conversation on the screen again. One load is out at a time;
// what changes meanwhile is read by the next.
func (m *Model) reload() tea.Cmd {
	if m.loading {
		m.stale = true
		return nil
	}
	m.loading = true
	v := &m.open
	from := max(1, v.newest()-reloadLength)
	return m.desk.load(v.id, v.newest(), reloadLength, v.unsettled(from))
}

func (m *Model) loaded(msg loadedMsg) tea.Cmd {
	m.loading = false
	var again tea.Cmd
	if m.stale {
		m.stale = false
		again = m.reload()
	}
	if msg.conversation != m.open.id { // another one was opened meanwhile
		m.waiting = msg.waiting
		return again
	}
	return tea.Batch(m.take(msg), again)
}

// take puts what was read onto the screen.
func (m *Model) take(msg loadedMsg) tea.Cmd {
	if msg.err != nil {
		m.say("Reading the desk failed: " + full(msg.err.Error()) + " What you see may be old.")
		return nil
	}
	v := &m.open
	v.head, v.aborted, v.live, m.waiting = msg.head, msg.aborted, msg.live, msg.waiting
	if len(v.entries) == 0 {
		m.list.toEnd() // the welcome was shown from its top
	}
	v.merge(msg.entries)
	v.advance(msg.progress)
	if m.draft.outbox != "" && v.head != nil && v.busy() {
		m.draft.outbox = "" // the message is in the store
	}
	m.refreshCards()
	m.list.set(v.cells(m.welcome()))
	m.followFocus()
	if !v.busy() {
		m.choice = false
	}
	return tea.Batch(m.ring(), m.takeQueueBack(), m.tickSooner())
}

// refreshCards puts the state of the screen into the cards: which has the
// keyboard, what is being done about which.
func (m *Model) refreshCards() {
	user := m.options.User()
	instant := m.options.Now()
	for _, k := range m.open.cards {
		now := k.card
		now.left = timeLeft(now.approval, instant)
		now.focused = k.id() == m.focus
		now.busy = m.out[now.call.Name()]
		now.user = user
		if was, ok := k.cell.item.(card); ok && was.focused == now.focused && was.busy == now.busy && was.left == now.left && was.user.ID == user.ID && was.user.Role == user.Role {
			continue
		}
		k.card, k.cell.item = now, now
		k.cell.width = 0
	}
}

// followFocus keeps the keyboard where the dispatcher put it: on the same card
// while it waits, on the next one when it does not, and in the composer after
// the last.
func (m *Model) followFocus() {
	if m.focus == "" {
		return
	}
	k := m.open.card(m.focus)
	if k != nil && m.view.same(k.card) {
		return
	}
	if k != nil && k.card.call.Attempt == m.view.attempt {
		m.closeField("The card changed, so nothing was decided.")
		m.land(k)
		return
	}
	// Decided, or sent and come back: whether its sending was seen on the screen
	// must make no difference.
	m.closeField("The card was decided meanwhile.")
	for _, next := range m.open.cards {
		if next.id() != m.focus {
			m.land(next)
			return
		}
	}
	m.toComposer()
	m.list.toEnd()
}

// ring rings once for each card that is new.
func (m *Model) ring() tea.Cmd {
	fresh := false
	now := make(map[string]bool, len(m.waiting))
	for _, w := range m.waiting {
		name := waitingName(w)
		fresh = fresh || !m.rung[name]
		now[name] = true
	}
	m.rung = now
	if !fresh {
		return nil
	}
	attend, away := m.attend, m.guard.blurred
	return func() tea.Msg { attend(away); return nil }
}

// takeQueueBack brings queued messages back when their turn stopped.
func (m *Model) takeQueueBack() tea.Cmd {
	h := m.open.head
	if h == nil || len(h.Queue) == 0 || h.Open != nil && h.Open.State != agent.TurnStalled || m.out["queue"] != "" {
		return nil
	}
	m.out["queue"] = "coming back"
	return m.desk.unqueue(*h, m.composer.text)
}

func (m *Model) unqueued(msg unqueuedMsg) tea.Cmd {
	delete(m.out, "queue")
	m.say(sentence(msg.err))
	if msg.conversation == m.open.id && msg.err == nil {
		m.giveBack(msg.text)
		m.hint("The queued message is back: the request before it stopped.")
	}
	return m.reload()
}

// giveBack puts text that was not kept back into the composer, before what was
// typed since.
func (m *Model) giveBack(text string) {
	if rest := m.composer.text; strings.TrimSpace(rest) != "" {
		text += "\n" + rest
	}
	m.composer.set(text)
}

func (m *Model) olderLoaded(msg olderLoadedMsg) {
	if msg.conversation != m.open.id {
		return
	}
	m.open.paging = false
	if msg.err != nil {
		m.say("Reading older messages failed: " + full(msg.err.Error()))
		return
	}
	m.open.prepend(msg.entries)
	m.refreshCards()
	m.list.set(m.open.cells(nil))
}

// pageOlder asks for older messages when the reader comes near the first one
// that is there.
func (m *Model) pageOlder() tea.Cmd {
	v := &m.open
	if v.paging || v.oldest() <= 1 || m.list.follow || m.list.first > 2*m.list.height {
		return nil
	}
	v.paging = true
	return m.desk.loadOlder(v.id, v.oldest())
}

// switchTo opens another conversation; focus is a card to enter there.
func (m *Model) switchTo(id agent.ConversationID, focus agent.CallID) tea.Cmd {
	save := m.saveDraft()
	m.toComposer()
	m.open = conversation{id: id}
	m.composer.set("")
	m.draft = draft{}
	m.choice, m.panel, m.history = false, nil, history{}
	m.list = newTranscript()
	return tea.Sequence(save, m.desk.open(id, focus))
}

func (m *Model) opened(msg openedMsg) tea.Cmd {
	if msg.conversation != m.open.id {
		return nil
	}
	cmd := m.take(msg.loadedMsg)
	m.draft.saved = msg.draft
	if msg.draft != "" {
		m.giveBack(msg.draft)
	}
	if k := m.open.card(msg.focus); k != nil {
		m.land(k)
	}
	return cmd
}

// keepDraft arranges for the composer's text to be saved soon.
func (m *Model) keepDraft() tea.Cmd {
	if m.draft.due || m.draftText() == m.draft.saved {
		return nil
	}
	m.draft.due = true
	return tea.Tick(draftDelay, func(time.Time) tea.Msg { return draftDueMsg{} })
}

// draftText is what must survive: the composer's text, and what was sent and is
// not known to be stored.
func (m *Model) draftText() string {
	if m.draft.outbox == "" {
		return m.composer.text
	}
	return strings.TrimSpace(m.draft.outbox + "\n" + m.composer.text)
}

func (m *Model) saveDraft() tea.Cmd {
	text := m.draftText()
	if text == m.draft.saved {
		return nil
	}
	m.draft.saved = text
	return m.desk.saveDraft(m.open.id, text)
}
