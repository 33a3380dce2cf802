package workorders

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A spreadsheet holds a record in one row and a field in one column, named as
// in JSON. The cells are made so that what was exported comes back exactly,
// and that people can write them:
//
//   - Text is itself. Text that a spreadsheet would change or run as a formula
//     is written as a JSON string, with its quotes.
//   - Lists of words are separated by semicolons; other lists and objects are
//     JSON. Skills, shifts and stock may also be written as people do. An empty
//     cell is what a row gets that does not have the column.
//   - Times are 2026-12-02T10:00:00+01:00, or 2026-12-02 10:00 in the zone of
//     the record's site.
//   - A column of minor units may be written without its _minor, with a
//     decimal amount in it.

// A column is one field of a record type.
type column struct {
	name  string
	index int
	typ   reflect.Type
}

// columnsOf lists the fields of a record type in their order.
func columnsOf(t reflect.Type) []column {
	var out []column
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, column{name, i, t.Field(i).Type})
	}
	return out
}

var (
	stampType = reflect.TypeFor[Stamp]()
	wordsType = reflect.TypeFor[[]string]()
)

// cellOf writes a field's value into a cell.
func cellOf(v reflect.Value) (string, error) {
	if v.Kind() == reflect.Pointer && !v.IsNil() && (v.Elem().Kind() != reflect.Struct || v.Elem().Type() == stampType) {
		if v.Elem().Kind() == reflect.String && v.Elem().Len() == 0 {
			return `""`, nil // an empty cell is nothing at all
		}
		return cellOf(v.Elem())
	}
	switch {
	case v.Type() == stampType:
		return v.Interface().(Stamp).Format(stampLayout), nil
	case v.Kind() == reflect.Slice && v.Len() > 0 && peopleCell(v) != "":
		return peopleCell(v), nil
	case v.Type() == wordsType && v.Len() > 0 && plainWords(v.Interface().([]string)):
		return strings.Join(v.Interface().([]string), "; "), nil
	}
	switch v.Kind() {
	case reflect.String:
		return textCell(v.String())
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return fmt.Sprint(v.Interface()), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Pointer, reflect.Map:
		if v.IsNil() {
			return "", nil
		}
	}
	b, err := plainJSON(v.Interface())
	return string(b), err
}

// plainWords says whether the words can stand in a cell with semicolons.
func plainWords(all []string) bool {
	for i, w := range all {
		if w == "" || strings.TrimSpace(w) != w || strings.ContainsAny(w, ";\"\r\n") || i == 0 && strings.ContainsAny(w[:1], "=+-@[{") {
			return false
		}
	}
	return len(all) != 1 || all[0] != "null"
}

// exportCell is cellOf, or an empty cell where that is read as the same value:
// the one that a record has which leaves the field out.
func exportCell(v, preset reflect.Value) (string, error) {
	if reflect.DeepEqual(v.Interface(), preset.Interface()) && v.Kind() != reflect.Bool && v.Kind() != reflect.Int && v.Kind() != reflect.Int64 && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
		return "", nil
	}
	cell, err := cellOf(v)
	if err == nil && cell == "" {
		cell = `""`
	}
	return cell, err
}

// textCell writes text as it is, or as a JSON string where a spreadsheet, or
// the reading of CSV, would make something else of it.
func textCell(s string) (string, error) {
	if s == "" || !strings.ContainsAny(s[:1], "\"=+-@\t ") && !strings.ContainsAny(s, "\r\ufeff") && strings.TrimSpace(s) == s {
		return s, nil
	}
	b, err := plainJSON(s)
	return string(b), err
}

// cellError says what is wrong with a cell, for people.
type cellError string

func (e cellError) Error() string { return string(e) }

// jsonOf reads a cell into the JSON of a field of type t. Times without an
// offset are meant in zone.
func jsonOf(cell string, t reflect.Type, zone *time.Location) (json.RawMessage, error) {
	null := json.RawMessage("null")
	if t.Kind() == reflect.Pointer {
		if strings.TrimSpace(cell) == "" {
			return null, nil
		}
		if t.Elem().Kind() != reflect.Struct || t.Elem() == stampType {
			t = t.Elem()
		}
	}
	switch {
	case t == stampType:
		return timeCell(cell, zone)
	case t.Kind() == reflect.String:
		return textOf(cell)
	}
	cell = strings.TrimSpace(cell)
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64:
		if _, err := strconv.ParseInt(cell, 10, 64); err != nil {
			return nil, cellError("write a whole number")
		}
		return json.RawMessage(strings.TrimPrefix(cell, "+")), nil
	case reflect.Bool:
		switch strings.ToLower(cell) {
		case "true", "yes", "1":
			return json.RawMessage("true"), nil
		case "false", "no", "0", "":
			return json.RawMessage("false"), nil
		}
		return nil, cellError("write yes or no")
	}
	switch {
	case cell == "" && t.Kind() == reflect.Slice:
		return json.RawMessage("[]"), nil
	case cell == "":
		return null, nil
	case t.Kind() == reflect.Slice && cell != "null" && cell[0] != '[':
		return listCell(cell, t)
	case !json.Valid([]byte(cell)):
		return nil, cellError("write JSON, as an export does")
	}
	return json.RawMessage(cell), nil
}

func splitWords(cell string) []string {
	out := []string{}
	for w := range strings.SplitSeq(cell, ";") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// peopleCell writes a list as people would, or "" if they could not write it
// without losing something.
func peopleCell(v reflect.Value) string {
	var parts []string
	switch all := v.Interface().(type) {
	case []Certified:
		for _, s := range all {
			part := s.ID
			if s.ValidUntil != "" {
				part += " until " + s.ValidUntil
			}
			parts = append(parts, part)
		}
	case []Shift:
		for _, s := range all {
			days := strings.Join(s.Days, ",")
			if n := len(s.Days); n > 2 {
				days = s.Days[0] + "-" + s.Days[n-1]
			}
			parts = append(parts, days+" "+s.Start+"-"+s.End)
		}
	case []StockCount:
		for _, s := range all {
			parts = append(parts, fmt.Sprintf("%s %d", s.LocationID, s.Quantity))
		}
	default:
		return ""
	}
	cell := strings.Join(parts, "; ")
	back := reflect.New(v.Type())
	raw, err := jsonOf(cell, v.Type(), nil)
	if err != nil || json.Unmarshal(raw, back.Interface()) != nil || !reflect.DeepEqual(back.Elem().Interface(), v.Interface()) {
		return ""
	}
	if text, err := textCell(cell); err != nil || text != cell {
		return ""
	}
	return cell
}

// listCell reads a list as people write it, its parts separated by semicolons:
// words; skills as "lift until 2027-06-29; controls"; shifts as
// "mon-fri 08:00-17:00; sat 09:00-12:00"; stock as "DEPOT-C 3; VAN-01 1".
func listCell(cell string, t reflect.Type) (json.RawMessage, error) {
	parts := splitWords(cell)
	switch t {
	case wordsType:
		return plainJSON(parts)
	case reflect.TypeFor[[]Certified]():
		out := []Certified{}
		for _, p := range parts {
			id, until, _ := strings.Cut(p, " until ")
			out = append(out, Certified{ID: strings.TrimSpace(id), ValidUntil: strings.TrimSpace(until)})
		}
		return plainJSON(out)
	case reflect.TypeFor[[]Shift]():
		out := []Shift{}
		for _, p := range parts {
			days, hours, _ := strings.Cut(p, " ")
			start, end, ok := strings.Cut(strings.TrimSpace(hours), "-")
			all := weekdaysOf(strings.ToLower(days))
			if !ok || len(all) == 0 {
				return nil, cellError("write shifts like mon-fri 08:00-17:00; sat 09:00-12:00")
			}
			out = append(out, Shift{Days: all, Start: strings.TrimSpace(start), End: strings.TrimSpace(end)})
		}
		return plainJSON(out)
	case reflect.TypeFor[[]StockCount]():
		out := []StockCount{}
		for _, p := range parts {
			i := strings.LastIndexByte(p, ' ')
			n, err := strconv.Atoi(p[i+1:])
			if i < 0 || err != nil {
				return nil, cellError("write stock like DEPOT-C 3; VAN-01 1")
			}
			out = append(out, StockCount{LocationID: strings.TrimSpace(p[:i]), Quantity: n})
		}
		return plainJSON(out)
	}
	return nil, cellError("write JSON, as an export does")
}

// weekdaysOf reads "mon", "mon-fri" or "sat,sun"; nothing if it is none.
func weekdaysOf(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, b := slices.Index(weekdays, first), slices.Index(weekdays, last)
		if !isRange {
			b = a
		}
		if a < 0 || b < 0 {
			return nil
		}
		for i := a; ; i = (i + 1) % 7 {
			out = append(out, weekdays[i])
			if i == b {
				break
			}
		}
	}
	return out
}

func textOf(cell string) (json.RawMessage, error) {
	if strings.HasPrefix(cell, `"`) {
		var s string
		if json.Unmarshal([]byte(cell), &s) == nil {
			return json.RawMessage(cell), nil
		}
	}
	return plainJSON(strings.TrimSpace(cell))
}

// localTimes are the forms of a time without an offset.
var localTimes = []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05"}

func timeCell(cell string, zone *time.Location) (json.RawMessage, error) {
	t, err := parseTime(cell, zone)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Stamp{t})
}

// parseTime reads a time as people write it. Without an offset it is meant in
// zone; of the doubled hour it is the first.
func parseTime(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range localTimes {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at, ok := wallTime(t, zone)
		if !ok {
			return at, cellError(fmt.Sprintf("there is no %s in %s: the clocks go forward then", t.Format("2006-01-02 15:04"), zone))
		}
		return at, nil
	}
	return time.Time{}, cellError("write a time as 2026-12-02 10:00, or with an offset")
}

// minorOf reads a decimal amount into minor units, without a float.
func minorOf(amount string) (string, error) {
	wrong := cellError("write an amount as 84.90")
	whole, cents, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(amount), ",", "."), ".")
	if whole == "" || len(cents) > 2 || strings.ContainsFunc(whole+cents, func(r rune) bool { return r < '0' || r > '9' }) || len(whole) > 12 {
		return "", wrong
	}
	minor := strings.TrimLeft(whole+(cents + "00")[:2], "0")
	return or(minor, "0"), nil
}

// decodeFields fills a record from its fields. Missing ones keep what is there.
func decodeFields(into reflect.Value, columns []column, fields map[string]json.RawMessage) (wrong string, err error) {
	for _, c := range columns {
		raw, ok := fields[c.name]
		if !ok {
			continue
		}
		if bytes.Equal(raw, []byte("null")) && !nullable(c.typ) {
			return c.name, cellError("it is empty")
		}
		if err := json.Unmarshal(raw, into.Field(c.index).Addr().Interface()); err != nil {
			return c.name, cellError(typeText(err))
		}
	}
	return "", nil
}

// typeText says what a value should have been.
func typeText(err error) string {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) {
		return "it cannot be read: " + err.Error()
	}
	want := map[reflect.Kind]string{
		reflect.String: "text", reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Uint64: "a whole number",
		reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object",
	}[e.Type.Kind()]
	if e.Type == stampType {
		want = "a time"
	}
	text := fmt.Sprintf("it must be %s, not %s", or(want, e.Type.String()), article(e.Value))
	if e.Field != "" {
		text += " (in " + e.Field + ")"
	}
	return text
}

// article puts "a" or "an" before one of JSON's types.
func article(value string) string {
	switch value {
	case "object", "array":
		return "an " + value
	}
	return "a " + value
}

func nullable(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map
}
