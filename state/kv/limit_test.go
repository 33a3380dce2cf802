package kv

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// mapTx is a Tx without limits; it fails for the key "broken".
type mapTx map[string][]byte

var errBroken = errors.New("broken")

func (m mapTx) Get(key string) ([]byte, bool, error) {
	if key == "broken" {
		return nil, false, errBroken
	}
	v, ok := m[key]
	return v, ok, nil
}

func (m mapTx) Put(key string, value []byte) error {
	if key == "broken" {
		return errBroken
	}
	m[key] = value
	return nil
}

func (m mapTx) Delete(key string) error {
	delete(m, key)
	return nil
}

func TestRunLimited(t *testing.T) {
	t.Parallel()
	half := make([]byte, MaxBytes/2)
	errOwn := errors.New("own")
	// ignoring makes a function of tx out of steps whose errors it ignores, so
	// that only what RunLimited itself remembers can fail.
	ignoring := func(steps ...func(Tx) error) func(Tx) error {
		return func(tx Tx) error {
			for _, step := range steps {
				_ = step(tx)
			}
			return nil
		}
	}
	put := func(key string, value []byte) func(Tx) error {
		return func(tx Tx) error { return tx.Put(key, value) }
	}
	get := func(key string) func(Tx) error {
		return func(tx Tx) error { _, _, err := tx.Get(key); return err }
	}
	del := func(key string) func(Tx) error {
		return func(tx Tx) error { return tx.Delete(key) }
	}
	touch := func(n int) func(Tx) error {
		return func(tx Tx) error {
			for i := range n {
				key := fmt.Sprint(i)
				if err := []func(string) func(Tx) error{get, del}[i%2](key)(tx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name  string
		fn    func(Tx) error
		wrote bool
		err   error
	}{
		{"nothing", ignoring(), false, nil},
		{"read", get("a"), false, nil},
		{"write", put("a", nil), true, nil},
		{"delete", del("a"), true, nil},
		{"own error", func(tx Tx) error { _ = tx.Put("a", nil); return errOwn }, false, errOwn},
		{"as many keys as allowed", touch(MaxKeys), true, nil},
		{"one key more", touch(MaxKeys + 1), false, ErrTooManyKeys},
		{"one key more, ignored", ignoring(touch(MaxKeys + 1)), false, ErrTooManyKeys},
		{"many times the same key", ignoring(touch(MaxKeys), touch(MaxKeys), put("3", nil)), true, nil},
		{"as many bytes as allowed", ignoring(put("a", half), put("b", half)), true, nil},
		{"one byte more", ignoring(put("a", half), put("b", half), put("c", []byte{1})), false, ErrTooLarge},
		{"the same key again", ignoring(put("a", half), put("a", half), put("a", half), get("a")), true, nil},
		{"deleted again", ignoring(put("a", half), put("b", half), del("b"), put("c", half)), true, nil},
		{"empty key", ignoring(put("", half)), false, ErrBadKey},
		{"long key", ignoring(put(strings.Repeat("k", MaxKeyLen), nil)), true, nil},
		{"too long key", ignoring(get(strings.Repeat("k", MaxKeyLen+1))), false, ErrBadKey},
		{"backend error, ignored", ignoring(get("broken"), put("a", nil)), false, errBroken},
		{"backend error of a write, ignored", ignoring(put("broken", nil)), false, errBroken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wrote, err := RunLimited(mapTx{}, tt.fn)
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Errorf("error is %v, want %v", err, tt.err)
			}
			if wrote != (tt.wrote && tt.err == nil) {
				t.Errorf("wrote is %v", wrote)
			}
		})
	}
}

func TestTxIsDoneWhenFnReturns(t *testing.T) {
	t.Parallel()
	var kept Tx
	if _, err := RunLimited(mapTx{}, func(tx Tx) error { kept = tx; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kept.Get("a"); !errors.Is(err, ErrTxDone) {
		t.Errorf("get after the end: %v", err)
	}
	if err := kept.Put("a", nil); !errors.Is(err, ErrTxDone) {
		t.Errorf("put after the end: %v", err)
	}
	if err := kept.Delete("a"); !errors.Is(err, ErrTxDone) {
		t.Errorf("delete after the end: %v", err)
	}
}
