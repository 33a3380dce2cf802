package storetest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"deskhand/state/kv"
)

// testWatch writes numbers one after another and, after each, waits until a
// watcher that reads after every signal has seen it.
func testWatch(t *testing.T, s kv.Store) {
	signals := s.Watch(t.Context())
	seen := make(chan string, 1)
	var watcher sync.WaitGroup
	defer watcher.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watcher.Go(func() {
		for {
			select {
			case <-signals:
			case <-ctx.Done():
				return
			}
			value, _, err := s.Get(ctx, "n")
			if err != nil {
				return
			}
			select {
			case seen <- string(value):
			case <-ctx.Done():
				return
			}
		}
	})
	for i := range 20 {
		want := strconv.Itoa(i)
		put(t, s, "n", want)
		for got := ""; got != want; {
			select {
			case got = <-seen:
			case <-ctx.Done():
				t.Fatalf("no signal brought %s", want)
			}
		}
	}
}

func testWatchEnds(t *testing.T, s kv.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	withCtx, withStore := s.Watch(ctx), s.Watch(t.Context())
	cancel()
	within(t, "a watch whose ctx has ended", func() {
		for range withCtx {
		}
	})
	put(t, s, "a", "1")
	within(t, "a signal", func() {
		if _, ok := <-withStore; !ok {
			t.Error("the watch ended before its store")
		}
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, "a watch of a closed store", func() {
		for range withStore {
		}
	})
}

func testWatchNeverBlocks(t *testing.T, s kv.Store) {
	for range 10 {
		_ = s.Watch(t.Context()) // nobody ever reads it
	}
	within(t, "a writer with deaf watchers", func() {
		for i := range 20 {
			put(t, s, "n", strconv.Itoa(i))
		}
	})
	wantValue(t, s, "n", "19")
}

func testClosed(t *testing.T, s kv.Store) {
	put(t, s, "a", "1")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		ran := false
		errUpdate := s.Update(t.Context(), func(kv.Tx) error { ran = true; return nil })
		_, _, errGet := s.Get(t.Context(), "a")
		_, errMany := s.GetMany(t.Context(), []string{"a"})
		_, errScan := s.Scan(t.Context(), kv.ScanOptions{})
		for _, err := range []error{errUpdate, errGet, errMany, errScan} {
			if !errors.Is(err, kv.ErrClosed) {
				t.Errorf("error is %v, want %v", err, kv.ErrClosed)
			}
		}
		if ran {
			t.Error("the function ran on a closed store")
		}
		within(t, "a watch of a closed store", func() {
			for range s.Watch(t.Context()) {
			}
		})
	}
}

// testCloseUnderLoad closes the store while everything is being done with it:
// whatever is under way either happens or says that the store is closed.
func testCloseUnderLoad(t *testing.T, s kv.Store) {
	work := []func() error{
		func() error {
			return s.Update(t.Context(), func(tx kv.Tx) error { return increment(tx, "n") })
		},
		func() error { _, _, err := s.Get(t.Context(), "n"); return err },
		func() error { _, err := s.Scan(t.Context(), kv.ScanOptions{}); return err },
	}
	var busy, done sync.WaitGroup
	for i := range 9 {
		busy.Add(1)
		done.Go(func() {
			err := work[i%len(work)]()
			busy.Done()
			for err == nil {
				err = work[i%len(work)]()
			}
			if !errors.Is(err, kv.ErrClosed) {
				t.Errorf("error is %v, want %v", err, kv.ErrClosed)
			}
		})
	}
	busy.Wait()
	within(t, "close", func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		done.Wait()
	})
}
