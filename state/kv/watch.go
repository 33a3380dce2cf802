package kv

import (
	"context"
	"sync"
)

// Watchers hands the signals of one store to its watchers. The zero value is
// ready to use. A backend whose changes all pass through its own process needs
// nothing else for Watch.
type Watchers struct {
	mu     sync.Mutex
	open   map[chan struct{}]func() bool // to the stop of what waits for the end of its ctx
	closed bool
}

// Add returns the channel of a new watcher; see Store.Watch. After Close, and
// for a ctx that has ended, it is closed already.
func (w *Watchers) Add(ctx context.Context) <-chan struct{} {
	// One place in the buffer is what coalesces: a signal that nobody has
	// taken yet stands for all that come after it.
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || ctx.Err() != nil {
		close(c)
		return c
	}
	if w.open == nil {
		w.open = make(map[chan struct{}]func() bool)
	}
	w.open[c] = context.AfterFunc(ctx, func() { w.remove(c) })
	return c
}

// Notify leaves a signal for every watcher that has none waiting. It never
// blocks on a watcher.
func (w *Watchers) Notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Close closes every channel.
func (w *Watchers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for c, stop := range w.open {
		stop()
		close(c)
	}
	w.open = nil
}

func (w *Watchers) remove(c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.open[c]; ok {
		delete(w.open, c)
		close(c)
	}
}
