package kv

import "testing"

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		o        ScanOptions
		from, to string
	}{
		{"everything", ScanOptions{}, "", ""},
		{"everything, reverse", ScanOptions{Reverse: true}, "", ""},
		{"prefix", ScanOptions{Prefix: "a/"}, "a/", "a0"},
		{"prefix that ends in ff", ScanOptions{Prefix: "a\xff\xff"}, "a\xff\xff", "b"},
		{"prefix of ff only", ScanOptions{Prefix: "\xff\xff"}, "\xff\xff", ""},
		{"prefix that is not text", ScanOptions{Prefix: "a\x80"}, "a\x80", "a\x81"},
		{"prefix that ends in fe", ScanOptions{Prefix: "a\xfe"}, "a\xfe", "a\xff"},
		{"prefix that ends in a replacement character", ScanOptions{Prefix: "a\ufffd"}, "a\xef\xbf\xbd", "a\xef\xbf\xbe"},
		{"cursor inside", ScanOptions{Prefix: "a", After: "ab"}, "ab\x00", "b"},
		{"cursor inside, reverse", ScanOptions{Prefix: "a", After: "ab", Reverse: true}, "a", "ab"},
		{"cursor before", ScanOptions{Prefix: "b", After: "a"}, "b", "c"},
		{"cursor before, reverse", ScanOptions{Prefix: "b", After: "a", Reverse: true}, "b", "a"},
		{"cursor behind", ScanOptions{Prefix: "b", After: "d"}, "d\x00", "c"},
		{"cursor behind, reverse", ScanOptions{Prefix: "b", After: "d", Reverse: true}, "b", "c"},
		{"cursor is the prefix", ScanOptions{Prefix: "b", After: "b"}, "b\x00", "c"},
		{"cursor without end", ScanOptions{Prefix: "\xff", After: "\xffz", Reverse: true}, "\xff", "\xffz"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if from, to := tt.o.Bounds(); from != tt.from || to != tt.to {
				t.Errorf("bounds are %q and %q, want %q and %q", from, to, tt.from, tt.to)
			}
		})
	}
}
