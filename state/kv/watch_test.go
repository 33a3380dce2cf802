package kv

import (
	"context"
	"sync"
	"testing"
)

func TestWatchersCoalesce(t *testing.T) {
	t.Parallel()
	var w Watchers
	c := w.Add(t.Context())
	for range 100 {
		w.Notify()
	}
	if _, ok := <-c; !ok {
		t.Fatal("the channel is closed")
	}
	select {
	case <-c:
		t.Fatal("a second signal for the same notice")
	default:
	}
}

func TestWatchersEnd(t *testing.T) {
	t.Parallel()
	var w Watchers
	ctx, cancel := context.WithCancel(t.Context())
	ended, stays := w.Add(ctx), w.Add(t.Context())
	cancel()
	if _, ok := <-ended; ok {
		t.Error("a signal instead of the end")
	}
	w.Notify()
	if _, ok := <-stays; !ok {
		t.Error("the end of one watcher ended another")
	}
	w.Close()
	w.Close()
	w.Notify()
	if _, ok := <-stays; ok {
		t.Error("not closed with the store")
	}
	if _, ok := <-w.Add(t.Context()); ok {
		t.Error("a watcher of a closed store is not closed")
	}
}

func TestWatchersRace(t *testing.T) {
	t.Parallel()
	var w Watchers
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				c := w.Add(ctx)
				w.Notify()
				cancel()
				for range c {
				}
			}
		})
	}
	wg.Wait()
	w.Close()
}
