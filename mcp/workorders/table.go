package workorders

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// overlayMost is how many newer entries lie over a base before the two are
// made one. Copying a small overlay for each change, and the base now and
// then, keeps the cost of a change from growing with the book.
const overlayMost = 512

// An overlay is a map that is never changed once it has been published; with
// makes a changed copy, which shares most of its entries.
type overlay[V any] struct {
	base, over map[string]V
}

func (o overlay[V]) get(key string) (V, bool) {
	if v, ok := o.over[key]; ok {
		return v, true
	}
	v, ok := o.base[key]
	return v, ok
}

func (o overlay[V]) with(changed map[string]V) overlay[V] {
	if len(o.over)+len(changed) <= overlayMost {
		over := maps.Clone(o.over)
		if over == nil {
			over = make(map[string]V, len(changed))
		}
		maps.Copy(over, changed)
		return overlay[V]{base: o.base, over: over}
	}
	base := make(map[string]V, len(o.base)+len(o.over)+len(changed))
	maps.Copy(base, o.base)
	maps.Copy(base, o.over)
	maps.Copy(base, changed)
	return overlay[V]{base: base}
}

// A table holds the records of one kind. Like its overlay, it never changes.
type table[T any] struct {
	records overlay[*T]
	ids     []string // in natural order
}

func newTable[T any](records []T, id func(*T) string) table[T] {
	base := make(map[string]*T, len(records))
	for i := range records {
		base[id(&records[i])] = &records[i]
	}
	return table[T]{records: overlay[*T]{base: base}, ids: slices.SortedFunc(maps.Keys(base), compareIDs)}
}

// compareIDs puts WO-999 before WO-1000: shorter ids of the same prefix first.
func compareIDs(a, b string) int {
	pa, na := splitID(a)
	pb, nb := splitID(b)
	if pa != pb || na == "" || nb == "" {
		return strings.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(len(na), len(nb)), strings.Compare(na, nb))
}

func splitID(id string) (prefix, digits string) {
	i := len(id)
	for i > 0 && id[i-1] >= '0' && id[i-1] <= '9' {
		i--
	}
	return id[:i], id[i:]
}

func (t table[T]) get(id string) *T {
	r, _ := t.records.get(id)
	return r
}

// near lists ids that differ from id in one digit, lowest first and few.
func (t table[T]) near(id string) []string {
	var out []string
	for i := range len(id) {
		if id[i] < '0' || id[i] > '9' {
			continue
		}
		for d := byte('0'); d <= '9'; d++ {
			if other := id[:i] + string(d) + id[i+1:]; other != id && t.get(other) != nil {
				out = append(out, other)
			}
		}
	}
	slices.SortFunc(out, compareIDs)
	return out[:min(len(out), maxCandidates)]
}

func (t table[T]) all() iter.Seq[*T] { return t.these(t.ids) }

// these are the records with those ids, in that order.
func (t table[T]) these(ids []string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, id := range ids {
			if !yield(t.get(id)) {
				return
			}
		}
	}
}

// with is the table after a change. New ids are usually the highest; they are
// put behind the others in the same array, of which older tables do not see
// the end. Only the newest table may be changed.
func (t table[T]) with(changed map[string]*T) table[T] {
	if len(changed) == 0 {
		return t
	}
	var added []string
	for id := range changed {
		if t.get(id) == nil {
			added = append(added, id)
		}
	}
	slices.SortFunc(added, compareIDs)
	ids := t.ids
	if len(added) > 0 && len(ids) > 0 && compareIDs(added[0], ids[len(ids)-1]) < 0 {
		ids = slices.Concat(ids, added)
		slices.SortFunc(ids, compareIDs)
	} else {
		ids = append(ids, added...)
	}
	return table[T]{records: t.records.with(changed), ids: ids}
}

// firstNumber is the least number of an id that is given here: tools take ids
// of four digits and more.
const firstNumber = 1001

// nextID is the id after the highest numbered one with that prefix.
func (t table[T]) nextID(prefix string) string {
	highest := firstNumber - 1
	for _, id := range slices.Backward(t.ids) {
		var n int
		if p, digits := splitID(id); p != prefix || digits == "" {
			continue
		} else if _, err := fmt.Sscanf(digits, "%d", &n); err == nil {
			highest = max(highest, n)
			break
		}
	}
	return fmt.Sprintf("%s%d", prefix, highest+1)
}
