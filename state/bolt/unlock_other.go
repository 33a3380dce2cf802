//go:build !unix || aix || android || solaris

package bolt

import "os"

// abandon closes a file that bbolt has locked and perhaps mapped, without
// bbolt. The locks of these systems go when the file is closed.
func abandon(f *os.File) error { return f.Close() }
