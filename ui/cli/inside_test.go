package cli

import (
	"context"
	"io"
	"os"
)

// Run runs one command line in the process of a test. A program with a race
// detector takes its time to start, and most tests do not need a second one.
func Run(ctx context.Context, args []string, out, err io.Writer, getenv func(string) string) int {
	nothing, openErr := os.Open(os.DevNull)
	if openErr != nil {
		return report(err, openErr)
	}
	defer func() { _ = nothing.Close() }() // only read
	return run(ctx, args, options{in: nothing, out: out, err: err, getenv: getenv})
}
