package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deskhand/state"
	"deskhand/state/bolt"
	"deskhand/state/memory"
)

// deskFile is the desk's store in the home.
const deskFile = "desk.db"

// openOrReplace opens the desk's store and runs use, which reads it. A file
// that turns out to be damaged, at opening or when it is read, is set aside
// once and a new desk begun, and a notice says so.
func (d *desk) openOrReplace(ctx context.Context, wait time.Duration, use func() error) error {
	err := d.openAndUse(ctx, wait, 0, use)
	var damaged *bolt.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	aside, asideErr := bolt.SetAside(damaged.Path, time.Now())
	if asideErr != nil {
		return errors.Join(err, asideErr)
	}
	d.notices = append(d.notices, fmt.Sprintf("the desk's file was damaged (%s); it was kept as %s, and a new desk was begun", damaged.Reason, aside))
	last := 0
	for _, name := range d.options.setAside() {
		n, err := highestApproval(name)
		if err != nil {
			return err
		}
		last = max(last, n)
	}
	return d.openAndUse(ctx, wait, last, use)
}

// openAndUse opens the store, makes the numbers of its approvals begin after
// last, and runs use. After an error the store is closed.
func (d *desk) openAndUse(ctx context.Context, wait time.Duration, last int, use func() error) (err error) {
	if d.options.store == storeMemory {
		d.store = state.New(memory.New())
		return use()
	}
	backend, err := bolt.Open(filepath.Join(d.options.home, deskFile), bolt.Options{Wait: wait})
	if err != nil {
		return err
	}
	d.store = state.New(backend)
	defer func() {
		if err != nil {
			err = errors.Join(err, d.store.Close())
		}
	}()
	if last > 0 {
		if err := d.store.SkipApprovals(ctx, last); err != nil {
			return err
		}
	}
	return use()
}

// highestApproval is the last number that the desk in a damaged file gave.
func highestApproval(name string) (last int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close() // only read
	return state.HighestApproval(file)
}

// setAside lists the files of damaged desks in the home, the newest first.
func (o options) setAside() []string {
	found, _ := filepath.Glob(filepath.Join(o.home, deskFile+".damaged-*")) // the pattern is sound unless the home is odd
	slices.Sort(found)
	slices.Reverse(found)
	return found
}
