package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"deskhand/state/kv"
)

func testValues(t *testing.T, s kv.Store) {
	wantAbsent(t, s, "a")
	put(t, s, "a", "1", "b", "", "c\x00", "\x00\xff", "\xff\xff", "last")
	wantValue(t, s, "a", "1")
	wantValue(t, s, "b", "")
	wantValue(t, s, "c\x00", "\x00\xff")
	wantValue(t, s, "\xff\xff", "last")
	wantAbsent(t, s, "c")
	put(t, s, "a", "2")
	wantValue(t, s, "a", "2")
	update(t, s, func(tx kv.Tx) error { return errors.Join(tx.Delete("a"), tx.Delete("not there")) })
	wantAbsent(t, s, "a")

	update(t, s, func(tx kv.Tx) error { return tx.Put("nil", nil) })
	if v, ok, err := s.Get(t.Context(), "nil"); err != nil || !ok || v == nil || len(v) != 0 {
		t.Errorf("a nil value came back as %#v (exists: %v, error: %v)", v, ok, err)
	}
}

// testOwnership changes every slice that went in or came out, and looks
// whether the store noticed.
func testOwnership(t *testing.T, s kv.Store) {
	mine := []byte("value")
	update(t, s, func(tx kv.Tx) error {
		if err := tx.Put("a", mine); err != nil {
			return err
		}
		copy(mine, "xxxxx")
		got, _, err := tx.Get("a")
		copy(got, "yyyyy")
		return err
	})
	wantValue(t, s, "a", "value")

	var fromTx []byte
	update(t, s, func(tx kv.Tx) (err error) {
		fromTx, _, err = tx.Get("a")
		return err
	})
	fromGet, _, err1 := s.Get(t.Context(), "a")
	fromMany, err2 := s.GetMany(t.Context(), []string{"a"})
	fromScan, err3 := s.Scan(t.Context(), kv.ScanOptions{})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", "other")
	for _, kept := range [][]byte{fromTx, fromGet, fromMany[0], fromScan[0].Value} {
		if string(kept) != "value" {
			t.Errorf("a kept value turned into %q", kept)
		}
		copy(kept, "zzzzz")
	}
	wantValue(t, s, "a", "other")
}

func testTxSeesItsWrites(t *testing.T, s kv.Store) {
	put(t, s, "a", "1", "b", "2")
	see := func(tx kv.Tx, key, want string, exists bool) {
		t.Helper()
		got, ok, err := tx.Get(key)
		if err != nil || ok != exists || string(got) != want || (got != nil) != exists {
			t.Errorf("%q is %q (exists: %v, error: %v), want %q (%v)", key, got, ok, err, want, exists)
		}
	}
	update(t, s, func(tx kv.Tx) error {
		see(tx, "a", "1", true)
		see(tx, "c", "", false)
		err := errors.Join(tx.Put("a", []byte("3")), tx.Delete("b"), tx.Put("c", nil))
		see(tx, "a", "3", true)
		see(tx, "b", "", false)
		see(tx, "c", "", true)
		err = errors.Join(err, tx.Delete("a"), tx.Put("b", []byte("4")), tx.Delete("c"))
		see(tx, "a", "", false)
		see(tx, "b", "4", true)
		see(tx, "c", "", false)
		return err
	})
	wantAbsent(t, s, "a")
	wantValue(t, s, "b", "4")
	wantAbsent(t, s, "c")
}

func testErrorRollsBack(t *testing.T, s kv.Store) {
	put(t, s, "a", "1")
	errOwn := errors.New("own")
	err := s.Update(t.Context(), func(tx kv.Tx) error {
		if err := errors.Join(tx.Put("a", []byte("2")), tx.Put("b", nil)); err != nil {
			return err
		}
		return errOwn
	})
	if err != errOwn { // as it is, not wrapped
		t.Errorf("error is %v, want that of the function", err)
	}
	wantValue(t, s, "a", "1")
	wantAbsent(t, s, "b")
}

func testPanicRollsBack(t *testing.T, s kv.Store) {
	put(t, s, "a", "1")
	func() {
		defer func() {
			if r := recover(); r != "own" {
				t.Errorf("recovered %v, want what the function panicked with", r)
			}
		}()
		_ = s.Update(t.Context(), func(tx kv.Tx) error {
			_ = tx.Put("a", []byte("2"))
			panic("own")
		})
	}()
	wantValue(t, s, "a", "1")
	within(t, "the update after a panic", func() { put(t, s, "a", "3") })
	wantValue(t, s, "a", "3")
}

func testLimits(t *testing.T, s kv.Store) {
	put(t, s, "a", "1")
	for _, tt := range []struct {
		name string
		want error
		fn   func(kv.Tx)
	}{
		{"keys", kv.ErrTooManyKeys, func(tx kv.Tx) {
			_ = tx.Put("a", []byte("2"))
			for i := range kv.MaxKeys {
				_, _, _ = tx.Get(fmt.Sprint(i))
			}
		}},
		{"bytes", kv.ErrTooLarge, func(tx kv.Tx) {
			_ = tx.Put("a", []byte("2"))
			_ = tx.Put("b", make([]byte, kv.MaxBytes))
		}},
	} {
		err := s.Update(t.Context(), func(tx kv.Tx) error { tt.fn(tx); return nil })
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: error is %v, want %v although the function ignored it", tt.name, err, tt.want)
		}
		wantValue(t, s, "a", "1")
		wantAbsent(t, s, "b")
	}
}

// testLargestUpdate uses both limits to the full, with the longest keys.
func testLargestUpdate(t *testing.T, s kv.Store) {
	key := func(i int) string { return fmt.Sprintf("%02d", i) + strings.Repeat("k", kv.MaxKeyLen-2) }
	value := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, kv.MaxBytes/kv.MaxKeys) }
	update(t, s, func(tx kv.Tx) error {
		for i := range kv.MaxKeys {
			if _, _, err := tx.Get(key(i)); err != nil {
				return err
			}
			if err := tx.Put(key(i), value(i)); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range kv.MaxKeys {
		wantValue(t, s, key(i), string(value(i)))
	}
	put(t, s, "big", string(make([]byte, kv.MaxBytes)))
	wantValue(t, s, "big", string(make([]byte, kv.MaxBytes)))
}

func testBadKeys(t *testing.T, s kv.Store) {
	for _, key := range []string{"", strings.Repeat("k", kv.MaxKeyLen+1)} {
		_, _, errGet := s.Get(t.Context(), key)
		_, errMany := s.GetMany(t.Context(), []string{"a", key})
		errPut := s.Update(t.Context(), func(tx kv.Tx) error { return tx.Put(key, nil) })
		errDelete := s.Update(t.Context(), func(tx kv.Tx) error { return tx.Delete(key) })
		for _, err := range []error{errGet, errMany, errPut, errDelete} {
			if !errors.Is(err, kv.ErrBadKey) {
				t.Errorf("a key of %d bytes: %v, want %v", len(key), err, kv.ErrBadKey)
			}
		}
	}
}

func testGetMany(t *testing.T, s kv.Store) {
	put(t, s, "a", "1", "b", "", "c", "3")
	values, err := s.GetMany(t.Context(), []string{"c", "x", "b", "a", "c"})
	if err != nil || len(values) != 5 {
		t.Fatalf("%d values (%v), want 5", len(values), err)
	}
	for i, want := range []any{"3", nil, "", "1", "3"} {
		if got := values[i]; (got == nil) != (want == nil) || got != nil && string(got) != want {
			t.Errorf("value %d is %#v, want %#v", i, got, want)
		}
	}
	if values, err := s.GetMany(t.Context(), nil); err != nil || len(values) != 0 {
		t.Errorf("no keys give %d values (%v)", len(values), err)
	}
}
