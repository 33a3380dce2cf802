package agent_test

import (
	"errors"
	"testing"

	"deskhand/agent"
)

var allStates = []agent.CallState{
	agent.CallProposed, agent.CallWaiting, agent.CallApproved, agent.CallRunning, agent.CallUnknown, agent.CallDone,
	agent.CallFailed, agent.CallDenied, agent.CallExpired, agent.CallCancelled, agent.CallRefused,
}

var allEvents = []agent.Event{
	agent.EventRun, agent.EventAsk, agent.EventRefuse, agent.EventApprove, agent.EventDeny, agent.EventExpire,
	agent.EventAbort, agent.EventRevise, agent.EventSend, agent.EventDone, agent.EventFail, agent.EventNotSent,
	agent.EventLose, agent.EventReread,
}

// TestTheTableOfACallsLife walks every pair of state and event against the
// table of the design, written down here once more by hand.
func TestTheTableOfACallsLife(t *testing.T) {
	t.Parallel()
	want := map[agent.CallState]map[agent.Event]agent.CallState{
		"proposed": {"run": "approved", "ask": "waiting", "refuse": "refused", "abort": "cancelled"},
		"waiting": {
			"approve": "approved", "deny": "denied", "expire": "expired", "abort": "cancelled",
			"revise": "waiting", "refuse": "refused",
		},
		"approved": {
			"send": "running", "revise": "waiting", "ask": "waiting", "refuse": "refused", "deny": "denied", "abort": "cancelled",
		},
		"running": {"done": "done", "fail": "failed", "notSent": "approved", "lose": "unknown", "reread": "approved"},
		"unknown": {"done": "done", "fail": "failed", "send": "running", "reread": "approved", "abort": "unknown"},
	}
	for _, state := range allStates {
		for _, event := range allEvents {
			next, err := state.Next(event)
			allowed, ok := want[state][event]
			var refused *agent.TransitionError
			switch {
			case ok && (err != nil || next != allowed):
				t.Errorf("%s by %s gives %s, %v; want %s", state, event, next, err, allowed)
			case !ok && (!errors.As(err, &refused) || next != state):
				t.Errorf("%s by %s gives %s, %v; want a refusal", state, event, next, err)
			}
			if state.Settled() && err == nil {
				t.Errorf("the settled state %s moves by %s", state, event)
			}
		}
	}
}
