package agent_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary a process of the crash sweep where its
// environment says so; otherwise no test may leave a goroutine behind.
func TestMain(m *testing.M) {
	if task := os.Getenv(lifeEnv); task != "" {
		os.Exit(runLife(task))
	}
	goleak.VerifyTestMain(m)
}

// fullSweep asks for every kill point, and for more random histories.
func fullSweep() bool { return os.Getenv("DESKHAND_SWEEP") == "full" }
