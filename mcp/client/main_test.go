package client

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that outlive the tests, of which none is
// tolerated. In a child process it is a server on standard input and output
// instead.
func TestMain(m *testing.M) {
	if script := os.Getenv(programScript); script != "" {
		runProgram(script, os.Getenv(programLedger))
		return
	}
	goleak.VerifyTestMain(m)
}
