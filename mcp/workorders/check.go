package workorders

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// A Finding is something that a check of the book noticed about a record.
type Finding struct {
	Record string `json:"record"`
	What   string `json:"what"` // one sentence for people
}

// A Report is what [Book.Check] found. Faults cannot come from this server:
// the file or the program is broken. Flags are what the company may want to
// look at and what its data may well hold, such as a double booking that was
// imported, or that somebody asked for.
type Report struct {
	Faults []Finding `json:"faults"`
	Flags  []Finding `json:"flags"`
}

// Check reads the whole book from its file, not from memory, and compares what
// has to agree: records with each other, with the rules, with the kept keys and
// with the journal. It changes nothing.
func (b *Book) Check(ctx context.Context) (Report, error) {
	r := &checker{written: map[string]bool{}, versions: map[string]int{}, report: Report{Faults: []Finding{}, Flags: []Finding{}}}
	err := guarded(func() error {
		return b.db.View(func(tx *bolt.Tx) error {
			for err := range tx.Check() {
				r.fault("file", "%v", err)
			}
			l, _, _, err := readLedger(tx)
			if err != nil {
				return err
			}
			if r.contents, err = newContents(l); err != nil {
				r.fault("book", "%v", err)
				return nil
			}
			if err := r.journal(tx); err != nil {
				return err
			}
			r.jobs()
			r.visits()
			r.orders()
			return r.keys(tx)
		})
	})
	if err == nil {
		err = ctx.Err()
	}
	return r.report, err
}

type checker struct {
	*contents
	written  map[string]bool // visits whose time or person this server checked
	versions map[string]int  // of records, by the journal
	report   Report
}

func (r *checker) fault(record, format string, args ...any) {
	r.report.Faults = append(r.report.Faults, Finding{record, fmt.Sprintf(format, args...)})
}

func (r *checker) flag(record, format string, args ...any) {
	r.report.Flags = append(r.report.Flags, Finding{record, fmt.Sprintf(format, args...)})
}

// journal reads what was changed and checks that no entry is missing.
func (r *checker) journal(tx *bolt.Tx) error {
	next := uint64(1)
	return eachRecord(tx, bucketJournal, func(_ string, data json.RawMessage) error {
		var e Entry
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		if e.Number != next {
			r.fault("journal", "Entry %d follows entry %d.", e.Number, next-1)
		}
		next = e.Number + 1
		for _, c := range e.Changes {
			if last := r.versions[c.Record]; c.Made && last != 0 || last != 0 && c.Version != last+1 {
				r.fault(c.Record, "Journal entry %d has version %d after version %d.", e.Number, c.Version, last)
			}
			r.versions[c.Record] = c.Version
			_, start := c.Fields["start"]
			_, end := c.Fields["end"]
			_, who := c.Fields["technician_id"]
			r.written[c.Record] = r.written[c.Record] || c.Made || start || end || who
		}
		return nil
	})
}

// version compares a record's version with the journal.
func (r *checker) version(id string, version int) {
	if last := r.versions[id]; version < 1 || last != 0 && last != version {
		r.fault(id, "It has version %d, and the journal %d.", version, last)
	}
	delete(r.versions, id)
}

func (r *checker) jobs() {
	for w := range r.workOrders.all() {
		r.version(w.ID, w.Version)
		if !slices.Contains(workOrderStatuses, w.Status) || !slices.Contains(priorities, w.Priority) {
			r.fault(w.ID, "Its status is %q and its priority %q.", w.Status, w.Priority)
		}
		r.members(w.ID, "visits", w.VisitIDs, r.related(visitsByJob, w.ID))
		r.members(w.ID, "part orders", w.PartOrderIDs, r.related(ordersByJob, w.ID))
		if w.ResolveBy != nil && w.RespondBy != nil && w.ResolveBy.Before(w.RespondBy.Time) {
			r.flag(w.ID, "It must be resolved before it must be answered.")
		}
		if r.isClosed(w) && slices.ContainsFunc(r.visitsOf(w), occupies) {
			r.flag(w.ID, "It is %s and has an open visit.", w.Status)
		}
	}
}

// members compares a job's list with the records that name the job.
func (r *checker) members(id, what string, listed, related []string) {
	listed = slices.SortedFunc(slices.Values(listed), compareIDs)
	if !slices.Equal(listed, related) {
		r.fault(id, "It lists the %s %s, and those that name it are %s.", what, list(listed), list(related))
	}
}

func (r *checker) visits() {
	for o := range r.contents.visits.all() {
		r.version(o.ID, o.Version)
		if !slices.Contains(visitStatuses, o.Status) || !o.Start.Before(o.End.Time) {
			r.fault(o.ID, "It is %q, from %s to %s.", o.Status, o.Start, o.End)
		}
		if !occupies(o) {
			continue
		}
		t, job := r.technicians.get(o.TechnicianID), r.workOrders.get(o.WorkOrderID)
		for _, other := range r.clashes(t, o.Start.Time, o.End.Time, o.ID) {
			if compareIDs(o.ID, other.ID) < 0 {
				r.overlap(o, other)
			}
		}
		missing, expired := r.lacking(t, job.RequiredSkills, o.Start.Time)
		if skill := or(missing, expired); skill != "" {
			r.unless(r.written[o.ID], o.ID, "%s has no valid %s for it.", t.Name, r.skillName(skill))
		}
		if len(offDuring(t, o.Start.Time, o.End.Time)) > 0 {
			r.unless(r.written[o.ID], o.ID, "%s is off then.", t.Name)
		}
		if !r.works(t, o.Start.Time, o.End.Time) {
			r.unless(r.written[o.ID] && !slices.Contains(o.Overrides, overrideShift), o.ID, "%s does not work then.", t.Name)
		}
	}
}

// unless files what this server would have refused as a fault if it is this
// server's, else as a flag.
func (r *checker) unless(ours bool, record, format string, args ...any) {
	if ours {
		r.fault(record, format, args...)
	} else {
		r.flag(record, format, args...)
	}
}

func (r *checker) overlap(a, b *Visit) {
	said := slices.Contains(a.Overrides, overrideBusy) || slices.Contains(b.Overrides, overrideBusy)
	r.unless((r.written[a.ID] || r.written[b.ID]) && !said, a.ID, "It overlaps %s of the same technician.", b.ID)
}

func (r *checker) orders() {
	for o := range r.partOrders.all() {
		r.version(o.ID, o.Version)
		if !slices.Contains(orderStatuses, o.Status) {
			r.fault(o.ID, "Its status is %q.", o.Status)
		}
		if o.Quantity < 1 || o.UnitPrice < 0 || o.Fees < 0 || o.Total != int64(o.Quantity)*o.UnitPrice+o.Fees || o.Currency == "" {
			r.fault(o.ID, "%d x %d + %d is not %d %s.", o.Quantity, o.UnitPrice, o.Fees, o.Total, o.Currency)
		}
		if p := r.parts.get(o.SKU); p == nil {
			r.flag(o.ID, "There is no part %s any more.", o.SKU)
		} else if p.Currency != o.Currency {
			r.flag(o.ID, "It is in %s, the part in %s.", o.Currency, p.Currency)
		}
	}
}

// keys checks that a kept answer's record is there, and the other way round.
func (r *checker) keys(tx *bolt.Tx) error {
	for id := range r.versions { // what is left was no record of those seen
		if !strings.HasPrefix(id, "N-") {
			r.fault(id, "The journal knows it, and it is not there.")
		}
	}
	kept := map[string]bool{}
	err := eachRecord(tx, bucketKeys, func(key string, data json.RawMessage) error {
		var k keptAnswer
		if err := json.Unmarshal(data, &k); err != nil {
			return err
		}
		kept[key] = true
		if r.partOrders.get(k.Record) == nil && r.contents.visits.get(k.Record) == nil && r.workOrders.get(k.Record) == nil && !strings.HasPrefix(k.Record, "N-") {
			r.fault(k.Record, "A key is kept for it, and it is not there.")
		}
		return nil
	})
	for o := range r.partOrders.all() {
		if o.CallID != "" && o.IdempotencyKey != "" && !kept[o.IdempotencyKey] {
			r.fault(o.ID, "The answer of its key was not kept.")
		}
	}
	return err
}
