package agent_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"deskhand/agent"
)

func TestCanonicalIsOneFormForOneValue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{"key order", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"white space", " { \"a\" : [ 1 , 2 ] } ", `{"a":[1,2]}`},
		{"decimal text of numbers", `{"a":1.10,"b":1e400,"c":12345678901234567890}`, `{"a":1.10,"b":1e400,"c":12345678901234567890}`},
		{"escapes", `"\u00e9\u0041\/<>&"`, `"éA/<>&"`},
		{"a surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"an escaped backslash before u", `"\\ud800"`, `"\\ud800"`},
		{"nested keys", `{"z":{"b":null,"a":true}}`, `{"z":{"a":true,"b":null}}`},
	} {
		got, err := agent.Canonical([]byte(test.in))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}

func TestCanonicalRefusesWhatTwoReadersCouldReadDifferently(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, wants string }{
		{"a name twice", `{"a":1,"a":2}`, "twice"},
		{"a name twice in other letters", `{"a":1,"\u0061":2}`, "twice"},
		{"invalid UTF-8", "\"\xff\"", "UTF-8"},
		{"half a pair", `"\ud800"`, "surrogate"},
		{"the other half", `"x\udc00"`, "surrogate"},
		{"two first halves", `"\ud800\ud800\udc00"`, "surrogate"},
		{"two values", `1 2`, "more than one"},
		{"nothing", ``, "unexpected EOF"},
		{"cut", `{"a":`, "unexpected EOF"},
		{"too deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), "deeper"},
	} {
		if got, err := agent.Canonical([]byte(test.in)); err == nil || !strings.Contains(err.Error(), test.wants) {
			t.Errorf("%s: %s, %v", test.name, got, err)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.50,"\u00e9"],"a":{"x":null}}`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, `[[[]]]`, `1e5`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := agent.Canonical(raw)
		if err != nil {
			return
		}
		twice, err := agent.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, then %q (%v)", raw, once, twice, err)
		}
		var before, after any
		if json.Unmarshal(raw, &before) != nil {
			return // numbers that Go cannot hold keep their text all the same
		}
		if err := json.Unmarshal(once, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q changed its meaning: %q", raw, once)
		}
	})
}

func TestAPointerFindsWhatItNames(t *testing.T) {
	t.Parallel()
	document := json.RawMessage(`{"a":{"b":[10,{"c/d":"x","e~f":1}]}}`)
	for _, test := range []struct {
		pointer, want string
		found         bool
	}{
		{"/a/b/0", "10", true}, {"/a/b/1/c~1d", `"x"`, true}, {"/a/b/1/e~0f", "1", true},
		{"/a/b/2", "", false}, {"/a/b/-1", "", false}, {"/a/x", "", false}, {"/a/b/0/x", "", false}, {"a", "", false},
	} {
		got, ok := agent.Pointer(document, test.pointer)
		if ok != test.found || string(got) != test.want {
			t.Errorf("%s: %s, %v", test.pointer, got, ok)
		}
	}
	if _, ok := agent.Pointer(nil, "/a"); ok {
		t.Error("found something in nothing")
	}
}
