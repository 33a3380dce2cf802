package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	fileMode = 0o600
	dirMode  = 0o700

	// newSuffix is what follows in the name of a store in the making.
	newSuffix = ".new-"

	// attempts is how often Open begins again because the file was replaced
	// between two of its steps. Each time somebody else has to have created
	// it, or set it aside, in that very moment.
	attempts = 5
)

// errReplaced says that the file that was opened is not the one that has its
// name now.
var errReplaced = errors.New("the file was replaced while it was opened")

// Open opens the store in the file at path, and makes the file and its folder
// if they do not exist. It returns a *HeldError if somebody else has the file
// for longer than o.Wait, and a *DamagedError if the file is not a whole one.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.hooks.link == nil {
		o.hooks.link = os.Link
	}
	// Everything else, the note and the renames, stays beside the file even
	// if the working directory changes.
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	for range attempts {
		if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			err = create(path, o.hooks.link)
		}
		if err != nil {
			return nil, unwritable(path, err)
		}
		var s *Store
		if s, err = openExisting(path, o); err == nil {
			writeHolder(path, o.Now())
			return s, nil
		}
		if !errors.Is(err, errReplaced) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, unwritable(path, err)
}

// openExisting opens a file that is there.
func openExisting(path string, o Options) (*Store, error) {
	s := &Store{path: path, hooks: o.hooks, turn: make(chan struct{}, 1)}
	err := guard(path, func() (err error) {
		s.db, err = bbolt.Open(path, fileMode, &bbolt.Options{
			// bbolt takes 0 for ever; the shortest time is one attempt.
			Timeout:      max(o.Wait, 1),
			FreelistType: bbolt.FreelistMapType,
			NoStatistics: true,
			OpenFile:     s.openFile,
		})
		return err
	})
	if err == nil {
		err = s.checkName()
	}
	if err == nil && s.found.Size() == 0 {
		err = s.checkEmpty()
	}
	if err == nil {
		err = s.checkWhole()
	}
	if err != nil {
		return nil, s.giveUp(err)
	}
	s.pageSize = int64(s.db.Info().PageSize)
	return s, nil
}

// openFile opens the file for bbolt, but never creates it.
func (s *Store) openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	s.file = f
	s.found, err = f.Stat()
	return f, err
}

// giveUp closes what openExisting has opened so far and says why in our words.
func (s *Store) giveUp(err error) error {
	switch {
	case s.db != nil && s.broken.Load() == nil:
		defer s.db.Close()
	case s.file != nil:
		// bbolt has either closed it already, which makes this a failure that
		// does no harm, or stopped half-way, so that nobody else will.
		defer abandon(s.file)
	}
	if errors.Is(err, errReplaced) {
		return errReplaced
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return &HeldError{Path: s.path, Holder: readHolder(s.path)}
	}
	if damaged := damageOf(s.path, err); damaged != nil {
		// Who is told of damage sets aside what has this name.
		if err := s.checkName(); err != nil {
			return err
		}
		return damaged
	}
	return unwritable(s.path, err)
}

// checkName looks whether the file that is locked now is still the one with
// the name: while this process waited for the lock, the one before may have
// set it aside and made a new one.
func (s *Store) checkName() error {
	named, err := os.Stat(s.path)
	if err != nil || !os.SameFile(s.found, named) {
		return errReplaced
	}
	return nil
}

// checkEmpty says what to think of a file that was empty when it was opened,
// and that bbolt has taken for a new one. It may have been finished since; it
// may be in the making, or its maker was killed; or it has lost what it held.
func (s *Store) checkEmpty() error {
	made := false
	err := s.db.View(func(tx *bbolt.Tx) error {
		made = tx.Bucket(bucketName) != nil
		return nil
	})
	switch {
	case err != nil || made:
		return err
	case len(unfinished(s.path)) > 0:
		return makeBucket(s.db)
	}
	return errors.Join(&DamagedError{s.path, "it is empty"}, s.file.Truncate(0))
}

// create makes an empty store. It is made under another name, synced, and only
// then linked to its own, so that no half-made file is ever seen there,
// whenever the process is killed. If somebody else is faster, theirs stays.
func create(path string, link func(from, to string) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+newSuffix+"*") // with fileMode
	if err != nil {
		return err
	}
	temp := f.Name()
	defer os.Remove(temp) // only a leftover
	if err := errors.Join(f.Close(), initialise(temp)); err != nil {
		return err
	}
	err = link(temp, path)
	switch {
	case err == nil:
		sweep(path)
		return syncDir(path)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return nil // somebody was faster, and has swept up the other name
	}
	// There are file systems without links. To rename could take away a file
	// that somebody has made, and opened, since. So the file is made in its
	// place, where others may find it empty: that the one under the other name
	// is still there tells them why.
	if err := initialise(path); !errors.Is(err, berrors.ErrTimeout) {
		return err
	}
	return nil // somebody was faster
}

// sweep removes what processes that were killed in create have left, and what
// others in create, who are too late now, are still making.
func sweep(path string) {
	for _, name := range unfinished(path) {
		_ = os.Remove(name)
	}
}

// unfinished lists what create has under other names.
func unfinished(path string) []string {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+newSuffix) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// initialise makes an empty store in a file that is empty or does not exist.
func initialise(path string) error {
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return err
	}
	return errors.Join(makeBucket(db), db.Close())
}

func makeBucket(db *bbolt.DB) error {
	return db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucketName)
		return err
	})
}

// syncDir makes the name of a new file in its folder durable.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close() // only read
	return d.Sync()
}

// unwritable says that the file cannot be made or opened, and what to do, in
// one line.
func unwritable(path string, err error) error {
	const another = "choose another folder with --home"
	advice := ""
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		advice = "; let this user write there, or " + another
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "; free some space, or " + another
	case errors.Is(err, syscall.ENOTDIR):
		advice = "; a part of this path is a file: " + another
	case errors.Is(err, syscall.EISDIR):
		advice = "; there is a folder in its place: move it away, or " + another
	}
	return fmt.Errorf("cannot open %s for writing: %w%s", path, causeOf(err), advice)
}

// causeOf leaves out the path that an error of package os carries: who tells
// the error names the path already.
func causeOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
