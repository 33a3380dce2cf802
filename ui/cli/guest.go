package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deskhand/state/bolt"
	"deskhand/ui/console"
)

// guestSocket is where the process that holds the desk takes in further
// consoles of the same user; 0600. A console that finds the desk held lends its
// terminal to the holder, which runs a second console there: the same engine
// and the same store, so that nothing has to be kept equal.
const guestSocket = "console.sock"

// maxGuests bounds the consoles beside the first one.
const maxGuests = 8

// guestRequest comes first, with the two ends of the terminal as descriptors.
// After it, each byte says that the terminal has another size.
type guestRequest struct {
	Config string            `json:"config"`
	Clock  time.Time         `json:"clock"`
	Model  string            `json:"model"`
	User   string            `json:"user,omitempty"`
	Mouse  bool              `json:"mouse,omitempty"`
	Theme  console.Theme     `json:"theme"`
	Folder string            `json:"folder"`
	Env    map[string]string `json:"env"`
	PID    int               `json:"pid"`
}

// guestEnv are the variables that say how a terminal works.
var guestEnv = []string{"TERM", "TMUX", "VTE_VERSION", "VISUAL", "EDITOR", "PAGER"}

// guestAnswer comes back twice: when the console begins, and when it is over. A
// connection that breaks without Left means that the holder is gone.
type guestAnswer struct {
	// Refused is why there is no console.
	Refused string `json:"refused,omitempty"`
	// Place is the console's, for its drafts.
	Place int `json:"place,omitempty"`
	// Left says that the dispatcher left it; Failed with what error.
	Left   bool   `json:"left,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// takeovers is how often a console tries to become the holder itself, or to
// work beside whoever was faster.
const takeovers = 5

// openConsoleDesk opens the desk for a console. If another process holds it, the
// console runs there (done) until the dispatcher leaves or that process ends,
// and then here, in its place.
func openConsoleDesk(ctx context.Context, o options) (d *desk, place int, done bool, err error) {
	for range takeovers {
		lost := 0
		if lost, done, err = o.beGuest(ctx); done {
			return nil, 0, true, err
		}
		place = max(place, lost)
		var held *bolt.HeldError
		if d, err = openDesk(ctx, o, consoleWait); !errors.As(err, &held) || !o.canBeGuest() {
			break
		}
	}
	return d, place, false, err
}

// canBeGuest reports whether this console could work beside another one.
func (o *options) canBeGuest() bool {
	return o.store != storeMemory && !o.plain && o.terminal()
}

// asGuest makes a request of these options.
func (o *options) asGuest() (guestRequest, error) {
	config, _, err := loadConfig(o.configPath(), o.config != "", o.getenv)
	if err != nil {
		return guestRequest{}, err
	}
	env := map[string]string{}
	for _, name := range guestEnv {
		if value := o.getenv(name); value != "" {
			env[name] = value
		}
	}
	return guestRequest{
		Config: config.hash(), Clock: o.clock, Model: o.model, User: o.user, Mouse: o.mouse,
		Theme: console.TerminalTheme(), Env: env,
	}, nil
}

// refusedGuest says why the holder does not take this console in.
func (o *options) refusedGuest(reason string) error {
	return fmt.Errorf("the desk in %s is open in another process, and %s; close that one, or use the same", o.home, reason)
}
