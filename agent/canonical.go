package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arguments; no tool needs more.
const maxDepth = 64

// Canonical gives the one form of a JSON value that is shown, hashed and sent:
// no white space, keys sorted by bytes, numbers in the decimal text that they
// came in, strings escaped no more than JSON demands. It refuses duplicate keys
// and invalid UTF-8, because two readers could understand them differently.
func Canonical(raw []byte) (json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("invalid UTF-8 in JSON")
	}
	if loneSurrogate(raw) {
		return nil, errors.New("half of a surrogate pair in JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out bytes.Buffer
	if err := canonicalValue(decoder, &out, 0); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return out.Bytes(), nil
}

// loneSurrogate reports whether an escape in the JSON text is half of a pair: the
// decoder would put a replacement character in its place, so that what is shown
// and sent would not be what was written.
func loneSurrogate(raw []byte) bool {
	high := false
	for i := 0; i < len(raw); i++ {
		unit, size := escapedUnit(raw[i:])
		switch {
		case utf16.IsSurrogate(unit) && unit < 0xDC00 && !high:
			high = true
		case utf16.IsSurrogate(unit) && unit >= 0xDC00 && high:
			high = false
		case high, utf16.IsSurrogate(unit):
			return true
		}
		i += size - 1
	}
	return high
}

// escapedUnit reads one byte or one escape at the start of JSON text. Of an
// escape \uXXXX it gives the unit; of anything else 0.
func escapedUnit(raw []byte) (unit rune, size int) {
	if raw[0] != '\\' || len(raw) < 2 {
		return 0, 1
	}
	if raw[1] != 'u' || len(raw) < 6 {
		return 0, 2
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 32)
	if err != nil {
		return 0, 2 // the decoder says what is wrong with it
	}
	return rune(n), 6
}

// CanonicalObject is Canonical for what must be a JSON object, as arguments
// are. Nothing at all counts as the empty object.
func CanonicalObject(raw []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	out, err := Canonical(raw)
	if err != nil {
		return nil, err
	}
	if out[0] != '{' {
		return nil, errors.New("arguments must be a JSON object")
	}
	return out, nil
}

func canonicalValue(d *json.Decoder, out *bytes.Buffer, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("JSON nested deeper than %d", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			return canonicalArray(d, out, depth)
		}
		return canonicalMembers(d, out, depth)
	case json.Number:
		out.WriteString(v.String())
	case string:
		writeString(out, v)
	case bool:
		out.WriteString(strconv.FormatBool(v))
	default:
		out.WriteString("null")
	}
	return nil
}

func canonicalArray(d *json.Decoder, out *bytes.Buffer, depth int) error {
	out.WriteByte('[')
	for i := 0; d.More(); i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := canonicalValue(d, out, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := d.Token()
	return err
}

func canonicalMembers(d *json.Decoder, out *bytes.Buffer, depth int) error {
	members := map[string][]byte{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok {
			return errors.New("a JSON object needs names in quotes")
		}
		if _, twice := members[name]; twice {
			return fmt.Errorf("the name %q stands twice in one JSON object", name)
		}
		var value bytes.Buffer
		if err := canonicalValue(d, &value, depth+1); err != nil {
			return err
		}
		members[name] = value.Bytes()
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	out.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			out.WriteByte(',')
		}
		writeString(out, name)
		out.WriteByte(':')
		out.Write(members[name])
	}
	out.WriteByte('}')
	return nil
}

func writeString(out *bytes.Buffer, s string) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string into a buffer cannot fail
	out.Truncate(out.Len() - 1)
}

// Pointer finds the value that a JSON pointer (RFC 6901) names in a document.
func Pointer(document json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "" {
		return document, len(document) > 0
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	value := document
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		trimmed := bytes.TrimSpace(value)
		if len(trimmed) == 0 {
			return nil, false
		}
		switch trimmed[0] {
		case '{':
			var object map[string]json.RawMessage
			if json.Unmarshal(value, &object) != nil {
				return nil, false
			}
			next, ok := object[token]
			if !ok {
				return nil, false
			}
			value = next
		case '[':
			var array []json.RawMessage
			index, err := strconv.Atoi(token)
			if err != nil || json.Unmarshal(value, &array) != nil || index < 0 || index >= len(array) {
				return nil, false
			}
			value = array[index]
		default:
			return nil, false
		}
	}
	return value, true
}
