package workorders

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// together queues calls while a change is under way, so that they are committed
// as one, in this order.
func together(t *testing.T, b *Book, calls ...func() error) []error {
	t.Helper()
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	b.change.Lock()
	for i, call := range calls {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = call()
		})
		until(t, "the call is queued", func() bool {
			b.queue.mu.Lock()
			defer b.queue.mu.Unlock()
			return len(b.queue.waiting) == i+1
		})
	}
	b.change.Unlock()
	wg.Wait()
	return errs
}

// TestChangesCommittedTogether: each sees what the one before it did, and the
// trouble of one is no other's.
func TestChangesCommittedTogether(t *testing.T) {
	t.Parallel()
	commits := 0
	b := openBook(t)
	b.opt.step = func(stage string) {
		if stage == "committed" {
			commits++
		}
	}
	d := newDirect(t, b)
	texts := make([]string, 3)
	order := func(i int, key string, a args) func() error {
		a["idempotency_key"] = key
		return func() error {
			ans, err := d.call("order_part", "U-01", a)
			texts[i] = ans.text
			return err
		}
	}
	element := func() args { return args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1} }
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	errs := together(t, b,
		order(0, "order-by-one", element()),
		order(1, "order-by-one", element()), // the same again
		order(2, "order-by-two", element()), // another, of the same part
		func() error {
			return b.update(t.Context(), "", "x", caller{}, func(*draft) (*keptAnswer, error) { panic("on purpose") })
		},
		func() error {
			return b.update(gone, "", "x", caller{}, func(*draft) (*keptAnswer, error) { t.Error("nobody waits for it"); return nil, nil })
		},
		func() error {
			_, err := d.call("add_note", "U-01", args{"work_order_id": "1044", "text": "after all"})
			return err
		},
	)
	if errs[0] != nil || errs[1] != nil || texts[0] != texts[1] || texts[0] == "" {
		t.Errorf("the same key twice: %q %v, %q %v", texts[0], errs[0], texts[1], errs[1])
	}
	if codeOf(errs[2]) != "duplicate_order" {
		t.Errorf("the part again: %v", errs[2])
	}
	if errs[3] == nil || errs[3].Error() != "panic: on purpose" {
		t.Errorf("the one that panics: %v", errs[3])
	}
	if !errors.Is(errs[4], context.Canceled) || errs[5] != nil {
		t.Errorf("the one that gave up: %v; the last: %v", errs[4], errs[5])
	}
	now := b.state.Load()
	if w := now.workOrders.get("WO-1044"); commits != 1 || len(w.PartOrderIDs) != 1 || w.Notes[len(w.Notes)-1].Text != "after all" {
		t.Errorf("%d commits, the job has %v", commits, w.PartOrderIDs)
	}
	checked(t, b)
	sameAfterReading(t, b)
}

// TestCommitThatFails: nobody who was answered from it hears of success.
func TestCommitThatFails(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	d := newDirect(t, b)
	before := b.state.Load()
	note := func(job string) func() error {
		return func() error {
			_, err := d.call("add_note", "U-01", args{"work_order_id": job, "text": "x"})
			return err
		}
	}
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	errs := together(t, b, note("1999"), note("1044"), note("1043"), note("1998"))
	for i, want := range []string{"work_order_not_found", "not_stored", "not_stored", "not_stored"} {
		if codeOf(errs[i]) != want {
			t.Errorf("call %d: %v, want %s", i, errs[i], want)
		}
	}
	if b.state.Load() != before {
		t.Error("what was not stored is in the book")
	}
}
