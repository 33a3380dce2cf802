package workorders

import (
	"context"
	"errors"
	"fmt"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// Changes run one after another, each on what the one before it left. While
// one is being synced to the disk, others gather; they are then checked and
// committed together, so that many clients wait for one sync and not for each
// other's.

// batchMost is how many changes are committed together at most.
const batchMost = 64

// errCommit marks a failed commit: whether it reached the disk is not known.
var errCommit = errors.New("the change could not be stored")

// A change is one call that waits for its turn.
type change struct {
	ctx       context.Context // of the call, which waits for the change
	key, what string
	caller    caller
	f         func(*draft) (*keptAnswer, error)

	done     bool
	err      error
	panicked any
}

// A queue holds the changes that wait, in their order.
type queue struct {
	mu      sync.Mutex
	waiting []*change
}

func (q *queue) add(c *change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, c)
}

func (q *queue) take() []*change {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), batchMost)
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return batch
}

// update runs f on a draft and commits what it changed, synced and in one
// transaction, unless f fails or ctx ends first. Drafts run one at a time. The
// kept answer that f returns is stored under key if key is not empty.
func (b *Book) update(ctx context.Context, key, what string, c caller, f func(*draft) (*keptAnswer, error)) error {
	mine := &change{ctx: ctx, key: key, what: what, caller: c, f: f}
	b.queue.add(mine)
	b.finish(mine)
	if mine.panicked != nil {
		panic(mine.panicked) // in the call that it belongs to
	}
	return mine.err
}

// finish returns when the change is done, by this caller or by another one
// that took it along.
func (b *Book) finish(mine *change) {
	b.change.Lock()
	defer b.change.Unlock()
	for !mine.done {
		b.commit(b.queue.take())
	}
}

// commit checks the changes in their order and stores what they make together.
func (b *Book) commit(batch []*change) {
	s := b.state.Load()
	now, fresh := b.now(s), map[string]*keptAnswer{}
	type written struct {
		*draft
		key  string
		kept *keptAnswer
	}
	var drafts []written
	first := len(batch) // the first that changed something
	for i, c := range batch {
		d := &draft{
			state: s, now: now, what: c.what, caller: c.caller, fresh: fresh,
			workOrders: map[string]*WorkOrder{}, visits: map[string]*Visit{}, partOrders: map[string]*PartOrder{},
		}
		kept := c.run(d)
		c.done = true
		if c.err != nil || c.panicked != nil || d.empty() {
			continue
		}
		first = min(first, i)
		drafts = append(drafts, written{d, c.key, kept})
		if c.key != "" && kept != nil {
			fresh[c.key] = kept
		}
		s = &state{contents: d.apply(), id: s.id, clock: s.clock}
	}
	if len(drafts) == 0 {
		return
	}
	b.opt.step("checked")
	err := b.db.Update(func(tx *bolt.Tx) error {
		defer b.opt.step("written")
		for _, d := range drafts {
			if err := d.write(tx, d.key, d.kept); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		// What came after the first change was answered from it.
		for _, c := range batch[first:] {
			c.err = fmt.Errorf("%w: %w", errCommit, err)
		}
		return
	}
	b.opt.step("committed")
	b.state.Store(s)
	b.opt.step("published")
}

// run lets the change's rules work on the draft. Their panic belongs to the
// call that they are of, not to the one that runs them.
func (c *change) run(d *draft) (kept *keptAnswer) {
	defer func() {
		if p := recover(); p != nil {
			c.panicked = p
		}
	}()
	if c.err = c.ctx.Err(); c.err == nil {
		kept, c.err = c.f(d)
	}
	return kept
}
