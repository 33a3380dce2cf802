package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"deskhand/state/kv"
)

// maxInline is the size of the largest value that lies under its own key.
const maxInline = 64 << 10

// Once a transaction holds fullAt bytes, values above maxInlineFull lie in
// chunks too, so that many middling values never come to more than a transaction
// may write.
const (
	fullAt        = kv.MaxBytes / 2
	maxInlineFull = 4 << 10
)

// chunkMark begins a value that names chunks instead of holding the record. No
// JSON value begins with it.
const chunkMark = 0x01

// chunked names the chunks of a value by the hash of the whole.
type chunked struct {
	Hash string `json:"hash"`
	Size int    `json:"size"`
}

// needsChunks stops a transaction whose values have to be laid out in chunks
// first; the transaction then runs again.
type needsChunks struct{ values map[string][]byte }

func (n *needsChunks) Error() string { return "large values must be written first" }

// needsValue stops a transaction that reads a large value; it is read outside,
// because its chunks would be more keys than one transaction may touch, and the
// transaction runs again.
type needsValue struct {
	key    string
	stored []byte
}

func (n *needsValue) Error() string { return "the large value " + n.key + " must be read first" }

func isChunked(stored []byte) bool { return len(stored) > 0 && stored[0] == chunkMark }

// errChunksMissing: a record names chunks that are not all there.
var errChunksMissing = errors.New("a part of it is missing")

func chunkKey(hash string, n int) string { return fmt.Sprintf("%s%s/%06d", chunkPrefix, hash, n) }

// wrap gives what lies under a record's key: the value, or, if it is above limit,
// a name for its chunks.
func wrap(value []byte, limit int) (stored []byte, hash string) {
	if len(value) <= limit {
		return value, ""
	}
	sum := sha256.Sum256(value)
	hash = hex.EncodeToString(sum[:])
	name, err := json.Marshal(chunked{Hash: hash, Size: len(value)})
	if err != nil {
		panic("state: a string and a number cannot be encoded: " + err.Error())
	}
	return append([]byte{chunkMark}, name...), hash
}

// writeChunks lays values out, each in transactions small enough for every
// backend. Chunks are named by their content, so writing them twice is harmless.
func (s *Store) writeChunks(ctx context.Context, values map[string][]byte) error {
	s.mu.Lock()
	swept := s.swept
	s.mu.Unlock()
	for hash, value := range values {
		for n := 0; n*maxInline < len(value); n++ {
			part := value[n*maxInline : min(len(value), (n+1)*maxInline)]
			err := s.kv.Update(ctx, func(tx kv.Tx) error { return tx.Put(chunkKey(hash, n), part) })
			if err != nil {
				return fmt.Errorf("writing a large value: %w", err)
			}
		}
		s.mu.Lock()
		if s.swept == swept { // else a sweep may have taken what was just written
			s.written[hash] = true
		}
		s.mu.Unlock()
	}
	return nil
}

// unwrap gives the record that a stored value holds or names; get reads keys.
func unwrap(stored []byte, get func(key string) ([]byte, bool, error)) ([]byte, error) {
	if !isChunked(stored) {
		return stored, nil
	}
	var name chunked
	if err := json.Unmarshal(stored[1:], &name); err != nil {
		return nil, fmt.Errorf("its chunks are not named: %w", err)
	}
	var value []byte
	for n := 0; len(value) < name.Size; n++ {
		part, ok, err := get(chunkKey(name.Hash, n))
		if err != nil {
			return nil, err
		}
		if !ok || len(part) == 0 {
			return nil, errChunksMissing
		}
		value = append(value, part...)
	}
	sum := sha256.Sum256(value)
	if hex.EncodeToString(sum[:]) != name.Hash {
		return nil, errors.New("its parts do not fit together")
	}
	return value, nil
}
