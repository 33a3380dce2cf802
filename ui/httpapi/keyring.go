package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"deskhand/agent"
)

// Keys are kept in so many records of the desk, each with the newest few, so
// that they take bounded room and none is read that is not needed.
const (
	keySlots   = 1024
	keysInSlot = 8
	// maxKey bounds a key, in bytes.
	maxKey = 200
)

// keyring keeps the Idempotency-Keys of messages in the desk: the key is stored
// before the message, with the place where the message is going to be, so that
// a message that is there was sent and one that is not was not, whenever the
// process was killed.
type keyring struct {
	store agent.Store

	mu   sync.Mutex
	busy map[string]*keyLock
}

type keyLock struct {
	free    chan struct{} // holds one token while nobody works
	waiting int
}

// sentKey is a key and what it was used for.
type sentKey struct {
	Key          string               `json:"key"`
	Request      string               `json:"request"`
	Conversation agent.ConversationID `json:"conversation"`
	// Message is the number that the message has, or is going to have.
	Message int `json:"message"`
}

// sender sends a message; made says that its conversation is a new one.
type sender func(ctx context.Context, send agent.SendRequest, made bool) (agent.Report, error)

// once sends a message unless the caller's key stands for it already; then it
// reports on the turn that the message began.
func (k *keyring) once(ctx context.Context, engine *agent.Engine, caller, key string, send agent.SendRequest, made bool, do sender) (agent.Report, error) {
	if send.Queue {
		return agent.Report{}, invalid("an Idempotency-Key does not go with \"queue\"")
	}
	name := fingerprint(caller, key)
	unlock, err := k.lock(ctx, name)
	if err != nil {
		return agent.Report{}, err
	}
	defer unlock()
	asked := send.Conversation
	if made {
		asked = ""
	}
	entry, used, err := k.take(ctx, sentKey{Key: name, Request: fingerprint(string(asked), send.Text), Conversation: send.Conversation}, made)
	if err != nil {
		return agent.Report{}, err
	}
	if used {
		report, found, err := reportOn(ctx, engine, entry, send.Text)
		if found || err != nil {
			return report, err
		}
		send.Conversation = entry.Conversation // a kill came between key and message
	}
	return do(ctx, send, made)
}

// take finds a key, or keeps it.
func (k *keyring) take(ctx context.Context, want sentKey, made bool) (entry sentKey, used bool, err error) {
	slot := slotOf(want.Key)
	err = k.store.Update(ctx, func(tx agent.Tx) error {
		entry, used = want, false
		var kept []sentKey
		if err := tx.Setting(slot, &kept); err != nil && !errors.Is(err, agent.ErrNotFound) {
			return err
		}
		for _, known := range kept {
			if known.Key != want.Key {
				continue
			}
			if known.Request != want.Request {
				return invalid("this Idempotency-Key was used for another message")
			}
			entry, used = known, true
			return nil
		}
		entry.Message = 1
		if !made {
			head, err := tx.Head(want.Conversation)
			if err != nil {
				return missing("conversation", string(want.Conversation), err)
			}
			entry.Message = head.NextMessage
		}
		kept = append(kept, entry)
		return tx.PutSetting(slot, kept[max(0, len(kept)-keysInSlot):])
	})
	return entry, used, err
}

// slotOf is the record that a key belongs to.
func slotOf(name string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // never fails
	return fmt.Sprintf("http/keys/%04d", sum.Sum32()%keySlots)
}

// reportOn reports on the turn that a key's message began; found is false if
// the message is not there.
func reportOn(ctx context.Context, engine *agent.Engine, entry sentKey, text string) (report agent.Report, found bool, err error) {
	messages, err := engine.Store().Messages(ctx, entry.Conversation, entry.Message+1, 1)
	if errors.Is(err, agent.ErrNotFound) || err == nil && len(messages) == 0 {
		return report, false, nil
	}
	if err != nil {
		return report, false, err
	}
	m := messages[0]
	if m.Number != entry.Message || m.Role != agent.RoleUser || m.Text != text {
		return report, false, nil
	}
	report, err = engine.Report(ctx, entry.Conversation)
	if err != nil || report.TurnID == m.Turn {
		if err == nil && report.Status == agent.TurnStalled {
			err = &agent.StallError{Conversation: entry.Conversation, Reason: report.Stall}
		}
		return report, true, err
	}
	// Other turns came after it; this one's answer stands in the records.
	turns, err := engine.Store().Turns(ctx, []agent.TurnID{m.Turn})
	if err != nil || len(turns) == 0 {
		return report, true, err
	}
	past := agent.Report{ConversationID: entry.Conversation, TurnID: m.Turn, Status: turns[0].End, Ledger: turns[0].Ledger}
	past.OrderIDs = []string{}
	if last := turns[0].LastMessage; last > 0 {
		if answer, err := engine.Store().Messages(ctx, entry.Conversation, last+1, 1); err == nil && len(answer) == 1 {
			past.Answer = answer[0].Text
		}
	}
	return past, true, nil
}

// lock waits until nobody else works with a key.
func (k *keyring) lock(ctx context.Context, name string) (unlock func(), err error) {
	k.mu.Lock()
	if k.busy == nil {
		k.busy = map[string]*keyLock{}
	}
	l := k.busy[name]
	if l == nil {
		l = &keyLock{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		k.busy[name] = l
	}
	l.waiting++
	k.mu.Unlock()

	leave := func() {
		k.mu.Lock()
		if l.waiting--; l.waiting == 0 {
			delete(k.busy, name)
		}
		k.mu.Unlock()
	}
	select {
	case <-l.free:
		return func() { l.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// fingerprint is a hash of texts, told apart from each other.
func fingerprint(texts ...string) string {
	raw, _ := json.Marshal(texts) // texts always marshal
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}
