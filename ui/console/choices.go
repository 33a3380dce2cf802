package console

import (
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// enter sends what was typed, or asks what to do with it while a request is
// open. It never decides anything.
func (m *Model) enter() tea.Cmd {
	text := strings.TrimSpace(m.composer.text)
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "/"):
		return m.command(text)
	case m.open.busy():
		m.choice = true
		return nil
	}
	return m.sendHere(text, false)
}

// sendHere sends into the conversation on the screen.
func (m *Model) sendHere(text string, queue bool) tea.Cmd {
	m.clearComposer(text)
	m.list.toEnd()
	return m.desk.send(agent.SendRequest{Conversation: m.open.id, Text: text, Queue: queue})
}

func (m *Model) clearComposer(text string) {
	m.history.keep(text)
	m.composer.set("")
	m.draft.outbox = text
	m.choice, m.notice, m.pinned = false, notice{}, nil
}

// sent takes the outcome of sending. A message that was not kept comes back.
func (m *Model) sent(msg sentMsg) tea.Cmd {
	if msg.conversation != m.open.id {
		if !msg.kept {
			m.say("A message could not be sent; it is the draft of its conversation. " + sentence(msg.err))
			return m.desk.saveDraft(msg.conversation, msg.text)
		}
		return nil
	}
	m.draft.outbox = ""
	if !msg.kept {
		m.giveBack(msg.text)
	}
	if m.open.busy() && !msg.kept {
		m.choice = true
	}
	m.say(sentence(msg.err))
	return m.reload()
}

// choices is the line that Enter shows while a request is open.
func (m *Model) choices() string {
	why := "A request is still open here."
	denies := ""
	if n := len(m.deniable()); n > 0 {
		why = plural(n, "card waits", "cards wait") + " here; typing decides nothing."
		denies = " · Ctrl+X decline and send"
	}
	return why + " Enter: ask beside it, in a new conversation · Ctrl+O: queue it" + denies + " · any other key: go on typing"
}

// deniable are the cards that Ctrl+X declines.
func (m *Model) deniable() []agent.DecideRequest {
	var out []agent.DecideRequest
	for _, k := range m.open.cards {
		switch k.card.stands() {
		case standsWaiting, standsBlind, standsHeld:
			out = append(out, agent.DecideRequest{Approval: k.card.approval.ID, Digest: k.card.approval.Digest})
		}
	}
	return out
}

// choiceKey acts on the line of choices. Any key that is none of them closes
// the line and is typed.
func (m *Model) choiceKey(k tea.KeyMsg) (cmd tea.Cmd, used bool) {
	m.choice = false
	text := strings.TrimSpace(m.composer.text)
	switch k.String() {
	case "enter", "ctrl+o", "ctrl+x":
		if m.guard.burst { // a held Enter, or a paste
			m.choice = true
			return nil, true
		}
	}
	switch k.String() {
	case "enter":
		return m.askBeside(text), true
	case "ctrl+o":
		return m.sendHere(text, true), true
	case "ctrl+x":
		cards := m.deniable()
		if len(cards) == 0 {
			m.choice = true
			return nil, true
		}
		m.clearComposer(text)
		return m.desk.denyAndSend(cards, agent.SendRequest{Conversation: m.open.id, Text: text}), true
	case "esc":
		return nil, true
	}
	return nil, false
}

// askBeside asks at once in a new conversation; Ctrl+B comes back.
func (m *Model) askBeside(text string) tea.Cmd {
	m.composer.set("")
	m.back = append(m.back, m.open.id)
	id := m.desk.engine.NewConversation()
	open := m.switchTo(id, "")
	m.history.keep(text)
	m.draft.outbox = text
	m.hint("A new conversation beside the one that waits. Ctrl+B goes back.")
	return tea.Sequence(open, m.desk.send(agent.SendRequest{Conversation: id, Text: text}))
}

func (m *Model) goBack() tea.Cmd {
	last := len(m.back) - 1
	id := m.back[last]
	m.back = m.back[:last]
	return m.switchTo(id, "")
}

// nextWaiting goes to the next card of the desk, in whatever conversation.
func (m *Model) nextWaiting() tea.Cmd {
	if len(m.waiting) == 0 {
		m.hint("Nothing waits for a decision.")
		return nil
	}
	next := m.waiting[0]
	for i, w := range m.waiting {
		if w.CallID == m.lastJump {
			next = m.waiting[(i+1)%len(m.waiting)]
		}
	}
	m.lastJump = next.CallID
	if next.ConversationID == m.open.id {
		if k := m.open.card(next.CallID); k != nil {
			m.land(k)
		}
		return nil
	}
	m.back = append(m.back, m.open.id)
	return m.switchTo(next.ConversationID, next.CallID)
}
