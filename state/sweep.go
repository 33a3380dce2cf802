package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"deskhand/agent"
	"deskhand/state/kv"
)

// A large value is written in two steps: its chunks, then the record that names
// them. Chunks that no record names (any more) are swept. Two counters keep the
// two apart, also between processes: a commit that names chunks raises
// countNamed, so that a sweep that has begun before it deletes nothing; a sweep
// raises countSwept with what it deletes, so that a commit whose chunks were
// written before it writes them again.
const (
	countNamed = "count/named"
	countSwept = "count/swept"
)

// Sweep implements [agent.Store]: it removes the chunks that no record names. It reads the whole desk,
// page by page, if there is any chunk at all. Where large values are written
// meanwhile it leaves the rest for the next time. It gives the number of large
// values that it removed.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	orphans, err := s.chunkKeys(ctx)
	if err != nil || len(orphans) == 0 {
		return 0, err
	}
	named := 0
	if err := s.plain(ctx, countNamed, &named); err != nil && !notFound(err) {
		return 0, err
	}
	if err := s.dropNamed(ctx, orphans); err != nil {
		return 0, err
	}
	removed := 0
	for hash, keys := range orphans {
		gone, err := s.deleteChunks(ctx, keys, named)
		if err != nil {
			return removed, fmt.Errorf("removing the parts of a large value: %w", err)
		}
		if !gone {
			return removed, nil
		}
		s.mu.Lock()
		delete(s.written, hash)
		s.mu.Unlock()
		removed++
	}
	return removed, nil
}

// chunkPage is how many chunks are looked at in one go: each has its 64 KB.
const chunkPage = 20

// chunkKeys lists the keys of all chunks by the hash of their value.
func (s *Store) chunkKeys(ctx context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	after := ""
	for {
		pairs, err := s.kv.Scan(ctx, kv.ScanOptions{Prefix: chunkPrefix, After: after, Limit: chunkPage})
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			after = p.Key
			hash, _, _ := strings.Cut(strings.TrimPrefix(p.Key, chunkPrefix), "/")
			out[hash] = append(out[hash], p.Key)
		}
		if len(pairs) < chunkPage {
			return out, nil
		}
	}
}

// dropNamed takes those hashes out that a record names.
func (s *Store) dropNamed(ctx context.Context, orphans map[string][]string) error {
	after := ""
	for {
		pairs, err := s.kv.Scan(ctx, kv.ScanOptions{After: after, Limit: checkPage})
		if err != nil {
			return err
		}
		for _, p := range pairs {
			after = p.Key
			if strings.HasPrefix(p.Key, chunkPrefix) {
				after = chunkPrefix + "~" // behind all of them: hashes are hexadecimal
				break
			}
			if !isChunked(p.Value) {
				continue
			}
			var name chunked
			if err := json.Unmarshal(p.Value[1:], &name); err != nil {
				// A damaged name may mean any of them: a person may want to put
				// it together again.
				clear(orphans)
				return nil
			}
			delete(orphans, name.Hash)
		}
		if len(pairs) < checkPage && !strings.HasPrefix(after, chunkPrefix) || len(pairs) == 0 {
			return nil
		}
	}
}

// deleteChunks removes one value's chunks, unless a record may have named chunks
// since named was read.
func (s *Store) deleteChunks(ctx context.Context, keys []string, named int) (gone bool, err error) {
	for len(keys) > 0 {
		n := min(len(keys), kv.MaxKeys-2)
		err := s.kv.Update(ctx, func(tx kv.Tx) error {
			t := &transaction{tx: tx, store: s, loaded: map[string][]byte{}}
			now, err := t.counted(countNamed)
			if gone = err == nil && now == named; !gone {
				return err
			}
			if _, err := t.count(countSwept); err != nil {
				return err
			}
			for _, key := range keys[:n] {
				if err := tx.Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !gone {
			return false, err
		}
		keys = keys[n:]
	}
	return true, nil
}

// confirmChunks is the last thing of a transaction that names chunks: they must
// have been written since the last sweep.
func (t *transaction) confirmChunks() error {
	if len(t.named) == 0 {
		return nil
	}
	swept, err := t.counted(countSwept)
	if err != nil {
		return err
	}
	if missing := t.store.unwritten(t.named, swept); len(missing) > 0 {
		return &needsChunks{values: missing}
	}
	_, err = t.count(countNamed)
	return err
}

// unwritten gives those values whose chunks this process has not written since
// the sweep of that number.
func (s *Store) unwritten(values map[string][]byte, swept int) map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swept != swept {
		s.swept = swept
		clear(s.written)
	}
	missing := map[string][]byte{}
	for hash, value := range values {
		if !s.written[hash] {
			missing[hash] = value
		}
	}
	return missing
}

// counted reads a counter without raising it.
func (t *transaction) counted(key string) (int, error) {
	value, ok, err := t.tx.Get(key)
	if err != nil || !ok {
		return 0, err
	}
	n := 0
	err = decodePlain(key, value, &n)
	return n, err
}

func notFound(err error) bool { return errors.Is(err, agent.ErrNotFound) }
