package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ForModel is a result as the text of a tool message: the structured content,
// or, where there is none, the text; both where they say different things. It is
// never empty.
func (m ModelMessage) ForModel() string {
	var parts []string
	if m.Note != "" {
		parts = append(parts, m.Note)
	}
	if m.Result != nil {
		text := strings.TrimSpace(m.Result.Text())
		if text != "" && !sameJSON([]byte(text), m.Result.Structured) {
			parts = append(parts, text)
		}
		if len(m.Result.Structured) > 0 {
			parts = append(parts, string(m.Result.Structured))
		}
		if m.Result.IsError {
			parts = append([]string{"The tool reports an error."}, parts...)
		}
	}
	out := strings.Join(parts, "\n")
	if out == "" {
		return "The tool gave no output."
	}
	return out
}

// sameJSON reports whether two texts are the same JSON value.
func sameJSON(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	if bytes.Equal(x.Bytes(), y.Bytes()) {
		return true
	}
	one, err := CanonicalObject(x.Bytes())
	two, err2 := CanonicalObject(y.Bytes())
	return err == nil && err2 == nil && bytes.Equal(one, two)
}
