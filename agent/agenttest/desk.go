package agenttest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"deskhand/agent"
)

// Now is the time of the demo desk: Tuesday 1 December 2026, 09:00 in Brussels.
var Now = time.Date(2026, 12, 1, 9, 0, 0, 0, time.FixedZone("CET", 3600))

// owners numbers the engines of a test binary, so that no two share an owner
// or an id.
var owners atomic.Int64

// NewEngine makes an engine for a test, as a new process would: with an owner
// of its own, after marking what dead owners left.
func NewEngine(t testing.TB, c agent.Config) *agent.Engine {
	t.Helper()
	owner := owners.Add(1)
	var ids atomic.Int64
	c.Owner = agent.OwnerID(fmt.Sprintf("owner-%d", owner))
	c.NewID = func() string { return fmt.Sprintf("id-%04d-%04d", owner, ids.Add(1)) }
	if c.Now == nil {
		c.Now = func() time.Time { return Now }
	}
	if c.User == nil {
		c.User = func() agent.User { return agent.User{ID: "U-01", Name: "Dispatch Desk 1", Role: "dispatcher"} }
	}
	e, err := agent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Mark(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return e
}

// NewPolicy compiles a policy.
func NewPolicy(t testing.TB, c agent.PolicyConfig) *agent.Policy {
	t.Helper()
	p, err := agent.NewPolicy(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
