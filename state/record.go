package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"deskhand/agent"
)

// recordVersion is the newest version of records that this program reads.
const recordVersion = 1

// versionedPrefixes are where records with a version of their own lie.
var versionedPrefixes = []string{headPrefix, messagePrefix, turnPrefix, callPrefix, approvalPrefix}

// recordOf makes an empty record of the kind that lies under a key; nil where
// what lies there has no version of its own.
func recordOf(key string) any {
	switch prefix, _, _ := strings.Cut(key, "/"); prefix + "/" {
	case headPrefix:
		return &agent.Head{}
	case messagePrefix:
		return &agent.Message{}
	case turnPrefix:
		return &agent.Turn{}
	case callPrefix:
		return &agent.Call{}
	case approvalPrefix:
		return &agent.Approval{}
	}
	return nil
}

// newestBegins is how every record of the newest version begins: the version is
// the first field of each.
var newestBegins = fmt.Appendf(nil, `{"v":%d,`, recordVersion)

func checkVersion(key string, value []byte) error {
	var version struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(value, &version); err != nil {
		return &agent.RecordError{Key: key, Reason: "it is damaged: " + err.Error()}
	}
	if version.Version > recordVersion {
		return &agent.RecordError{Key: key, Reason: fmt.Sprintf("it has version %d, and this program reads up to %d", version.Version, recordVersion)}
	}
	if version.Version < 1 {
		return &agent.RecordError{Key: key, Reason: "it is damaged: it has no version"}
	}
	return nil
}

// encode writes a record. JSON that it holds (arguments, results) keeps its
// letters: a decision is bound to bytes, and <, > and & as escapes are others.
func encode(record any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// decode reads a record and checks its version.
func decode(key string, value []byte, into any) error {
	if !bytes.HasPrefix(value, newestBegins) { // what this program writes needs no second look
		if err := checkVersion(key, value); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(value, into); err != nil {
		return &agent.RecordError{Key: key, Reason: "it is damaged: " + err.Error()}
	}
	return nil
}

// decodePlain reads a value that carries no version of its own.
func decodePlain(key string, value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return &agent.RecordError{Key: key, Reason: "it is damaged: " + err.Error()}
	}
	return nil
}
