package workorders

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// An Entry of the journal says who changed what and when. It is stored in the
// transaction of the change, and never changed.
type Entry struct {
	Number   uint64   `json:"number"`
	At       Stamp    `json:"at"`
	What     string   `json:"what"` // the tool or command
	By       string   `json:"by,omitempty"`
	Call     string   `json:"call,omitempty"`
	Approval string   `json:"approval,omitempty"`
	Text     string   `json:"text,omitempty"`
	Changes  []Change `json:"changes"`
}

// A Change of one record. A record that was made has no fields: all are new.
type Change struct {
	Record  string            `json:"record"`
	Version int               `json:"version"` // after the change
	Made    bool              `json:"made,omitempty"`
	Fields  map[string]Values `json:"fields,omitempty"`
}

// Values of a field, before and after a change.
type Values struct {
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// changed compares a record before and after. A nil before is a new record.
func changed(id string, version int, before, after any) (Change, error) {
	c := Change{Record: id, Version: version}
	if before == nil {
		c.Made = true
		return c, nil
	}
	old, err := fieldsOf(before)
	if err != nil {
		return c, err
	}
	now, err := fieldsOf(after)
	if err != nil {
		return c, err
	}
	c.Fields = map[string]Values{}
	for name := range old {
		if _, ok := now[name]; !ok {
			now[name] = json.RawMessage("null")
		}
	}
	for name, value := range now {
		if was, ok := old[name]; !bytes.Equal(was, value) && name != "version" {
			if !ok {
				was = json.RawMessage("null")
			}
			c.Fields[name] = Values{Before: was, After: value}
		}
	}
	return c, nil
}

func fieldsOf(record any) (map[string]json.RawMessage, error) {
	b, err := plainJSON(record)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(b, &fields)
}

// changes lists what the draft changes, records in natural order.
func (d *draft) changes() ([]Change, error) {
	var out []Change
	add := func(id string, version int, before, after any) error {
		c, err := changed(id, version, before, after)
		out = append(out, c)
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(d.workOrders), compareIDs) {
		if err := add(id, d.workOrders[id].Version, orNil(d.contents.workOrders.get(id)), d.workOrders[id]); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(d.visits), compareIDs) {
		if err := add(id, d.visits[id].Version, orNil(d.contents.visits.get(id)), d.visits[id]); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(d.partOrders), compareIDs) {
		if err := add(id, d.partOrders[id].Version, orNil(d.contents.partOrders.get(id)), d.partOrders[id]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// orNil keeps a nil pointer from becoming a value that is not nil.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return p
}

// writeEntry puts the draft's entry at the end of the journal.
func (d *draft) writeEntry(tx *bolt.Tx) error {
	changes, err := d.changes()
	if err != nil {
		return err
	}
	b, err := tx.CreateBucketIfNotExists([]byte(bucketJournal))
	if err != nil {
		return err
	}
	n, err := b.NextSequence()
	if err != nil {
		return err
	}
	return putRecord(tx, bucketJournal, entryKey(n), Entry{
		Number: n, At: Stamp{d.now}, What: d.what, By: d.caller.user, Call: d.caller.call, Approval: d.caller.approval, Changes: changes,
	})
}

// entryKey keeps entries in the order of their numbers.
func entryKey(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// Journal hands out the entries of the journal, oldest first.
func (b *Book) Journal(f func(Entry) error) error {
	return b.db.View(func(tx *bolt.Tx) error {
		return eachRecord(tx, bucketJournal, func(_ string, data json.RawMessage) error {
			var e Entry
			if err := json.Unmarshal(data, &e); err != nil {
				return err
			}
			return f(e)
		})
	})
}
