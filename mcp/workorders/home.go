package workorders

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// EnsureToken reads the bearer token at path, or makes a random one in a new
// file of mode 0600. Two processes that do this at once get the same token. A
// file that others could read is made private again.
func EnsureToken(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	tmp, err := writePrivate(path, []byte(rand.Text()+rand.Text()+"\n"))
	if err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	defer func() { _ = os.Remove(tmp) }()
	if err := os.Link(tmp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(tmp, path); err != nil {
			return "", fmt.Errorf("make token: %w", err)
		}
	}
	return readToken(path)
}

func readToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", fmt.Errorf("the token file %s is empty; remove it to get a new token", path)
	}
	return token, nil
}

// writePrivate writes a synced 0600 file beside path and returns its name.
func writePrivate(path string, content []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// An Addr is what a server leaves for other processes of the same home: who
// holds the book and where it can be reached.
type Addr struct {
	PID int    `json:"pid"`
	URL string `json:"url"` // the MCP endpoint
	// Book is the id of the book that is served there.
	Book  string    `json:"book"`
	Since time.Time `json:"since"`
}

// WriteAddr replaces the address file at path; its mode is 0600.
func WriteAddr(path string, a Addr) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	tmp, err := writePrivate(path, append(b, '\n'))
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}

// ReadAddr reads the address file at path. It is [ErrNoServer] if there is
// none. The server that it names may be gone: only a request can tell.
func ReadAddr(path string) (Addr, error) {
	var a Addr
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, ErrNoServer
	}
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("address file %s: %w", path, err)
	}
	return a, nil
}

// removeAddr removes the address file if it still names the server at url.
func removeAddr(path, url string) {
	if a, err := ReadAddr(path); err == nil && a.PID == os.Getpid() && a.URL == url {
		_ = os.Remove(path)
	}
}
