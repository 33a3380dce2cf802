package agent

import (
	"context"
	"maps"
)

// Watch signals, coalesced, that something changed: in the store, or in what
// [Engine.Live] gives. What changed is read from there. The channel is closed
// when ctx ends.
func (e *Engine) Watch(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	stored := e.store.Watch(ctx)
	mine := make(chan struct{}, 1)
	e.mu.Lock()
	e.changed[mine] = true
	e.mu.Unlock()
	go func() {
		defer close(out)
		defer func() {
			e.mu.Lock()
			delete(e.changed, mine)
			e.mu.Unlock()
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-stored:
				if !ok {
					return
				}
			case <-mine:
			}
			signal(out)
		}
	}()
	return out
}

// signal leaves a word in a channel of length one, unless one is there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Live gives the text of replies that are still arriving, by conversation. It
// is a preview for the eye; the reply counts once it is stored.
func (e *Engine) Live() map[ConversationID]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.live)
}

func (e *Engine) setLive(id ConversationID, text string) {
	e.mu.Lock()
	if text == "" {
		delete(e.live, id)
	} else {
		e.live[id] = text
	}
	for c := range e.changed {
		signal(c)
	}
	e.mu.Unlock()
}

// stoppable gives a context that [Engine.Abort] ends, for work of a turn.
func (e *Engine) stoppable(ctx context.Context, turn TurnID) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	e.mu.Lock()
	e.stopSeq++
	n := e.stopSeq
	if e.stops[turn] == nil {
		e.stops[turn] = map[int]context.CancelFunc{}
	}
	e.stops[turn][n] = cancel
	e.mu.Unlock()
	return ctx, func() {
		e.mu.Lock()
		delete(e.stops[turn], n)
		if len(e.stops[turn]) == 0 {
			delete(e.stops, turn)
		}
		e.mu.Unlock()
		cancel()
	}
}

// driven reports whether this engine does anything for a turn.
func (e *Engine) driven(turn TurnID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.stops[turn]) > 0
}

// stop ends what this engine does for a turn.
func (e *Engine) stop(turn TurnID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, cancel := range e.stops[turn] {
		cancel()
	}
}

// Progress gives the newest preliminary word of calls that run. Only the final
// result of a call is ever stored.
func (e *Engine) Progress() map[CallID]Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.progress)
}

func (e *Engine) setProgress(id CallID, p Progress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p == (Progress{}) {
		delete(e.progress, id)
	} else {
		e.progress[id] = p
	}
	for c := range e.changed {
		signal(c)
	}
}
