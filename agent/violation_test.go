package agent

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestArgumentsThatDoNotFitAreExplainedInWords(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","additionalProperties":false,"required":["sku"],"properties":{
		"sku":{"type":"string","minLength":2,"maxLength":5},"quantity":{"type":"integer","minimum":1,"maximum":20},
		"share":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"how":{"enum":["road","air"]},
		"note":{"type":["string","null"],"minLength":1},"flags":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"boolean"}},
		"to":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}},
		"odd":{"type":"string","pattern":"^x"}}}`
	for arguments, want := range map[string]string{
		`{"sku":"HE","quantity":0}`:              "quantity must be at least 1, not 0",
		`{"sku":"HE","quantity":21}`:             "quantity must be at most 20, not 21",
		`{"sku":"HE","quantity":1.5}`:            "quantity must be a whole number, not 1.5",
		`{"sku":"HE","quantity":"two"}`:          `quantity must be a whole number, not "two"`,
		`{"sku":"HE","share":0}`:                 "share must be more than 0, not 0",
		`{"sku":"HE","share":1}`:                 "share must be less than 1, not 1",
		`{"sku":"HE","how":"sea"}`:               `how must be one of "road", "air", not "sea"`,
		`{"sku":"HE","note":""}`:                 "note must not be empty",
		`{"sku":"HE","note":4}`:                  "note must be text or nothing, not 4",
		`{"sku":"HE","flags":[]}`:                "flags must have at least 1 entries, not 0",
		`{"sku":"HE","flags":[true,false,1]}`:    "flags must have at most 2 entries, not 3",
		`{"sku":"HE","flags":[true,1]}`:          "flags[1] must be true or false, not 1",
		`{"sku":"HE","to":{}}`:                   "to.city is missing",
		`{"sku":"HE","to":{"city":[]}}`:          "to.city must be text, not []",
		`{"sku":"H"}`:                            "sku must have at least 2 characters, not 1",
		`{"sku":"HEHEHE"}`:                       "sku must have at most 5 characters, not 6",
		`{"quantity":1}`:                         "sku is missing",
		`{"sku":"HE","foo":1}`:                   "there is no argument foo; known are flags, how, note, odd, quantity, share, sku, to",
		`{"sku":{"x":"` + long() + `"}}`:         `sku must be text, not {"x":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…`,
		`{"sku":"HE","odd":"y"}`:                 "", // the validator's own words
		`{"sku":"HE","quantity":20,"how":"air"}`: "-",
	} {
		var cache schemaCache
		err := cache.validate(Entry{Name: "s/t"}, json.RawMessage(schema), json.RawMessage(arguments))
		switch {
		case want == "-":
			if err != nil {
				t.Errorf("%s: %v", arguments, err)
			}
		case err == nil:
			t.Errorf("%s: it is taken for valid", arguments)
		case want == "" && !strings.Contains(err.Error(), "pattern"), want != "" && err.Error() != want:
			t.Errorf("%s:\n got %s\nwant %s", arguments, err, want)
		}
	}
}

func long() string { return strings.Repeat("y", 200) }
