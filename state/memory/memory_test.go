package memory

import (
	"testing"

	"deskhand/state/kv"
	"deskhand/state/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.TestStore(t, func(*testing.T) kv.Store { return New() })
}
