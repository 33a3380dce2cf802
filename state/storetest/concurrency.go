package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"deskhand/state/kv"
)

// increment adds one to the number under key.
func increment(tx kv.Tx, key string) error {
	value, ok, err := tx.Get(key)
	if err != nil {
		return err
	}
	n := 0
	if ok {
		if n, err = strconv.Atoi(string(value)); err != nil {
			return err
		}
	}
	return tx.Put(key, []byte(strconv.Itoa(n+1)))
}

func testIncrements(t *testing.T, s kv.Store) {
	const goroutines, times = 32, 10
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range times {
				if err := s.Update(t.Context(), func(tx kv.Tx) error { return increment(tx, "n") }); err != nil {
					t.Errorf("increment: %v", err)
				}
			}
		})
	}
	wg.Wait()
	wantValue(t, s, "n", strconv.Itoa(goroutines*times))
}

// testWriteSkew is what snapshot isolation gets wrong: two updates read the
// same two keys and each takes away another one, because one is left.
func testWriteSkew(t *testing.T, s kv.Store) {
	for range 10 {
		put(t, s, "a", "here", "b", "here")
		var wg sync.WaitGroup
		for _, mine := range []string{"a", "b"} {
			wg.Go(func() {
				err := s.Update(t.Context(), func(tx kv.Tx) error {
					_, a, err1 := tx.Get("a")
					_, b, err2 := tx.Get("b")
					if err := errors.Join(err1, err2); err != nil || !a || !b {
						return err
					}
					return tx.Delete(mine)
				})
				if err != nil {
					t.Errorf("update: %v", err)
				}
			})
		}
		wg.Wait()
		if keys := keysOf(t, s, kv.ScanOptions{}); len(keys) != 1 {
			t.Fatalf("%d keys are left, want 1", len(keys))
		}
	}
}

// testSnapshots writes ten keys together, over and over, and removes and adds
// another, while readers look whether they ever see two generations at once.
func testSnapshots(t *testing.T, s kv.Store) {
	const n, generations = 10, 50
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", i)
	}
	write := func(generation int) {
		update(t, s, func(tx kv.Tx) error {
			for _, key := range keys {
				if err := tx.Put(key, []byte(strconv.Itoa(generation))); err != nil {
					return err
				}
			}
			if generation%2 == 0 {
				return tx.Put("even", nil)
			}
			return tx.Delete("even")
		})
	}
	write(0)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for reads := 0; reads < 10 || !stop.Load(); reads++ {
				if err := oneGeneration(t.Context(), s, keys, i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for generation := range generations {
		write(generation)
	}
	stop.Store(true)
	wg.Wait()
}

// oneGeneration reads all keys in one of four ways, and checks that they are
// of one generation.
func oneGeneration(ctx context.Context, s kv.Store, keys []string, way int) error {
	values, err := s.GetMany(ctx, append(slices.Clone(keys), "even"))
	if way < 2 {
		var pairs []kv.Pair
		pairs, err = s.Scan(ctx, kv.ScanOptions{Reverse: way == 1})
		values = make([][]byte, len(keys)+1)
		for _, p := range pairs {
			i := len(keys)
			if p.Key != "even" {
				i, _ = strconv.Atoi(p.Key[1:])
			}
			values[i] = p.Value
		}
	}
	if err != nil {
		return err
	}
	for i, value := range values[:len(keys)] {
		if string(value) != string(values[0]) {
			return fmt.Errorf("%s is of generation %q, %s of %q", keys[0], values[0], keys[i], value)
		}
	}
	generation, err := strconv.Atoi(string(values[0]))
	if err == nil && (generation%2 == 0) != (values[len(keys)] != nil) {
		err = fmt.Errorf("a key that comes and goes does not fit to generation %d", generation)
	}
	return err
}

func testCancelled(t *testing.T, s kv.Store) {
	put(t, s, "a", "1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ran := false
	errUpdate := s.Update(ctx, func(tx kv.Tx) error { ran = true; return tx.Put("a", nil) })
	_, _, errGet := s.Get(ctx, "a")
	_, errMany := s.GetMany(ctx, []string{"a"})
	_, errScan := s.Scan(ctx, kv.ScanOptions{})
	for _, err := range []error{errUpdate, errGet, errMany, errScan} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want %v", err, context.Canceled)
		}
	}
	if ran {
		t.Error("the function ran although ctx had ended")
	}
	wantValue(t, s, "a", "1")
}

func testCancelledInside(t *testing.T, s kv.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, func(tx kv.Tx) error {
		err := tx.Put("a", nil)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	wantAbsent(t, s, "a")
}

// testCancelledWaiting cancels an update while another one is in its function.
// A backend that lets both run may have committed it; none may let it hang.
func testCancelledWaiting(t *testing.T, s kv.Store) {
	inside, release := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		var once sync.Once
		err := s.Update(t.Context(), func(tx kv.Tx) error {
			once.Do(func() { close(inside) })
			<-release
			return tx.Put("first", nil)
		})
		if err != nil {
			t.Errorf("the first update: %v", err)
		}
	})
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	within(t, "a cancelled update", func() {
		var second sync.WaitGroup
		second.Go(func() {
			err := s.Update(ctx, func(tx kv.Tx) error { return tx.Put("second", nil) })
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("the second update: %v", err)
			}
		})
		cancel()
		second.Wait()
	})
	close(release)
	first.Wait()
	wantValue(t, s, "first", "")
}
