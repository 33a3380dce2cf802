package state

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"deskhand/state/kv"
)

// ExportedRecord is one record of the desk as it lies in the store. Large values
// are whole; their chunks are left out.
type ExportedRecord struct {
	Key string `json:"key"`
	// Record is the value where it is JSON; Raw is what it is otherwise, and
	// Bytes where it is no text either.
	Record json.RawMessage `json:"record,omitempty"`
	Raw    string          `json:"raw,omitempty"`
	Bytes  []byte          `json:"bytes,omitempty"`
	// Problem says why this program cannot use the record; empty otherwise.
	Problem string `json:"problem,omitempty"`
}

// Export writes every record, one JSON object a line, in the order of the keys:
// also those that are damaged or newer than this program. It reads a page at a
// time, so a record that changes meanwhile may stand there old or new.
func (s *Store) Export(ctx context.Context, w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	after := ""
	for {
		pairs, err := s.kv.Scan(ctx, kv.ScanOptions{After: after, Limit: checkPage})
		if err != nil {
			return fmt.Errorf("reading the desk: %w", err)
		}
		for _, p := range pairs {
			after = p.Key
			if strings.HasPrefix(p.Key, chunkPrefix) {
				continue
			}
			if err := encoder.Encode(s.exported(p)); err != nil {
				return fmt.Errorf("writing the export: %w", err)
			}
		}
		if len(pairs) < checkPage {
			return nil
		}
	}
}

func (s *Store) exported(p kv.Pair) ExportedRecord {
	r := ExportedRecord{Key: p.Key}
	value, err := unwrap(p.Value, s.getChunk(context.Background()))
	if err != nil {
		r.Problem, value = err.Error(), p.Value
	} else if into := recordOf(strings.TrimPrefix(p.Key, asidePrefix)); into != nil {
		if err := decode(p.Key, value, into); err != nil {
			r.Problem = err.Error()
		}
	}
	switch {
	case json.Valid(value):
		r.Record = value
	case utf8.Valid(value):
		r.Raw = string(value)
	default:
		r.Bytes = value
	}
	return r
}
