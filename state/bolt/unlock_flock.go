//go:build unix && !aix && !android && !solaris

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// abandon closes a file that bbolt has locked and perhaps mapped, without
// bbolt. A mapping keeps the lock alive after the file is closed, so that the
// lock has to be given back first.
func abandon(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
