package workorders

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// formatVersion is the version of the records that this program writes.
const formatVersion = 1

// Buckets of the file. A record's key is its id.
const (
	bucketMeta        = "meta"
	bucketKeys        = "keys"
	bucketJournal     = "journal"
	bucketTechnicians = "technicians"
	bucketCustomers   = "customers"
	bucketSites       = "sites"
	bucketAssets      = "assets"
	bucketWorkOrders  = "work_orders"
	bucketVisits      = "visits"
	bucketSuppliers   = "suppliers"
	bucketLocations   = "stock_locations"
	bucketParts       = "parts"
	bucketPartOrders  = "part_orders"
)

// An envelope is how every value lies in the file.
type envelope struct {
	Version int             `json:"v"`
	Data    json.RawMessage `json:"data"`
}

// plainJSON encodes without turning <, > and & into escapes.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func putRecord(tx *bolt.Tx, bucket, key string, v any) error {
	b, err := tx.CreateBucketIfNotExists([]byte(bucket))
	if err != nil {
		return err
	}
	value, err := sealed(bucket, key, v)
	if err != nil {
		return err
	}
	return b.Put([]byte(key), value)
}

// sealed is the value under which a record lies in its bucket.
func sealed(bucket, key string, v any) ([]byte, error) {
	data, err := plainJSON(v)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", bucket, key, err)
	}
	return plainJSON(envelope{Version: formatVersion, Data: data})
}

// envelopeHead is how the values begin that this version writes. Reading a
// book is mostly reading those, so they are not decoded twice.
var envelopeHead = []byte(fmt.Sprintf(`{"v":%d,"data":`, formatVersion))

func decodeRecord(bucket, key string, value []byte, into any) error {
	if data, ours := bytes.CutPrefix(value, envelopeHead); ours && json.Unmarshal(bytes.TrimSuffix(data, []byte("}")), into) == nil {
		return nil
	}
	var e envelope
	if err := json.Unmarshal(value, &e); err != nil {
		return fmt.Errorf("%w: %s %s: %w", ErrDamaged, bucket, key, err)
	}
	if e.Version > formatVersion {
		return fmt.Errorf("%w: %s %s has version %d", ErrNewer, bucket, key, e.Version)
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("%w: %s %s: %w", ErrDamaged, bucket, key, err)
	}
	return nil
}

func getRecord(tx *bolt.Tx, bucket, key string, into any) error {
	b := tx.Bucket([]byte(bucket))
	if b == nil {
		return fmt.Errorf("%w: it has no %s", ErrDamaged, bucket)
	}
	value := b.Get([]byte(key))
	if value == nil {
		return fmt.Errorf("%w: it has no %s in %s", ErrDamaged, key, bucket)
	}
	return decodeRecord(bucket, key, value, into)
}

func getRecords[T any](tx *bolt.Tx, bucket string, into *[]T) error {
	b := tx.Bucket([]byte(bucket))
	if b == nil {
		return fmt.Errorf("%w: it has no %s", ErrDamaged, bucket)
	}
	*into = []T{}
	return b.ForEach(func(k, v []byte) error {
		var r T
		if err := decodeRecord(bucket, string(k), v, &r); err != nil {
			return err
		}
		*into = append(*into, r)
		return nil
	})
}

func putRecords[T any](tx *bolt.Tx, bucket string, records []T, id func(*T) string) error {
	if _, err := tx.CreateBucketIfNotExists([]byte(bucket)); err != nil {
		return err
	}
	for i := range records {
		if err := putRecord(tx, bucket, id(&records[i]), records[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeLedger replaces everything in the file by the ledger.
func writeLedger(tx *bolt.Tx, l *ledger, id string, clock clockRecord) error {
	var old [][]byte
	if err := tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		old = append(old, bytes.Clone(name))
		return nil
	}); err != nil {
		return err
	}
	for _, name := range old {
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
	}
	for _, name := range historyKeys {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	return errors.Join(
		writeHead(tx, l, id, clock),
		putRecords(tx, bucketTechnicians, l.Technicians, func(r *Technician) string { return r.ID }),
		putRecords(tx, bucketCustomers, l.Customers, func(r *Customer) string { return r.ID }),
		putRecords(tx, bucketSites, l.Sites, func(r *Site) string { return r.ID }),
		putRecords(tx, bucketAssets, l.Assets, func(r *Asset) string { return r.ID }),
		putRecords(tx, bucketWorkOrders, l.WorkOrders, func(r *WorkOrder) string { return r.ID }),
		putRecords(tx, bucketVisits, l.Visits, func(r *Visit) string { return r.ID }),
		putRecords(tx, bucketSuppliers, l.Suppliers, func(r *Supplier) string { return r.ID }),
		putRecords(tx, bucketLocations, l.StockLocations, func(r *StockLocation) string { return r.ID }),
		putRecords(tx, bucketParts, l.Parts, func(r *Part) string { return r.SKU }),
		putRecords(tx, bucketPartOrders, l.PartOrders, func(r *PartOrder) string { return r.ID }),
	)
}

// writeHead writes what is no record.
func writeHead(tx *bolt.Tx, l *ledger, id string, clock clockRecord) error {
	for key, v := range map[string]any{
		"id": id, "clock": clock, "reference": l.Reference, "company": l.Company,
		"regions": l.Regions, "skills": l.Skills, "users": l.Users, "policy": l.Policy,
	} {
		if err := putRecord(tx, bucketMeta, key, v); err != nil {
			return err
		}
	}
	return nil
}

// readLedger reads everything; the first record that cannot be read ends it.
func readLedger(tx *bolt.Tx) (l *ledger, id string, clock clockRecord, err error) {
	l = &ledger{}
	err = cmp.Or( // the first is enough; one missing part brings the next

		getRecord(tx, bucketMeta, "id", &id),
		getRecord(tx, bucketMeta, "clock", &clock),
		getRecord(tx, bucketMeta, "reference", &l.Reference),
		getRecord(tx, bucketMeta, "company", &l.Company),
		getRecord(tx, bucketMeta, "regions", &l.Regions),
		getRecord(tx, bucketMeta, "skills", &l.Skills),
		getRecord(tx, bucketMeta, "users", &l.Users),
		getRecord(tx, bucketMeta, "policy", &l.Policy),
		getRecords(tx, bucketTechnicians, &l.Technicians),
		getRecords(tx, bucketCustomers, &l.Customers),
		getRecords(tx, bucketSites, &l.Sites),
		getRecords(tx, bucketAssets, &l.Assets),
		getRecords(tx, bucketWorkOrders, &l.WorkOrders),
		getRecords(tx, bucketVisits, &l.Visits),
		getRecords(tx, bucketSuppliers, &l.Suppliers),
		getRecords(tx, bucketLocations, &l.StockLocations),
		getRecords(tx, bucketParts, &l.Parts),
		getRecords(tx, bucketPartOrders, &l.PartOrders),
	)
	if err == nil && tx.Bucket([]byte(bucketKeys)) == nil {
		err = fmt.Errorf("%w: it has no %s", ErrDamaged, bucketKeys)
	}
	return l, id, clock, err
}

// guarded runs f, which reads mapped pages of a file that may be damaged, and
// turns bbolt's panics and the fault of a page behind the end of the file into
// ErrDamaged.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// openFile opens an existing bbolt file without ever making or filling one.
func openFile(path string, timeout time.Duration) (db *bolt.DB, err error) {
	var file *os.File
	opened := false
	defer func() {
		if !opened && file != nil {
			unlock(file)
			_ = file.Close() // bbolt keeps it if it panics
		}
	}()
	err = guarded(func() error {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: timeout,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
				if err != nil {
					return nil, err
				}
				file = f
				return f, refuseEmpty(f)
			},
		})
		if err != nil {
			return err
		}
		opened = true
		return db.View(refuseShort(path))
	})
	if err == nil {
		return db, nil
	}
	if opened {
		_ = guarded(db.Close)
	}
	return nil, openError(err)
}

// refuseEmpty keeps bbolt from filling a file that has lost its content.
func refuseEmpty(f *os.File) error {
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = fmt.Errorf("%w: the file is empty", ErrDamaged)
	}
	return err
}

// refuseShort compares the pages that the file says it has with its size.
func refuseShort(path string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() < tx.Size() {
			return fmt.Errorf("%w: %d of %d bytes are there", ErrDamaged, info.Size(), tx.Size())
		}
		return nil
	}
}

// openError sorts bbolt's errors into ours.
func openError(err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return ErrHeld
	case errors.Is(err, ErrDamaged), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch),
		errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrInvalidMapping):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// createFile makes a filled book beside path and then gives it its name, so
// that a book is either whole or not there, and one that another process made
// meanwhile stays.
func createFile(path string, l *ledger, id string, clock clockRecord) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if err := tmp.Close(); err != nil {
		return err
	}
	db, err := bolt.Open(tmp.Name(), 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error { return writeLedger(tx, l, id, clock) })
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		// A file system without hard links.
		if err := os.Rename(tmp.Name(), path); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a new name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
