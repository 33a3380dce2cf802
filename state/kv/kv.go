// Package kv is the small key-value interface that the desk's store stands on
// and that every backend implements.
//
// What every backend promises: an Update is serialisable with every other
// Update, and when it returns nil its writes are as durable as the backend can
// make them; when it returns an error, nothing of it is visible. A Scan, and a
// GetMany, see one moment: all of an Update or nothing of it. No slice is ever
// shared between a caller and a backend. The limits below are checked by one
// piece of code, so that what works on one backend works on all of them.
//
// What it does not promise: that fn of an Update runs only once, that a Scan
// inside an Update is possible (fn has single keys only), that a Watch tells
// what changed or how often, or anything about the values: they are bytes.
//
// Keys are ordered by their bytes, as Go orders strings. A key has at least
// one and at most MaxKeyLen bytes, of any value.
package kv

import "context"

const (
	// MaxKeys is how many distinct keys one Update may touch by Get, Put and
	// Delete together. A cluster's transaction compares every key that was
	// read and carries every key that was written, and refuses a message with
	// more than 128 operations: with twice 60 there is room to spare.
	MaxKeys = 60

	// MaxBytes is how many bytes of values one Update may write, counting for
	// each key what is there at the end. A cluster takes messages of 1.5 MB:
	// this leaves room for the keys.
	MaxBytes = 1 << 20

	// MaxKeyLen is the length of the longest key in bytes.
	MaxKeyLen = 1024
)

// Tx is the view of one Update. It sees the writes that were made through it.
// It is for the goroutine that runs fn, and only until fn returns: afterwards
// every method gives ErrTxDone.
type Tx interface {
	// Get returns the value of key, and whether it exists. The caller owns the
	// slice: it may keep it and change it. The value of a key that exists is
	// never nil.
	Get(key string) ([]byte, bool, error)

	// Put sets the value of key. The slice is copied before Put returns. A nil
	// value is stored as an empty one.
	Put(key string, value []byte) error

	// Delete removes key. A key that does not exist is no error.
	Delete(key string) error
}

// Pair is a key with its value. Whoever received it owns the value.
type Pair struct {
	Key   string
	Value []byte
}

// ScanOptions says which part of the keys a Scan returns, and in which order.
type ScanOptions struct {
	// Prefix is what every key in the range starts with; "" is every key.
	Prefix string

	// After is the cursor: the scan starts behind this key in the direction of
	// the scan, so that the last key of one page, given here, brings the next
	// page. The key itself is not returned and need not exist. "" starts at
	// the end of the range that comes first in that direction. A cursor that
	// lies outside the range leaves either the whole range or nothing of it.
	After string

	// Reverse scans from the last key to the first.
	Reverse bool

	// Limit is the largest number of pairs to return; 0 is no limit, and so
	// is a negative number.
	Limit int
}

// Store is a backend. Its methods may be called from any number of goroutines.
// After Close all of them give ErrClosed.
type Store interface {
	// Update runs fn, then commits what fn wrote, and returns when that is
	// durable. Updates are serialisable. If fn returns an error, Update
	// returns it as it is and nothing is written; so it is when ctx ends
	// before the commit begins, when a limit was exceeded (even if fn ignored
	// the error that told it), and when fn panics.
	//
	// fn may run again if another Update came between: it must not have
	// effects of its own, and whatever has to be the same each time (ids,
	// times) is made outside. fn must not call the Store.
	Update(ctx context.Context, fn func(Tx) error) error

	// Get returns the value of key, and whether it exists. The caller owns the
	// slice, which is never nil for a key that exists.
	Get(ctx context.Context, key string) ([]byte, bool, error)

	// GetMany returns the values of keys in their order, all from one
	// snapshot; nil stands for a key that does not exist, and only for that.
	GetMany(ctx context.Context, keys []string) ([][]byte, error)

	// Scan returns the pairs of a range from one snapshot.
	Scan(ctx context.Context, o ScanOptions) ([]Pair, error)

	// Watch returns a channel that brings at least one signal after every
	// committed Update that wrote, whoever made it. Signals are coalesced: one
	// may stand for many, and there may be some for nothing. Whoever reads
	// the store after a signal sees what it was sent for. A slow reader never
	// blocks a writer. The channel is closed when ctx ends or the store is
	// closed.
	Watch(ctx context.Context) <-chan struct{}

	// Close waits for what is under way, releases everything and closes the
	// channels of Watch. Closing again does nothing.
	Close() error
}
