package workorders

import (
	"slices"
	"testing"
)

// checked checks a book and returns its flags, one a line. A fault fails the test.
func checked(t *testing.T, b *Book) []string {
	t.Helper()
	r, err := b.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults {
		t.Errorf("fault: %s: %s", f.Record, f.What)
	}
	var flags []string
	for _, f := range r.Flags {
		flags = append(flags, f.Record+": "+f.What)
	}
	return flags
}

// TestCheckOfTheDemo: the demo's deliberate faults are flagged, and nothing else.
func TestCheckOfTheDemo(t *testing.T) {
	t.Parallel()
	want := []string{
		"V-2014: It overlaps V-2015 of the same technician.",
		"V-2026: Tomás Velloira has no valid Lifts for it.",
	}
	if got := checked(t, openBook(t)); !slices.Equal(got, want) {
		t.Errorf("flags %q", got)
	}
}
