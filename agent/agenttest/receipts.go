package agenttest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"deskhand/agent"
)

// Receipt is one line of a server's own ledger: what reached it, and what it
// did about it.
type Receipt struct {
	// Life is the process that sent it, from 1.
	Life      int              `json:"life"`
	Tool      string           `json:"tool"`
	Call      agent.CallID     `json:"call"`
	Approval  agent.ApprovalID `json:"approval,omitempty"`
	User      agent.UserID     `json:"user,omitempty"`
	Arguments json.RawMessage  `json:"arguments"`
	Key       string           `json:"key,omitempty"`
	// Worked says that the server did the work now, and not only repeated the
	// answer that its key had.
	Worked bool `json:"worked,omitempty"`
	// Refused says that the connection was refused: nothing arrived.
	Refused bool         `json:"refused,omitempty"`
	Answer  agent.Result `json:"answer"`
}

// Lines is an append-only file of JSON lines, synced line by line. It outlives
// the process that writes it, however that ends.
type Lines[T any] struct {
	path string
	mu   sync.Mutex
}

// NewLines opens the file at path; it need not exist.
func NewLines[T any](path string) *Lines[T] { return &Lines[T]{path: path} }

// Append writes one line and syncs it.
func (l *Lines[T]) Append(v T) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(v)
}

func (l *Lines[T]) append(v T) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a line of %s: %w", l.path, err)
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// All reads every line.
func (l *Lines[T]) All() ([]T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all()
}

func (l *Lines[T]) all() ([]T, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return out, fmt.Errorf("a line of %s: %w", l.path, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

// Decide appends the line that decide makes of all lines before it, with nobody
// writing in between.
func (l *Lines[T]) Decide(decide func(before []T) T) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, err := l.all()
	if err != nil {
		var none T
		return none, err
	}
	v := decide(before)
	return v, l.append(v)
}
