package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deskhand/agent"
	"deskhand/state/kv"
)

// Snapshot implements [agent.Store]. The head is read before and after what it
// names; if it changed in between, everything is read again.
func (s *Store) Snapshot(ctx context.Context, id agent.ConversationID) (agent.Snapshot, error) {
	for {
		snapshot, same, err := s.snapshot(ctx, id)
		if err != nil || same {
			return snapshot, err
		}
	}
}

func (s *Store) snapshot(ctx context.Context, id agent.ConversationID) (out agent.Snapshot, same bool, err error) {
	key := headKey(id)
	before, ok, err := s.kv.Get(ctx, key)
	if err != nil {
		return out, false, err
	}
	if !ok {
		return out, false, fmt.Errorf("conversation %s: %w", id, agent.ErrNotFound)
	}
	if err := s.decode(key, before, &out.Head); err != nil {
		return out, false, err
	}
	open := out.Head.Open
	if open == nil {
		return out, true, nil
	}
	calls := make([]agent.CallID, len(open.Batch))
	for i, b := range open.Batch {
		calls[i] = b.ID
	}
	if out.Calls, err = s.Calls(ctx, calls); err != nil {
		return out, false, err
	}
	turns, err := s.Turns(ctx, []agent.TurnID{open.Turn})
	if err != nil {
		return out, false, err
	}
	if len(turns) == 0 {
		broken, err := s.broken(ctx, turnKey(open.Turn))
		if err == nil && broken != nil {
			err = broken
		}
		return out, false, err
	}
	out.Turn = turns[0]
	if out.Approvals, err = s.approvalsOf(ctx, out.Calls); err != nil {
		return out, false, err
	}
	after, _, err := s.kv.Get(ctx, key)
	return out, bytes.Equal(before, after), err
}

func (s *Store) approvalsOf(ctx context.Context, calls []agent.Call) (map[agent.ApprovalID]agent.Approval, error) {
	var ids []agent.ApprovalID
	for _, c := range calls {
		if c.Approval != "" {
			ids = append(ids, c.Approval)
		}
	}
	approvals, err := s.Approvals(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := map[agent.ApprovalID]agent.Approval{}
	for _, a := range approvals {
		out[a.ID] = a
	}
	return out, nil
}

func (s *Store) decode(key string, stored []byte, into any) error {
	value, err := unwrap(stored, s.getChunk(context.Background()))
	if err != nil {
		return &agent.RecordError{Key: key, Reason: err.Error()}
	}
	return decode(key, value, into)
}

// Messages implements [agent.Store].
func (s *Store) Messages(ctx context.Context, id agent.ConversationID, before, limit int) ([]agent.Message, error) {
	if limit <= 0 {
		return nil, nil
	}
	o := kv.ScanOptions{Prefix: messagesKey(id), Reverse: true, Limit: limit}
	if before > 0 {
		o.After = messageKey(id, before)
	}
	pairs, err := s.kv.Scan(ctx, o)
	if err != nil {
		return nil, err
	}
	messages := scanned[agent.Message](s, pairs)
	slices.Reverse(messages)
	return messages, nil
}

// scanned decodes what a scan found; what is damaged is left out here, and
// named by [Store.Check].
func scanned[T any](s *Store, pairs []kv.Pair) []T {
	out := make([]T, 0, len(pairs))
	for _, p := range pairs {
		var record T
		if s.decode(p.Key, p.Value, &record) == nil {
			out = append(out, record)
		}
	}
	return out
}

// many reads records by their keys, leaving out what is missing or damaged.
func many[T any](ctx context.Context, s *Store, keys []string) ([]T, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	values, err := s.kv.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(values))
	for i, value := range values {
		var record T
		if value != nil && s.decode(keys[i], value, &record) == nil {
			out = append(out, record)
		}
	}
	return out, nil
}

func keysOf[ID any](ids []ID, key func(ID) string) []string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	return keys
}

// Calls implements [agent.Store].
func (s *Store) Calls(ctx context.Context, ids []agent.CallID) ([]agent.Call, error) {
	return many[agent.Call](ctx, s, keysOf(ids, callKey))
}

// Approvals implements [agent.Store].
func (s *Store) Approvals(ctx context.Context, ids []agent.ApprovalID) ([]agent.Approval, error) {
	return many[agent.Approval](ctx, s, keysOf(ids, approvalKey))
}

// Turns implements [agent.Store].
func (s *Store) Turns(ctx context.Context, ids []agent.TurnID) ([]agent.Turn, error) {
	return many[agent.Turn](ctx, s, keysOf(ids, turnKey))
}

// OpenTurns implements [agent.Store].
func (s *Store) OpenTurns(ctx context.Context) ([]agent.Head, error) {
	return s.heads(ctx, kv.ScanOptions{Prefix: openTurnPrefix})
}

// Conversations implements [agent.Store].
func (s *Store) Conversations(ctx context.Context, before, limit int) ([]agent.Head, error) {
	o := kv.ScanOptions{Prefix: numberPrefix, Reverse: true, Limit: limit}
	if before > 0 {
		o.After = numberKey(before)
	}
	return s.heads(ctx, o)
}

// heads reads the conversations that an index names.
func (s *Store) heads(ctx context.Context, o kv.ScanOptions) ([]agent.Head, error) {
	pairs, err := s.kv.Scan(ctx, o)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = headKey(agent.ConversationID(p.Value))
	}
	return many[agent.Head](ctx, s, keys)
}

// OpenCalls implements [agent.Store].
func (s *Store) OpenCalls(ctx context.Context) ([]agent.Call, error) {
	pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: openCallPrefix})
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = callKey(agent.CallID(p.Value))
	}
	calls, err := many[agent.Call](ctx, s, keys)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(calls, func(a, b agent.Call) int {
		ka, kb := approvalKey(a.Approval), approvalKey(b.Approval)
		return bytes.Compare([]byte(ka), []byte(kb))
	})
	return calls, nil
}

// Audit implements [agent.Store]. An empty id gives the lines of all
// conversations, each conversation's together.
func (s *Store) Audit(ctx context.Context, id agent.ConversationID) ([]agent.AuditLine, error) {
	prefix := auditPrefix
	if id != "" {
		prefix += string(id) + "/"
	}
	pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	var out []agent.AuditLine
	for _, p := range pairs {
		var lines []agent.AuditLine
		value, err := unwrap(p.Value, s.getChunk(context.Background()))
		if err == nil && decodePlain(p.Key, value, &lines) == nil {
			out = append(out, lines...)
		}
	}
	return out, nil
}

// Definition implements [agent.Store].
func (s *Store) Definition(ctx context.Context, hash string) (tool agent.Tool, err error) {
	return tool, s.plain(ctx, definitionPrefix+hash, &tool)
}

// Setting implements [agent.Store].
func (s *Store) Setting(ctx context.Context, name string, v any) error {
	return s.plain(ctx, settingPrefix+name, v)
}

func (s *Store) plain(ctx context.Context, key string, into any) error {
	stored, ok, err := s.kv.Get(ctx, key)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s: %w", key, agent.ErrNotFound)
	}
	value, err := unwrap(stored, s.getChunk(context.Background()))
	if err != nil {
		return &agent.RecordError{Key: key, Reason: err.Error()}
	}
	return decodePlain(key, value, into)
}

// checkPage is how many records Check reads at a time.
const checkPage = 500

// Check reads every record and gives an error for each that is damaged or
// newer than this program, those set aside with it. It changes nothing.
func (s *Store) Check(ctx context.Context) ([]*agent.RecordError, error) {
	var bad []*agent.RecordError
	for _, prefix := range append(slices.Clone(versionedPrefixes), asidePrefix) {
		after := ""
		for {
			pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: prefix, After: after, Limit: checkPage})
			if err != nil {
				return bad, err
			}
			for _, p := range pairs {
				var broken *agent.RecordError
				if errors.As(s.decode(p.Key, p.Value, recordOf(strings.TrimPrefix(p.Key, asidePrefix))), &broken) {
					bad = append(bad, broken)
				}
				after = p.Key
			}
			if len(pairs) < checkPage {
				break
			}
		}
	}
	return bad, nil
}
