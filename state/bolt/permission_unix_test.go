//go:build unix

package bolt

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPermissions opens files that this user may not write. Root may write
// everything, so then a child does it as somebody else.
func TestPermissions(t *testing.T) {
	t.Parallel()
	// Not in t.TempDir, whose parents keep other users out.
	dir, err := os.MkdirTemp("", "bolt-permissions-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "desk.db")
	_ = openAt(t, path, Options{}).Close()
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, filepath.Join(dir, "new.db"), filepath.Join(dir, "home", "desk.db")} {
		text := openAsNobody(t, path)
		if !strings.Contains(text, path+" for writing: permission denied; let this user") || strings.Count(text, "\n") != 1 {
			t.Errorf("opening %s says %q", path, text)
		}
	}
}

// openAsNobody opens and closes the store as a user without rights and returns
// the error.
func openAsNobody(t *testing.T, path string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		_, err := Open(path, Options{})
		if err == nil {
			return ""
		}
		return err.Error() + "\n"
	}
	cmd := child(t, path, taskOpen)
	cmd.Dir = "/"
	cmd.Path = "/proc/self/exe" // the binary's folder is closed to others
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Skipf("cannot become another user: %v", err)
	}
	return strings.TrimPrefix(string(out), "ready\n")
}
