package agent

import (
	"encoding/json"
	"fmt"
	"slices"
)

// fillKey is the source of an argument that holds the idempotency key.
const fillKey = "key"

// keyed reports whether the tool takes an idempotency key, so that its server
// keeps keys.
func (t Tool) keyed() bool {
	for _, from := range t.Desk.Fill {
		if from == fillKey {
			return true
		}
	}
	return false
}

// hideFilled gives the tool's input schema without the arguments that the
// engine fills.
func hideFilled(t Tool) json.RawMessage {
	if len(t.Desk.Fill) == 0 {
		return t.InputSchema
	}
	var schema map[string]json.RawMessage
	if json.Unmarshal(t.InputSchema, &schema) != nil {
		return t.InputSchema
	}
	var properties map[string]json.RawMessage
	if json.Unmarshal(schema["properties"], &properties) == nil {
		for name := range t.Desk.Fill {
			delete(properties, name)
		}
		schema["properties"] = mustJSON(properties)
	}
	var required []string
	if json.Unmarshal(schema["required"], &required) == nil {
		schema["required"] = mustJSON(slices.DeleteFunc(required, func(name string) bool {
			_, filled := t.Desk.Fill[name]
			return filled
		}))
	}
	return mustJSON(schema)
}

// dropFilled removes filled arguments that the model sent all the same.
func dropFilled(t Tool, arguments json.RawMessage) (json.RawMessage, error) {
	if len(t.Desk.Fill) == 0 {
		return arguments, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &object); err != nil {
		return nil, err
	}
	for name := range t.Desk.Fill {
		delete(object, name)
	}
	return Canonical(mustJSON(object))
}

// fill sets the filled arguments: the key, and what the drawn preview says. A
// pointer that the preview does not have leaves its argument out.
func fill(t Tool, arguments json.RawMessage, key string, preview *Result) (json.RawMessage, error) {
	if len(t.Desk.Fill) == 0 {
		return arguments, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &object); err != nil {
		return nil, fmt.Errorf("filling arguments: %w", err)
	}
	for name, from := range t.Desk.Fill {
		if from == fillKey {
			object[name] = mustJSON(key)
			continue
		}
		if preview == nil {
			continue
		}
		value, ok := Pointer(preview.Structured, from)
		if ok {
			object[name] = value
		}
	}
	return Canonical(mustJSON(object))
}

// mustJSON encodes values that always can be encoded: strings, and maps and
// slices of what was decoded from JSON.
func mustJSON(v any) json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic("agent: decoded JSON cannot be encoded: " + err.Error())
	}
	return encoded
}
