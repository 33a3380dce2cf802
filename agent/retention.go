package agent

import (
	"context"
	"fmt"
	"time"
)

// Retention says how long conversations that have ended are kept. What waits
// for a person is never removed by it.
type Retention struct {
	// MaxAge removes conversations whose last change is longer ago; 0 keeps all.
	MaxAge time.Duration
	// MaxCount keeps at most that many ended conversations, the newest; 0 keeps
	// all.
	MaxCount int
}

// prunePage is how many conversations are looked at before any is removed.
const prunePage = 200

// Prune removes ended conversations by age and count and gives their number. A
// conversation with an open turn, or with a call whose outcome is unknown, is
// kept and does not count. Cut short, it goes on the next time.
func (e *Engine) Prune(ctx context.Context, r Retention) (int, error) {
	if err := e.store.FinishPruning(ctx); err != nil {
		return 0, err
	}
	if r.MaxAge <= 0 && r.MaxCount <= 0 {
		return 0, nil
	}
	kept, err := e.needed(ctx)
	if err != nil {
		return 0, err
	}
	removed, ended, before := 0, 0, 0
	oldest := e.now().Add(-r.MaxAge)
	for {
		heads, err := e.store.Conversations(ctx, before, prunePage)
		if err != nil {
			return removed, fmt.Errorf("reading the conversations: %w", err)
		}
		for _, h := range heads {
			before = h.Number
			if h.Open != nil || kept[h.Conversation] {
				continue
			}
			ended++
			if (r.MaxAge <= 0 || !h.Updated.Before(oldest)) && (r.MaxCount <= 0 || ended <= r.MaxCount) {
				continue
			}
			if err := e.store.Prune(ctx, h.Conversation); err != nil {
				return removed, err
			}
			removed++
		}
		if len(heads) < prunePage {
			break
		}
	}
	if removed > 0 {
		if _, err := e.store.Sweep(ctx); err != nil {
			return removed, fmt.Errorf("removing what large values left: %w", err)
		}
	}
	return removed, nil
}

// needed are the conversations with calls that a person may have to act on.
func (e *Engine) needed(ctx context.Context) (map[ConversationID]bool, error) {
	calls, err := e.store.OpenCalls(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what waits: %w", err)
	}
	kept := map[ConversationID]bool{}
	for _, c := range calls {
		kept[c.Conversation] = true
	}
	return kept, nil
}
