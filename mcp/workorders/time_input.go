package workorders

import "time"

// instant reads a time argument: RFC 3339 with an offset.
func instant(field, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, refuse("window_invalid", field,
			"%s must be a time with a zone offset, like 2026-12-02T10:00:00+01:00.", field)
	}
	return t, nil
}
