//go:build unix

package workorders

import (
	"os"
	"syscall"
)

// unlock lets go of the lock that bbolt took. Closing the file is not enough
// after a panic of bbolt: its memory map keeps the file, and the lock, alive.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
