package workorders

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	bolt "go.etcd.io/bbolt"
)

// companyFile holds what a CSV export has besides its tables: the company, its
// people at the desk, the keys and the journal.
const companyFile = "company.json"

// ExportCSV writes the whole book into the folder dir, which it makes: one CSV
// file for each kind of record, named after it, and company.json with the rest.
// [Book.Import] reads the folder back. It shows one committed state. Files of
// those names are replaced.
func (b *Book) ExportCSV(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return b.db.View(func(tx *bolt.Tx) error {
		for _, kind := range recordKeys {
			if err := exportFile(filepath.Join(dir, kind+".csv"), func(w io.Writer) error {
				return csvTables[kind](tx, kind, w)
			}); err != nil {
				return err
			}
		}
		return exportFile(filepath.Join(dir, companyFile), func(w io.Writer) error {
			e := &exporter{w: w}
			return e.object(tx, nil)
		})
	})
}

// exportFile replaces a private file by what f writes.
func exportFile(path string, f func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if err := errors.Join(f(tmp), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}

// csvTables write the records of each kind.
var csvTables = map[string]func(*bolt.Tx, string, io.Writer) error{
	bucketTechnicians: csvTableOf[Technician], bucketCustomers: csvTableOf[Customer], bucketSites: csvTableOf[Site],
	bucketAssets: csvTableOf[Asset], bucketWorkOrders: csvTableOf[WorkOrder], bucketVisits: csvTableOf[Visit],
	bucketSuppliers: csvTableOf[Supplier], bucketLocations: csvTableOf[StockLocation], bucketParts: csvTableOf[Part],
	bucketPartOrders: csvTableOf[PartOrder],
}

func csvTableOf[T any](tx *bolt.Tx, kind string, w io.Writer) error {
	var company Company
	if err := getRecord(tx, bucketMeta, "company", &company); err != nil {
		return err
	}
	preset := new(T)
	presetRecord(preset, company, Stamp{})
	out := csv.NewWriter(w)
	columns := columnsOf(reflect.TypeFor[T]())
	if err := out.Write(namesOf(columns)); err != nil {
		return err
	}
	cells := make([]string, len(columns))
	err := eachRecord(tx, kind, func(id string, data json.RawMessage) error {
		var r T
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("%s %s: %w", kind, id, err)
		}
		for i, c := range columns {
			var err error
			cells[i], err = exportCell(reflect.ValueOf(r).Field(c.index), reflect.ValueOf(*preset).Field(c.index))
			if err != nil {
				return fmt.Errorf("%s %s, %s: %w", kind, id, c.name, err)
			}
		}
		return out.Write(cells)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}
