// Package storetest holds the tests that every kv.Store passes. A backend
// calls TestStore, and TestReopen if it keeps anything, from a test of its
// own; what is peculiar to it (files, locks, leases) it tests by itself.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"deskhand/state/kv"
)

// patience is how long a test waits for something that has to come. It is
// never waited out unless the test fails.
const patience = 20 * time.Second

// TestStore runs every test on stores that open makes: empty ones, each
// independent of the others. They are closed by the tests; open registers
// with t.Cleanup whatever else has to be cleaned up.
func TestStore(t *testing.T, open func(t *testing.T) kv.Store) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, kv.Store)
	}{
		{"Values", testValues},
		{"Ownership", testOwnership},
		{"TxSeesItsWrites", testTxSeesItsWrites},
		{"ErrorRollsBack", testErrorRollsBack},
		{"PanicRollsBack", testPanicRollsBack},
		{"Limits", testLimits},
		{"LargestUpdate", testLargestUpdate},
		{"BadKeys", testBadKeys},
		{"GetMany", testGetMany},
		{"Scan", testScan},
		{"ScanPages", testScanPages},
		{"Model", testModel},
		{"Increments", testIncrements},
		{"WriteSkew", testWriteSkew},
		{"Snapshots", testSnapshots},
		{"Cancelled", testCancelled},
		{"CancelledInside", testCancelledInside},
		{"CancelledWaiting", testCancelledWaiting},
		{"Watch", testWatch},
		{"WatchEnds", testWatchEnds},
		{"WatchNeverBlocks", testWatchNeverBlocks},
		{"Closed", testClosed},
		{"CloseUnderLoad", testCloseUnderLoad},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			tt.test(t, s)
		})
	}
}

// TestReopen tests that what was written is there in the next life of the
// store. Each call of open opens the store that is kept under name, a file
// name in a folder that exists; it is called only while that store is closed.
func TestReopen(t *testing.T, open func(t *testing.T, name string) kv.Store) {
	t.Parallel()
	name := t.TempDir() + "/store"
	value := func(life, i int) string { return fmt.Sprintf("value %d of life %d", i, life) }
	for life := range 4 {
		s := open(t, name)
		pairs, err := s.Scan(t.Context(), kv.ScanOptions{})
		if err != nil || len(pairs) != 10*life {
			t.Fatalf("life %d starts with %d pairs (%v), want %d", life, len(pairs), err, 10*life)
		}
		for i, p := range pairs {
			if want := value(i/10, i%10); string(p.Value) != want {
				t.Fatalf("%q is %q, want %q", p.Key, p.Value, want)
			}
		}
		update(t, s, func(tx kv.Tx) error {
			for i := range 10 {
				if err := tx.Put(fmt.Sprintf("%d/%d", life, i), []byte(value(life, i))); err != nil {
					return err
				}
			}
			return nil
		})
		err = s.Update(t.Context(), func(tx kv.Tx) error {
			return errors.Join(tx.Put("never", nil), errors.New("no"))
		})
		if err == nil {
			t.Fatal("an update whose function fails succeeded")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// update runs fn and fails the test if that fails.
func update(t *testing.T, s kv.Store, fn func(kv.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// put writes key-value pairs, given in turns.
func put(t *testing.T, s kv.Store, pairs ...string) {
	t.Helper()
	update(t, s, func(tx kv.Tx) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := tx.Put(pairs[i], []byte(pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
}

// wantValue checks the value of a key.
func wantValue(t *testing.T, s kv.Store, key, want string) {
	t.Helper()
	got, ok, err := s.Get(t.Context(), key)
	if err != nil || !ok || string(got) != want {
		t.Errorf("%q is %q (exists: %v, error: %v), want %q", key, got, ok, err, want)
	}
}

// wantAbsent checks that a key does not exist.
func wantAbsent(t *testing.T, s kv.Store, key string) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), key); err != nil || ok || got != nil {
		t.Errorf("%q is %q (exists: %v, error: %v), want nothing", key, got, ok, err)
	}
}

// keysOf lists the keys of a scan.
func keysOf(t *testing.T, s kv.Store, o kv.ScanOptions) []string {
	t.Helper()
	pairs, err := s.Scan(t.Context(), o)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = p.Key
		if p.Value == nil {
			t.Errorf("%q has a nil value", p.Key)
		}
	}
	return keys
}

// within runs f and fails the test if it does not return.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatalf("%s hangs", what)
	}
}
