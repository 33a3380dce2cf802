package client

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that outlive the tests, of which none is
// tolerated.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
