package bolt

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	berrors "go.etcd.io/bbolt/errors"
)

// DamagedError says that a file is not, or not any more, what this package
// writes. The file is left as it is; see SetAside.
type DamagedError struct {
	Path   string
	Reason string
}

// Error says what is wrong and what to do, in one line.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: %s; put a copy of it back, or move it away to start empty", e.Path, e.Reason)
}

// SetAside renames a damaged file, so that Open makes a new one in its place,
// and returns the new name, which holds the time now in UTC. It never
// overwrites anything. A file that somebody has open is left alone, with a
// HeldError: that one found it good enough, or has already replaced it. The
// caller closes its own Store first.
func SetAside(path string, now time.Time) (string, error) {
	s, err := openExisting(path, Options{})
	if err == nil {
		// It opens, so the damage is deeper inside, where only the caller has
		// met it.
		err = s.Close()
	}
	var damaged *DamagedError
	if err != nil && !errors.As(err, &damaged) {
		return "", err
	}
	base := path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	target, err := reserve(base)
	if err != nil {
		return "", unwritable(path, err)
	}
	if err := os.Rename(path, target); err != nil {
		return "", errors.Join(unwritable(path, err), os.Remove(target))
	}
	return target, syncDir(path)
}

// reserve makes an empty file that was not there before and returns its name:
// base, or base with a number. To rename onto it overwrites nobody's data.
func reserve(base string) (string, error) {
	name := base
	for n := 2; ; n++ {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
		if err == nil {
			return name, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return "", err
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// guard runs do, which reads pages of the file at path through bbolt, and
// turns its panics into a DamagedError. bbolt trusts its pages: a bad one
// leads to an assertion, to an index out of range or to memory that is not
// mapped. A file that shrinks under the mapping is of the last kind.
func guard(path string, do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &DamagedError{Path: path, Reason: reasonOf(r)}
		}
	}()
	return do()
}

// reasonOf puts what a panic says into one line.
func reasonOf(panicked any) string {
	text, _, _ := strings.Cut(fmt.Sprint(panicked), "\n")
	if _, ok := panicked.(runtime.Error); ok {
		return "a part of it cannot be read (" + text + ")"
	}
	return text
}

// damageOf returns the DamagedError for what bbolt says about a file that it
// cannot open, or nil if the file is not to blame.
func damageOf(path string, err error) error {
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		return damaged
	case errors.Is(err, berrors.ErrInvalid):
		return &DamagedError{path, "it is not a database, or its beginning is lost"}
	case errors.Is(err, berrors.ErrChecksum):
		return &DamagedError{path, "its first pages do not fit to their checksums"}
	case errors.Is(err, berrors.ErrVersionMismatch):
		return &DamagedError{path, "it has a format that this program does not know"}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return nil
	}
	// For a file of less than two pages bbolt has no error of its own.
	if info, statErr := os.Stat(path); statErr == nil && info.Mode().IsRegular() && info.Size() < 2*int64(os.Getpagesize()) {
		return &DamagedError{path, fmt.Sprintf("it has only %d bytes", info.Size())}
	}
	return nil
}

// checkWhole looks whether the file reaches to the last page that it says it
// has, and whether the bucket is there.
func (s *Store) checkWhole() error {
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	defer s.end(tx)
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if missing := tx.Size() - info.Size(); missing > 0 {
		return &DamagedError{s.path, fmt.Sprintf("it was cut: the last %d of %d bytes are missing", missing, tx.Size())}
	}
	return guard(s.path, func() error {
		_, err := s.bucket(tx)
		return err
	})
}
