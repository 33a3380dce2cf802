package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskhand/mcp/client"
)

// acceptedFile is the file in the home with the programs that a person allowed
// the desk to start.
const acceptedFile = "accepted-programs.json"

// acceptance is one entry of that file, under its digest.
type acceptance struct {
	Name    string    `json:"name"`
	Command string    `json:"command"`
	At      time.Time `json:"at"`
}

// digest names everything that decides what the desk would start: the program,
// its arguments and folder as they come out, and its own variables as they are
// written, so that a new token is no new program.
func (s ServerConfig) digest() string {
	text, err := json.Marshal(struct {
		Command string
		Args    []string
		Cwd     string
		Env     map[string]string
	}{s.Command, s.Args, s.Cwd, s.written.Env})
	if err != nil {
		panic("cli: strings cannot be encoded: " + err.Error()) // impossible: invalid UTF-8 is replaced
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// commandLine is the command as it is written: with the names of variables, not
// their values.
func (s ServerConfig) commandLine() string {
	return client.Command{Path: s.Command, Args: s.Args}.String()
}

// describe shows all that a person accepts.
func (s ServerConfig) describe(name string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "The server %s is a program that Deskhand would start on this machine, with your rights:\n\n  %s\n", visible(name), visible(client.Command{Path: s.Command, Args: s.Args}.String()))
	if s.Cwd != "" {
		fmt.Fprintf(&text, "  in the folder %s\n", visible(s.Cwd))
	}
	for _, variable := range slices.Sorted(maps.Keys(s.written.Env)) {
		fmt.Fprintf(&text, "  with %s=%s\n", visible(variable), visible(s.written.Env[variable]))
	}
	fmt.Fprintf(&text, "\nDigest: %s\n", s.digest())
	return text.String()
}

// readAccepted reads the programs that were accepted.
func readAccepted(home string) (map[string]acceptance, error) {
	known := map[string]acceptance{}
	text, err := os.ReadFile(filepath.Join(home, acceptedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of accepted programs cannot be read: %w; remove %s and accept them again", err, filepath.Join(home, acceptedFile))
	}
	return known, nil
}

// accepted is nil if a person has accepted exactly this program.
func accepted(home, name string, c ServerConfig) error {
	known, err := readAccepted(home)
	if err != nil {
		return err
	}
	if _, ok := known[c.digest()]; !ok {
		return fmt.Errorf("its program is started only after you have looked at it: deskhand servers accept %s", name)
	}
	return nil
}

// accept keeps that a person accepted this program.
func accept(home, name string, c ServerConfig) error {
	known, err := readAccepted(home)
	if err != nil {
		return err
	}
	known[c.digest()] = acceptance{Name: name, Command: c.written.commandLine(), At: time.Now().UTC().Truncate(time.Second)}
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("keeping what was accepted: %w", err)
	}
	next := filepath.Join(home, acceptedFile+".new")
	err = os.WriteFile(next, append(text, '\n'), 0o600)
	if err == nil {
		err = os.Rename(next, filepath.Join(home, acceptedFile))
	}
	if err != nil {
		return fmt.Errorf("keeping what was accepted: %w", err)
	}
	return nil
}

// askToStart asks the person at the terminal about every program that was not
// accepted yet. Nobody is asked twice in one start, and without a terminal
// nobody is asked at all.
func (d *desk) askToStart(ctx context.Context) error {
	if !d.options.terminal() {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(d.config.MCPServers)) {
		c := d.config.MCPServers[name]
		if c.Disabled || c.fault != nil || c.Command == "" || accepted(d.options.home, name, c) == nil {
			continue
		}
		yes, err := ask(ctx, d.options.in, d.options.out, c.describe(name)+"\nStart it, now and from now on? Type yes, or Enter to go on without it: ")
		if err != nil {
			return err
		}
		if yes {
			if err := accept(d.options.home, name, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks a question that only yes answers with yes. It takes one line from the
// input and not a byte more: what follows is for the console. When ctx ends, the
// program does too, and with it the reading that nobody waits for any more.
func ask(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := io.WriteString(out, question); err != nil {
		return false, err
	}
	type answer struct {
		line string
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		line, err := oneLineOf(in)
		came <- answer{line, err}
	}()
	select {
	case a := <-came:
		return strings.EqualFold(strings.TrimSpace(a.line), "yes"), a.err
	case <-ctx.Done():
		return false, errors.New("interrupted; nothing was started or accepted")
	}
}

// oneLineOf reads to the end of the line, and no further.
func oneLineOf(in io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < 100; {
		n, err := in.Read(one)
		if n > 0 && one[0] == '\n' {
			break
		}
		line = append(line, one[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("reading the answer: %w", err)
		}
	}
	return string(line), nil
}
