// Package memory is a kv.Store that keeps nothing: for desks that may not
// write to the disk, and for tests. It behaves as the other backends do, with
// the same limits and errors, but "durable" means until Close here.
//
// It is made for the size of one desk. A new key costs a move of the keys
// behind it, which is far less than a disk's sync up to some hundred thousand
// of them.
package memory

import (
	"context"
	"slices"
	"sync"

	"deskhand/state/kv"
)

// Store is a kv.Store in memory. Use New.
type Store struct {
	watchers kv.Watchers

	// turn is taken by the one Update that runs, all the time. It is a channel
	// and not a mutex so that waiting for it can be given up.
	turn chan struct{}

	mu     sync.RWMutex // guards what follows; never held while fn runs
	keys   []string     // sorted
	values map[string][]byte
	closed bool
}

// New returns an empty store.
func New() *Store {
	return &Store{turn: make(chan struct{}, 1), values: make(map[string][]byte)}
}

// Update implements kv.Store.
func (s *Store) Update(ctx context.Context, fn func(kv.Tx) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	t := &tx{store: s, writes: make(map[string][]byte)}
	wrote, err := kv.RunLimited(t, fn)
	if err != nil {
		return err
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	if !wrote {
		return nil
	}
	if err := s.apply(t.writes); err != nil {
		return err
	}
	s.watchers.Notify()
	return nil
}

// Get implements kv.Store.
func (s *Store) Get(ctx context.Context, key string) ([]byte, bool, error) {
	values, err := s.GetMany(ctx, []string{key})
	if err != nil {
		return nil, false, err
	}
	return values[0], values[0] != nil, nil
}

// GetMany implements kv.Store.
func (s *Store) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if err := kv.CheckKey(key); err != nil {
			return nil, err
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		if value, ok := s.values[key]; ok {
			values[i] = copied(value)
		}
	}
	return values, nil
}

// Scan implements kv.Store.
func (s *Store) Scan(ctx context.Context, o kv.ScanOptions) ([]kv.Pair, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := s.between(o.Bounds())
	if o.Limit > 0 && o.Limit < len(keys) {
		if o.Reverse {
			keys = keys[len(keys)-o.Limit:]
		} else {
			keys = keys[:o.Limit]
		}
	}
	pairs := make([]kv.Pair, len(keys))
	for i, key := range keys {
		pairs[i] = kv.Pair{Key: key, Value: copied(s.values[key])}
	}
	if o.Reverse {
		slices.Reverse(pairs)
	}
	return pairs, nil
}

// Watch implements kv.Store.
func (s *Store) Watch(ctx context.Context) <-chan struct{} { return s.watchers.Add(ctx) }

// Close implements kv.Store and forgets everything.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.keys, s.values = true, nil, nil
	s.watchers.Close()
	return nil
}

func (s *Store) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return kv.ErrClosed
	}
	return nil
}

// between returns the part of the sorted keys that lies within the bounds.
func (s *Store) between(from, to string) []string {
	start, _ := slices.BinarySearch(s.keys, from)
	end := len(s.keys)
	if to != "" {
		end, _ = slices.BinarySearch(s.keys, to)
	}
	return s.keys[start:max(start, end)]
}

// apply makes the writes of one Update visible, all at once.
func (s *Store) apply(writes map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return kv.ErrClosed
	}
	for key, value := range writes {
		at, exists := slices.BinarySearch(s.keys, key)
		switch {
		case value != nil && !exists:
			s.keys = slices.Insert(s.keys, at, key)
		case value == nil && exists:
			s.keys = slices.Delete(s.keys, at, at+1)
		}
		if value == nil {
			delete(s.values, key)
		} else {
			s.values[key] = value
		}
	}
	return nil
}

// tx keeps the writes of an Update aside until it is known that they count.
type tx struct {
	store  *Store
	writes map[string][]byte // nil for a deleted key
}

func (t *tx) Get(key string) ([]byte, bool, error) {
	if value, ok := t.writes[key]; ok {
		return copied(value), value != nil, nil
	}
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	value := t.store.values[key]
	return copied(value), value != nil, nil
}

func (t *tx) Put(key string, value []byte) error {
	t.writes[key] = append(make([]byte, 0, len(value)), value...)
	return nil
}

func (t *tx) Delete(key string) error {
	t.writes[key] = nil
	return nil
}

// copied returns a copy of value; an empty one is not nil, a nil one stays.
func copied(value []byte) []byte {
	if value == nil {
		return nil
	}
	return append(make([]byte, 0, len(value)), value...)
}
