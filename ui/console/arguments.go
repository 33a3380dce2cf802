package console

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// member is one member of a JSON object, harmless and on one line.
type member struct{ name, value string }

// members lists the members of a JSON object by name, strings quoted, with
// everything that cannot be seen made visible. It never leaves anything out.
func members(object json.RawMessage) []member {
	var fields map[string]json.RawMessage
	if unmarshal(object, &fields) != nil {
		return []member{{"arguments", quoted(object)}}
	}
	return membersOf(fields)
}

func membersOf(fields map[string]json.RawMessage) []member {
	out := make([]member, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, member{safeLine(name, evidence), quoted(fields[name])})
	}
	return out
}

// quoted writes a JSON value on one line; a string is quoted so that control
// and format characters, and its ends, can be seen. What is no JSON is shown as
// it is.
func quoted(raw json.RawMessage) string {
	var value any
	if unmarshal(raw, &value) != nil {
		return safeLine(string(raw), evidence)
	}
	switch v := value.(type) {
	case string:
		return safe(strconv.QuoteToGraphic(v), evidence)
	case []any:
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // it is a list
		parts := make([]string, len(list))
		for i := range list {
			parts[i] = quoted(list[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields) // it is an object
		parts := []string{}
		for _, m := range membersOf(fields) {
			parts = append(parts, m.name+": "+m.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return safeLine(string(raw), evidence)
}

// errNothing: there is no JSON to read.
var errNothing = errors.New("nothing to read")

func unmarshal(raw json.RawMessage, v any) error {
	if len(raw) == 0 {
		return errNothing
	}
	return json.Unmarshal(raw, v)
}
