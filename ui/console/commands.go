package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// tailLength is how many messages a start reads: a few screens.
	tailLength = 200
	// reloadLength covers the open turn, the only part that changes.
	reloadLength = 40
	// pageLength is how many older messages come at once.
	pageLength = 200
	// coalesce is how long a change may wait for the next, so that a reply that
	// arrives in small parts is not read for each of them.
	coalesce = 30 * time.Millisecond
	// draftDelay is how long the composer rests before its text is saved.
	draftDelay = 500 * time.Millisecond
)

// desk is what commands need; they capture it and values, never the model.
type desk struct {
	ctx    context.Context
	engine *agent.Engine
	// work counts the engine's verbs that are out, so that leaving can wait for
	// them to be recorded.
	work   *sync.WaitGroup
	drafts *draftOrder
	// place is which console this is.
	place int
}

// draftOrder keeps an older text from being saved over a newer one: commands
// run beside each other.
type draftOrder struct {
	made    atomic.Int64
	mu      sync.Mutex
	written map[agent.ConversationID]int64
}

// verb runs one of the engine's verbs, which block until the turn pauses.
func (d desk) verb(run func(context.Context) tea.Msg) tea.Cmd {
	d.work.Add(1)
	return func() tea.Msg {
		defer d.work.Done()
		return run(d.ctx)
	}
}

// watchChanges waits for the next change.
func watchChanges(changes <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		if _, ok := <-changes; !ok {
			return nil
		}
		return changedMsg{}
	}
}

// load reads a conversation: its newest messages, at least down to number have
// if there is any, and those in again, whose calls may have changed.
func (d desk) load(id agent.ConversationID, have, limit int, again []int) tea.Cmd {
	return func() tea.Msg { return d.read(id, have, limit, again) }
}

func (d desk) read(id agent.ConversationID, have, limit int, again []int) (out loadedMsg) {
	out.conversation = id
	// Last, because a reply is first taken from here and then stored: the other
	// way round it could be seen in both places.
	defer func() { out.live, out.progress = d.engine.Live()[id], d.engine.Progress() }()
	if out.waiting, out.err = d.engine.Waiting(d.ctx); out.err != nil {
		return out
	}
	snapshot, err := d.engine.Store().Snapshot(d.ctx, id)
	if errors.Is(err, agent.ErrNotFound) {
		return out // a conversation without a message is not in the store
	}
	if out.err = err; err != nil {
		return out
	}
	out.head = &snapshot.Head
	if out.head.Open == nil {
		turns, err := d.engine.Store().Turns(d.ctx, []agent.TurnID{out.head.LastTurn})
		out.aborted = err == nil && len(turns) == 1 && turns[0].End == agent.TurnAborted
	}
	if have > 0 { // no hole between what is there and what is read
		limit = max(limit, out.head.NextMessage-have)
	}
	if out.entries, out.err = d.engine.Transcript(d.ctx, id, 0, limit); out.err != nil {
		return out
	}
	for _, number := range again {
		if len(out.entries) > 0 && number >= out.entries[0].Message.Number {
			continue
		}
		entry, err := d.engine.Transcript(d.ctx, id, number+1, 1)
		if out.err = err; err != nil {
			return out
		}
		out.entries = append(out.entries, entry...)
	}
	return out
}

// loadOlder reads the page before a message.
func (d desk) loadOlder(id agent.ConversationID, before int) tea.Cmd {
	return func() tea.Msg {
		entries, err := d.engine.Transcript(d.ctx, id, before, pageLength)
		return olderLoadedMsg{conversation: id, entries: entries, err: err}
	}
}

// open reads another conversation and remembers it as the recent one.
func (d desk) open(id agent.ConversationID, focus agent.CallID) tea.Cmd {
	return func() tea.Msg {
		out := openedMsg{loadedMsg: d.read(id, 0, tailLength, nil), draft: d.draft(id), focus: focus}
		if err := d.saveRecent(id); err != nil && out.err == nil {
			out.err = err
		}
		return out
	}
}

func (d desk) saveRecent(id agent.ConversationID) error {
	return d.engine.Store().Update(d.ctx, func(tx agent.Tx) error { return tx.PutSetting(recentSetting, id) })
}

const recentSetting = "recent"

// draftSetting is where a console keeps the unsent text of a conversation.
func (d desk) draftSetting(id agent.ConversationID) string {
	if d.place == 0 {
		return "draft/" + string(id)
	}
	return fmt.Sprintf("draft/%s/%d", id, d.place)
}

func (d desk) draft(id agent.ConversationID) string {
	var text string
	if d.engine.Store().Setting(d.ctx, d.draftSetting(id), &text) != nil {
		return "" // none, or one that cannot be read
	}
	return text
}

func (d desk) saveDraft(id agent.ConversationID, text string) tea.Cmd {
	o := d.drafts
	n := o.made.Add(1)
	return func() tea.Msg {
		o.mu.Lock()
		defer o.mu.Unlock()
		if n < o.written[id] {
			return draftSavedMsg{}
		}
		o.written[id] = n
		return draftSavedMsg{d.putDraft(d.ctx, id, text)}
	}
}

// putDraft keeps unsent text; nothing deletes the setting.
func (d desk) putDraft(ctx context.Context, id agent.ConversationID, text string) error {
	return d.engine.Store().Update(ctx, func(tx agent.Tx) error {
		if text == "" {
			return tx.PutSetting(d.draftSetting(id), nil)
		}
		// A conversation without a message is in no list: the next start finds it
		// by this, or its draft would be on disk and never seen again.
		if _, err := tx.Head(id); errors.Is(err, agent.ErrNotFound) {
			if err := tx.PutSetting(recentSetting, id); err != nil {
				return err
			}
		}
		return tx.PutSetting(d.draftSetting(id), text)
	})
}

// send puts a message into a conversation.
func (d desk) send(r agent.SendRequest) tea.Cmd {
	return d.verb(func(ctx context.Context) tea.Msg {
		before := d.nextMessage(r.Conversation)
		_, err := d.engine.Send(ctx, r)
		return sentMsg{conversation: r.Conversation, text: r.Text, kept: err == nil || d.kept(r, before), err: err}
	})
}

func (d desk) nextMessage(id agent.ConversationID) int {
	s, err := d.engine.Store().Snapshot(d.ctx, id)
	if err != nil {
		return 1
	}
	return s.Head.NextMessage
}

// kept looks whether a message is in the store although sending it failed: then
// it must not come back into the composer.
func (d desk) kept(r agent.SendRequest, before int) bool {
	ctx := context.WithoutCancel(d.ctx)
	s, err := d.engine.Store().Snapshot(ctx, r.Conversation)
	if err != nil {
		return false
	}
	for _, q := range s.Head.Queue {
		if q.Text == r.Text {
			return true
		}
	}
	messages, err := d.engine.Store().Messages(ctx, r.Conversation, 0, s.Head.NextMessage-before)
	if err != nil {
		return false
	}
	for _, m := range messages {
		if m.Number >= before && m.Role == agent.RoleUser && m.Text == r.Text {
			return true
		}
	}
	return false
}

// denyAndSend denies cards and sends a message after that. The message waits
// behind the turn if the turn goes on, so it cannot fail because of it.
func (d desk) denyAndSend(cards []agent.DecideRequest, r agent.SendRequest) tea.Cmd {
	return d.verb(func(ctx context.Context) tea.Msg {
		for _, card := range cards {
			_, err := d.engine.Deny(ctx, card)
			var decided *agent.DecidedError
			var stalled *agent.StallError
			if err != nil && !errors.As(err, &decided) && !errors.As(err, &stalled) {
				return sentMsg{conversation: r.Conversation, text: r.Text, err: fmt.Errorf("denying %s: %w", card.Approval, err)}
			}
		}
		r.Queue = true
		before := d.nextMessage(r.Conversation)
		_, err := d.engine.Send(ctx, r)
		return sentMsg{conversation: r.Conversation, text: r.Text, kept: err == nil || d.kept(r, before), err: err}
	})
}

// decide runs a verb on a card.
func (d desk) decide(key string, run func(context.Context) (agent.Report, error)) tea.Cmd {
	return d.verb(func(ctx context.Context) tea.Msg {
		_, err := run(ctx)
		return decidedMsg{key: key, err: err}
	})
}

// turnVerb runs a verb on a conversation's turn.
func (d desk) turnVerb(what string, run func(context.Context) (agent.Report, error)) tea.Cmd {
	return d.verb(func(ctx context.Context) tea.Msg {
		_, err := run(ctx)
		return verbDoneMsg{what: what, err: err}
	})
}

// unqueue takes the queued messages of a turn that stopped back into the
// composer. The draft is written first, so that no crash loses them.
func (d desk) unqueue(head agent.Head, draft string) tea.Cmd {
	return d.verb(func(ctx context.Context) tea.Msg {
		var texts []string
		for _, q := range head.Queue {
			texts = append(texts, q.Text)
		}
		out := unqueuedMsg{conversation: head.Conversation, text: strings.Join(texts, "\n")}
		all := strings.TrimSpace(out.text + "\n" + draft)
		if out.err = d.putDraft(ctx, head.Conversation, all); out.err != nil {
			return out
		}
		for range head.Queue {
			if _, err := d.engine.Unqueue(ctx, head.Conversation, 0); err != nil {
				out.err = err
				break
			}
		}
		return out
	})
}

// listConversations reads the newest conversations.
func (d desk) listConversations() tea.Cmd {
	return func() tea.Msg {
		heads, err := d.engine.Store().Conversations(d.ctx, 0, listLength)
		return listedMsg{heads: heads, err: err}
	}
}
