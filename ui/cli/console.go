package cli

import (
	"context"
	"errors"
)

// runConsole opens the console, or, without a terminal, reads lines and answers
// them.
func runConsole(_ context.Context, _ options) error { return errors.New("not yet") }
