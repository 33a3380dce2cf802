package client

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzSplit: for valid JSON, what encoding/json says.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : 1 , "b":[1,{"c":"}"}], "a":null } `, `[1,"\"]",{"x":[]},true , -1.5e3]`,
		`{"\u0061":"\\"}`, `{"a":}`, `[1,]`, `"`, `{"a":"`, `[[[`, `1`, `{"a"1}`, `[1 2]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, isObject := members(raw)
		e, isArray := elements(raw)
		if !json.Valid(raw) || !utf8.Valid(raw) {
			return
		}
		var wantM map[string]json.RawMessage
		var wantE []json.RawMessage
		if err := json.Unmarshal(raw, &wantM); (err == nil && wantM != nil) != isObject {
			t.Fatalf("%s: an object: %v, want %v", raw, isObject, err == nil)
		}
		if err := json.Unmarshal(raw, &wantE); (err == nil && wantE != nil) != isArray {
			t.Fatalf("%s: an array: %v, want %v", raw, isArray, err == nil)
		}
		if isObject && !cmp.Equal(m, wantM) {
			t.Errorf("%s:\n%s", raw, cmp.Diff(wantM, m))
		}
		if isArray && !cmp.Equal(e, wantE) {
			t.Errorf("%s:\n%s", raw, cmp.Diff(wantE, e))
		}
	})
}
