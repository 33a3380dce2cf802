package workorders

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf infers the schema of a Go type and makes it portable: one type per
// property, never "null" beside it.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("workorders: schema of %T: %v", *new(T), err)) // a mistake in the source
	}
	single(s)
	return s
}

func single(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 {
		left := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		s.Type, s.Types = left[0], nil
	}
	for _, p := range s.Properties {
		single(p)
	}
	single(s.Items)
	single(s.AdditionalProperties)
}

// answerOrRefusal is the schema of everything that a tool gives as structured
// content. Clients hold refusals to it too, and hide them if they do not fit.
func answerOrRefusal(answer *jsonschema.Schema) *jsonschema.Schema {
	refusal := schemaOf[struct {
		Error Refusal `json:"error"`
	}]()
	return &jsonschema.Schema{Type: "object", AnyOf: []*jsonschema.Schema{answer, refusal}}
}

// A schemaEdit narrows one property of an input schema.
type schemaEdit func(*jsonschema.Schema)

// input infers an input schema and narrows the named properties.
func input[T any](edits map[string]schemaEdit) *jsonschema.Schema {
	s := schemaOf[T]()
	for name, edit := range edits {
		p := s.Properties[name]
		if p == nil {
			panic(fmt.Sprintf("workorders: %T has no property %s", *new(T), name)) // a mistake in the source
		}
		edit(p)
	}
	return s
}

func oneOf(values ...string) schemaEdit {
	return func(s *jsonschema.Schema) { s.Enum = anys(values) }
}

// someOf is a list of distinct values.
func someOf(values ...string) schemaEdit {
	return func(s *jsonschema.Schema) {
		s.Items = &jsonschema.Schema{Type: "string", Enum: anys(values)}
		s.UniqueItems, s.MinItems = true, ptr(1)
	}
}

func anys(values []string) []any {
	var out []any
	for _, v := range values {
		out = append(out, v)
	}
	return out
}

// texts is a string of that many characters.
func texts(least, most int) schemaEdit {
	return func(s *jsonschema.Schema) { s.MinLength, s.MaxLength = ptr(least), ptr(most) }
}

func pattern(p string) schemaEdit {
	return func(s *jsonschema.Schema) { s.Pattern = p }
}

func between(least, most int) schemaEdit {
	return func(s *jsonschema.Schema) { s.Minimum, s.Maximum = ptr(float64(least)), ptr(float64(most)) }
}

// limited is a page size with its default.
func limited(s *jsonschema.Schema) {
	between(1, 50)(s)
	s.Default = []byte("10")
}

func moments(s *jsonschema.Schema) { s.Format = "date-time" }

func dates(s *jsonschema.Schema) { s.Format = "date" }

const (
	workOrderPattern = `^([Ww][Oo][- ]?)?[0-9]{4,6}$`
	visitPattern     = `^([Vv][- ]?)?[0-9]{4,7}$`
	partOrderPattern = `^([Pp][Oo][- ]?)?[0-9]{3,7}$`
	keyPattern       = `^[\x21-\x7e]{8,64}$`
)

// Values that records have.
var (
	workOrderStatuses = []string{"new", "scheduled", "dispatched", "in_progress", "waiting_parts", "on_hold", "completed", "closed", "cancelled"}
	visitStatuses     = []string{"booked", "en_route", "on_site", "done", "no_access", "cancelled"}
	priorities        = []string{"emergency", "high", "normal", "low"}
	orderStatuses     = []string{"pending_approval", "approved", "ordered", "shipped", "back_ordered", "received", "cancelled", "rejected"}
)

func ptr[T any](v T) *T { return &v }
