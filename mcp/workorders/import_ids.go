package workorders

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// An idForm is how the ids of a kind look, and how rows without one are
// numbered.
type idForm struct {
	form    *regexp.Regexp
	prefix  string
	first   int
	digits  int // at least
	example string
}

// anyID is what other lists refer to and nobody types into a tool.
var anyID = regexp.MustCompile(`^[A-Z0-9][A-Z0-9._/-]{0,39}$`)

var idForms = map[string]idForm{
	bucketTechnicians: {regexp.MustCompile(`^T-[0-9]{2,4}$`), "T-", 1, 2, "T-03"},
	bucketCustomers:   {nil, "C-", 1, 2, "C-07"},
	bucketSites:       {anyID, "S-", 101, 1, "S-101"},
	bucketAssets:      {anyID, "A-", 501, 1, "A-501"},
	bucketWorkOrders:  {regexp.MustCompile(`^WO-[0-9]{4,6}$`), "WO-", 1001, 4, "WO-1044"},
	bucketVisits:      {regexp.MustCompile(`^V-[0-9]{4,7}$`), "V-", 2001, 4, "V-2019"},
	bucketSuppliers:   {nil, "SUP-", 1, 1, "SUP-1"},
	bucketLocations:   {anyID, "", 0, 1, "DEPOT-C"},
	bucketParts:       {regexp.MustCompile(`^[\x21-\x7e]{1,40}$`), "", 0, 1, "HE-3000-230"},
	bucketPartOrders:  {regexp.MustCompile(`^PO-[0-9]{3,7}$`), "PO-", 3001, 4, "PO-3007"},
}

// fullID writes a number as the id that it stands for: 17 is WO-0017 among the
// work orders. Everything else stays as it is.
func fullID(kind, id string) string {
	f := idForms[kind]
	id = strings.TrimSpace(id)
	if f.prefix == "" || f.form == nil || f.form == anyID || id == "" {
		return id
	}
	digits := id
	if len(id) > len(f.prefix) && strings.EqualFold(id[:len(f.prefix)], f.prefix) {
		digits = id[len(f.prefix):]
	}
	if n, err := strconv.ParseUint(digits, 10, 32); err == nil {
		return fmt.Sprintf("%s%0*d", f.prefix, max(f.digits, len(digits)), n)
	}
	return id
}

// id checks a row's id, or gives the next number to a row that has none.
func (r *row[T]) id(column string, id *string) {
	f, known := idForms[r.kind], r.in.known.ids[r.kind]
	*id = fullID(r.kind, *id)
	if *id == "" && f.prefix != "" {
		next := max(f.first, r.in.last[r.kind]+1)
		for r.in.inBook(r.kind, fmt.Sprintf("%s%0*d", f.prefix, f.digits, next)) {
			next++
		}
		*id = fmt.Sprintf("%s%0*d", f.prefix, f.digits, next)
	}
	switch {
	case *id == "":
		r.bad(column, "it is empty; write one like %s", f.example)
	case f.form != nil && !f.form.MatchString(*id):
		r.bad(column, "%q cannot be an id here; write one like %s", *id, f.example)
	case r.in.first && r.in.inBook(r.kind, *id):
		r.bad(column, "%s is in the book already", *id)
	case r.in.first && known[*id]:
		r.bad(column, "%s is there twice", *id)
	default:
		known[*id] = true
		if prefix, digits := splitID(*id); prefix == f.prefix {
			if n, err := strconv.Atoi(digits); err == nil {
				r.in.last[r.kind] = max(r.in.last[r.kind], n)
			}
		}
	}
}

// inBook says whether rows are added to a book that has this record.
func (in *importing) inBook(kind, id string) bool { return in.opt.Add && in.old[kind][id] }

// refers checks that a record of that kind is there. It may be named by its id
// or, if only one has it, by its name.
func (r *row[T]) refers(column, kind string, id *string) bool {
	known := r.in.known
	if known.ids[kind][*id] {
		return true
	}
	if full := fullID(kind, *id); known.ids[kind][full] {
		*id = full
		return true
	}
	named, ok := known.names[kind][fold(strings.TrimSpace(*id))]
	switch {
	case named != "":
		*id = named
		return true
	case *id == "":
		r.bad(column, "it is empty")
	case ok:
		r.bad(column, "several %s are called %q; write the id", statusWords(kind), *id)
	default:
		r.bad(column, "there is no %q among the %s", *id, statusWords(kind))
	}
	return false
}

func (r *row[T]) refersIfAny(column, kind string, id *string) {
	if id != nil {
		r.refers(column, kind, id)
	}
}
