package workorders

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// ImportOptions for [Book.Import].
type ImportOptions struct {
	// Paths are files and folders: one JSON file in the form of an export, or
	// CSV files that are named after what they hold (work_orders.csv,
	// technicians.csv, sites.csv, assets.csv, parts.csv and so on), or a
	// folder of those.
	Paths []string

	// DryRun checks everything and writes nothing.
	DryRun bool

	// Add keeps what the book has and adds the rows to it. Otherwise the rows
	// become the book, and what was in it is gone.
	Add bool

	// Company describes the company where the files do not.
	Company CompanyOptions

	// Progress, if set, is told how many of the bytes have been read.
	Progress func(done, total int64)
}

// CompanyOptions are what a book must know of a company that has only
// spreadsheets. What is empty gets a default.
type CompanyOptions struct {
	Name, Timezone, Currency string
}

// A RowError says what is wrong with one field of the files.
type RowError struct {
	File   string
	Row    int // as a spreadsheet counts, the header is row 1; in JSON the record's place in its list
	Column string
	Reason string
}

// Error is the place and the reason in one line.
func (e RowError) Error() string {
	place := e.File
	if e.Row > 0 {
		place += fmt.Sprintf(", row %d", e.Row)
	}
	if e.Column != "" {
		place += ", column " + e.Column
	}
	return place + ": " + e.Reason
}

// ImportErrors are the first errors of an import that changed nothing.
type ImportErrors struct {
	Rows []RowError
	More bool // there may be further ones
}

// Error names the first and counts the rest.
func (e *ImportErrors) Error() string {
	if len(e.Rows) == 1 {
		return e.Rows[0].Error()
	}
	return fmt.Sprintf("%s; and %s", e.Rows[0].Error(), plural(len(e.Rows)-1, "further error"))
}

// maxRowErrors is how many errors an import collects before it gives up.
const maxRowErrors = 100

// An Imported says how many records of each kind an import has, or would have.
type Imported struct {
	Kind  string // as an export names it
	Count int
}

// Import replaces the book by what the files hold, or adds it. All rows are
// checked before any is written; if one is wrong the error is [ImportErrors]
// with row and column of each, and the book is as it was. Rows go through
// memory one at a time, and a crash leaves the book as it was or as it shall be.
// An imported book follows the machine's clock. Nobody else may use the book
// meanwhile: calls wait.
func (b *Book) Import(ctx context.Context, o ImportOptions) ([]Imported, error) {
	b.change.Lock()
	defer b.change.Unlock()
	src, err := openSource(o.Paths)
	if err != nil {
		return nil, rowError(err)
	}
	defer src.close()
	src.meter.tell = o.Progress
	in := newImport(ctx, b, src, o)
	if err := in.head(); err != nil {
		return nil, err
	}
	for _, write := range []bool{false, true} {
		in.write = write && !o.DryRun
		if err := in.pass(); err != nil {
			in.drop()
			return nil, err
		}
	}
	if o.DryRun {
		return in.counts(), nil
	}
	if err := in.publish(); err != nil {
		in.drop()
		return nil, err
	}
	return in.counts(), nil
}

// An importing is one import.
type importing struct {
	ctx   context.Context
	book  *Book
	src   *sources
	opt   ImportOptions
	write bool // else only check
	first bool // pass

	ledger *ledger // the head: company, users and so on
	have   *contents
	now    time.Time
	zone   *time.Location
	known  known
	errs   []RowError
	count  map[string]int
	batch  []staged

	entries  uint64                     // of the journal
	last     map[string]int             // highest number of an id, by prefix
	old      map[string]map[string]bool // ids of the book that rows are added to
	extended []Change                   // jobs of the book that got visits or orders
}

// known are the ids of the files and, when rows are added, of the book, with
// what the rows of other kinds need of them.
type known struct {
	ids       map[string]map[string]bool   // by kind
	names     map[string]map[string]string // ids by kind and folded name; "" if several have it
	zones     map[string]*time.Location    // of sites
	customers map[string]string            // of sites
	assets    map[string]string            // site of an asset
	jobs      map[string]string            // site of a job
	planned   map[string]bool              // jobs with an open visit in the files
	visits    map[string][]string          // of a job, in the files
	orders    map[string][]string          // of a job, in the files
	skills    map[string]bool
	regions   map[string]bool
	implied   map[string][]string // customers and suppliers that are only named
}

func newImport(ctx context.Context, b *Book, src *sources, o ImportOptions) *importing {
	s := b.state.Load()
	in := &importing{ctx: ctx, book: b, src: src, opt: o, have: s.contents, now: b.opt.wall(), first: true}
	if b.opt.Now != nil {
		in.now = b.opt.Now()
	}
	in.known = known{
		ids: map[string]map[string]bool{}, names: map[string]map[string]string{}, zones: map[string]*time.Location{}, customers: map[string]string{}, assets: map[string]string{}, jobs: map[string]string{},
		planned: map[string]bool{}, visits: map[string][]string{}, orders: map[string][]string{}, skills: map[string]bool{}, regions: map[string]bool{}, implied: map[string][]string{},
	}
	for _, kind := range recordKeys {
		in.known.ids[kind], in.known.names[kind] = map[string]bool{}, map[string]string{}
	}
	return in
}

// pass reads everything once, in an order in which what is referred to comes
// first.
func (in *importing) pass() error {
	in.count, in.last = map[string]int{}, map[string]int{}
	in.entries, in.errs = 0, nil
	if in.write {
		if err := in.stage(); err != nil {
			return err
		}
	}
	steps := []func() error{
		importKind(in, bucketTechnicians, checkTechnician), importKind(in, bucketCustomers, checkCustomer), importKind(in, bucketSites, checkSite),
		importKind(in, bucketAssets, checkAsset), importKind(in, bucketSuppliers, checkSupplier), importKind(in, bucketLocations, checkLocation),
		importKind(in, bucketParts, checkPart), importKind(in, bucketWorkOrders, checkJob), importKind(in, bucketVisits, checkVisit),
		importKind(in, bucketPartOrders, checkOrder), importKind(in, bucketKeys, checkKey), importKind(in, bucketJournal, checkEntry),
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if len(in.errs) > 0 {
		return &ImportErrors{Rows: in.errs}
	}
	in.first = false
	if !in.write {
		return nil
	}
	if err := in.extendJobs(); err != nil {
		return err
	}
	return in.flush()
}

// extendJobs gives jobs of the book the visits and orders that the files add.
func (in *importing) extendJobs() error {
	in.extended = nil
	if !in.opt.Add {
		return nil
	}
	ids := map[string]bool{}
	for id := range in.known.visits {
		ids[id] = true
	}
	for id := range in.known.orders {
		ids[id] = true
	}
	for _, id := range slices.SortedFunc(maps.Keys(ids), compareIDs) {
		old := in.have.workOrders.get(id)
		if old == nil {
			continue
		}
		job := *old
		job.VisitIDs = append(slices.Clone(job.VisitIDs), in.known.visits[id]...)
		job.PartOrderIDs = append(slices.Clone(job.PartOrderIDs), in.known.orders[id]...)
		if job.Status == "new" && in.known.planned[id] {
			job.Before = &Before{Status: job.Status, TechnicianID: job.TechnicianID}
			job.Status = statusScheduled
		}
		job.Version++
		c, err := changed(id, job.Version, old, &job)
		if err != nil {
			return err
		}
		in.extended = append(in.extended, c)
		if err := in.put(bucketWorkOrders, id, &job); err != nil {
			return err
		}
	}
	return nil
}

// wrong notes an error and ends the reading when there are too many.
func (in *importing) wrong(file string, row int, column, format string, args ...any) error {
	in.errs = append(in.errs, RowError{file, row, column, fmt.Sprintf(format, args...)})
	if len(in.errs) >= maxRowErrors {
		return &ImportErrors{Rows: in.errs, More: true}
	}
	return nil
}

// A row is one record on its way in.
type row[T any] struct {
	in     *importing
	kind   string
	file   string
	number int
	fields map[string]json.RawMessage
	r      *T
	failed error
}

// bad notes what is wrong with the row.
func (r *row[T]) bad(column, format string, args ...any) {
	if err := r.in.wrong(r.file, r.number, column, format, args...); err != nil {
		r.failed = err
	}
}

// given says whether the row has the field.
func (r *row[T]) given(name string) bool {
	raw, ok := r.fields[name]
	return ok && string(raw) != `""` && string(raw) != "null"
}

// importKind reads all rows of a kind: defaults, fields, rules, and the book.
func importKind[T any](in *importing, kind string, check func(*row[T])) func() error {
	columns := columnsOf(reflect.TypeFor[T]())
	return func() error {
		err := in.src.rows(kind, columns, in.zoneOf, func(file string, number int, fields map[string]json.RawMessage, err error) error {
			if ended := in.ctx.Err(); ended != nil {
				return ended
			}
			var bad RowError
			if errors.As(err, &bad) {
				return in.wrong(bad.File, bad.Row, bad.Column, "%s", bad.Reason)
			}
			r := &row[T]{in: in, kind: kind, file: file, number: number, fields: fields, r: new(T)}
			presetRecord(r.r, in.ledger.Company, Stamp{in.now.In(in.zone).Truncate(time.Second)})
			if column, err := decodeFields(reflect.ValueOf(r.r).Elem(), columns, fields); err != nil {
				return in.wrong(file, number, column, "%v", err)
			}
			check(r)
			if r.failed != nil {
				return r.failed
			}
			in.count[kind]++
			if !in.write {
				return nil
			}
			return in.put(kind, keyOf(kind, r.r), r.r)
		})
		var bad RowError
		if errors.As(err, &bad) { // a row that cannot be read at all
			return in.wrong(bad.File, bad.Row, bad.Column, "%s", bad.Reason)
		}
		if err != nil {
			return err
		}
		return in.putImplied(kind)
	}
}

// keyOf is the key under which the record lies in its bucket.
func keyOf(kind string, r any) string {
	switch r := r.(type) {
	case *keptAnswer:
		return r.Key
	case *Entry:
		return entryKey(r.Number)
	case *Part:
		return r.SKU
	}
	return reflect.ValueOf(r).Elem().FieldByName("ID").String()
}

// zoneOf is the zone in which a row's times without an offset are meant: the
// site's, or the site's of the job, else the company's.
func (in *importing) zoneOf(fields map[string]json.RawMessage) *time.Location {
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(fields[name], &s) // what it is not is found later
		return s
	}
	site := text("site_id")
	if named := in.known.names[bucketSites][fold(site)]; in.known.zones[site] == nil && named != "" {
		site = named
	}
	if site == "" {
		site = in.known.jobs[fullID(bucketWorkOrders, text("work_order_id"))]
	}
	if zone := in.known.zones[site]; zone != nil {
		return zone
	}
	return in.zone
}

func (in *importing) counts() []Imported {
	var out []Imported
	for _, kind := range append(append([]string{}, recordKeys...), historyKeys...) {
		if n := in.count[kind]; n > 0 {
			out = append(out, Imported{kind, n})
		}
	}
	return out
}

// The new book is built beside the old one in the same file, in small commits,
// and takes its place in one.

const (
	bucketStaging = "staging"
	batchRecords  = 2000
)

type staged struct {
	kind, key string
	value     []byte
}

// stage begins the new book, with the old one's records when rows are added.
func (in *importing) stage() error {
	err := in.book.db.Update(func(tx *bolt.Tx) error {
		if tx.Bucket([]byte(bucketStaging)) != nil {
			if err := tx.DeleteBucket([]byte(bucketStaging)); err != nil {
				return err
			}
		}
		root, err := tx.CreateBucket([]byte(bucketStaging))
		if err != nil {
			return err
		}
		for _, kind := range append(append([]string{bucketMeta}, recordKeys...), historyKeys...) {
			if _, err := root.CreateBucket([]byte(kind)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !in.opt.Add {
		return err
	}
	return in.copyOld()
}

// copyOld stages what the book has, a batch at a time.
func (in *importing) copyOld() error {
	for _, kind := range append(append([]string{}, recordKeys...), historyKeys...) {
		var after []byte
		for more := true; more; {
			more = false
			err := in.book.db.View(func(tx *bolt.Tx) error {
				b := tx.Bucket([]byte(kind))
				if b == nil {
					return nil
				}
				c := b.Cursor()
				k, v := c.Seek(after)
				for ; k != nil && len(in.batch) < batchRecords; k, v = c.Next() {
					in.batch = append(in.batch, staged{kind, string(k), append([]byte{}, v...)})
				}
				after, more = append([]byte{}, k...), k != nil
				return nil
			})
			if err != nil {
				return err
			}
			if err := in.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *importing) put(kind, key string, record any) error {
	value, err := sealed(kind, key, record)
	if err != nil {
		return err
	}
	in.batch = append(in.batch, staged{kind, key, value})
	if len(in.batch) < batchRecords {
		return nil
	}
	return in.flush()
}

func (in *importing) flush() error {
	defer func() { in.batch = in.batch[:0] }()
	if len(in.batch) == 0 {
		return nil
	}
	return in.book.db.Update(func(tx *bolt.Tx) error {
		root := tx.Bucket([]byte(bucketStaging))
		for _, s := range in.batch {
			if err := root.Bucket([]byte(s.kind)).Put([]byte(s.key), s.value); err != nil {
				return err
			}
		}
		return nil
	})
}

// drop forgets what was staged. If it fails, the next import does it.
func (in *importing) drop() {
	_ = in.book.db.Update(func(tx *bolt.Tx) error {
		if tx.Bucket([]byte(bucketStaging)) == nil {
			return nil
		}
		return tx.DeleteBucket([]byte(bucketStaging))
	})
}

// publish puts the new book in the old one's place, in one transaction, after
// a last look whether it can be opened.
func (in *importing) publish() error {
	var after *state
	err := in.book.db.Update(func(tx *bolt.Tx) error {
		root := tx.Bucket([]byte(bucketStaging))
		id, clock := newBookID(), clockRecord{Kind: clockReal, Start: Stamp{in.now}, MadeAt: Stamp{in.now}}
		if in.opt.Add {
			s := in.book.state.Load()
			id, clock = s.id, s.clock
		}
		for _, kind := range append(append([]string{bucketMeta}, recordKeys...), historyKeys...) {
			if tx.Bucket([]byte(kind)) != nil {
				if err := tx.DeleteBucket([]byte(kind)); err != nil {
					return err
				}
			}
			if err := tx.MoveBucket([]byte(kind), root, nil); err != nil {
				return err
			}
		}
		if err := tx.DeleteBucket([]byte(bucketStaging)); err != nil {
			return err
		}
		if err := writeHead(tx, in.ledger, id, clock); err != nil {
			return err
		}
		if err := in.noteImport(tx.Bucket([]byte(bucketJournal))); err != nil {
			return err
		}
		l, id, clock, err := readLedger(tx)
		if err != nil {
			return err
		}
		c, err := newContents(l)
		if err != nil {
			return err
		}
		after = &state{contents: c, id: id, clock: clock}
		return nil
	})
	if err == nil {
		in.book.state.Store(after)
	}
	return err
}

// noteImport gives the journal its next number, and an entry where rows were
// added: a book that was replaced begins with the journal it came with.
func (in *importing) noteImport(journal *bolt.Bucket) error {
	if !in.opt.Add {
		return journal.SetSequence(in.entries)
	}
	n := uint64(1)
	if last, _ := journal.Cursor().Last(); last != nil {
		n = binary.BigEndian.Uint64(last) + 1
	}
	if err := journal.SetSequence(n); err != nil {
		return err
	}
	var what []string
	for _, i := range in.counts() {
		what = append(what, fmt.Sprintf("%d %s", i.Count, statusWords(i.Kind)))
	}
	value, err := sealed(bucketJournal, "", Entry{Number: n, At: Stamp{in.book.now(in.book.state.Load())}, What: "import", Text: list(what), Changes: append([]Change{}, in.extended...)})
	if err != nil {
		return err
	}
	return journal.Put([]byte(entryKey(n)), value)
}

// DescribesCompany says whether the files hold a whole company, as an export
// does, and not only rows.
func DescribesCompany(paths []string) (bool, error) {
	src, err := openSource(paths)
	if err != nil {
		return false, rowError(err)
	}
	defer src.close()
	return len(src.heads()) > 0 || src.has(bucketKeys) || src.has(bucketJournal), nil
}

// rowError makes an error of the files as a whole one of the import.
func rowError(err error) error {
	var row RowError
	if errors.As(err, &row) {
		return &ImportErrors{Rows: []RowError{row}}
	}
	return err
}

// Demo says whether the book is the demo's, with the demo's clock.
func (b *Book) Demo() bool { return b.state.Load().clock.Kind == clockDemo }

// Worked says whether anything was changed since the book was made.
func (b *Book) Worked() bool {
	worked := false
	_ = b.db.View(func(tx *bolt.Tx) error {
		j := tx.Bucket([]byte(bucketJournal))
		worked = j != nil && !isEmpty(j)
		return nil
	})
	return worked || !b.Demo()
}
