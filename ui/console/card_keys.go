package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// seen says how much of the focused card has been on the screen.
type seen struct {
	approval agent.ApprovalID
	stands   standing
	attempt  int
	// rows says of each of the card's lines, at width, whether it was in view.
	rows  []bool
	width int
	// end says that the last line is in view now.
	end bool
}

func seenOf(k card) seen {
	return seen{approval: k.approval.ID, stands: k.stands(), attempt: k.call.Attempt}
}

// same reports whether the card still asks what it asked.
func (s seen) same(k card) bool {
	return s.approval == k.approval.ID && s.stands == k.stands() && s.attempt == k.call.Attempt
}

// note is told what is on the screen after each frame. A card that was all in
// view stays read when its lines are broken anew.
func (s *seen) note(k *cardCell, width int, spans []span) {
	if all := s.all(); s.width != width || len(s.rows) != len(k.cell.drawn) {
		s.width, s.rows = width, make([]bool, len(k.cell.drawn))
		for i := range s.rows {
			s.rows[i] = all
		}
	}
	s.end = false
	for _, p := range spans {
		if p.cell != k.cell {
			continue
		}
		for i := p.from; i < p.to; i++ {
			s.rows[i] = true
		}
		s.end = p.to == len(s.rows)
	}
}

// all reports whether every line was in view.
func (s *seen) all() bool { return len(s.rows) > 0 && !slices.Contains(s.rows, false) }

// refusal says why a key may not decide because of what was seen; empty if it
// may.
func (s *seen) refusal() string {
	switch {
	case !s.all() && s.end:
		return "The beginning of this card has not been in view: read it from the top (Home, PgDn) before deciding."
	case !s.all() || !s.end:
		return "Scroll to the end first (↓ or PgDn): all of a card must have been in view before it is decided."
	}
	return ""
}

// enterCards gives the keyboard to a card: the first, or the one after.
func (m *Model) enterCards() tea.Cmd {
	next := m.open.after(m.focus, 1)
	if next == nil {
		if len(m.waiting) > 0 {
			m.hint("Nothing waits in this conversation; /approvals goes to what does.")
		} else {
			m.hint("Nothing waits for a decision.")
		}
		return nil
	}
	m.land(next)
	return nil
}

// land gives the keyboard to a card and starts the guard.
func (m *Model) land(k *cardCell) {
	m.focus, m.choice = k.id(), false
	m.view = seenOf(k.card)
	m.guard.land()
	m.refreshCards()
	m.fitList() // what the card has room for depends on what else is shown
	m.list.show(k.cell.id)
}

// toComposer gives the keyboard back to the composer.
func (m *Model) toComposer() {
	m.field = nil
	if m.focus == "" {
		return
	}
	m.focus = ""
	m.refreshCards()
	if m.list.atEnd() {
		m.list.toEnd()
	}
}

// cardKey acts on the focused card.
func (m *Model) cardKey(k tea.KeyMsg) tea.Cmd {
	focused := m.open.card(m.focus)
	if focused == nil {
		m.toComposer()
		return nil
	}
	switch name := k.String(); name {
	case "esc":
		m.toComposer()
	case "tab", "ctrl+g":
		return m.enterCards()
	case "shift+tab":
		m.land(m.open.after(m.focus, -1))
	case "up", "down":
		m.list.scroll(map[string]int{"up": -1, "down": 1}[name])
	case "home":
		m.list.show(focused.cell.id)
	case "end":
		m.list.placeEnd(m.list.find(focused.cell.id))
		m.list.follow = false
	case "enter":
		m.hint("Enter decides nothing. " + m.offer(focused.card))
	case "v":
		m.panel = viewAll(focused.card)
		return m.desk.readHistory(m.panel, focused.card.call)
	case "y":
		return m.copyText("the card", focused.card.logicalText(m.list.canvas))
	case "Y":
		return m.copyText("the id", focused.card.call.Name())
	default:
		return m.letter(k, focused.card)
	}
	return nil
}

// offer names the keys of a card.
func (m *Model) offer(k card) string {
	k.focused, k.busy = true, ""
	return strings.Join(k.keys(), "  ")
}

// letter acts on a key that may decide.
func (m *Model) letter(k tea.KeyMsg, c card) tea.Cmd {
	switch {
	case k.Paste:
		m.hint("Pasted text decides nothing. Esc goes back to typing.")
		return nil
	case k.Type != tea.KeyRunes || k.Alt:
		m.hint("That key does nothing on a card. Esc goes back to typing.")
		return nil
	case len(k.Runes) != 1:
		m.hint("Several keys at once decide nothing. Esc goes back to typing.")
		return nil
	}
	key := string(k.Runes)
	if text := c.elsewhere(key); text != "" {
		m.hint(text)
		return nil
	}
	known := slices.ContainsFunc(c.bindings(), func(b binding) bool { return b.name == key })
	switch {
	case !known:
		m.hint(fmt.Sprintf("%q does nothing on this card. %s  Esc goes back to typing.", key, m.offer(c)))
	case m.out[c.call.Name()] != "":
		m.hint("That is already on its way.")
	case m.guard.refusal() != "":
		m.hint(m.guard.refusal())
	case m.view.refusal() != "":
		m.hint(m.view.refusal())
	case opensField(key, c):
		return m.act(key, c)
	default:
		return m.afterAlone(key, c)
	}
	return nil
}

// opensField reports whether a key decides nothing: it only opens a field, in
// which something else acts, or another conversation.
func opensField(key string, c card) bool {
	label, _ := c.override()
	return slices.Contains([]string{"d", "e", "l"}, key) || key == "a" && label != ""
}

// afterAlone lets a key decide once it has stood alone: no other key came for a
// moment, so it was neither held down nor the beginning of a paste.
func (m *Model) afterAlone(key string, c card) tea.Cmd {
	pressed := keyStoodAloneMsg{key: key, card: m.focus, approval: c.approval.ID, presses: m.guard.presses}
	return tea.Tick(aloneTime, func(time.Time) tea.Msg { return pressed })
}

// stoodAlone acts on a key after its moment, if it still means the same card.
func (m *Model) stoodAlone(pressed keyStoodAloneMsg) tea.Cmd {
	focused := m.open.card(m.focus)
	switch {
	case pressed.presses != m.guard.presses:
		m.hint("Several keys at once decide nothing. Press it once.")
	case m.guard.blurred, focused == nil, m.focus != pressed.card, focused.card.approval.ID != pressed.approval, !m.view.same(focused.card):
		// The card, or the window, is another one now.
	case m.out[focused.card.call.Name()] == "":
		return m.act(pressed.key, focused.card)
	}
	return nil
}

// elsewhere explains keys that are not for this card as it stands.
func (k card) elsewhere(key string) string {
	switch key {
	case "e":
		if k.stands() == standsBlind {
			return "Editing is off while the quote is missing: r fetches it again."
		}
	case "s":
		switch {
		case k.approval.Referral != nil:
			return "It waits for a " + roleWord(k.approval.Referral.Role) + " already, who finds it under this id: start the desk with --user, or use deskhand approve."
		case k.stands() == standsWaiting && k.needs() == "":
			return "It needs nobody else: you may approve it."
		}
	case "t":
		if k.stands() == standsWaiting && k.approval.ExpiresAt == nil {
			return "It waits without a limit."
		}
	case "a":
		switch {
		case k.stands() == standsBlind:
			return "Approving is off while the quote is missing: r fetches it again."
		case k.stands() == standsHeld:
			return "It is approved already: r sends it, d takes the approval back."
		case k.needs() != "":
			return "It needs a " + k.needs() + ": " + safeLine(k.user.DisplayName(), evidence) + " may not approve it. d declines it."
		}
	case "r":
		if k.stands() == standsWaiting {
			return "There is nothing to fetch: the card is complete."
		}
	}
	return ""
}

// act does what a key of a card says. What it decides about is the approval as
// it was drawn.
func (m *Model) act(key string, c card) tea.Cmd {
	e := m.desk.engine
	request := agent.DecideRequest{Approval: c.approval.ID, Digest: c.approval.Digest}
	settle := func(as agent.SettleAs) tea.Cmd {
		r := agent.SettleRequest{Approval: c.approval.ID, As: as}
		if r.Approval == "" {
			r.Call = c.call.ID
		}
		return m.run(c, "being recorded…", func(ctx context.Context) (agent.Report, error) { return e.Settle(ctx, r) })
	}
	switch key {
	case "a":
		if label, accepted := c.override(); label != "" {
			m.field = confirmation(c, label, accepted)
			return nil
		}
		return m.approve(c, request)
	case "d":
		m.field = denial(c)
	case "e":
		m.field = edit(c)
	case "l":
		return m.lookUp(c)
	case "s":
		return m.run(c, "leaving it to a "+c.needs()+"…", func(ctx context.Context) (agent.Report, error) {
			_, err := e.Refer(ctx, c.approval.ID)
			return agent.Report{}, err
		})
	case "t":
		return m.run(c, "giving it an hour more…", func(ctx context.Context) (agent.Report, error) {
			_, err := e.Extend(ctx, c.approval.ID, time.Hour)
			return agent.Report{}, err
		})
	case "r":
		return m.run(c, "asking the server again…", func(ctx context.Context) (agent.Report, error) { return e.Retry(ctx, c.approval.ID) })
	case "h":
		return settle(agent.SettleHappened)
	case "n":
		return settle(agent.SettleNot)
	case "x":
		return settle(agent.SettleResend)
	}
	return nil
}

func (m *Model) approve(c card, r agent.DecideRequest) tea.Cmd {
	e := m.desk.engine
	return m.run(c, "approving: the server is asked once more…", func(ctx context.Context) (agent.Report, error) { return e.Approve(ctx, r) })
}

// lookUp opens a conversation beside the card with a question about it in the
// composer; Ctrl+B comes back.
func (m *Model) lookUp(c card) tea.Cmd {
	question := "what happened to " + callName(c.call)
	var args struct {
		WorkOrder string `json:"work_order_id"`
		Visit     string `json:"visit_id"`
		Order     string `json:"part_order_id"`
	}
	_ = unmarshal(c.call.Arguments, &args)
	switch kind := cmp.Or(c.approval.Kind, c.call.Kind); {
	case kind == "order" && args.WorkOrder != "":
		question = "part orders for " + safeLine(args.WorkOrder, evidence)
	case kind == "cancel_order" && args.Order != "":
		question = "status of " + safeLine(args.Order, evidence)
	case args.WorkOrder != "":
		question = "status of " + safeLine(args.WorkOrder, evidence)
	case args.Visit != "":
		question = "status of " + safeLine(args.Visit, evidence)
	}
	m.back = append(m.back, m.open.id)
	open := m.switchTo(m.desk.engine.NewConversation(), "")
	m.composer.set(question)
	m.hint("Enter asks. Ctrl+B goes back to the card, to say there what happened.")
	return open
}

// run starts a verb on a card, and shows that it did.
func (m *Model) run(c card, doing string, verb func(context.Context) (agent.Report, error)) tea.Cmd {
	key := c.call.Name()
	m.out[key] = doing
	m.notice = notice{}
	m.refreshCards()
	return m.desk.decide(key, verb)
}
