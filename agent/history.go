package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Bounds of what is read back for one model request; older messages are left
// out, by whole turns.
const (
	historyMessages = 80
	historyBytes    = 128 << 10
)

// history is the past of a conversation as a request needs it.
type history struct {
	messages []ModelMessage
	// calls are all calls, turnCalls those of the open turn, in order.
	calls, turnCalls []Call
	// ids are the wire ids in use.
	ids map[string]bool
	// texts are all messages' texts, lines those of dispatchers, oldest first.
	texts, lines []string
	// results are those of reads and writes that the conversation has seen.
	results []Result
}

// tailCache keeps the newest messages of conversations with their calls. Both
// never change once the calls have settled, so that a request reads only what
// is new, however long the conversation is. The zero value is ready.
type tailCache struct {
	mu    sync.Mutex
	tails map[ConversationID][]tailEntry
}

// tailConversations bounds the cache; a miss only costs a read.
const tailConversations = 64

// tailEntry is one message with its calls.
type tailEntry struct {
	message Message
	calls   []Call
	// arguments are what the model sent with each call, as a provider accepts it.
	arguments []json.RawMessage
}

func (t tailEntry) settled() bool {
	for _, c := range t.calls {
		if !c.State.Settled() {
			return false
		}
	}
	return len(t.calls) == len(t.message.Calls)
}

// history reads the past of a conversation backwards to a budget and gives it
// in the form that every provider accepts: each call answered exactly once, by
// the same id, in the model's order, right behind its message.
func (e *Engine) history(ctx context.Context, s Snapshot) (history, error) {
	entries, err := e.tail(ctx, s.Head)
	if err != nil {
		return history{}, err
	}
	entries = withinBudget(entries, s.Turn.FirstMessage)
	h := history{ids: map[string]bool{}}
	for _, entry := range entries {
		m := entry.message
		if m.Text != "" {
			h.texts = append(h.texts, m.Text)
		}
		if m.Role == RoleUser {
			h.lines = append(h.lines, m.Text)
			h.messages = append(h.messages, ModelMessage{Role: RoleUser, Text: m.Text})
			continue
		}
		h.add(entry, m.Turn == s.Turn.ID, e.texts.Unknown, e.maxResult)
	}
	return h, nil
}

// add appends an assistant's message with the results of its calls; unknown
// stands in for the result of a call whose outcome nobody knows, and most says
// how much of a server's result the model gets.
func (h *history) add(entry tailEntry, open bool, unknown string, most func(server string) int) {
	said := ModelMessage{Role: RoleAssistant, Text: entry.message.Text, Opaque: entry.message.Opaque}
	var answers []ModelMessage
	for i, c := range entry.calls {
		h.ids[c.WireID], h.ids[c.ModelID] = true, true
		said.Calls = append(said.Calls, ModelCall{ID: c.WireID, Name: c.Alias, Arguments: entry.arguments[i]})
		result := c.Result
		if result == nil {
			result = TextResult(unknown, false)
		}
		answers = append(answers, ModelMessage{Role: RoleTool, CallID: c.WireID, Name: c.Alias, Result: result.Cut(most(c.Tool.Server())), State: c.State, Note: deskNote(c)})
		if c.Result != nil && c.Tool != "" {
			h.results = append(h.results, *c.Result)
		}
		h.calls = append(h.calls, c)
		if open {
			h.turnCalls = append(h.turnCalls, c)
		}
	}
	if said.Text == "" && len(said.Calls) == 0 {
		return // all its records are gone; a message of nothing is refused by providers
	}
	h.messages = append(append(h.messages, said), answers...)
}

// deskNote tells the model that a person changed what it had asked for, and that
// not all of it was taken.
func deskNote(c Call) string {
	var notes []string
	if c.EditedBy != nil {
		notes = append(notes, fmt.Sprintf("The dispatcher changed the arguments of this call before deciding. It was decided as: %s", c.Requested))
	}
	switch {
	case c.NotTaken == 1:
		notes = append(notes, "1 more call of this reply was not taken: too many at once. Ask again.")
	case c.NotTaken > 1:
		notes = append(notes, fmt.Sprintf("%d more calls of this reply were not taken: too many at once. Ask again.", c.NotTaken))
	}
	return strings.Join(notes, "\n")
}

// objectOrEmpty gives what a provider accepts as a call's arguments.
func objectOrEmpty(raw []byte) []byte {
	canonical, err := CanonicalObject(raw)
	if err != nil {
		return []byte("{}")
	}
	return canonical
}

// withinBudget drops the oldest turns until the rest fits. The open turn always
// stays, and the first message that is kept is a dispatcher's.
func withinBudget(entries []tailEntry, firstOfTurn int) []tailEntry {
	size, keep := 0, len(entries)
	for i := len(entries) - 1; i >= 0; i-- {
		size += entries[i].size()
		inTurn := entries[i].message.Number >= firstOfTurn
		if !inTurn && (size > historyBytes || len(entries)-i > historyMessages) {
			break
		}
		if entries[i].message.Role == RoleUser {
			keep = i
		}
	}
	return entries[keep:]
}

func (t tailEntry) size() int {
	n := len(t.message.Text)
	for _, c := range t.calls {
		n += len(c.Proposed)
		if c.Result == nil {
			continue
		}
		n += len(c.Result.Structured)
		for _, block := range c.Result.Content {
			n += len(block)
		}
	}
	return n
}

// tail gives the newest messages with their calls, reading what the cache lacks.
func (e *Engine) tail(ctx context.Context, head Head) ([]tailEntry, error) {
	id := head.Conversation
	entries := e.tails.get(id)
	last := 0
	if len(entries) > 0 {
		last = entries[len(entries)-1].message.Number
	}
	missing := head.NextMessage - 1 - last
	if missing > historyMessages || missing < 0 {
		entries, missing = nil, min(head.NextMessage-1, historyMessages)
	}
	if missing > 0 {
		messages, err := e.store.Messages(ctx, id, head.NextMessage, missing)
		if err != nil {
			return nil, fmt.Errorf("reading the conversation: %w", err)
		}
		for _, m := range messages {
			entries = append(entries, tailEntry{message: m})
		}
	}
	for i := range entries {
		if entries[i].settled() {
			continue
		}
		calls, err := e.store.Calls(ctx, entries[i].message.Calls)
		if err != nil {
			return nil, fmt.Errorf("reading the calls of the conversation: %w", err)
		}
		entries[i].calls, entries[i].arguments = calls, make([]json.RawMessage, len(calls))
		for j, c := range calls {
			entries[i].arguments[j] = objectOrEmpty(c.Proposed)
		}
	}
	if len(entries) > 2*historyMessages {
		entries = entries[len(entries)-historyMessages:]
	}
	e.tails.put(id, entries)
	return entries, nil
}

// get gives a copy, so that two readers never share what one of them changes.
func (t *tailCache) get(id ConversationID) []tailEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]tailEntry(nil), t.tails[id]...)
}

func (t *tailCache) put(id ConversationID, entries []tailEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tails == nil || len(t.tails) > tailConversations {
		t.tails = map[ConversationID][]tailEntry{}
	}
	t.tails[id] = append([]tailEntry(nil), entries...)
}
