package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// options are the flags that every command has, and the process's surroundings.
type options struct {
	home, config, model, store, user string
	clock                            time.Time
	wait                             time.Duration
	plain, mouse                     bool

	// args is the command line; held is the desk of this process, if the command
	// came from another one.
	args []string
	held *desk
	// metrics says that somebody may read numbers of this desk.
	metrics bool
	// answerOnly says that JSON holds a turn's answer and nothing else of it.
	answerOnly bool

	in       *os.File
	out, err io.Writer
	getenv   func(string) string
}

// The kinds of store.
const (
	storeBolt   = "bolt"
	storeMemory = "memory" // keeps nothing
)

// addTo declares the flags.
func (o *options) addTo(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&o.home, "home", "", "keep everything in `DIR` (env DESKHAND_HOME)")
	flags.StringVar(&o.config, "config", "", "read the configuration from `FILE` (default deskhand.json in the configuration folder)")
	flags.StringVar(&o.model, "model", "", "use the model `NAME`: offline, the built-in one, openai:NAME or anthropic:NAME")
	flags.StringVar(&o.store, "store", storeBolt, "use this `KIND` of store: bolt, or memory, which keeps nothing")
	flags.StringVar(&o.user, "user", "", "act in the name of the desk user `ID` (default: the first of the book)")
	flags.Var((*clockFlag)(&o.clock), "clock", "fix date and time in data, prompt and quotes, e.g. 2026-12-01T09:00:00+01:00")
	flags.DurationVar(&o.wait, "wait", 0, "wait this `TIME` for a desk that is in use (default 1s for the console, 30s otherwise)")
	flags.BoolVar(&o.plain, "plain", false, "append-only lines instead of a screen (env DESKHAND_PLAIN)")
	flags.BoolVar(&o.mouse, "mouse", false, "let the console use the mouse")
}

// resolve fills in what flags and environment leave open.
func (o *options) resolve() error {
	if o.home == "" {
		o.home = o.getenv("DESKHAND_HOME")
	}
	if o.home == "" {
		o.home = filepath.Join(xdg.DataHome, "deskhand")
	}
	if o.getenv("DESKHAND_PLAIN") != "" || o.getenv("TERM") == "dumb" {
		o.plain = true
	}
	if o.store != storeBolt && o.store != storeMemory {
		return &usageError{fmt.Errorf("the store %q is not available; this version has bolt and memory", o.store)}
	}
	if o.wait < 0 {
		return &usageError{errors.New("--wait must not be negative")}
	}
	home, err := filepath.Abs(o.home)
	o.home = home
	return err
}

// configPath is the configuration file.
func (o *options) configPath() string {
	if o.config != "" {
		return o.config
	}
	return filepath.Join(xdg.ConfigHome, "deskhand.json")
}

// terminal reports whether a person sits in front of both ends.
func (o *options) terminal() bool {
	out, ok := o.out.(*os.File)
	return ok && isatty.IsTerminal(out.Fd()) && isatty.IsTerminal(o.in.Fd())
}

// clockFlag is a time on the command line.
type clockFlag time.Time

// Set implements pflag.Value.
func (c *clockFlag) Set(text string) error {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("write a time as 2026-12-01T09:00:00+01:00")
	}
	*c = clockFlag(t)
	return nil
}

// String implements pflag.Value.
func (c *clockFlag) String() string {
	if time.Time(*c).IsZero() {
		return ""
	}
	return time.Time(*c).Format(time.RFC3339)
}

// Type implements pflag.Value.
func (c *clockFlag) Type() string { return "TIME" }
