package workorders

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// The keys of an export, in its order. All but the first are lists of records,
// which lie in the bucket of the same name.
var (
	headKeys   = []string{"reference", "company", "regions", "skills", "users", "policy"}
	recordKeys = []string{
		bucketTechnicians, bucketCustomers, bucketSites, bucketAssets, bucketWorkOrders, bucketVisits,
		bucketSuppliers, bucketLocations, bucketParts, bucketPartOrders,
	}
	historyKeys = []string{bucketKeys, bucketJournal}
)

// Export writes the whole book as one indented JSON object in the form of the
// demo data, with the idempotency keys and the journal of changes behind it. It
// shows one committed state, and needs little memory whatever the book's size.
func (b *Book) Export(w io.Writer) error {
	return b.db.View(func(tx *bolt.Tx) error {
		e := &exporter{w: w}
		return e.object(tx, recordKeys)
	})
}

// Backup writes a copy of the book's file: one committed state, which [Open]
// opens. Changes go on meanwhile.
func (b *Book) Backup(w io.Writer) error {
	return b.db.View(func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(w)
		return err
	})
}

// object writes what is no list, the records of those kinds, and the history.
func (e *exporter) object(tx *bolt.Tx, kinds []string) error {
	for _, key := range headKeys {
		var data json.RawMessage
		if err := getRecord(tx, bucketMeta, key, &data); err != nil {
			return err
		}
		e.key(key)
		e.json(data, " ")
	}
	for _, key := range kinds {
		e.records(tx, key)
	}
	for _, key := range historyKeys {
		if b := tx.Bucket([]byte(key)); b != nil && !isEmpty(b) {
			e.records(tx, key)
		}
	}
	e.text("\n}\n")
	return e.err
}

// An exporter writes one JSON object piece by piece and keeps the first error.
type exporter struct {
	w    io.Writer
	some bool // there was a key
	buf  bytes.Buffer
	err  error
}

func (e *exporter) text(s string) {
	if e.err == nil {
		_, e.err = io.WriteString(e.w, s)
	}
}

func (e *exporter) key(name string) {
	if e.some {
		e.text(",")
	} else {
		e.text("{")
	}
	e.some = true
	e.text("\n \"" + name + "\": ")
}

func (e *exporter) json(data []byte, prefix string) {
	e.buf.Reset()
	if err := json.Indent(&e.buf, data, prefix, " "); err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	e.text(e.buf.String())
}

func (e *exporter) records(tx *bolt.Tx, bucket string) {
	e.key(bucket)
	e.text("[")
	first := true
	err := eachRecord(tx, bucket, func(_ string, data json.RawMessage) error {
		if !first {
			e.text(",")
		}
		first = false
		e.text("\n  ")
		e.json(data, "  ")
		return e.err
	})
	e.err = errors.Join(e.err, err)
	if !first {
		e.text("\n ")
	}
	e.text("]")
}

// eachRecord hands out a bucket's records in natural order of their ids.
func eachRecord(tx *bolt.Tx, bucket string, f func(id string, data json.RawMessage) error) error {
	b := tx.Bucket([]byte(bucket))
	if b == nil {
		return nil
	}
	var ids []string
	if err := b.ForEach(func(k, _ []byte) error {
		ids = append(ids, string(k))
		return nil
	}); err != nil {
		return err
	}
	if bucket != bucketJournal { // whose keys are numbers already
		slices.SortFunc(ids, compareIDs)
	}
	for _, id := range ids {
		var data json.RawMessage
		if err := decodeRecord(bucket, id, b.Get([]byte(id)), &data); err != nil {
			return err
		}
		if err := f(id, data); err != nil {
			return err
		}
	}
	return nil
}

func isEmpty(b *bolt.Bucket) bool {
	k, _ := b.Cursor().First()
	return k == nil
}
