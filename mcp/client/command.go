package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Command is a program that is a server on its standard input and output.
type Command struct {
	Path string
	Args []string
	// Dir is where it runs; empty: where this program runs.
	Dir string
	// Env is its whole environment; see [Environment].
	Env []string
}

// String is the command line as a shell would take it, for people and as the
// server's identity.
func (c Command) String() string {
	words := make([]string, 0, 1+len(c.Args))
	for _, word := range append([]string{c.Path}, c.Args...) {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// quoted puts a word in quotes if a shell would not take it as it is.
func quoted(word string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,~", r)
	}
	if word != "" && strings.TrimFunc(word, harmless) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// passedOn are the variables that every program needs to find its way; none of
// them holds a secret. Everything else that this program knows is not a
// server's business.
var passedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
}

// Environment is what a server's program gets to see: the few variables that it
// cannot do without, and those of the configuration.
func Environment(getenv func(string) string, configured map[string]string) []string {
	env := make([]string, 0, len(passedOn)+len(configured))
	for _, name := range passedOn {
		if _, ok := configured[name]; ok {
			continue
		}
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range configured {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// find gives the program's file, by the PATH that the program itself will have.
func (c Command) find() (string, error) {
	if strings.ContainsRune(c.Path, filepath.Separator) || strings.Contains(c.Path, "/") {
		return c.Path, nil
	}
	path := ""
	for _, variable := range c.Env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a program must not come from wherever this one happens to run
		}
		if file, err := exec.LookPath(filepath.Join(dir, c.Path)); err == nil {
			return file, nil
		}
	}
	return "", &failure{fmt.Sprintf("the program %s is not found; install it or give its whole path", c.Path), exec.ErrNotFound}
}

// explainStart says why a program could not be started.
func (c Command) explainStart(err error) error {
	if c.Dir != "" {
		if info, statErr := os.Stat(c.Dir); statErr != nil || !info.IsDir() {
			return &failure{fmt.Sprintf("its folder %s is not there; correct cwd", c.Dir), err}
		}
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &failure{fmt.Sprintf("the program %s is not found; install it or correct its path", c.Path), err}
	case errors.Is(err, fs.ErrPermission):
		return &failure{fmt.Sprintf("the program %s may not be run; look at its permissions", c.Path), err}
	case errors.As(err, &path):
		err = path.Err
	}
	return &failure{fmt.Sprintf("the program %s cannot be started: %v", c.Path, err), err}
}
