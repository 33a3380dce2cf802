package workorders

import (
	"path/filepath"
	"testing"
)

// BenchmarkOpen is what a start of the console pays for its book.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "book.db")
	for b.Loop() {
		book, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		_ = book.Close()
	}
}
