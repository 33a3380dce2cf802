package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deskhand/state/kv"
	"deskhand/state/storetest"
)

// TestMain turns the test binary into the child process of a test, if that
// test has asked for it.
func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := runChild(path, os.Getenv(childTaskEnv)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// put writes one value.
func put(t testing.TB, s *Store, key string, value []byte) {
	t.Helper()
	if err := s.Update(t.Context(), func(tx kv.Tx) error { return tx.Put(key, value) }); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
}

// wantValue checks one value.
func wantValue(t testing.TB, s *Store, key, want string) {
	t.Helper()
	if got, _, err := s.Get(t.Context(), key); err != nil || string(got) != want {
		t.Errorf("%s is %q (%v), want %q", key, got, err, want)
	}
}

// wantSound runs bbolt's own check of every page.
func wantSound(t testing.TB, s *Store) {
	t.Helper()
	tx, err := s.db.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for err := range tx.Check() {
		t.Errorf("check: %v", err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.TestStore(t, func(t *testing.T) kv.Store {
		s := openAt(t, filepath.Join(t.TempDir(), "desk.db"), Options{})
		t.Cleanup(func() {
			if t.Failed() {
				return
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			wantSound(t, openAt(t, s.path, Options{}))
		})
		return s
	})
}

func TestReopen(t *testing.T) {
	storetest.TestReopen(t, func(t *testing.T, name string) kv.Store { return openAt(t, name, Options{}) })
}

func TestStats(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "desk.db"), Options{})
	put(t, s, "a", make([]byte, 10_000))
	if err := s.Update(t.Context(), func(tx kv.Tx) error { _, _, err := tx.Get("a"); return err }); err != nil {
		t.Fatal(err)
	}
	errOwn := errors.New("own")
	if err := s.Update(t.Context(), func(tx kv.Tx) error { return errors.Join(tx.Put("b", nil), errOwn) }); !errors.Is(err, errOwn) {
		t.Fatal(err)
	}
	if got := s.Stats(); got.Commits != 1 || got.Bytes < 10_000 || got.Bytes > 60_000 {
		t.Errorf("one commit of 10,000 bytes counts as %+v", got)
	}
}
