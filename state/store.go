package state

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"deskhand/agent"
	"deskhand/state/kv"
)

// Store implements [agent.Store]. Its methods may be called from several
// goroutines at once.
type Store struct {
	kv kv.Store

	mu sync.Mutex
	// written are the hashes of values whose chunks are laid out, and were so
	// after the sweep with the number swept.
	written map[string]bool
	swept   int
}

var _ agent.Store = (*Store)(nil)

// New makes a store over a backend, which the store then owns.
func New(backend kv.Store) *Store {
	return &Store{kv: backend, written: map[string]bool{}}
}

// Close closes the backend.
func (s *Store) Close() error { return s.kv.Close() }

// Watch implements [agent.Store].
func (s *Store) Watch(ctx context.Context) <-chan struct{} { return s.kv.Watch(ctx) }

// Update implements [agent.Store].
func (s *Store) Update(ctx context.Context, fn func(agent.Tx) error) error {
	loaded := map[string][]byte{}
	for {
		err := s.kv.Update(ctx, func(tx kv.Tx) error {
			t := &transaction{tx: tx, store: s, loaded: loaded}
			if err := fn(t); err != nil {
				return err
			}
			return t.confirmChunks()
		})
		var large *needsChunks
		var missing *needsValue
		switch {
		case errors.As(err, &large):
			err = s.writeChunks(ctx, large.values)
		case errors.As(err, &missing):
			err = s.load(ctx, missing, loaded)
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// load reads a large value for a transaction that needs it.
func (s *Store) load(ctx context.Context, n *needsValue, into map[string][]byte) error {
	value, err := unwrap(n.stored, s.getChunk(ctx))
	if err != nil {
		return &agent.RecordError{Key: n.key, Reason: err.Error()}
	}
	into[string(n.stored)] = value
	return nil
}

// transaction implements [agent.Tx].
type transaction struct {
	tx    kv.Tx
	store *Store
	// loaded are the large values that it read or wrote, by what names them.
	loaded map[string][]byte
	// bytes is what it has written so far, under the records' own keys.
	bytes int
	// named are the large values that it wrote, by hash.
	named map[string][]byte
}

func missing(key string) *agent.RecordError {
	return &agent.RecordError{Key: key, Reason: "it is missing", Missing: true}
}

// get reads a record; a missing one is [agent.ErrNotFound].
func (t *transaction) get(key string, into any) error {
	value, err := t.value(key)
	if err != nil {
		return err
	}
	return decode(key, value, into)
}

// value reads what lies under a key, whole.
func (t *transaction) value(key string) ([]byte, error) {
	stored, ok, err := t.tx.Get(key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, missing(key)
	}
	if !isChunked(stored) {
		return stored, nil
	}
	value, ok := t.loaded[string(stored)]
	if !ok {
		return nil, &needsValue{key: key, stored: stored}
	}
	return value, nil
}

// getChunk reads chunks outside of any transaction: they never change, and they
// were committed before the record that names them.
func (s *Store) getChunk(ctx context.Context) func(string) ([]byte, bool, error) {
	return func(key string) ([]byte, bool, error) { return s.kv.Get(ctx, key) }
}

func (t *transaction) put(key string, record any) error {
	value, err := encode(record)
	if err != nil {
		return fmt.Errorf("the record %s cannot be encoded: %w", key, err)
	}
	limit := maxInline
	if t.bytes > fullAt {
		limit = maxInlineFull
	}
	stored, hash := wrap(value, limit)
	t.bytes += len(stored)
	if hash != "" {
		t.loaded[string(stored)] = value // its chunks may not be there yet
		if t.named == nil {
			t.named = map[string][]byte{}
		}
		t.named[hash] = value
	}
	return t.tx.Put(key, stored)
}

// Head implements [agent.Tx].
func (t *transaction) Head(id agent.ConversationID) (h agent.Head, err error) {
	return h, t.get(headKey(id), &h)
}

// PutHead implements [agent.Tx]; it keeps the indexes of conversations and of
// open turns.
func (t *transaction) PutHead(h agent.Head) error {
	if err := t.put(headKey(h.Conversation), h); err != nil {
		return err
	}
	if h.NextMessage <= 2 { // a new conversation: written once
		if err := t.tx.Put(numberKey(h.Number), []byte(h.Conversation)); err != nil {
			return err
		}
	}
	if h.Open != nil {
		return t.tx.Put(openTurnKey(h.Number), []byte(h.Conversation))
	}
	return t.tx.Delete(openTurnKey(h.Number))
}

// PutMessage implements [agent.Tx].
func (t *transaction) PutMessage(m agent.Message) error {
	return t.put(messageKey(m.Conversation, m.Number), m)
}

// Turn implements [agent.Tx].
func (t *transaction) Turn(id agent.TurnID) (turn agent.Turn, err error) {
	return turn, t.get(turnKey(id), &turn)
}

// PutTurn implements [agent.Tx].
func (t *transaction) PutTurn(turn agent.Turn) error { return t.put(turnKey(turn.ID), turn) }

// Call implements [agent.Tx].
func (t *transaction) Call(id agent.CallID) (c agent.Call, err error) {
	return c, t.get(callKey(id), &c)
}

// PutCall implements [agent.Tx]; it keeps the index of calls that a person may
// have to act on, or that run.
func (t *transaction) PutCall(c agent.Call) error {
	if err := t.put(callKey(c.ID), c); err != nil {
		return err
	}
	switch {
	case c.State == agent.CallWaiting, c.State == agent.CallUnknown, c.State == agent.CallRunning, c.Held():
		return t.tx.Put(openCallKey(c.ID), []byte(c.ID))
	}
	return t.tx.Delete(openCallKey(c.ID))
}

// LeaveCall implements [agent.Tx].
func (t *transaction) LeaveCall(id agent.CallID) error { return t.tx.Delete(openCallKey(id)) }

// Approval implements [agent.Tx].
func (t *transaction) Approval(id agent.ApprovalID) (a agent.Approval, err error) {
	return a, t.get(approvalKey(id), &a)
}

// PutApproval implements [agent.Tx].
func (t *transaction) PutApproval(a agent.Approval) error { return t.put(approvalKey(a.ID), a) }

// NextApproval implements [agent.Tx].
func (t *transaction) NextApproval() (int, error) { return t.count(countApprovals) }

// NextConversation implements [agent.Tx].
func (t *transaction) NextConversation() (int, error) { return t.count(countConversations) }

func (t *transaction) count(key string) (int, error) {
	n := 0
	value, ok, err := t.tx.Get(key)
	if err != nil {
		return 0, err
	}
	if ok {
		if err := decodePlain(key, value, &n); err != nil {
			return 0, err
		}
	}
	n++
	return n, t.put(key, n)
}

// PutAudit implements [agent.Tx].
func (t *transaction) PutAudit(id agent.ConversationID, number int, lines []agent.AuditLine) error {
	return t.put(auditKey(id, number), lines)
}

// PutDefinition implements [agent.Tx].
func (t *transaction) PutDefinition(hash string, tool agent.Tool) error {
	return t.put(definitionPrefix+hash, tool)
}

// Setting implements [agent.Tx].
func (t *transaction) Setting(name string, v any) error {
	key := settingPrefix + name
	value, err := t.value(key)
	if err != nil {
		return err
	}
	return decodePlain(key, value, v)
}

// PutSetting implements [agent.Tx].
func (t *transaction) PutSetting(name string, v any) error {
	if v == nil {
		return t.tx.Delete(settingPrefix + name)
	}
	return t.put(settingPrefix+name, v)
}
