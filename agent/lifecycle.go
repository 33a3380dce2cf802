package agent

import (
	"context"
	"sync"
)

// Happening is a typed word about a turn's life, for whoever wants to follow
// it. It says that something happened; what is so, the store says.
type Happening struct {
	Kind         HappeningKind
	Conversation ConversationID
	Turn         TurnID
	// Call is set for ToolStarted, ToolProgressed and ToolFinished.
	Call CallID
	// Progress is set for ToolProgressed.
	Progress Progress
}

// HappeningKind tells the kinds of a Happening apart.
type HappeningKind string

// The kinds. A turn that runs through starts and ends once each; each pause
// comes after its commit, each resume before the approved tool starts. Opening
// a store says nothing: a restored turn neither starts nor pauses again.
const (
	TurnStarted    HappeningKind = "turn started"
	TurnWaits      HappeningKind = "turn paused"
	TurnResumed    HappeningKind = "turn resumed"
	TurnStopped    HappeningKind = "turn stalled"
	TurnEnded      HappeningKind = "turn ended"
	ToolStarted    HappeningKind = "tool started"
	ToolProgressed HappeningKind = "tool progressed"
	ToolFinished   HappeningKind = "tool finished"
	// Lagged takes the place of what a slow follower missed: it has to read the
	// store.
	Lagged HappeningKind = "lagged"
)

// followers hand happenings out. The zero value is ready.
type followers struct {
	mu  sync.Mutex
	all map[*follower]bool
}

type follower struct {
	out    chan Happening
	lagged bool
}

// Follow gives what happens from now on, in order, each once. A follower that
// does not keep up with buffer happenings misses some, and is told so. The
// channel is closed when ctx ends.
func (e *Engine) Follow(ctx context.Context, buffer int) <-chan Happening {
	f := &follower{out: make(chan Happening, max(1, buffer))}
	e.followers.mu.Lock()
	if e.followers.all == nil {
		e.followers.all = map[*follower]bool{}
	}
	e.followers.all[f] = true
	e.followers.mu.Unlock()
	context.AfterFunc(ctx, func() {
		e.followers.mu.Lock()
		defer e.followers.mu.Unlock()
		delete(e.followers.all, f)
		close(f.out)
	})
	return f.out
}

// tell hands a happening to every follower, never waiting for one.
func (e *Engine) tell(h Happening) {
	e.followers.mu.Lock()
	defer e.followers.mu.Unlock()
	for f := range e.followers.all {
		if f.lagged {
			// The word about the gap goes first, and needs a place of its own.
			select {
			case f.out <- Happening{Kind: Lagged}:
				f.lagged = false
			default:
				continue
			}
		}
		select {
		case f.out <- h:
		default:
			f.lagged = true
		}
	}
}

// tellTurn tells what became of a turn between two states of its head.
func (e *Engine) tellTurn(h Head, turn TurnID, before, after TurnState) {
	if before == after {
		return
	}
	kind := map[TurnState]HappeningKind{TurnPaused: TurnWaits, TurnStalled: TurnStopped, TurnCompleted: TurnEnded, TurnAborted: TurnEnded}[after]
	if kind == "" {
		return
	}
	e.tell(Happening{Kind: kind, Conversation: h.Conversation, Turn: turn})
}
