package kv

import "errors"

var (
	// ErrBadKey is returned for a key that is empty or longer than MaxKeyLen.
	ErrBadKey = errors.New("key is empty or too long")

	// ErrClosed is returned by every method of a store after Close.
	ErrClosed = errors.New("store is closed")

	// ErrTooLarge is returned by Put and by the Update around it when the
	// values written come to more than MaxBytes.
	ErrTooLarge = errors.New("too many bytes in one update")

	// ErrTooManyKeys is returned by the methods of Tx, and by the Update
	// around them, when more than MaxKeys distinct keys are touched.
	ErrTooManyKeys = errors.New("too many keys in one update")

	// ErrTxDone is returned by the methods of a Tx that is used after its fn
	// has returned.
	ErrTxDone = errors.New("update is over")
)
