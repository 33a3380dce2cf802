package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deskhand/state/kv"
)

// replaced puts another open file in the place of the store's own, below
// bbolt, and returns what puts the old one back. The lock stays, because the
// old one stays open.
func replaced(t *testing.T, s *Store, name string) (restore func()) {
	t.Helper()
	other, err := os.Open(name)
	if name == "/dev/full" {
		other, err = os.OpenFile(name, os.O_RDWR, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	fd := int(s.file.Fd())
	saved, err := unix.Dup(fd)
	if err == nil {
		err = unix.Dup3(int(other.Fd()), fd, unix.O_CLOEXEC)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		err := unix.Dup3(saved, fd, unix.O_CLOEXEC)
		if err := errors.Join(err, unix.Close(saved), other.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailingDisk makes the kernel refuse what the store writes. The update
// says so, the state before stands, nobody is told of a change, and when the
// disk works again everything does.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		other func(s *Store) string
		size  int
		want  error
		says  string
	}{
		{"full", func(*Store) string { return "/dev/full" }, 10, syscall.ENOSPC, "no space left on device; free some space"},
		{"write refused", func(s *Store) string { return s.path }, 10, syscall.EBADF, "cannot write"},
		// bbolt gives the reason for this one in words only.
		{"growth refused", func(s *Store) string { return s.path }, kv.MaxBytes, nil, "resize"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, filepath.Join(t.TempDir(), "desk.db"), Options{})
			put(t, s, "a", []byte("before"))
			before := s.Stats()
			signals := s.Watch(t.Context())
			for range 3 {
				restore := replaced(t, s, tt.other(s))
				err := s.Update(t.Context(), func(tx kv.Tx) error {
					return errors.Join(tx.Put("a", []byte("after")), tx.Put("b", make([]byte, tt.size-5)))
				})
				restore()
				wantOneLine(t, err, s.path, tt.says)
				if tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("error is %v, want %v", err, tt.want)
				}
				wantValue(t, s, "a", "before")
			}
			if now := s.Stats(); now != before {
				t.Errorf("what failed was counted: %+v, before %+v", now, before)
			}
			select {
			case <-signals:
				t.Error("what failed was signalled")
			default:
			}
			put(t, s, "a", []byte("later"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openAt(t, s.path, Options{})
			wantValue(t, s, "a", "later")
			wantSound(t, s)
		})
	}
}
