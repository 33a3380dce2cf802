package workorders

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// write puts files into a new folder.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// imports brings files into the book.
func imports(t *testing.T, b *Book, o ImportOptions) []Imported {
	t.Helper()
	counts, err := b.Import(t.Context(), o)
	if err != nil {
		var rows *ImportErrors
		if errors.As(err, &rows) {
			t.Fatalf("%+v", rows.Rows)
		}
		t.Fatal(err)
	}
	return counts
}

// worked is the demo book after many random calls, hostile ones among them.
func worked(t *testing.T, from uint64, calls uint64) *Book {
	t.Helper()
	b := openBook(t)
	b.db.NoSync = true
	d := newDirect(t, b)
	for n := from; n < from+calls; n++ {
		name, user, a := scriptAt(n).call(n)
		if _, err := d.call(name, user, a); err != nil {
			var r *Refusal
			if !errors.As(err, &r) {
				t.Fatal(err)
			}
		}
	}
	hostile := args{"work_order_id": "1058", "idempotency_key": "hostile-note-1", "text": "=1+1\t\x1b[2J\u202e; \"quoted\",\r\nand \u2028 more "}
	if _, err := d.call("add_note", "U-01", hostile); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestImportOfAnExportIsTheIdentity: as JSON and as CSV, with the keys and the
// journal: an order sent again with its old key gets its old answer.
func TestImportOfAnExportIsTheIdentity(t *testing.T) {
	t.Parallel()
	seeds := 2
	if os.Getenv(envSweep) == "full" {
		seeds = 200
	}
	for seed := range uint64(seeds) {
		b := worked(t, seed*1000, 120)
		order := args{"work_order_id": "1044", "sku": "HE-3000-230", "quantity": 1, "idempotency_key": "the-key-of-1044", "allow_duplicate": true}
		first, err := newDirect(t, b).call("order_part", "U-03", order)
		if err != nil {
			t.Fatal(err)
		}
		want := exportText(t, b)
		dir := t.TempDir()
		if err := b.ExportCSV(dir); err != nil {
			t.Fatal(err)
		}
		source := writeFiles(t, map[string]string{"book.json": want})
		for _, paths := range [][]string{{source}, {dir}} {
			other := openBook(t)
			before := other.ID()
			imports(t, other, ImportOptions{Paths: paths})
			if got := exportText(t, other); got != want {
				t.Fatalf("%s: the export is another:\n%s", paths, firstDifference(got, want))
			}
			if other.ID() == before {
				t.Errorf("the book kept its id")
			}
			orders := len(other.state.Load().partOrders.ids)
			again, err := newDirect(t, other).call("order_part", "U-03", order)
			if err != nil || again.text != first.text || len(other.state.Load().partOrders.ids) != orders {
				t.Errorf("the old key gives %q, %v; want %q", again.text, err, first.text)
			}
			report, err := other.Check(t.Context())
			if err != nil || len(report.Faults) > 0 {
				t.Errorf("%v %+v", err, report.Faults)
			}
			sameAfterReading(t, other)
			// What follows goes on where the old book stopped.
			if _, err := newDirect(t, other).call("add_note", "U-01", args{"work_order_id": "1044", "text": "after"}); err != nil {
				t.Fatal(err)
			}
			if report, err = other.Check(t.Context()); err != nil || len(report.Faults) > 0 {
				t.Errorf("after a change: %v %+v", err, report.Faults)
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "got  " + x[i] + "\nwant " + y[i]
		}
	}
	return "one is longer"
}

// spreadsheet is what a small company has: a few columns, local times, decimal
// prices, names instead of ids, semicolons as its program writes them.
var spreadsheet = map[string]string{
	"technicians.csv": "\ufeffName;Skills;Regions;Shifts\r\nAnna Berg;hvac; north;mon-fri 07:00-15:30\r\nBo Lind;\"plumbing; hvac until 2027-01-31\";\"north; south\";\r\n",
	"sites.csv":       "name,customer,address,region,timezone\nBakery,Bread & Co,\"Mill Road 1, back door\",north,\nOffice,Bread & Co,Mill Road 2,south,Europe/London\n",
	"assets.csv":      "id,site,kind,model,warranty_until\nFR-1,Bakery,freezer,Polar 200,2027-05-01\n",
	"parts.csv":       "sku,name,price,supplier,lead time,stock\nFAN-12,Fan motor 12 W,\"84,90\",Cold Parts,2,\nFLT-1,Filter,3.5,Cold Parts,1,\n",
	"work_orders.csv": "number,title,site,asset,priority,technician,due,skills,budget\n17,Freezer is warm,Bakery,FR-1,high,anna berg,2026-12-03 12:00,hvac,250\n18,Tap drips,Office,,,,2026-12-04 17:30,plumbing,\n,,,,,,,,\n",
	"visits.csv":      "job,technician,start,end\n17,Anna Berg,2026-12-02 08:00,2026-12-02 09:30\n18,Bo Lind,2026-12-03 10:00,2026-12-03 11:00\n",
}

// TestImportOfASpreadsheet: a company starts with what it has.
func TestImportOfASpreadsheet(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	company := CompanyOptions{Name: "Lind & Berg", Timezone: "Europe/Brussels", Currency: "EUR"}
	counts := imports(t, b, ImportOptions{Paths: []string{writeFiles(t, spreadsheet)}, Company: company})
	want := []Imported{{"technicians", 2}, {"customers", 1}, {"sites", 2}, {"assets", 1}, {"work_orders", 2}, {"visits", 2}, {"suppliers", 1}, {"parts", 2}}
	if !slices.Equal(counts, want) {
		t.Errorf("counts %v", counts)
	}
	s := connect(t, serve(t, b), "")
	var job lookupOutput
	call(t, s, "U-01", "lookup_work_order", args{"work_order_id": "WO-0017"}).into(t, &job)
	w := job.WorkOrder
	if w.Title != "Freezer is warm" || w.Site.Name != "Bakery" || w.Technician.Name != "Anna Berg" || w.Asset.Model != "Polar 200" || len(w.Visits) != 1 {
		t.Errorf("job %+v", w)
	}
	if got := w.Visits[0].Start; got != (Moment{"2026-12-02T08:00:00+01:00", "Wed 2 Dec 08:00", "Europe/Brussels"}) {
		t.Errorf("the visit starts %+v", got)
	}
	if got := w.Deadlines.ResolveBy.At; got != "2026-12-03T12:00:00+01:00" {
		t.Errorf("due %s", got)
	}
	// The office is in London: ten o'clock there.
	call(t, s, "U-01", "lookup_work_order", args{"work_order_id": "0018"}).into(t, &job)
	if got := job.WorkOrder.Visits[0].Start.At; got != "2026-12-03T10:00:00+00:00" {
		t.Errorf("the visit in London starts %s", got)
	}
	var q quoteOutput
	call(t, s, "U-01", "quote_part", args{"sku": "FAN-12", "quantity": 2, "work_order_id": "0017"}).into(t, &q)
	if q.Line.Total != (Money{16980, "EUR"}) {
		t.Errorf("total %v", q.Line.Total)
	}
	// It is a book to work with, and it can be exported and imported again.
	if code := call(t, s, "U-01", "order_part", args{"sku": "FLT-1", "quantity": 1, "work_order_id": "0017"}).code(t); code != "" {
		t.Errorf("order: %s", code)
	}
	late := args{"work_order_id": "0018", "technician": "Anna Berg", "start": at("02T14:00"), "end": at("02T16:00"), "additional": true}
	if code := call(t, s, "U-01", "schedule_visit", late).code(t); code != "skill_missing" {
		t.Errorf("booking: %s", code)
	}
	text := exportText(t, b)
	other := openBook(t)
	imports(t, other, ImportOptions{Paths: []string{writeFiles(t, map[string]string{"b.json": text})}})
	if got := exportText(t, other); got != text {
		t.Error(firstDifference(got, text))
	}
	if report, err := b.Check(t.Context()); err != nil || len(report.Faults) > 0 {
		t.Errorf("%v %+v", err, report)
	}
	if info := b.company(); info.Name != "Lind & Berg" || info.Demo {
		t.Errorf("company %+v", info)
	}
}

// TestImportFileByFile: rows are added to a book that is a company's own.
func TestImportFileByFile(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	dir := writeFiles(t, spreadsheet)
	for i, name := range []string{"technicians", "sites", "assets", "parts", "work_orders", "visits"} {
		imports(t, b, ImportOptions{Paths: []string{filepath.Join(dir, name+".csv")}, Add: i > 0, Company: CompanyOptions{Timezone: "Europe/Brussels"}})
	}
	whole := openBook(t)
	imports(t, whole, ImportOptions{Paths: []string{dir}, Company: CompanyOptions{Timezone: "Europe/Brussels"}})
	got, want := exported(t, b), exported(t, whole)
	for _, kind := range []string{bucketTechnicians, bucketSites, bucketAssets, bucketVisits, bucketParts, bucketCustomers} {
		a, _ := json.Marshal(got[kind])
		b, _ := json.Marshal(want[kind])
		if string(a) != string(b) {
			t.Errorf("%s:\n%s\n%s", kind, a, b)
		}
	}
	if jobs := b.state.Load().workOrders; len(jobs.get("WO-0017").VisitIDs) != 1 || jobs.get("WO-0017").Version != 2 {
		t.Errorf("the job does not list its visit: %+v", jobs.get("WO-0017"))
	}
	if report, err := b.Check(t.Context()); err != nil || len(report.Faults) > 0 {
		t.Errorf("%v %+v", err, report.Faults)
	}
	_, err := b.Import(t.Context(), ImportOptions{Paths: []string{filepath.Join(dir, "work_orders.csv")}, Add: true})
	wantRow(t, err, RowError{"work_orders.csv", 2, "id", "WO-0017 is in the book already"})
}

func wantRow(t *testing.T, err error, want RowError) {
	t.Helper()
	var rows *ImportErrors
	if !errors.As(err, &rows) {
		t.Errorf("got %v, want %v", err, want)
		return
	}
	if !slices.Contains(rows.Rows, want) {
		t.Errorf("got %+v, want %+v", rows.Rows, want)
	}
}

// TestWrongRows: every mistake names file, row and column, and changes nothing.
func TestWrongRows(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	before := exportText(t, b)
	with := func(file, content string) map[string]string {
		files := map[string]string{}
		for name, c := range spreadsheet {
			files[name] = c
		}
		files[file] = content
		return files
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  RowError
	}{
		{"unknown column", with("sites.csv", "name,colour\nBakery,red\n"), RowError{"sites.csv", 1, "colour", "there is no such column; the columns are id, customer_id, name, address, town, region, timezone, opening_hours, access_notes and contact_role"}},
		{"column twice", with("sites.csv", "name,name\nBakery,Bakery\n"), RowError{"sites.csv", 1, "name", "the column is there twice"}},
		{"empty file", with("sites.csv", ""), RowError{"sites.csv", 1, "", "the file is empty; the first row names the columns"}},
		{"too few cells", with("sites.csv", "name,region\nBakery\n"), RowError{"sites.csv", 2, "at character 1", "wrong number of fields"}},
		{"no name", with("sites.csv", "name,region\nBakery,north\n,north\n"), RowError{"sites.csv", 3, "name", "it is empty"}},
		{"no zone", with("sites.csv", "name,timezone\nBakery,Mars/Base\n"), RowError{"sites.csv", 2, "timezone", `"Mars/Base" is no time zone; write one like Europe/Brussels`}},
		{"no such site", with("assets.csv", "id,site\nFR-1,Bakery\nFR-2,Brewery\n"), RowError{"assets.csv", 3, "site_id", `there is no "Brewery" among the sites`}},
		{"id twice", with("assets.csv", "id,site\nFR-1,Bakery\nFR-1,Office\n"), RowError{"assets.csv", 3, "id", "FR-1 is there twice"}},
		{"an id that cannot be", with("work_orders.csv", "id,title,site\nJob seven,Tap,Office\n"), RowError{"work_orders.csv", 2, "id", `"Job seven" cannot be an id here; write one like WO-1044`}},
		{"no such status", with("work_orders.csv", "id,title,site,status\n17,Tap,Office,lost\n"), RowError{"work_orders.csv", 2, "status", `"lost" is none of new, scheduled, dispatched, in_progress, waiting_parts, on_hold, completed, closed and cancelled`}},
		{"no amount", with("parts.csv", "sku,name,price\nFAN-12,Fan,84.901\n"), RowError{"parts.csv", 2, "price", "write an amount as 84.90"}},
		{"negative amount", with("parts.csv", "sku,name,price\nFAN-12,Fan,-1\n"), RowError{"parts.csv", 2, "price", "write an amount as 84.90"}},
		{"no number", with("parts.csv", "sku,name,min_quantity\nFAN-12,Fan,some\n"), RowError{"parts.csv", 2, "min_quantity", "write a whole number"}},
		{"no time", with("work_orders.csv", "id,title,site,due\n17,Tap,Office,4/12/2026\n"), RowError{"work_orders.csv", 2, "due", "write a time as 2026-12-02 10:00, or with an offset"}},
		{"the missing hour", with("visits.csv", "job,technician,start,end\n17,Bo Lind,2027-03-28 02:30,2027-03-28 04:00\n"), RowError{"visits.csv", 2, "start", "there is no 2027-03-28 02:30 in Europe/Brussels: the clocks go forward then"}},
		{"ends before it starts", with("visits.csv", "job,technician,start,end\n17,Bo Lind,2026-12-02 10:00,2026-12-02 09:00\n"), RowError{"visits.csv", 2, "end", "it is not after start"}},
		{"visit of no job", with("visits.csv", "job,technician,start,end\n99,Bo Lind,2026-12-02 10:00,2026-12-02 11:00\n"), RowError{"visits.csv", 2, "work_order_id", `there is no "99" among the work orders`}},
		{"no such technician", with("visits.csv", "job,technician,start,end\n17,Bob,2026-12-02 10:00,2026-12-02 11:00\n"), RowError{"visits.csv", 2, "technician_id", `there is no "Bob" among the technicians`}},
		{"two of one name", with("technicians.csv", "id,name\n1,Bo Lind\n2,Bo Lind\n3,Anna Berg\n"), RowError{"visits.csv", 3, "technician_id", `several technicians are called "Bo Lind"; write the id`}},
		{"no shift", with("technicians.csv", "name,shifts\nBo Lind,always\n"), RowError{"technicians.csv", 2, "shifts", "write shifts like mon-fri 08:00-17:00; sat 09:00-12:00"}},
		{"sums differ", with("part_orders.csv", "id,job,sku,quantity,unit_price,fees,total,supplier_id,work_order\n1,17,FAN-12,2,84.90,0,170,Cold Parts,17\n"), RowError{"part_orders.csv", 1, "job", "there is no such column; the columns are id, work_order_id, sku, part_name, quantity, unit, unit_price_minor, fees_minor, total_minor, currency, supplier_id, status, requested_by, requested_at, rel, approved_by, approved_at, expected_at, supplier_reference, note, idempotency_key, version, deliver_to, reason, call_id, approval_id and cancel_reason"}},
		{"sums differ", with("part_orders.csv", "id,work_order,sku,quantity,unit_price,total,supplier\n3001,17,FAN-12,2,84.90,170,Cold Parts\n"), RowError{"part_orders.csv", 2, "total_minor", "it is 17000; quantity times price plus fees is 16980"}},
		{"not UTF-8", with("sites.csv", "name\nBak\xe8ry\n"), RowError{"sites.csv", 2, "name", "the text is not UTF-8; save the file as CSV UTF-8"}},
		{"JSON cut off", map[string]string{"book.json": "{\"technicians\": [\n{\"id\": \"T-01\",\n"}, RowError{"book.json", 1, "technicians", "line 3, character 1: the file ends too early"}},
		{"JSON field unknown", map[string]string{"book.json": `{"sites": [{"name": "Bakery", "colour": "red"}]}`}, RowError{"book.json, sites", 1, "colour", "there is no such field; the fields are id, customer_id, name, address, town, region, timezone, opening_hours, access_notes and contact_role"}},
		{"JSON list unknown", map[string]string{"book.json": `{"vans": []}`}, RowError{"book.json", 0, "vans", "there is no such list; the lists are technicians, customers, sites, assets, work_orders, visits, suppliers, stock_locations, parts, part_orders, keys and journal"}},
		{"JSON of another type", map[string]string{"book.json": `{"sites": [{"name": 7}]}`}, RowError{"book.json, sites", 1, "name", "it must be text, not a number"}},
		{"JSON two sites", map[string]string{"book.json": `{"sites": [{"name": "A"}, {"name": "B", "region": null}]}`}, RowError{"book.json, sites", 2, "region", "it is empty"}},
		{"a key of no order", map[string]string{"book.json": `{"keys": [{"key": "abcdefgh", "record": "PO-9"}]}`}, RowError{"book.json, keys", 1, "record", `there is no "PO-9"`}},
		{"a hole in the journal", map[string]string{"book.json": `{"journal": [{"number": 2, "at": "2026-12-01T09:00:00+01:00"}]}`}, RowError{"book.json, journal", 1, "number", "it is 2 after 0"}},
	} {
		_, err := b.Import(t.Context(), ImportOptions{Paths: []string{writeFiles(t, c.files)}, Company: CompanyOptions{Timezone: "Europe/Brussels"}})
		t.Run(c.name, func(t *testing.T) { wantRow(t, err, c.want) })
	}
	if exportText(t, b) != before {
		t.Error("a refused import changed the book")
	}
}

// TestAllErrorsAtOnce: a person corrects a file once, not row by row.
func TestAllErrorsAtOnce(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	rows := "name,timezone\n" + strings.Repeat(",Mars\n", 300)
	_, err := b.Import(t.Context(), ImportOptions{Paths: []string{writeFiles(t, map[string]string{"sites.csv": rows})}})
	var all *ImportErrors
	if !errors.As(err, &all) || len(all.Rows) != maxRowErrors || !all.More {
		t.Errorf("%v", err)
	}
}

// TestDryRun finds the same mistakes, counts the same rows, and writes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	before, id := exportText(t, b), b.ID()
	counts := imports(t, b, ImportOptions{Paths: []string{writeFiles(t, spreadsheet)}, DryRun: true})
	if len(counts) != 8 || exportText(t, b) != before || b.ID() != id {
		t.Errorf("counts %v, changed %t", counts, exportText(t, b) != before)
	}
}

// TestImportThatIsStopped leaves the book as it was, and the next one works.
func TestImportThatIsStopped(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	source := writeFiles(t, map[string]string{"book.json": exportText(t, worked(t, 5, 30))})
	before := exportText(t, b)
	for _, share := range []int64{10, 3, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := b.Import(ctx, ImportOptions{Paths: []string{source}, Progress: func(done, total int64) {
			if done > total-total/share {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || exportText(t, b) != before {
			t.Errorf("stopped after 1-1/%d: %v", share, err)
		}
	}
	// A process that dies in the middle leaves what it had staged.
	in := &importing{book: b}
	if err := in.stage(); err != nil {
		t.Fatal(err)
	}
	path := b.Path()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{Now: demoNow})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if exportText(t, again) != before {
		t.Error("the book is not what it was")
	}
	imports(t, again, ImportOptions{Paths: []string{source}})
	if report, err := again.Check(t.Context()); err != nil || len(report.Faults) > 0 {
		t.Errorf("%v %+v", err, report.Faults)
	}
}

// TestCells: what a cell holds comes back, whatever it is.
func TestCells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		cell, err := textCell(text)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := textOf(cell)
		var got string
		if err != nil || json.Unmarshal(raw, &got) != nil || got != text {
			t.Errorf("%q in the cell %q comes back as %q", text, cell, got)
		}
		minor := rapid.Int64Range(0, 1<<40).Draw(t, "minor")
		amount := strings.TrimSuffix(Money{Minor: minor, Currency: ""}.String(), " ")
		back, err := minorOf(amount)
		if err != nil || back != strings.TrimLeft(back, "0") && back != "0" || json.Number(back).String() != back || back != jsonNumber(minor) {
			t.Errorf("%s is %s, want %d (%v)", amount, back, minor, err)
		}
	})
}

func jsonNumber(n int64) string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestImportKeepsTime: an imported book follows the machine's clock.
func TestImportKeepsTime(t *testing.T) {
	t.Parallel()
	wall := time.Date(2027, 1, 4, 8, 0, 0, 0, time.UTC)
	b, err := Open(filepath.Join(t.TempDir(), "workorders.db"), Options{wall: func() time.Time { return wall }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	imports(t, b, ImportOptions{Paths: []string{writeFiles(t, spreadsheet)}})
	if !b.Now().Equal(wall) || b.company().Clock != clockReal {
		t.Errorf("it is %s, by the %s clock", b.Now(), b.company().Clock)
	}
}
