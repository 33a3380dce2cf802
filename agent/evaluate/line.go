package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Line is what a dispatcher says, and what should come of it.
type Line struct {
	ID string `json:"id"`
	// Context are earlier lines of the same conversation; what they asked for
	// has happened.
	Context []string    `json:"context"`
	Say     string      `json:"say"`
	Expect  Expectation `json:"expect"`
}

// Expectation is what should come of a line.
type Expectation struct {
	Calls []ExpectedCall `json:"calls"`
	// Mentions must occur in the answer or on a card.
	Mentions []string `json:"answer_mentions"`
	// Asks says that the turn must end with a question, and nothing be changed.
	Asks bool `json:"asks"`
}

// ExpectedCall is a call that shows the way. One that changes something must be
// made, with these arguments among its own; one with Error may be left out.
type ExpectedCall struct {
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`
	Error string         `json:"error,omitempty"`
}

// Kind groups lines by what they are about: the first tool that is expected, or
// "question", or "refusal".
func (l Line) Kind() string {
	for _, c := range l.Expect.Calls {
		if Changes(c.Tool) {
			return c.Tool
		}
	}
	switch {
	case len(l.Expect.Calls) > 0:
		return l.Expect.Calls[0].Tool
	case l.Expect.Asks:
		return "question"
	}
	return "refusal"
}

// Read reads lines, one JSON object each; empty lines are skipped. An error
// names the line of the file.
func Read(r io.Reader) ([]Line, error) {
	var out []Line
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		var l Line
		if err := decoder.Decode(&l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if l.Say == "" {
			return nil, fmt.Errorf(`line %d: "say" is missing`, n)
		}
		out = append(out, l)
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("there are no lines in it")
	}
	return out, nil
}
