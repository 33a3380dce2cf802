// Package bolt is a kv.Store in one bbolt file, the desk's default.
//
// An Update is on the disk, synced, when it returns nil. A process may be
// killed at any moment: the next Open finds all of an Update or nothing of it,
// and everything that was acknowledged. Opening reads a few pages, whatever
// the size of the file. One process has the file at a time; another one waits,
// or is told who has it.
//
// A damaged file is an error and not a crash. What Open notices (a file that
// is empty, cut short, or not ours) it reports as a DamagedError; a bad page
// deeper inside is reported so by the call that meets it, and leaves the other
// calls alone. bbolt keeps no checksums of its data. So nobody notices here
// that a byte inside a value has changed: whoever stores values has to check
// them. And pages that are good in themselves but lead in a circle still end
// the program; only somebody who edits the file makes such pages.
//
// If the disk fails to confirm the very last step of an Update, nobody knows
// which of the two states it holds. Then, and if committing meets damage, the
// store refuses all further work until it is opened again.
//
// The number of bytes that an Update writes depends on the depth of the tree
// and on the number of free pages in the file, not on what the file holds.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deskhand/state/kv"
)

// bucketName is the one bucket, made together with the file.
var bucketName = []byte("desk")

// Options are what Open may be told. The zero value tries the lock once.
type Options struct {
	// Wait is how long to wait for a file that somebody else has open.
	Wait time.Duration

	// Now is the clock for the time that others are told they wait since;
	// nil is time.Now.
	Now func() time.Time

	hooks hooks
}

// hooks are places where tests step in.
type hooks struct {
	// link replaces os.Link, which not every file system has.
	link func(from, to string) error

	// committed runs after bbolt's commit; its error stands for one of the
	// last sync.
	committed func() error
}

// Store is a kv.Store in a file. Use Open.
type Store struct {
	path     string
	db       *bbolt.DB
	file     *os.File    // the one that db uses; it carries the lock
	found    os.FileInfo // the file as it was when it was opened
	pageSize int64
	hooks    hooks
	watchers kv.Watchers

	// turn is taken by the one Update that runs, all the time. It stands
	// before bbolt's own lock because waiting for that cannot be given up.
	turn chan struct{}

	beginning sync.Mutex // held while a transaction of bbolt begins

	broken  atomic.Pointer[error] // why nothing works any more
	closed  atomic.Bool
	closing sync.Once
	result  error // of Close

	commits atomic.Int64
	bytes   atomic.Int64
}

// Stats are counted from Open on.
type Stats struct {
	Commits int64 // Updates that wrote
	Bytes   int64 // bytes handed to the file by them, whole pages
}

// Stats returns how much was written so far.
func (s *Store) Stats() Stats {
	return Stats{Commits: s.commits.Load(), Bytes: s.bytes.Load()}
}

// Watch implements kv.Store. All changes come from this process, because it
// has the lock.
func (s *Store) Watch(ctx context.Context) <-chan struct{} { return s.watchers.Add(ctx) }

// Close implements kv.Store.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.closed.Store(true)
		// The Update under way may still find out that bbolt is stuck.
		s.turn <- struct{}{}
		defer func() { <-s.turn }()
		// Before the lock goes: afterwards it could be that of the next one.
		removeHolder(s.path)
		if s.broken.Load() != nil {
			// bbolt may have stopped with its locks held, so that its own
			// Close would wait for ever. The mapping stays; the lock goes.
			s.result = abandon(s.file)
		} else {
			s.result = s.db.Close()
		}
		s.watchers.Close()
	})
	return s.result
}

// check is what every method does first.
func (s *Store) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return kv.ErrClosed
	}
	if broken := s.broken.Load(); broken != nil {
		return *broken
	}
	return nil
}

// breakDown makes every further call fail with err.
func (s *Store) breakDown(err error) error {
	s.broken.CompareAndSwap(nil, &err)
	return err
}

// begin starts a transaction of bbolt. Only one goroutine does so at a time:
// if bbolt stops here, it does so with a lock held that all others would then
// wait for.
func (s *Store) begin(writable bool) (*bbolt.Tx, error) {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if broken := s.broken.Load(); broken != nil {
		return nil, *broken
	}
	var tx *bbolt.Tx
	err := guard(s.path, func() (err error) {
		tx, err = s.db.Begin(writable)
		return err
	})
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		return nil, s.breakDown(err)
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return nil, kv.ErrClosed
	case err != nil:
		return nil, fmt.Errorf("use %s: %w; start again", s.path, err)
	}
	return tx, nil
}

// end ends a reading transaction.
func (s *Store) end(tx *bbolt.Tx) {
	if s.broken.Load() == nil { // else it could wait for ever, see begin
		_ = tx.Rollback()
	}
}

// bucket returns the one bucket of tx.
func (s *Store) bucket(tx *bbolt.Tx) (*bbolt.Bucket, error) {
	b := tx.Bucket(bucketName)
	if b == nil {
		return nil, &DamagedError{Path: s.path, Reason: "it is a database, but not one of a desk"}
	}
	return b, nil
}
