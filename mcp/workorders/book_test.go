package workorders

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// exported decodes an export by record id, so that order does not matter.
func exported(t *testing.T, b *Book) map[string]any {
	t.Helper()
	var buf bytes.Buffer
	if err := b.Export(&buf); err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(buf.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func byID(records any) map[string]any {
	out := map[string]any{}
	for _, r := range records.([]any) {
		m := r.(map[string]any)
		id, ok := m["id"].(string)
		if !ok {
			id = m["sku"].(string)
		}
		out[id] = r
	}
	return out
}

// TestExportIsTheDemoData: what a new book exports is the demo data, field by
// field, with every null, offset and relative time.
func TestExportIsTheDemoData(t *testing.T) {
	t.Parallel()
	got := exported(t, openBook(t))
	files, err := demoFiles.ReadDir("demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := demoFiles.ReadFile("demo/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		for key, w := range want {
			g := got[key]
			if _, isList := w.([]any); isList {
				for id, record := range byID(w) {
					if !reflect.DeepEqual(byID(g)[id], record) {
						t.Errorf("%s %s:\n got %v\nwant %v", key, id, byID(g)[id], record)
					}
				}
				if len(byID(g)) != len(byID(w)) {
					t.Errorf("%s: %d records, want %d", key, len(byID(g)), len(byID(w)))
				}
			} else if !reflect.DeepEqual(g, w) {
				t.Errorf("%s: got %v, want %v", key, g, w)
			}
		}
	}
}

func TestBookStaysAfterReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.db")
	b, err := Open(path, Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	id := b.ID()
	s := connect(t, serve(t, b), "")
	call(t, s, "U-01", "order_part", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1, "idempotency_key": "key-00000001"})
	want := exported(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	b, err = Open(path, Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	if b.ID() != id {
		t.Errorf("id %s, want %s", b.ID(), id)
	}
	if got := exported(t, b); !reflect.DeepEqual(got, want) {
		t.Error("the book is not what it was")
	}
	var out orderOutput
	call(t, connect(t, serve(t, b), ""), "U-01", "order_part", args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1, "idempotency_key": "key-00000001"}).into(t, &out)
	if out.PartOrder.ID != "PO-3021" || len(b.state.Load().partOrders.ids) != 21 {
		t.Errorf("the key gave %s", out.PartOrder.ID)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestHeldBook(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	if _, err := Open(b.Path(), Options{LockTimeout: time.Millisecond}); !errors.Is(err, ErrHeld) {
		t.Errorf("error %v, want ErrHeld", err)
	}
}

// TestDamagedBook damages a file in many ways. Each must be reported as
// damaged, without a panic or a fault, and leave the file as it was.
func TestDamagedBook(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	zero := func(from, to int) []byte {
		c := slices.Clone(whole)
		clear(c[from:to])
		return c
	}
	cases := map[string][]byte{
		"empty":             {},
		"text":              []byte("this is not a book\n"),
		"half":              whole[:len(whole)/2],
		"two pages":         whole[:2*page],
		"five pages":        whole[:5*page],
		"one byte less":     whole[:tail(t, b.Path())-1],
		"both metas zero":   zero(0, 2*page),
		"all pages zero":    zero(2*page, len(whole)),
		"text in the pages": append(slices.Clone(whole[:2*page]), bytes.Repeat([]byte("garbage "), (len(whole)-2*page)/8)...),
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "book.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := Open(path, Options{LockTimeout: time.Millisecond})
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("error %v, want ErrDamaged", err)
			}
			if err == nil {
				_ = b.Close()
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the file was changed (%v)", err)
			}
			if _, err := Open(path, Options{LockTimeout: time.Millisecond}); errors.Is(err, ErrHeld) {
				t.Error("the lock of the failed opening stayed")
			}
		})
	}
}

// tail is the size that the file must have, by its own account.
func tail(t *testing.T, path string) int64 {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var size int64
	if err := db.View(func(tx *bolt.Tx) error { size = tx.Size(); return nil }); err != nil {
		t.Fatal(err)
	}
	return size
}

func TestDamagedAndNewerRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bucket, key, value string
		want               error
	}{
		"not JSON":              {bucketParts, "HE-3000-230", `{"v":1,"data":{`, ErrDamaged},
		"of another form":       {bucketVisits, "V-2001", `{"v":1,"data":{"start":7}}`, ErrDamaged},
		"leading nowhere":       {bucketVisits, "V-2001", `{"v":1,"data":{"id":"V-2001"}}`, ErrDamaged},
		"of a later version":    {bucketParts, "HE-3000-230", `{"v":2,"data":{}}`, ErrNewer},
		"of no known time zone": {bucketMeta, "company", `{"v":1,"data":{"timezone":"Mars/Base"}}`, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openBook(t)
			if err := b.db.Update(func(tx *bolt.Tx) error {
				return tx.Bucket([]byte(c.bucket)).Put([]byte(c.key), []byte(c.value))
			}); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(b.Path(), Options{}); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestOpenSomethingElse(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.TempDir(), Options{}); err == nil {
		t.Error("a directory was opened as a book")
	}
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a bbolt file without a book: %v, want ErrDamaged", err)
	}
}

func TestDemoClock(t *testing.T) {
	t.Parallel()
	wall := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "book.db")
	o := Options{wall: func() time.Time { return wall }}
	b, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if now := b.Now(); !now.Equal(demoNow()) {
		t.Errorf("a new book shows %v", now)
	}
	wall = wall.Add(90 * time.Minute)
	if now := b.Now(); !now.Equal(demoNow().Add(90 * time.Minute)) {
		t.Errorf("after 90 minutes it shows %v", now)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err = Open(path, o); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	if now := b.Now(); !now.Equal(demoNow().Add(90 * time.Minute)) {
		t.Errorf("after opening again it shows %v", now)
	}
	id := b.ID()
	if err := b.Reset(); err != nil {
		t.Fatal(err)
	}
	if now := b.Now(); !now.Equal(demoNow()) || b.ID() == id {
		t.Errorf("after a reset it shows %v, id %s (was %s)", now, b.ID(), id)
	}
	wall = wall.Add(-24 * time.Hour)
	if now := b.Now(); !now.Equal(demoNow()) {
		t.Errorf("with the machine's clock set back it shows %v", now)
	}
}

func TestResetBringsBackTheDemoData(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	want := exported(t, b)
	s := connect(t, serve(t, b), "")
	order := args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1, "idempotency_key": "key-00000001"}
	call(t, s, "U-01", "order_part", order)
	changed := exported(t, b)
	if len(byID(changed["part_orders"])) != 21 || reflect.DeepEqual(changed, want) {
		t.Fatal("the order is not in the export")
	}
	if err := b.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, b); !reflect.DeepEqual(got, want) {
		t.Error("the book differs from a new one")
	}
	order["quantity"] = 2 // the key is gone with the order
	if r := call(t, s, "U-01", "order_part", order); r.IsError {
		t.Errorf("ordering after the reset: %s", r.raw)
	}
}

func TestIDsInNaturalOrder(t *testing.T) {
	t.Parallel()
	ids := strings.Fields("WO-10000 WO-1001 WO-999 PO-3 WO-1000 HE-3500-230 HE-3000-230S HE-3000-230")
	slices.SortFunc(ids, compareIDs)
	if got := strings.Join(ids, " "); got != "HE-3000-230 HE-3000-230S HE-3500-230 PO-3 WO-999 WO-1000 WO-1001 WO-10000" {
		t.Error(got)
	}
}
