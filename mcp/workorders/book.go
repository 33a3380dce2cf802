package workorders

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	bolt "go.etcd.io/bbolt"
)

// Options for [Open]. The zero value is usable.
type Options struct {
	// LockTimeout is how long to wait for another process to let go of the
	// file. Zero means one second.
	LockTimeout time.Duration

	// Now stands above the book's own clock if it is set.
	Now func() time.Time

	wall func() time.Time // the machine's clock, replaced in tests
	step func(string)     // told where a change is, in tests that kill the process there
}

// A Book holds the jobs, visits, parts and part orders in one bbolt file,
// which it keeps locked until Close. It is safe for concurrent use: readers
// see the last committed state, changes run one after another.
type Book struct {
	path  string
	db    *bolt.DB
	opt   Options
	state atomic.Pointer[state]

	change sync.Mutex // held while changes are checked and committed
	queue  queue      // of changes that wait
}

// state is what one commit left.
type state struct {
	*contents
	id    string
	clock clockRecord
}

// Open opens the book at path. If nothing is there, it makes a book filled
// with the demo data, file mode 0600. The errors to decide on are [ErrHeld],
// [ErrDamaged] and [ErrNewer]; a file is never overwritten.
func Open(path string, o Options) (*Book, error) {
	if o.LockTimeout == 0 {
		o.LockTimeout = time.Second
	}
	if o.wall == nil {
		o.wall = time.Now
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		l, err := demoLedger()
		if err != nil {
			return nil, err
		}
		if err := createFile(path, l, newBookID(), demoClock(l, o.wall())); err != nil {
			return nil, fmt.Errorf("make book %s: %w", path, err)
		}
	}
	db, err := openFile(path, o.LockTimeout)
	if err != nil {
		return nil, fmt.Errorf("open book %s: %w", path, err)
	}
	b := &Book{path: path, db: db, opt: o}
	if err := guarded(b.load); err != nil {
		_ = guarded(db.Close)
		return nil, fmt.Errorf("open book %s: %w", path, err)
	}
	return b, nil
}

// load reads the whole file into a new state.
func (b *Book) load() error {
	return b.db.View(func(tx *bolt.Tx) error {
		l, id, clock, err := readLedger(tx)
		if err != nil {
			return err
		}
		c, err := newContents(l)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		b.state.Store(&state{contents: c, id: id, clock: clock})
		return nil
	})
}

func newBookID() string { return ulid.MustNew(ulid.Now(), rand.Reader).String() }

func demoClock(l *ledger, wall time.Time) clockRecord {
	return clockRecord{Kind: clockDemo, Start: l.Reference.Now, MadeAt: Stamp{wall}}
}

// ID is the random identity of this book. Reset gives it a new one.
func (b *Book) ID() string { return b.state.Load().id }

// Path is the file of the book.
func (b *Book) Path() string { return b.path }

// Now is the book's time, in the company's zone: from [Options.Now] if given,
// else from the demo clock, else the machine's.
func (b *Book) Now() time.Time { return b.now(b.state.Load()) }

func (b *Book) now(s *state) time.Time {
	if b.opt.Now != nil {
		return b.opt.Now().In(s.zone)
	}
	return s.clock.now(b.opt.wall()).In(s.zone)
}

// clockKind names the clock that Now follows.
func (b *Book) clockKind(s *state) string {
	if b.opt.Now != nil {
		return clockFixed
	}
	return s.clock.Kind
}

// Reset makes the book anew from the demo data, with a new id, and starts its
// clock again. Everything that was in it is gone.
func (b *Book) Reset() error {
	l, err := demoLedger()
	if err != nil {
		return err
	}
	c, err := newContents(l)
	if err != nil {
		return err
	}
	b.change.Lock()
	defer b.change.Unlock()
	s := &state{contents: c, id: newBookID(), clock: demoClock(l, b.opt.wall())}
	if err := b.db.Update(func(tx *bolt.Tx) error { return writeLedger(tx, l, s.id, s.clock) }); err != nil {
		return fmt.Errorf("reset book %s: %w", b.path, err)
	}
	b.state.Store(s)
	return nil
}

// Close lets go of the file. It waits for a change that is being committed.
func (b *Book) Close() error {
	b.change.Lock()
	defer b.change.Unlock()
	return b.db.Close()
}

// A draft collects what one call changes. Its rules read base; nothing is in
// the book until the draft is committed.
type draft struct {
	*state
	now        time.Time
	what       string // the tool or command, for the journal
	caller     caller
	workOrders map[string]*WorkOrder
	visits     map[string]*Visit
	partOrders map[string]*PartOrder

	fresh map[string]*keptAnswer // of the drafts that are committed with this one
}

// A keptAnswer is stored under an idempotency key, with the change it answers.
type keptAnswer struct {
	Key    string          `json:"key"`
	Tool   string          `json:"tool"`
	Digest string          `json:"digest"` // of the arguments without the key
	Record string          `json:"record"` // id of the record that was made
	Text   string          `json:"text"`
	Answer json.RawMessage `json:"answer"` // structured content
}

// empty says that nothing was changed, so that there is nothing to store.
func (d *draft) empty() bool {
	return len(d.workOrders) == 0 && len(d.visits) == 0 && len(d.partOrders) == 0
}

func (d *draft) write(tx *bolt.Tx, key string, kept *keptAnswer) error {
	for id, r := range d.workOrders {
		if err := putRecord(tx, bucketWorkOrders, id, r); err != nil {
			return err
		}
	}
	for id, r := range d.visits {
		if err := putRecord(tx, bucketVisits, id, r); err != nil {
			return err
		}
	}
	for id, r := range d.partOrders {
		if err := putRecord(tx, bucketPartOrders, id, r); err != nil {
			return err
		}
	}
	if err := d.writeEntry(tx); err != nil || key == "" || kept == nil {
		return err
	}
	return putRecord(tx, bucketKeys, key, kept)
}

func (d *draft) apply() *contents {
	c := *d.contents
	c.workOrders = c.workOrders.with(d.workOrders)
	c.visits = c.visits.with(d.visits)
	c.partOrders = c.partOrders.with(d.partOrders)
	c.relations = d.relationsAfter()
	return &c
}

// kept finds the answer stored under an idempotency key, or nil.
func (b *Book) kept(key string) (*keptAnswer, error) {
	var found *keptAnswer
	err := b.db.View(func(tx *bolt.Tx) error {
		value := tx.Bucket([]byte(bucketKeys)).Get([]byte(key))
		if value == nil {
			return nil
		}
		found = &keptAnswer{}
		return decodeRecord(bucketKeys, key, value, found)
	})
	return found, err
}
