package state

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"deskhand/agent"
	"deskhand/state/kv"
)

// HighestApproval looks through the bytes of a backend's file, whole or
// damaged, for the keys of approvals and gives the highest number, 0 if there
// is none. It needs no structure, so that it also works on what cannot be
// opened any more.
func HighestApproval(file io.Reader) (int, error) {
	const digits = 12 // as approvalKey writes them
	highest := 0
	reader := bufio.NewReaderSize(file, 1<<16)
	window := len(approvalPrefix) + digits
	for {
		ahead, err := reader.Peek(reader.Size())
		if len(ahead) == 0 {
			if errors.Is(err, io.EOF) {
				return highest, nil
			}
			return highest, err
		}
		for at := 0; ; {
			next := bytes.Index(ahead[at:], []byte(approvalPrefix))
			if next < 0 {
				break
			}
			at += next + len(approvalPrefix)
			if n, err := strconv.Atoi(string(ahead[at:min(at+digits, len(ahead))])); err == nil && at+digits <= len(ahead) {
				highest = max(highest, n)
			}
		}
		// The last bytes are looked at once more, with what follows them.
		done := len(ahead)
		if err == nil {
			done -= window - 1
		}
		if _, err := reader.Discard(done); err != nil {
			return highest, err
		}
	}
}

// SkipApprovals makes the numbers of new approvals begin after last, unless
// they are past it already. A desk that takes the place of a damaged one does
// not give the numbers of that one again: they stand on notes and in messages.
func (s *Store) SkipApprovals(ctx context.Context, last int) error {
	return s.kv.Update(ctx, func(tx kv.Tx) error {
		t := &transaction{tx: tx, store: s}
		given := 0
		value, err := t.value(countApprovals)
		if err == nil {
			err = decodePlain(countApprovals, value, &given)
		}
		if err != nil && !errors.Is(err, agent.ErrNotFound) {
			return err
		}
		if given >= last {
			return nil
		}
		return t.put(countApprovals, last)
	})
}
