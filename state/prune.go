package state

import (
	"context"
	"errors"
	"fmt"

	"deskhand/agent"
	"deskhand/state/kv"
)

// prunePrefix marks conversations that are being removed. The mark is written
// with the removal of the head, so that a conversation is gone for everybody at
// once, and a removal that was cut short goes on later.
const prunePrefix = "prune/"

// Prune implements [agent.Store].
func (s *Store) Prune(ctx context.Context, id agent.ConversationID) error {
	err := s.kv.Update(ctx, func(tx kv.Tx) error {
		t := &transaction{tx: tx, store: s}
		head, err := t.Head(id)
		if err != nil {
			return err
		}
		if head.Open != nil {
			return &agent.BusyError{Conversation: id, State: head.Open.State}
		}
		for _, key := range []string{
			headKey(id), numberKey(head.Number), openTurnKey(head.Number), settingPrefix + "aliases/" + string(id),
			settingPrefix + "draft/" + string(id),
		} {
			if err := tx.Delete(key); err != nil {
				return err
			}
		}
		return tx.Put(prunePrefix+string(id), []byte(id))
	})
	if err != nil && !errors.Is(err, agent.ErrNotFound) {
		return fmt.Errorf("removing conversation %s: %w", id, err)
	}
	return s.FinishPruning(ctx)
}

// FinishPruning goes on with removals that were cut short.
func (s *Store) FinishPruning(ctx context.Context) error {
	marks, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: prunePrefix})
	if err != nil {
		return err
	}
	for _, mark := range marks {
		id := agent.ConversationID(mark.Value)
		if err := s.pruneRecords(ctx, id); err != nil {
			return fmt.Errorf("removing conversation %s: %w", id, err)
		}
		if err := s.deleteAll(ctx, []string{mark.Key}); err != nil {
			return err
		}
	}
	return nil
}

// pruneMessages is how many messages are looked at before they are removed.
const pruneMessages = 20

// pruneRecords removes what belongs to a conversation, from the oldest message
// on; a message goes last, because it names the rest.
func (s *Store) pruneRecords(ctx context.Context, id agent.ConversationID) error {
	for {
		pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: messagesKey(id), Limit: pruneMessages})
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			var m agent.Message
			if s.decode(p.Key, p.Value, &m) == nil {
				if err := s.pruneCalls(ctx, m); err != nil {
					return err
				}
			}
			if err := s.remove(ctx, []string{p.Key}); err != nil {
				return err
			}
		}
	}
	return errors.Join(
		s.deleteUnder(ctx, auditPrefix+string(id)+"/"),
		s.deleteUnder(ctx, settingPrefix+"draft/"+string(id)+"/"), // of further consoles
	)
}

// deleteUnder removes everything under a prefix.
func (s *Store) deleteUnder(ctx context.Context, prefix string) error {
	for {
		pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: prefix, Limit: kv.MaxKeys})
		if err != nil || len(pairs) == 0 {
			return err
		}
		keys := make([]string, len(pairs))
		for i, p := range pairs {
			keys[i] = p.Key
		}
		if err := s.deleteAll(ctx, keys); err != nil {
			return err
		}
	}
}

// pruneCalls removes the calls of a message with all approvals that they had,
// and its turn.
func (s *Store) pruneCalls(ctx context.Context, m agent.Message) error {
	calls, err := s.Calls(ctx, m.Calls)
	if err != nil {
		return err
	}
	keys := []string{turnKey(m.Turn)}
	for _, c := range calls {
		next := c.Approval
		for next != "" {
			approvals, err := s.Approvals(ctx, []agent.ApprovalID{next})
			if err != nil {
				return err
			}
			keys = append(keys, approvalKey(next))
			next = ""
			if len(approvals) == 1 {
				next = approvals[0].Supersedes
			}
		}
	}
	for _, id := range m.Calls {
		keys = append(keys, callKey(id), openCallKey(id))
	}
	return s.remove(ctx, keys)
}

// remove deletes records; one that this program cannot use is set aside under
// [asidePrefix] instead, because nobody knows what it would have said.
func (s *Store) remove(ctx context.Context, keys []string) error {
	var whole []string
	for _, key := range keys {
		stored, ok, err := s.kv.Get(ctx, key)
		if err != nil {
			return err
		}
		if into := recordOf(key); !ok || into == nil || s.decode(key, stored, into) == nil {
			whole = append(whole, key)
			continue
		}
		err = s.kv.Update(ctx, func(tx kv.Tx) error {
			return errors.Join(tx.Put(asidePrefix+key, stored), tx.Delete(key))
		})
		if err != nil {
			return fmt.Errorf("setting the record %s aside: %w", key, err)
		}
	}
	return s.deleteAll(ctx, whole)
}

// deleteAll removes keys, as many at a time as a transaction may touch.
func (s *Store) deleteAll(ctx context.Context, keys []string) error {
	for len(keys) > 0 {
		n := min(len(keys), kv.MaxKeys)
		err := s.kv.Update(ctx, func(tx kv.Tx) error {
			for _, key := range keys[:n] {
				if err := tx.Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}
