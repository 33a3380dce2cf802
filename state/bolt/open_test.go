package bolt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// wantOneLine checks that an error can be shown as it is.
func wantOneLine(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	text := err.Error()
	if strings.Contains(text, "\n") {
		t.Errorf("more than one line: %q", text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home", "inner")
	path := filepath.Join(dir, "desk.db")
	openAt(t, path, Options{})
	for name, want := range map[string]os.FileMode{
		filepath.Dir(dir): dirMode | os.ModeDir, dir: dirMode | os.ModeDir, path: fileMode, path + ".holder": fileMode,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, want mode %v (%v)", name, info.Mode(), want, err)
		}
	}
	wantFiles(t, dir, "desk.db", "desk.db.holder")
}

// wantFiles checks what a folder holds.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func TestHeldHere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "desk.db")
	since := time.Date(2026, 12, 1, 9, 0, 0, 0, time.Local)
	s := openAt(t, path, Options{Now: func() time.Time { return since }})
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	_, err = Open(path, Options{})
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("error is %v, want a HeldError", err)
	}
	if h := held.Holder; held.Path != path || h.PID != os.Getpid() || h.Host != host || !h.Since.Equal(since) {
		t.Errorf("held by %+v", held)
	}
	wantOneLine(t, err, path, fmt.Sprintf("process %d on %s since 2026-12-01 09:00", os.Getpid(), host), "--wait")

	for name, damage := range map[string]func() error{
		"garbled": func() error { return os.WriteFile(path+".holder", []byte("{"), fileMode) },
		"missing": func() error { return os.Remove(path + ".holder") },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		_, err = Open(path, Options{})
		wantOneLine(t, err, "another process")
		if !errors.As(err, &held) || held.Holder != (Holder{}) {
			t.Errorf("%s note: held by %+v", name, held)
		}
	}
	if _, err := SetAside(path, since); !errors.As(err, &held) {
		t.Errorf("setting aside what is in use: %v, want a HeldError", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, Options{})
}

// TestHeldByAnother waits for a file that a child process has open: in vain
// first, then until the child lets go.
func TestHeldByAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "desk.db")
	cmd := child(t, path, taskHold)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for _, want := range []string{"ready\n", "open\n"} {
		if line, err := lines.ReadString('\n'); line != want {
			t.Fatalf("the child says %q (%v)", line, err)
		}
	}
	_, err := Open(path, Options{})
	wantOneLine(t, err, fmt.Sprintf("process %d ", cmd.Process.Pid))

	var waiting sync.WaitGroup
	waiting.Go(func() {
		s, err := Open(path, Options{Wait: time.Minute})
		if err != nil {
			t.Errorf("open while the other one lets go: %v", err)
			return
		}
		if h := readHolder(path); h.PID != os.Getpid() {
			t.Errorf("the note names %d, not this process", h.PID)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v", err)
	}
	waiting.Wait()
	wantFiles(t, filepath.Dir(path), "desk.db")
}

// TestStaleNote opens a file whose last process could not remove its note.
func TestStaleNote(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "desk.db")
	if err := os.WriteFile(path+".holder", []byte(`{"pid":1,"host":"elsewhere"}`), fileMode); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path, Options{})
	if h := readHolder(path); h.PID != os.Getpid() {
		t.Errorf("the note names %+v", h)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(path), "desk.db")
}

// TestManyFirst opens the same new file from many goroutines at once. Each
// must get it in the end, and find what those before it wrote.
func TestManyFirst(t *testing.T) {
	t.Parallel()
	noLinks := func(string, string) error { return errors.New("this file system has no links") }
	for name, link := range map[string]func(string, string) error{"links": nil, "no links": noLinks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "home", "desk.db")
			const n = 8
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					s, err := Open(path, Options{Wait: time.Minute, hooks: hooks{link: link}})
					if err != nil {
						t.Error(err)
						return
					}
					put(t, s, fmt.Sprint("k", i), nil)
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			s := openAt(t, path, Options{})
			for i := range n {
				if _, ok, err := s.Get(t.Context(), fmt.Sprint("k", i)); err != nil || !ok {
					t.Errorf("what opener %d wrote is lost (%v)", i, err)
				}
			}
			wantFiles(t, filepath.Dir(path), "desk.db", "desk.db.holder")
		})
	}
}

// TestSweep leaves what a process killed in making the file leaves.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"desk.db.new-1", "desk.db.new-2", "desk.db.news", "other.db.new-1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, fileMode); err != nil {
			t.Fatal(err)
		}
	}
	openAt(t, filepath.Join(dir, "desk.db"), Options{})
	wantFiles(t, dir, "desk.db", "desk.db.holder", "desk.db.news", "other.db.new-1")
}

// TestReplacedWhileWaiting has somebody set the file aside and make a new one
// between two steps of Open: the lock of the old one is worth nothing.
func TestReplacedWhileWaiting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "desk.db")
	put(t, openAt(t, path, Options{}), "which", []byte("old"))
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path, Options{})
	put(t, s, "which", []byte("new"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	late := &Store{path: path}
	var err error
	if late.found, err = os.Stat(path + ".aside"); err != nil {
		t.Fatal(err)
	}
	for _, found := range []error{late.checkName(), &DamagedError{path, "it is old"}} {
		if err := late.giveUp(found); !errors.Is(err, errReplaced) {
			t.Errorf("error is %v, want %v", err, errReplaced)
		}
	}
	wantValue(t, openAt(t, path, Options{}), "which", "new")
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	s := openAt(t, "desk.db", Options{})
	t.Chdir(t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.path + ".holder"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the note is still there (%v)", err)
	}
}

func TestUnusablePlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a folder"), fileMode); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "desk.db"), filepath.Join(file, "home", "desk.db"), dir} {
		_, err := Open(path, Options{})
		wantOneLine(t, err, path, "--home")
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	_, err := Open(filepath.Join(dir, "link"), Options{})
	wantOneLine(t, err, "link")
}

func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "desk.db")
	db, err := bbolt.Open(path, fileMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{})
	var damaged *DamagedError
	if !errors.As(err, &damaged) {
		t.Errorf("error is %v, want a DamagedError", err)
	}
}
