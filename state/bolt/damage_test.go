package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"deskhand/state/kv"
)

// wholeFile makes a store with some depth and some free pages, and returns
// what its file holds.
func wholeFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "desk.db")
	s := openAt(t, path, Options{})
	for round := range 5 {
		err := s.Update(t.Context(), func(tx kv.Tx) error {
			for i := range 50 {
				if err := tx.Put(fmt.Sprintf("k/%d/%d", round, i), make([]byte, 300)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "long", make([]byte, 20_000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "desk.db")
	if err := os.WriteFile(path, data, fileMode); err != nil {
		t.Fatal(err)
	}
	return path
}

func garbage(n int) []byte {
	r := rand.NewChaCha8([32]byte{})
	data := make([]byte, n)
	_, _ = r.Read(data)
	return data
}

func TestDamagedAtOpen(t *testing.T) {
	t.Parallel()
	whole, page := wholeFile(t), os.Getpagesize()
	metasLost := bytes.Clone(whole)
	copy(metasLost, garbage(2*page))
	metasFlipped := bytes.Clone(whole)
	metasFlipped[40] ^= 1
	metasFlipped[page+40] ^= 1
	for _, tt := range []struct {
		name string
		data []byte
		says string
	}{
		{"empty", nil, "empty"},
		{"one byte", []byte{0}, "beginning"},
		{"text", []byte("this is no database\n"), "beginning"},
		{"less than a page", whole[:100], "beginning"},
		{"one page", whole[:page], "bytes"},
		{"two pages", whole[:2*page], ""},
		{"half", whole[:len(whole)/2], ""},
		{"zeros", make([]byte, len(whole)), "beginning"},
		{"garbage", garbage(len(whole)), "beginning"},
		{"both meta pages lost", metasLost, ""},
		{"both meta pages flipped", metasFlipped, ""},
		{"only the meta pages left", append(bytes.Clone(whole[:2*page]), make([]byte, len(whole)-2*page)...), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, tt.data)
			_, err := Open(path, Options{})
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Path != path {
				t.Fatalf("error is %v, want a DamagedError", err)
			}
			wantOneLine(t, err, path, tt.says, "put a copy of it back")
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, tt.data) {
				t.Errorf("the damaged file was changed (%v)", err)
			}
			// Nothing may be left that stands in the way of a new start.
			if _, err := SetAside(path, time.Now()); err != nil {
				t.Fatal(err)
			}
			put(t, openAt(t, path, Options{}), "a", nil)
		})
	}
}

// TestOneMetaPageLost is no damage: the two are there so that one may be lost.
func TestOneMetaPageLost(t *testing.T) {
	t.Parallel()
	whole, page := wholeFile(t), os.Getpagesize()
	for i := range 2 {
		data := bytes.Clone(whole)
		copy(data[i*page:], garbage(page))
		s := openAt(t, writeFile(t, data), Options{})
		if _, ok, err := s.Get(t.Context(), "k/4/0"); err != nil || !ok {
			t.Errorf("meta page %d lost: %v, %v", i, ok, err)
		}
		put(t, s, "a", nil)
	}
}

// TestEveryPage spoils one page after the other, and cuts the file at each,
// and uses the store. Whatever happens, it must be a DamagedError and not a
// panic, a hang or a store that cannot be closed.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	whole, page := wholeFile(t), os.Getpagesize()
	pages := len(whole) / page
	spoil := map[string]func(data []byte, i int) []byte{
		"zeros":   func(data []byte, i int) []byte { clear(data[i*page : (i+1)*page]); return data },
		"garbage": func(data []byte, i int) []byte { copy(data[i*page:], garbage(page)); return data },
		"garbage behind the header": func(data []byte, i int) []byte {
			copy(data[i*page+16:], garbage(page-16))
			return data
		},
		"a neighbour": func(data []byte, i int) []byte {
			copy(data[i*page:(i+1)*page], whole[(i+1)%pages*page:])
			return data
		},
		"the end": func(data []byte, i int) []byte { return data[:i*page] },
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, noticed := t.TempDir(), 0
			for i := range pages {
				path := filepath.Join(dir, fmt.Sprint(i))
				if err := os.WriteFile(path, spoil(bytes.Clone(whole), i), fileMode); err != nil {
					t.Fatal(err)
				}
				err := useAll(t.Context(), path)
				var damaged *DamagedError
				if err != nil && !errors.As(err, &damaged) {
					t.Errorf("page %d: %v", i, err)
				}
				if err != nil {
					noticed++
					if strings.Contains(err.Error(), "\n") {
						t.Errorf("page %d: more than one line: %q", i, err)
					}
				}
				_ = os.Remove(path)
			}
			t.Logf("%d of %d pages noticed", noticed, pages)
			if noticed == 0 {
				t.Error("nothing was noticed")
			}
		})
	}
}

// useAll opens a store, reads all of it, writes a little and returns the first
// error. It tries the rest after an error too.
func useAll(ctx context.Context, path string) error {
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	_, err1 := s.Scan(ctx, kv.ScanOptions{})
	_, err2 := s.Scan(ctx, kv.ScanOptions{Prefix: "k", Reverse: true})
	_, _, err3 := s.Get(ctx, "long")
	err4 := s.Update(ctx, func(tx kv.Tx) error {
		if err := tx.Put("k/3/5", make([]byte, 5000)); err != nil {
			return err
		}
		return tx.Delete("k/0/7")
	})
	err5 := s.Update(ctx, func(tx kv.Tx) error { return tx.Delete("long") })
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			return err
		}
	case <-time.After(10 * time.Second):
		return errors.New("close hangs")
	}
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestCutWhileOpen takes the file away from under the mapping. Reading it is
// then a fault, and must be an error for every reader at once.
func TestCutWhileOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("mapped files cannot be cut there")
	}
	whole := wholeFile(t)
	for name, pages := range map[string]int{"all": 0, "one meta page left": 1, "both meta pages left": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, whole)
			s := openAt(t, path, Options{})
			if err := os.Truncate(path, int64(pages*os.Getpagesize())); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { wantDamaged(t, s) })
			}
			wg.Wait()
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if err := s.Update(t.Context(), nil); !errors.Is(err, kv.ErrClosed) {
				t.Errorf("update after close: %v", err)
			}
			// The lock must be gone, although bbolt may have kept its mapping.
			if _, err := SetAside(path, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
}

// wantDamaged checks that whatever is done with s ends in a DamagedError.
func wantDamaged(t *testing.T, s *Store) {
	_, errScan := s.Scan(t.Context(), kv.ScanOptions{})
	_, _, errGet := s.Get(t.Context(), "k/0/0")
	errUpdate := s.Update(t.Context(), func(tx kv.Tx) error { return tx.Put("a", nil) })
	for _, err := range []error{errScan, errGet, errUpdate} {
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			t.Errorf("error is %v, want a DamagedError", err)
			continue
		}
		wantOneLine(t, err, s.path)
	}
}

// TestFnMayPanic makes sure that only bbolt's panics are taken for damage.
func TestFnMayPanic(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "desk.db"), Options{})
	defer func() {
		if r, ok := recover().(runtime.Error); !ok {
			t.Errorf("recovered %v, want the panic of the function", r)
		}
	}()
	var none []int
	err := s.Update(t.Context(), func(kv.Tx) error { return errors.New(fmt.Sprint(none[0])) })
	t.Errorf("update returned %v", err)
}

func TestSetAside(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.FixedZone("CET", 3600))
	path := writeFile(t, []byte("first"))
	for i, want := range []string{"", "-2", "-3"} {
		if i > 0 {
			if err := os.WriteFile(path, fmt.Appendf(nil, "file %d", i), fileMode); err != nil {
				t.Fatal(err)
			}
		}
		name, err := SetAside(path, now)
		if err != nil || name != path+".damaged-20261201T090000Z"+want {
			t.Errorf("set aside as %s (%v)", name, err)
		}
	}
	if data, err := os.ReadFile(path + ".damaged-20261201T090000Z"); err != nil || string(data) != "first" {
		t.Errorf("the first one is %q now (%v)", data, err)
	}
	if _, err := SetAside(path, now); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("setting aside nothing: %v", err)
	}
	// Damage that only a read has met does not show at opening.
	s := openAt(t, path, Options{})
	_ = s.Close()
	name, err := SetAside(path, now)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(path), "desk.db.damaged-20261201T090000Z", "desk.db.damaged-20261201T090000Z-2",
		"desk.db.damaged-20261201T090000Z-3", filepath.Base(name))
}
