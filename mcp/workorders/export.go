package workorders

import (
	"encoding/json"
	"io"
)

// writeIndented prints one JSON object for people and programs; text is
// written as it is, without HTML escapes.
func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}
