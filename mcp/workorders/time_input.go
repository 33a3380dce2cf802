package workorders

import (
	"strings"
	"time"
)

// instant reads a time argument: RFC 3339 with an offset.
func instant(field, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, refuse("window_invalid", field,
			"%s must be a time with a zone offset, like 2026-12-02T10:00:00+01:00.", field)
	}
	return t, nil
}

// localInstant reads a time argument that is meant at a site. Whoever writes a
// clock time that the site's clocks skip, with one of the site's own offsets,
// means a time that does not exist; it is refused and not shifted by an hour.
// In the doubled hour the offset says which of the two is meant.
func localInstant(field, text string, zone *time.Location) (time.Time, error) {
	t, err := instant(field, text)
	if err != nil || strings.HasSuffix(strings.ToUpper(text), "Z") {
		return t, err
	}
	after, ok := wallTime(t, zone)
	if ok {
		return t, nil
	}
	_, offset := t.Zone()
	_, before := after.Add(-time.Second).Zone()
	if _, later := after.Zone(); offset != before && offset != later {
		return t, nil
	}
	return time.Time{}, refuse("window_invalid", field, "There is no %s in %s: the clocks go forward then. The next time is %s.",
		t.Format(localLayout), zone, after.Format(stampLayout)).detail("next", after.Format(stampLayout))
}
