package workorders

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

const defaultLimit = 10

// page cuts one page out of a list. The cursor is a position in the list for
// the same question; one that belongs to another question is refused.
func page[T any](all []T, limit int, cursor string, question any) (items []T, next string, err error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	mark := digestOf("cursor", question)[:12]
	from := 0
	if cursor != "" {
		b, err := base64.RawURLEncoding.DecodeString(cursor)
		position, of, ok := strings.Cut(string(b), ".")
		n, numErr := strconv.Atoi(position)
		if err != nil || numErr != nil || !ok || of != mark || n < 0 {
			return nil, "", refuse("invalid_arguments", "cursor", "The cursor does not belong to this search; start without one.")
		}
		from = min(n, len(all))
	}
	to := min(from+limit, len(all))
	if to < len(all) {
		next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%s", to, mark))
	}
	return append([]T{}, all[from:to]...), next, nil
}

// pageText is the head of a list for people.
func pageText(shown, total int, one string) string {
	if shown == total {
		return plural(total, one) + "."
	}
	return fmt.Sprintf("%d of %s.", shown, plural(total, one))
}
