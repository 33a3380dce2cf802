//go:build !unix

package console

import "time"

// readable cannot be known here; pieces that arrive split stay pending until
// the next key.
func readable(uintptr, time.Duration) bool { return false }
