package bolt

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"deskhand/state/kv"
)

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
	for _, key := range keys {
		if err := kv.CheckKey(key); err != nil {
			return nil, err
		}
	}
	values := make([][]byte, len(keys))
	err := s.view(ctx, func(b *bbolt.Bucket) (err error) {
		for i, key := range keys {
			if values[i], err = s.copied(b.Get([]byte(key))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// Scan implements kv.Store.
func (s *Store) Scan(ctx context.Context, o kv.ScanOptions) ([]kv.Pair, error) {
	var pairs []kv.Pair
	err := s.view(ctx, func(b *bbolt.Bucket) error {
		from, to := o.Bounds()
		c := b.Cursor()
		key, value := first(c, from, to, o.Reverse)
		for key != nil && string(key) >= from && (to == "" || string(key) < to) {
			copied, err := s.copied(value)
			if err != nil {
				return err
			}
			pairs = append(pairs, kv.Pair{Key: string(key), Value: copied})
			if len(pairs) == o.Limit {
				return nil
			}
			if o.Reverse {
				key, value = c.Prev()
			} else {
				key, value = c.Next()
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// first moves c to where a scan of the keys from from to less than to begins.
func first(c *bbolt.Cursor, from, to string, reverse bool) (key, value []byte) {
	if !reverse {
		return c.Seek([]byte(from))
	}
	if to != "" {
		if key, _ := c.Seek([]byte(to)); key != nil {
			return c.Prev()
		}
	}
	return c.Last()
}

// view runs fn on the bucket as it is at one moment. What fn finds there is
// gone when it returns.
func (s *Store) view(ctx context.Context, fn func(*bbolt.Bucket) error) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	defer s.end(tx)
	return guard(s.path, func() error {
		b, err := s.bucket(tx)
		if err != nil {
			return err
		}
		return fn(b)
	})
}

// copied returns a copy of value, which is nil only if value is nil.
func (s *Store) copied(value []byte) ([]byte, error) {
	if len(value) > kv.MaxBytes {
		// Nobody can have written it. To copy what a bad page calls a length
		// could take all memory.
		return nil, &DamagedError{s.path, fmt.Sprintf("there is a value of %d bytes", len(value))}
	}
	return bytes.Clone(value), nil
}
