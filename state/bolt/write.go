package bolt

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"go.etcd.io/bbolt"

	"deskhand/state/kv"
)

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
	tx, err := s.begin(true)
	if err != nil {
		return err
	}
	committed := false
	defer func() {
		// Also when fn panics.
		if !committed {
			s.rollBack(tx)
		}
	}()
	wrote, err := kv.RunLimited(&boltTx{store: s, tx: tx}, fn)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || !wrote {
		return err
	}
	committed = true // or rolled back by bbolt, or given up
	if err := s.commitTx(tx); err != nil {
		return err
	}
	s.watchers.Notify()
	return nil
}

// rollBack gives up tx, before anything of it went to the file.
func (s *Store) rollBack(tx *bbolt.Tx) {
	if err := guard(s.path, tx.Rollback); err != nil {
		// bbolt's lock for writers may not have been released.
		_ = s.breakDown(err)
	}
}

// commitTx writes tx to the disk. If that fails, the state before stands; if
// it cannot be said which state stands, the store breaks down.
func (s *Store) commitTx(tx *bbolt.Tx) error {
	id := tx.ID()
	err := guard(s.path, tx.Commit)
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		// What bbolt has in memory is half-way between two states. To roll back
		// brings nothing in order any more, but lets its locks go.
		defer s.rollBack(tx)
		return s.breakDown(err)
	}
	if err == nil && s.hooks.committed != nil {
		err = s.hooks.committed()
	}
	if err != nil {
		return s.failed(id, err)
	}
	stats := tx.Stats()
	s.commits.Add(1)
	s.bytes.Add(stats.GetPageAlloc() + s.pageSize) // and the meta page
	return nil
}

// failed returns the error of a commit. bbolt writes the pages, syncs, writes
// the page that makes them count, and syncs again. If only the last step
// failed, readers would already see the new state, while after a power cut it
// may be the old one: what is shown must not be less durable than it looks.
func (s *Store) failed(id int, err error) error {
	advice := ""
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		advice = "; free some space and try again"
	}
	err = fmt.Errorf("cannot write to %s: %w%s", s.path, causeOf(err), advice)
	tx, beginErr := s.begin(false)
	if beginErr != nil {
		return errors.Join(err, beginErr)
	}
	defer s.end(tx)
	if tx.ID() == id {
		return s.breakDown(fmt.Errorf("%w; whether this was kept is not known: start again to see", err))
	}
	return err
}

// boltTx is the kv.Tx of an Update.
type boltTx struct {
	store  *Store
	tx     *bbolt.Tx
	opened *bbolt.Bucket // found once
}

// on runs fn on the bucket.
func (t *boltTx) on(fn func(*bbolt.Bucket) error) error {
	return guard(t.store.path, func() (err error) {
		if t.opened == nil {
			if t.opened, err = t.store.bucket(t.tx); err != nil {
				return err
			}
		}
		return fn(t.opened)
	})
}

func (t *boltTx) Get(key string) (value []byte, ok bool, err error) {
	err = t.on(func(b *bbolt.Bucket) (err error) {
		value, err = t.store.copied(b.Get([]byte(key)))
		return err
	})
	return value, value != nil, err
}

func (t *boltTx) Put(key string, value []byte) error {
	return t.on(func(b *bbolt.Bucket) error {
		// bbolt keeps the slice until the commit. It must not be nil, because
		// Get would take it for no value.
		return b.Put([]byte(key), append(make([]byte, 0, len(value)), value...))
	})
}

func (t *boltTx) Delete(key string) error {
	return t.on(func(b *bbolt.Bucket) error { return b.Delete([]byte(key)) })
}
