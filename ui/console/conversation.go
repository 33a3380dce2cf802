package console

import (
	"fmt"
	"reflect"
	"slices"

	"deskhand/agent"
)

// conversation is what the screen knows of one conversation: a copy of records,
// read again whenever the store changed.
type conversation struct {
	id agent.ConversationID
	// head is nil while the conversation has no message.
	head *agent.Head
	// aborted says that the newest turn was aborted.
	aborted bool
	live    string
	// entries are consecutive messages up to the newest, each with its cells.
	entries []entryCells
	// cards are the calls that wait for a person, in order.
	cards []*cardCell
	// running says that calls tell how far they are.
	running bool
	// paging is set while older messages are being read.
	paging bool
}

type entryCells struct {
	entry agent.TranscriptEntry
	cells []*cell
	cards []*cardCell
}

// cardCell is a card on the screen.
type cardCell struct {
	cell *cell
	card card
}

func (k *cardCell) id() agent.CallID { return k.card.call.ID }

// oldest and newest are the numbers of the messages that are there; 0 if none.
func (v *conversation) oldest() int {
	if len(v.entries) == 0 {
		return 0
	}
	return v.entries[0].entry.Message.Number
}

func (v *conversation) newest() int {
	if len(v.entries) == 0 {
		return 0
	}
	return v.entries[len(v.entries)-1].entry.Message.Number
}

// busy reports whether the conversation has an open turn.
func (v *conversation) busy() bool { return v.head != nil && v.head.Open != nil }

// unsettled are the messages before number whose calls may still change, so
// that they have to be read again.
func (v *conversation) unsettled(before int) []int {
	var out []int
	for _, e := range v.entries {
		if e.entry.Message.Number >= before {
			break
		}
		if slices.ContainsFunc(e.entry.Calls, func(c agent.Call) bool { return !c.State.Settled() }) {
			out = append(out, e.entry.Message.Number)
		}
	}
	return out
}

// merge puts entries that were read into place. What did not change keeps its
// cells, and with them its drawn lines.
func (v *conversation) merge(entries []agent.TranscriptEntry) {
	for _, e := range entries {
		i, found := slices.BinarySearchFunc(v.entries, e.Message.Number, func(have entryCells, number int) int {
			return have.entry.Message.Number - number
		})
		switch {
		case found && reflect.DeepEqual(v.entries[i].entry, e):
		case found:
			v.entries[i] = cellsOf(e)
		default:
			v.entries = slices.Insert(v.entries, i, cellsOf(e))
		}
	}
	v.cards = v.cards[:0]
	for _, e := range v.entries {
		v.cards = append(v.cards, e.cards...)
	}
}

// prepend puts older entries, in order, before what is there.
func (v *conversation) prepend(entries []agent.TranscriptEntry) {
	older := make([]entryCells, 0, len(entries)+len(v.entries))
	for _, e := range entries {
		if len(v.entries) == 0 || e.Message.Number < v.oldest() {
			older = append(older, cellsOf(e))
		}
	}
	v.entries = append(older, v.entries...)
	v.merge(nil)
}

// cellsOf draws nothing: it makes the items of a message.
func cellsOf(e agent.TranscriptEntry) entryCells {
	out := entryCells{entry: e}
	add := func(id string, i item) *cell {
		c := &cell{id: id, item: i}
		out.cells = append(out.cells, c)
		return c
	}
	if e.Message.Text != "" {
		add(fmt.Sprintf("m%d", e.Message.Number), messageItem{e.Message})
	}
	for i, c := range e.Calls {
		id := "c" + string(c.ID)
		a, asked := e.Approvals[c.Approval]
		switch {
		case standingOf(c, a) != standsOver:
			k := &cardCell{card: card{call: c, approval: a}}
			k.cell = add(id, k.card)
			out.cards = append(out.cards, k)
		case asked:
			add(id, settledItem{call: c, approval: a})
		default:
			add(id, callItem{call: c, lead: i == 0 && e.Message.Text == ""})
		}
	}
	for i, text := range lostCalls(e) {
		add(fmt.Sprintf("x%d-%d", e.Message.Number, i), noteItem{text: text, grave: true})
	}
	if e.Turn != nil && e.Turn.Ledger != "" {
		add(fmt.Sprintf("l%d", e.Message.Number), ledgerItem{*e.Turn})
	}
	return out
}

// lostCalls says which calls of a message cannot be shown, or not be decided,
// because a record is missing or damaged.
func lostCalls(e agent.TranscriptEntry) []string {
	var out []string
	for _, c := range e.Calls {
		if _, ok := e.Approvals[c.Approval]; !ok && c.State == agent.CallWaiting {
			out = append(out, string(c.Approval)+" cannot be decided: the record of what was asked is missing or damaged. Nothing of it is sent; /abort ends this request.")
		}
	}
	if n := len(e.Message.Calls) - len(e.Calls); n > 0 {
		out = append(out, plural(n, "call", "calls")+" cannot be shown or decided: the record is missing or damaged. Nothing of it is sent from here; /abort ends this request.")
	}
	return out
}

// cells are all cells of the transcript, the state of the open turn last.
func (v *conversation) cells(welcome item) []*cell {
	n := 4
	for _, e := range v.entries {
		n += len(e.cells)
	}
	out := make([]*cell, 0, n)
	if len(v.entries) == 0 && welcome != nil {
		out = append(out, &cell{id: "welcome", item: welcome})
	}
	for _, e := range v.entries {
		out = append(out, e.cells...)
	}
	return append(out, v.tail()...)
}

// tail is the state of the open turn, and what waits behind it.
func (v *conversation) tail() []*cell {
	var out []*cell
	add := func(id string, i item) { out = append(out, &cell{id: id, item: i}) }
	if v.live != "" {
		add("live", liveItem{v.live})
	}
	if v.head == nil {
		return out
	}
	switch open := v.head.Open; {
	case open == nil && v.aborted:
		add("state", noteItem{text: "This request was stopped."})
	case open == nil:
	case open.State == agent.TurnThinking && v.live == "":
		add("state", noteItem{text: "The assistant is thinking."})
	case open.State == agent.TurnStalled:
		add("state", noteItem{grave: true, text: "The assistant stopped: " + safeLine(open.Stall, prose) + ". /continue tries again, /abort ends this request."})
	}
	for i, q := range v.head.Queue {
		add(fmt.Sprintf("q%d", i), queuedItem{q.Text})
	}
	return out
}

// card finds the card of a call; nil if it waits no more.
func (v *conversation) card(id agent.CallID) *cardCell {
	for _, k := range v.cards {
		if k.id() == id {
			return k
		}
	}
	return nil
}

// after gives the card that comes after a place in the conversation, going
// round; nil if none waits.
func (v *conversation) after(id agent.CallID, step int) *cardCell {
	if len(v.cards) == 0 {
		return nil
	}
	for i, k := range v.cards {
		if k.id() == id {
			return v.cards[(i+step+len(v.cards))%len(v.cards)]
		}
	}
	return v.cards[0]
}
