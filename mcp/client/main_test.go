package client

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that outlive the tests. The tolerated ones
// belong to connections of test servers that are on their way out.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
	)
}
