package workorders

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A visitor gets the rows of a file one by one. A row that cannot be read comes
// as its error; the rows after it follow, unless the visitor gives an error.
type visitor func(file string, row int, fields map[string]json.RawMessage, err error) error

// A zoner says in which zone a row's times without an offset are meant.
type zoner func(fields map[string]json.RawMessage) *time.Location

// sources are several files that are read as one.
type sources struct {
	json   *jsonSource
	tables map[string]string // path of the CSV file of a kind
	meter  *meter
}

// kinds that a file can hold.
func kinds() []string { return append(append([]string{}, recordKeys...), historyKeys...) }

// openSource finds out what the files hold.
func openSource(paths []string) (*sources, error) {
	s := &sources{tables: map[string]string{}, meter: &meter{}}
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if ext := strings.ToLower(filepath.Ext(e.Name())); ext == ".csv" || ext == ".json" {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	for _, path := range files {
		if err := s.add(path); err != nil {
			s.close()
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no CSV or JSON file to import")
	}
	return s, nil
}

func (s *sources) add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if strings.EqualFold(filepath.Ext(path), ".json") {
		if s.json != nil {
			return fmt.Errorf("%s: only one JSON file can be imported at a time", name)
		}
		s.json, err = openJSON(path, s.meter)
		return err
	}
	kind := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name))), "-", "_"), " ", "_")
	if !slices.Contains(recordKeys, kind) {
		return fmt.Errorf("%s: name the file after what it holds: %s", name, list(append(withCSV(recordKeys), "book.json")))
	}
	if s.tables[kind] != "" {
		return fmt.Errorf("%s: there are two files of %s", name, kind)
	}
	s.tables[kind] = path
	s.meter.total += passes * info.Size()
	return nil
}

func withCSV(kinds []string) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k+".csv")
	}
	return out
}

func (s *sources) close() {
	if s.json != nil {
		_ = s.json.file.Close()
	}
}

// heads are the parts that are not lists of records, by key.
func (s *sources) heads() map[string]json.RawMessage {
	if s.json == nil {
		return nil
	}
	return s.json.heads
}

// has says whether there is a list of that kind.
func (s *sources) has(kind string) bool {
	return s.tables[kind] != "" || s.json != nil && s.json.lists[kind] > 0
}

func (s *sources) rows(kind string, columns []column, zone zoner, f visitor) error {
	if s.json != nil && s.json.lists[kind] > 0 {
		if err := s.json.rows(kind, columns, f); err != nil {
			return err
		}
	}
	if path := s.tables[kind]; path != "" {
		return csvRows(kind, path, s.meter, columns, zone, f)
	}
	return nil
}

// passes is how often a file is read: to check, and to write.
const passes = 2

// A meter counts the bytes that were read.
type meter struct {
	done, total int64
	tell        func(done, total int64)
}

func (m *meter) reader(r io.Reader) io.Reader { return &metered{r, m} }

type metered struct {
	io.Reader
	m *meter
}

func (r *metered) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.m.done += int64(n)
	if r.m.tell != nil && n > 0 {
		r.m.tell(min(r.m.done, r.m.total), r.m.total)
	}
	return n, err
}

// csvRows reads a CSV file with a header, separated by commas or semicolons.
func csvRows(kind, path string, m *meter, columns []column, zone zoner, f visitor) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	name := filepath.Base(path)
	t, err := newCSVTable(kind, name, m.reader(file), columns)
	if err != nil {
		return err
	}
	for number := 2; ; number++ {
		cells, err := t.reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(name, number, err)
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue // a row that was left blank
		}
		fields, err := t.fields(number, cells, zone)
		if err := f(name, number, fields, err); err != nil {
			return err
		}
	}
}

func csvError(name string, number int, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return RowError{name, number, fmt.Sprintf("at character %d", parse.Column), parse.Err.Error()}
	}
	return err
}

type csvTable struct {
	name    string
	reader  *csv.Reader
	columns []csvColumn
}

// A csvColumn is where a column of the file goes. Amounts stand in a column
// without its _minor.
type csvColumn struct {
	column
	header string
	amount bool
}

func newCSVTable(kind, name string, r io.Reader, columns []column) (*csvTable, error) {
	first := &firstLine{r: r}
	comma, err := first.comma()
	if err != nil {
		return nil, err
	}
	t := &csvTable{name: name, reader: csv.NewReader(first)}
	t.reader.Comma, t.reader.ReuseRecord = comma, true
	header, err := t.reader.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, RowError{name, 1, "", "the file is empty; the first row names the columns"}
		}
		return nil, csvError(name, 1, err)
	}
	for _, h := range header {
		i, amount := columnFor(kind, columns, h)
		if i < 0 {
			return nil, RowError{name, 1, h, "there is no such column; the columns are " + list(namesOf(columns))}
		}
		if slices.ContainsFunc(t.columns, func(c csvColumn) bool { return c.name == columns[i].name }) {
			return nil, RowError{name, 1, h, "the column is there twice"}
		}
		t.columns = append(t.columns, csvColumn{columns[i], strings.TrimSpace(h), amount})
	}
	return t, nil
}

// otherNames are what companies call a column.
var otherNames = map[string]map[string]string{
	bucketTechnicians: {"van": "stock_location"},
	bucketWorkOrders: {
		"number": "id", "due": "resolve_by", "deadline": "resolve_by", "description": "problem", "skills": "required_skills",
		"created": "created_at", "minutes": "estimated_minutes", "budget": "spend_limit",
	},
	bucketVisits: {"job": "work_order_id"},
	bucketParts:  {"number": "sku", "supplier": "supplier_id", "lead_time": "lead_time_working_days", "lead_time_days": "lead_time_working_days"},
}

// columnFor finds the column that a header names: by the field's name, without
// its _id, or without its _minor for an amount in decimals.
func columnFor(kind string, columns []column, header string) (index int, amount bool) {
	key := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(header)))
	key = or(otherNames[kind][key], key)
	find := func(name string) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	}
	if i := find(key); i >= 0 {
		return i, false
	}
	if i := find(key + "_id"); i >= 0 {
		return i, false
	}
	i := find(key + "_minor")
	return i, i >= 0
}

func namesOf(columns []column) []string {
	var out []string
	for _, c := range columns {
		out = append(out, c.name)
	}
	return out
}

// fields turns a row into the fields of a record. Columns with times come last,
// because their zone may hang on the others.
func (t *csvTable) fields(number int, cells []string, zone zoner) (map[string]json.RawMessage, error) {
	fields := make(map[string]json.RawMessage, len(cells))
	for _, times := range []bool{false, true} {
		for i, c := range t.columns {
			if isTime(c.typ) != times {
				continue
			}
			raw, err := t.field(c, cells[i], fields, zone)
			if err != nil {
				return nil, RowError{t.name, number, c.header, err.Error()}
			}
			if raw != nil {
				fields[c.name] = raw
			}
		}
	}
	return fields, nil
}

func isTime(t reflect.Type) bool {
	return t == stampType || t.Kind() == reflect.Pointer && t.Elem() == stampType
}

// field reads one cell. An empty one leaves the field to its default.
func (t *csvTable) field(c csvColumn, cell string, fields map[string]json.RawMessage, zone zoner) (json.RawMessage, error) {
	if !utf8.ValidString(cell) {
		return nil, cellError("the text is not UTF-8; save the file as CSV UTF-8")
	}
	if strings.TrimSpace(cell) == "" {
		return nil, nil
	}
	if c.amount {
		minor, err := minorOf(cell)
		if err != nil {
			return nil, err
		}
		cell = minor
	}
	var in *time.Location
	if isTime(c.typ) {
		in = zone(fields)
	}
	return jsonOf(cell, c.typ, in)
}

// firstLine looks at the first line of a file for its separator, and leaves
// out the mark that some programs put before it.
type firstLine struct {
	r    io.Reader
	head []byte
}

func (l *firstLine) comma() (rune, error) {
	buf := make([]byte, 64<<10)
	n, err := io.ReadFull(l.r, buf)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	l.head = buf[:n]
	if len(l.head) >= 3 && string(l.head[:3]) == "\ufeff" {
		l.head = l.head[3:]
	}
	line, _, _ := strings.Cut(string(l.head), "\n")
	if strings.Count(line, ";") > strings.Count(line, ",") {
		return ';', nil
	}
	return ',', nil
}

func (l *firstLine) Read(p []byte) (int, error) {
	if len(l.head) > 0 {
		n := copy(p, l.head)
		l.head = l.head[n:]
		return n, nil
	}
	return l.r.Read(p)
}

// A jsonSource is one JSON object of lists, of which it knows where they begin.
type jsonSource struct {
	file  *os.File
	name  string
	meter *meter
	heads map[string]json.RawMessage
	lists map[string]int64
}

func openJSON(path string, m *meter) (*jsonSource, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	m.total += (passes + 1) * info.Size()
	s := &jsonSource{file: file, name: filepath.Base(path), meter: m, heads: map[string]json.RawMessage{}, lists: map[string]int64{}}
	if err := s.look(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return s, nil
}

// look reads the file once, keeps what is no list of records, and remembers
// where the lists are.
func (s *jsonSource) look() error {
	d := json.NewDecoder(s.meter.reader(s.file))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return s.syntax("", 0, d, cmpErr(err, "the file must hold one JSON object, as an export does"))
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return s.syntax("", 0, d, err)
		}
		key, _ := t.(string)
		if _, twice := s.heads[key]; twice || s.lists[key] > 0 {
			return RowError{s.name, 0, key, "it is there twice"}
		}
		switch {
		case slices.Contains(headKeys, key):
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				return s.syntax(key, 0, d, err)
			}
			s.heads[key] = raw
		case slices.Contains(kinds(), key):
			if err := s.skip(key, d); err != nil {
				return err
			}
		default:
			return RowError{s.name, 0, key, "there is no such list; the lists are " + list(kinds())}
		}
	}
	if _, err := d.Token(); err != nil {
		return s.syntax("", 0, d, err)
	}
	return nil
}

func cmpErr(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}

func (s *jsonSource) skip(key string, d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return s.syntax(key, 0, d, cmpErr(err, "it must be a list"))
	}
	s.lists[key] = d.InputOffset()
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return s.syntax(key, n, d, err)
		}
	}
	_, err := d.Token()
	if err != nil {
		return s.syntax(key, 0, d, err)
	}
	return nil
}

// syntax says where in the file the reading stopped: line and column.
func (s *jsonSource) syntax(key string, row int, d *json.Decoder, err error) error {
	offset := d.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > offset {
		offset = syntax.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err, offset = errors.New("the file ends too early"), math.MaxInt64
	}
	line, column := 1, int64(1)
	if _, seekErr := s.file.Seek(0, io.SeekStart); seekErr == nil {
		head, _ := io.ReadAll(io.LimitReader(s.file, offset))
		line += strings.Count(string(head), "\n")
		column = int64(len(head) - strings.LastIndexByte(string(head), '\n'))
	}
	return RowError{s.name, row, key, fmt.Sprintf("line %d, character %d: %v", line, column, err)}
}

func (s *jsonSource) rows(kind string, columns []column, f visitor) error {
	if _, err := s.file.Seek(s.lists[kind]-1, io.SeekStart); err != nil {
		return err
	}
	place := s.name + ", " + kind
	d := json.NewDecoder(s.meter.reader(s.file))
	if _, err := d.Token(); err != nil {
		return err
	}
	for n := 1; d.More(); n++ {
		var fields map[string]json.RawMessage
		if err := d.Decode(&fields); err != nil {
			return RowError{place, n, "", "it must be an object: " + err.Error()}
		}
		var err error
		for name := range fields {
			if !slices.ContainsFunc(columns, func(c column) bool { return c.name == name }) {
				err = RowError{place, n, name, "there is no such field; the fields are " + list(namesOf(columns))}
			}
		}
		if err := f(place, n, fields, err); err != nil {
			return err
		}
	}
	return nil
}
