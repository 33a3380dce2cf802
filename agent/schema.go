package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaCache keeps compiled schemas by their text; a definition that changes
// has another text. The zero value is ready.
type schemaCache struct {
	mu       sync.Mutex
	compiled map[string]*jsonschema.Resolved
	// compilations counts, for tests.
	compilations int
}

// validate checks arguments against a schema of the tool. References to the
// network are never followed.
func (s *schemaCache) validate(entry Entry, schema, arguments json.RawMessage) error {
	resolved, err := s.resolve(schema)
	if err != nil {
		return fmt.Errorf("the input schema of %s cannot be used: %w", entry.Name, err)
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		if text := violation(resolved.Schema(), value); text != "" {
			return errors.New(text)
		}
		return errors.New(oneLine(err.Error()))
	}
	return nil
}

func (s *schemaCache) resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if resolved, ok := s.compiled[string(text)]; ok {
		return resolved, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		return nil, err
	}
	if s.compiled == nil {
		s.compiled = map[string]*jsonschema.Resolved{}
	}
	s.compiled[string(text)] = resolved
	s.compilations++
	return resolved, nil
}
