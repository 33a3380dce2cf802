//go:build unix

package console

import (
	"time"

	"golang.org/x/sys/unix"
)

// readable waits until a file has something to read, or for the limit.
func readable(fd uintptr, limit time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(limit.Milliseconds()))
	return err == nil && n > 0
}
