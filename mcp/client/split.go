package client

import (
	"bytes"
	"encoding/json"
)

// The functions here take JSON apart into its members without decoding or
// copying them, so that what the server wrote stays as it is. They go by exact
// keys, where encoding/json would take "RESULT" for "result". They do not
// validate: they are for text that was or will be validated as a whole, and for
// other text give false or something useless, but never panic.

// members gives the members of a JSON object. Of equal keys the last counts.
func members(raw []byte) (map[string]json.RawMessage, bool) {
	m := make(map[string]json.RawMessage, 4)
	ok := split(raw, '{', '}', func(p []byte) ([]byte, bool) {
		if len(p) == 0 || p[0] != '"' {
			return nil, false
		}
		n, ok := valueEnd(p)
		if !ok {
			return nil, false
		}
		key := string(p[1 : n-1])
		if bytes.IndexByte(p[:n], '\\') >= 0 && json.Unmarshal(p[:n], &key) != nil {
			return nil, false
		}
		p = trimLeft(p[n:])
		if len(p) == 0 || p[0] != ':' {
			return nil, false
		}
		p = trimLeft(p[1:])
		if n, ok = valueEnd(p); ok {
			m[key] = json.RawMessage(p[:n:n])
		}
		return p[n:], ok
	})
	return m, ok
}

// elements gives the elements of a JSON array.
func elements(raw []byte) ([]json.RawMessage, bool) {
	e := []json.RawMessage{}
	ok := split(raw, '[', ']', func(p []byte) ([]byte, bool) {
		n, ok := valueEnd(p)
		if ok {
			e = append(e, json.RawMessage(p[:n:n]))
		}
		return p[n:], ok
	})
	return e, ok
}

// split calls one for each of the comma-separated parts between two brackets;
// one gives what follows its part.
func split(p []byte, left, right byte, one func([]byte) ([]byte, bool)) bool {
	p = trimLeft(p)
	if len(p) == 0 || p[0] != left {
		return false
	}
	p = trimLeft(p[1:])
	if len(p) > 0 && p[0] == right {
		return len(trimLeft(p[1:])) == 0
	}
	for {
		rest, ok := one(p)
		if !ok {
			return false
		}
		p = trimLeft(rest)
		if len(p) == 0 {
			return false
		}
		switch p[0] {
		case ',':
			p = trimLeft(p[1:])
		case right:
			return len(trimLeft(p[1:])) == 0
		default:
			return false
		}
	}
}

// valueEnd is the length of the JSON value at the start of p.
func valueEnd(p []byte) (int, bool) {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '"':
			n := stringEnd(p[i:])
			if n == 0 {
				return 0, false
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i, i > 0
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i, i > 0
			}
			continue
		default:
			continue
		}
		if depth == 0 { // a string, an object or an array has ended
			return i + 1, true
		}
	}
	return len(p), depth == 0 && len(p) > 0
}

// stringEnd is the length of the JSON string at the start of p; 0 if it has no
// end.
func stringEnd(p []byte) int {
	for i := 1; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func trimLeft(p []byte) []byte {
	for len(p) > 0 && (p[0] == ' ' || p[0] == '\t' || p[0] == '\r' || p[0] == '\n') {
		p = p[1:]
	}
	return p
}
