package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"deskhand/agent"
)

// decodeDesk decodes the deskhand/... entries of a tool's _meta. Keys that it
// does not know are ignored, whosever they are; a known one that is malformed
// is an error, because what a tool says about spending must not get lost.
func decodeDesk(meta json.RawMessage, d *agent.DeskMeta) error {
	m, ok := members(meta)
	if !ok {
		return errors.New("it must be an object")
	}
	for key, into := range map[string]any{
		"deskhand/spends": &d.Spends, "deskhand/kind": &d.Kind,
		"deskhand/fill": &d.Fill, "deskhand/terms": &d.Terms,
	} {
		raw, ok := m[key]
		if !ok {
			continue
		}
		if isNull(raw) {
			return fmt.Errorf("%s is null", key)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for name, from := range d.Fill {
		if name == "" || from != "key" && !isPointer(from) {
			return fmt.Errorf(`deskhand/fill: %q must be "key" or a JSON pointer, not %q`, plain(name), plain(from))
		}
	}
	for _, term := range d.Terms {
		if !isPointer(term) {
			return errors.New("deskhand/terms: " + fmt.Sprintf("%q is no JSON pointer", plain(term)))
		}
	}
	return nil
}

// isPointer says whether text is a JSON pointer into something.
func isPointer(text string) bool {
	if !strings.HasPrefix(text, "/") {
		return false
	}
	for i := range len(text) {
		if text[i] == '~' && (i+1 == len(text) || text[i+1] != '0' && text[i+1] != '1') {
			return false
		}
	}
	return true
}
