//go:build !unix

package workorders

import "os"

// unlock does nothing here: closing the file lets go of its lock.
func unlock(*os.File) {}
