package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// keyTree says which keys an object may have, and what is below them.
type keyTree map[string]keyTree

// unknownKey is a key that is not in the tree.
type unknownKey struct {
	path      string
	line      int
	nearest   string
	tolerated bool
}

func (u unknownKey) suggestion() string {
	if u.nearest == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", u.nearest)
}

// checkKeys reads a configuration and finds the keys that it may not have.
func checkKeys(text []byte, tree keyTree) ([]unknownKey, error) {
	w := &keyWalk{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the file is empty; write {} for the defaults")
	}
	err := w.value("", tree, false)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the file ends in the middle")
	}
	if err != nil {
		return nil, positioned(text, err)
	}
	if _, err := w.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON object in the file")
	}
	return w.found, nil
}

type keyWalk struct {
	text    []byte
	decoder *json.Decoder
	found   []unknownKey
}

func (w *keyWalk) value(path string, tree keyTree, tolerant bool) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for w.decoder.More() {
		below, name := tree, path
		if delim == '{' {
			key, err := w.decoder.Token()
			if err != nil {
				return err
			}
			word, _ := key.(string) // a JSON object's keys are strings
			name = join(path, word)
			if seen[word] {
				return fmt.Errorf("line %d: %s stands there twice", w.line(), name)
			}
			seen[word] = true
			below = w.key(name, word, tree, tolerant)
		}
		if err := w.value(name, below, tolerant || path == "mcpServers"); err != nil {
			return err
		}
	}
	_, err = w.decoder.Token()
	return err
}

// key checks one key and gives what may stand below it.
func (w *keyWalk) key(path, word string, tree keyTree, tolerant bool) keyTree {
	if tree == nil {
		return nil
	}
	if below, ok := tree[word]; ok {
		return below
	}
	if below, ok := tree["*"]; ok {
		return below
	}
	w.found = append(w.found, unknownKey{path: path, line: w.line(), nearest: nearest(word, tree), tolerated: tolerant})
	return nil
}

func (w *keyWalk) line() int {
	return lineAt(w.text, w.decoder.InputOffset())
}

func join(path, word string) string {
	if path == "" {
		return word
	}
	return path + "." + word
}

// nearest is the known key that differs least, if it is near at all.
func nearest(word string, tree keyTree) string {
	best, distance := "", 1+len(word)/2
	for known := range tree {
		if d := editDistance(word, known); d < distance || d == distance && known < best {
			best, distance = known, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance of two short words.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = slices.Min([]int{row[j+1] + 1, row[j] + 1, cost})
		}
	}
	return row[len(b)]
}
