//go:build !unix

package cli

import "os"

// alive reports whether a process with that number exists.
func alive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
