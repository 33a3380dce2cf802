package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deskhand/state/kv"
)

func testScan(t *testing.T, s kv.Store) {
	if keys := keysOf(t, s, kv.ScanOptions{}); len(keys) != 0 {
		t.Errorf("an empty store has %q", keys)
	}
	if keys := keysOf(t, s, kv.ScanOptions{Reverse: true, Prefix: "a"}); len(keys) != 0 {
		t.Errorf("an empty store has %q", keys)
	}
	all := []string{"\x00", "a", "a\x00", "a/", "a/1", "a/2", "a/\xff", "a/\xff\xff", "a0", "a\x7f", "a\x80", "a\x80\x80", "a\x81", "a\ufffd", "a\xfe", "b", "\xff", "\xff\xff", "\xff\xffz"}
	for _, key := range all {
		put(t, s, key, "value of "+key)
	}
	cursors := append([]string{"", "0", "a/11", "a/\xff\x00", "zz", "\xff\xff\xff"}, all...)
	for _, prefix := range []string{"", "a", "a/", "a/\xff", "a/x", "a\x7f", "a\x80", "a\ufffd", "a\xfe", "b", "c", "\x00", "\xff", "\xff\xff", "\xff\xff\xff"} {
		for _, after := range cursors {
			for _, reverse := range []bool{false, true} {
				for _, limit := range []int{-1, 0, 2, len(all)} {
					o := kv.ScanOptions{Prefix: prefix, After: after, Reverse: reverse, Limit: limit}
					if got, want := keysOf(t, s, o), expected(all, o); !slices.Equal(got, want) {
						t.Errorf("%+q: %q, want %q", fmt.Sprintf("%+v", o), got, want)
					}
				}
			}
		}
	}
	pairs, err := s.Scan(t.Context(), kv.ScanOptions{Prefix: "a/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if string(p.Value) != "value of "+p.Key {
			t.Errorf("%q has %q", p.Key, p.Value)
		}
	}
}

// expected says in the plainest way what a scan over the sorted keys returns.
func expected(keys []string, o kv.ScanOptions) []string {
	var found []string
	for _, key := range keys {
		behind := o.After == "" || key > o.After && !o.Reverse || key < o.After && o.Reverse
		if strings.HasPrefix(key, o.Prefix) && behind {
			found = append(found, key)
		}
	}
	if o.Reverse {
		slices.Reverse(found)
	}
	if o.Limit > 0 && len(found) > o.Limit {
		found = found[:o.Limit]
	}
	return found
}

// testScanPages reads a few hundred keys page by page, as screens do, in both
// directions, with neighbours on both sides that must not appear.
func testScanPages(t *testing.T, s kv.Store) {
	const n = 300
	put(t, s, "m", "", "m.", "", "m0", "", "n", "")
	for i := 0; i < n; i += 50 {
		update(t, s, func(tx kv.Tx) error {
			for j := i; j < i+50; j++ {
				if err := tx.Put(fmt.Sprintf("m/%04d", j), make([]byte, 100)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, reverse := range []bool{false, true} {
		o := kv.ScanOptions{Prefix: "m/", Reverse: reverse, Limit: 7}
		var got []string
		for page := keysOf(t, s, o); len(page) > 0; page = keysOf(t, s, o) {
			got = append(got, page...)
			o.After = page[len(page)-1]
		}
		if reverse {
			slices.Reverse(got)
		}
		if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(got)) != n {
			t.Errorf("reverse %v: pages brought %d keys, sorted: %v", reverse, len(got), slices.IsSorted(got))
		}
	}
}

// testModel does random updates on the store and on a map and compares.
func testModel(t *testing.T, s kv.Store) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	model := make(map[string]string)
	for round := range 80 {
		next := maps.Clone(model)
		fails := r.IntN(5) == 0
		steps := randomSteps(r, next)
		err := s.Update(t.Context(), func(tx kv.Tx) error { return takeSteps(tx, steps, fails) })
		if (err != nil) != fails {
			t.Fatalf("round %d: %v", round, err)
		}
		if !fails {
			model = next
		}
		compare(t, r, s, model)
	}
}

// step is one write of a random update; a nil value deletes.
type step struct {
	key   string
	value []byte
}

func randomSteps(r *rand.Rand, model map[string]string) []step {
	steps := make([]step, 1+r.IntN(kv.MaxKeys))
	for i := range steps {
		key := fmt.Sprintf("%c/%d", 'a'+r.IntN(4), r.IntN(60))
		if r.IntN(3) == 0 {
			delete(model, key)
			steps[i] = step{key: key}
			continue
		}
		value := make([]byte, r.IntN(2000))
		for j := range value {
			value[j] = byte(r.Uint32())
		}
		model[key] = string(value)
		steps[i] = step{key, value}
	}
	return steps
}

func takeSteps(tx kv.Tx, steps []step, fails bool) error {
	for _, st := range steps {
		var err error
		if st.value == nil {
			err = tx.Delete(st.key)
		} else {
			err = tx.Put(st.key, st.value)
		}
		if err != nil {
			return err
		}
	}
	if fails {
		return fmt.Errorf("this one fails after %d steps", len(steps))
	}
	return nil
}

func compare(t *testing.T, r *rand.Rand, s kv.Store, model map[string]string) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(model))
	o := kv.ScanOptions{Prefix: []string{"", "a", "b/", "d"}[r.IntN(4)], Reverse: r.IntN(2) == 0, Limit: r.IntN(30)}
	if len(keys) > 0 && r.IntN(2) == 0 {
		o.After = keys[r.IntN(len(keys))]
	}
	pairs, err := s.Scan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := expected(keys, o)
	if len(pairs) != len(want) {
		t.Fatalf("%+v brought %d pairs, want %d", o, len(pairs), len(want))
	}
	for i, p := range pairs {
		if p.Key != want[i] || string(p.Value) != model[p.Key] {
			t.Fatalf("%+v: pair %d is %q with %d bytes, want %q with %d", o, i, p.Key, len(p.Value), want[i], len(model[want[i]]))
		}
	}
}
