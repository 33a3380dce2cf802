package state

import (
	"encoding/json"
	"fmt"
)

// recordVersion is the newest version of records that this program reads.
const recordVersion = 1

// RecordError: the record under Key is damaged, or was written by a newer
// program. It stays where it is.
type RecordError struct {
	Key    string
	Reason string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("the record %s cannot be used: %s", e.Key, e.Reason)
}

// decode reads a record and checks its version.
func decode(key string, value []byte, into any) error {
	var version struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(value, &version); err != nil {
		return &RecordError{Key: key, Reason: "it is damaged: " + err.Error()}
	}
	if version.Version > recordVersion {
		return &RecordError{Key: key, Reason: fmt.Sprintf("it has version %d, and this program reads up to %d", version.Version, recordVersion)}
	}
	if version.Version < 1 {
		return &RecordError{Key: key, Reason: "it is damaged: it has no version"}
	}
	if err := json.Unmarshal(value, into); err != nil {
		return &RecordError{Key: key, Reason: "it is damaged: " + err.Error()}
	}
	return nil
}

// decodePlain reads a value that carries no version of its own.
func decodePlain(key string, value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return &RecordError{Key: key, Reason: "it is damaged: " + err.Error()}
	}
	return nil
}
