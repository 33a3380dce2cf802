package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// number is a whole number in arguments. JSON writes 3 in several ways.
type number int

// UnmarshalJSON implements [json.Unmarshaler].
func (n *number) UnmarshalJSON(raw []byte) error {
	var value float64
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	if value != math.Trunc(value) || math.Abs(value) > math.MaxInt32 {
		return fmt.Errorf("%s is no whole number that a file could have", raw)
	}
	*n = number(value)
	return nil
}

// decode reads arguments into v and takes no others.
func decode(arguments json.RawMessage, v any) error {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(v)
	if err == nil {
		if _, rest := decoder.Token(); !errors.Is(rest, io.EOF) {
			err = errors.New("something stands behind the object")
		}
	}
	if err != nil {
		return refuse(codeArguments, retryChange, "The arguments cannot be read: %v.", err)
	}
	return nil
}
