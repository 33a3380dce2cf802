package bolt

import (
	"errors"
	"path/filepath"
	"testing"

	"deskhand/state/kv"
)

// TestLastSyncFails lets a commit go through and then say that its last sync
// failed. The new state is in the file but perhaps not on the disk: the store
// must neither show it nor go on as if it were not there.
func TestLastSyncFails(t *testing.T) {
	t.Parallel()
	errSync := errors.New("input/output error")
	fail := false
	path := filepath.Join(t.TempDir(), "desk.db")
	s := openAt(t, path, Options{hooks: hooks{committed: func() error {
		if fail {
			return errSync
		}
		return nil
	}}})
	put(t, s, "a", []byte("before"))
	fail = true
	errUpdate := s.Update(t.Context(), func(tx kv.Tx) error { return tx.Put("a", []byte("after")) })
	fail = false
	wantOneLine(t, errUpdate, path, "start again")
	errAgain := s.Update(t.Context(), func(tx kv.Tx) error { return tx.Put("b", nil) })
	_, _, errGet := s.Get(t.Context(), "a")
	_, errScan := s.Scan(t.Context(), kv.ScanOptions{})
	for _, err := range []error{errUpdate, errAgain, errGet, errScan} {
		if !errors.Is(err, errSync) {
			t.Errorf("error is %v, want %v", err, errSync)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantValue(t, openAt(t, path, Options{}), "a", "after")
}
