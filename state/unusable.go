package state

import (
	"context"
	"errors"

	"deskhand/agent"
	"deskhand/state/kv"
)

// Unusable implements [agent.Store]. On a healthy desk it reads what is open and
// nothing else.
func (s *Store) Unusable(ctx context.Context) ([]agent.Unusable, error) {
	var out []agent.Unusable
	seen := map[agent.CallID]bool{}
	pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: openTurnPrefix})
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		found, err := s.unusableTurn(ctx, agent.ConversationID(p.Value), seen)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	// Calls whose turn has ended, e.g. by an abort, may still be unknown.
	if pairs, err = s.kv.Scan(ctx, kv.ScanOptions{Prefix: openCallPrefix}); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		id := agent.CallID(p.Value)
		if seen[id] {
			continue
		}
		found, err := s.unusableCall(ctx, "", id)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// unusableTurn looks at the head, the turn and the open calls of a conversation,
// and notes the calls that it has seen.
func (s *Store) unusableTurn(ctx context.Context, id agent.ConversationID, seen map[agent.CallID]bool) ([]agent.Unusable, error) {
	broken, err := s.broken(ctx, headKey(id))
	if err != nil {
		return nil, err
	}
	if broken != nil {
		return []agent.Unusable{{Conversation: id, Unreadable: true, Record: broken}}, nil
	}
	heads, err := many[agent.Head](ctx, s, []string{headKey(id)})
	if err != nil || len(heads) == 0 || heads[0].Open == nil {
		return nil, err // it ended between two reads
	}
	open := heads[0].Open
	var out []agent.Unusable
	if broken, err = s.broken(ctx, turnKey(open.Turn)); err != nil {
		return nil, err
	}
	if broken != nil {
		out = append(out, agent.Unusable{Conversation: id, Record: broken})
	}
	for _, b := range open.Batch {
		seen[b.ID] = true
		if b.State.Settled() {
			continue
		}
		found, err := s.unusableCall(ctx, id, b.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// unusableCall looks at a call and its approval.
func (s *Store) unusableCall(ctx context.Context, conversation agent.ConversationID, id agent.CallID) ([]agent.Unusable, error) {
	u := agent.Unusable{Conversation: conversation, Call: id}
	var err error
	if u.Record, err = s.broken(ctx, callKey(id)); err != nil {
		return nil, err
	}
	if u.Record != nil {
		a, err := s.openApprovalOf(ctx, id)
		if u.Approval = a.ID; u.Conversation == "" {
			u.Conversation = a.Conversation
		}
		return []agent.Unusable{u}, err
	}
	calls, err := s.Calls(ctx, []agent.CallID{id})
	if err != nil || len(calls) == 0 || calls[0].Approval == "" {
		return nil, err
	}
	u.Conversation, u.Approval = calls[0].Conversation, calls[0].Approval
	if u.Record, err = s.broken(ctx, approvalKey(u.Approval)); err != nil || u.Record == nil {
		return nil, err
	}
	return []agent.Unusable{u}, nil
}

// openApprovalOf looks through all approvals for the open one of a call that
// cannot name it any more. What it does not find it gives empty.
func (s *Store) openApprovalOf(ctx context.Context, id agent.CallID) (agent.Approval, error) {
	after := ""
	for {
		pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: approvalPrefix, After: after, Limit: checkPage})
		if err != nil || len(pairs) == 0 {
			return agent.Approval{}, err
		}
		for _, a := range scanned[agent.Approval](s, pairs) {
			if a.Call == id && a.State == agent.ApprovalOpen {
				return a, nil
			}
		}
		after = pairs[len(pairs)-1].Key
	}
}

// broken says what is wrong with the record under a key; nil: nothing.
func (s *Store) broken(ctx context.Context, key string) (*agent.RecordError, error) {
	stored, ok, err := s.kv.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return missing(key), nil
	}
	var broken *agent.RecordError
	errors.As(s.decode(key, stored, recordOf(key)), &broken)
	return broken, nil
}
