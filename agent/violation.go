package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// violation says in words what is wrong with a value that does not fit its
// schema, for people and for models. It knows the plain keywords and gives ""
// for what it cannot explain; the validator decides what is valid, not this.
func violation(schema *jsonschema.Schema, value any) string {
	return violationAt("", schema, value)
}

func violationAt(path string, s *jsonschema.Schema, value any) string {
	if s == nil {
		return ""
	}
	what := path
	if what == "" {
		what = "what was given"
	}
	if kinds := kindsOf(s); len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return isKind(k, value) }) {
		return fmt.Sprintf("%s must be %s, not %s", what, strings.Join(named(kinds), " or "), describe(value))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return describe(e) == describe(value) }) {
		return fmt.Sprintf("%s must be one of %s, not %s", what, joined(s.Enum), describe(value))
	}
	switch v := value.(type) {
	case float64:
		return numberViolation(what, s, v)
	case string:
		return textViolation(what, s, v)
	case []any:
		return listViolation(path, what, s, v)
	case map[string]any:
		return objectViolation(path, s, v)
	}
	return ""
}

func numberViolation(what string, s *jsonschema.Schema, v float64) string {
	switch {
	case s.Minimum != nil && v < *s.Minimum:
		return fmt.Sprintf("%s must be at least %s, not %s", what, decimal(*s.Minimum), decimal(v))
	case s.Maximum != nil && v > *s.Maximum:
		return fmt.Sprintf("%s must be at most %s, not %s", what, decimal(*s.Maximum), decimal(v))
	case s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum:
		return fmt.Sprintf("%s must be more than %s, not %s", what, decimal(*s.ExclusiveMinimum), decimal(v))
	case s.ExclusiveMaximum != nil && v >= *s.ExclusiveMaximum:
		return fmt.Sprintf("%s must be less than %s, not %s", what, decimal(*s.ExclusiveMaximum), decimal(v))
	}
	return ""
}

func textViolation(what string, s *jsonschema.Schema, v string) string {
	switch n := len([]rune(v)); {
	case v == "" && s.MinLength != nil && *s.MinLength > 0:
		return what + " must not be empty"
	case s.MinLength != nil && n < *s.MinLength:
		return fmt.Sprintf("%s must have at least %d characters, not %d", what, *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("%s must have at most %d characters, not %d", what, *s.MaxLength, n)
	}
	return ""
}

func listViolation(path, what string, s *jsonschema.Schema, v []any) string {
	switch {
	case s.MinItems != nil && len(v) < *s.MinItems:
		return fmt.Sprintf("%s must have at least %d entries, not %d", what, *s.MinItems, len(v))
	case s.MaxItems != nil && len(v) > *s.MaxItems:
		return fmt.Sprintf("%s must have at most %d entries, not %d", what, *s.MaxItems, len(v))
	}
	for i, item := range v {
		if text := violationAt(fmt.Sprintf("%s[%d]", path, i), s.Items, item); text != "" {
			return text
		}
	}
	return ""
}

func objectViolation(path string, s *jsonschema.Schema, v map[string]any) string {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return below(path, name) + " is missing"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		property, ok := s.Properties[name]
		if !ok {
			if closed(s) {
				return fmt.Sprintf("there is no argument %s; known are %s", below(path, name), strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
			}
			continue
		}
		if text := violationAt(below(path, name), property, v[name]); text != "" {
			return text
		}
	}
	return ""
}

// closed says that a schema takes no other properties than those it names.
func closed(s *jsonschema.Schema) bool {
	if s.AdditionalProperties == nil || len(s.PatternProperties) > 0 {
		return false
	}
	text, err := json.Marshal(s.AdditionalProperties)
	return err == nil && (string(text) == "false" || string(text) == `{"not":{}}`)
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func kindsOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func isKind(kind string, value any) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

// named gives the words for JSON's types.
func named(kinds []string) []string {
	words := map[string]string{"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "a list", "object": "an object", "null": "nothing"}
	out := make([]string, 0, len(kinds))
	for _, k := range kinds {
		if word, ok := words[k]; ok {
			k = word
		}
		out = append(out, k)
	}
	return out
}

// describe writes a value as JSON, cut if it is long.
func describe(value any) string {
	const most = 60
	text, err := json.Marshal(value)
	if err != nil {
		return "that"
	}
	if runes := []rune(string(text)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(text)
}

func joined(values []any) string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, describe(v))
	}
	return strings.Join(out, ", ")
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
