package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// verdict is what became of a call. Without err there is a result.
type verdict struct {
	outcome agent.Outcome
	err     error
	// drop: the session must not be used for other calls.
	drop bool
	// stale: the session was gone, which proves that nothing ran; another
	// session may take the call.
	stale bool
}

// judge decides what became of a call from what the transport saw; the SDK's
// error serves for words. cause is why the call's context ended, nil if it did
// not.
func judge(se *session, saw seen, value *mcp.CallToolResult, err, cause error) (agent.Result, verdict) {
	if saw.reply != nil && saw.reply.err != nil {
		return agent.Result{}, judgeError(se, saw)
	}
	raw := json.RawMessage(nil)
	switch {
	case saw.reply != nil:
		raw = saw.reply.result
	case err == nil && value != nil:
		// An answer that was not recognized as one, such as an id in another
		// notation. The SDK's view of it is the next best.
		raw, err = json.Marshal(value)
	}
	if raw != nil {
		result, readErr := decodeResult(raw)
		if readErr == nil {
			return result, verdict{drop: se.dead()}
		}
		return agent.Result{}, verdict{outcome: agent.OutcomeUnknown, err: readErr}
	}
	return agent.Result{}, judgeSilence(se, saw, err, cause)
}

// judgeError judges a JSON-RPC error that the server sent.
func judgeError(se *session, saw seen) verdict {
	v := verdict{outcome: agent.OutcomeUnknown, err: saw.reply.err, drop: saw.status >= 300}
	switch {
	case notRun(saw.reply.err.Code):
		v.outcome = agent.OutcomeAnswered
	case refusal("", false, saw.status) != "":
		v.outcome = agent.OutcomeNotSent
		v.stale = sessionMissing(se, saw)
	}
	return v
}

// notRun says which codes mean that the tool did not run. The others of the
// reserved range are used for anything, also for failures half way, and code 0
// is what the SDK's servers send when a result does not fit its schema: after
// the tool ran.
func notRun(code int) bool {
	switch code {
	case 0, -32603: // no code, internal error
		return false
	case -32020, -32021, -32022: // headers, capabilities, version
		return true
	}
	return code < -32099 || code > -32000
}

// sessionMissing says that the server refused this very request because it
// does not know the session. It must not be concluded from the SDK's error,
// which may come from another stream of a session in which the call ran.
func sessionMissing(se *session, saw seen) bool {
	return saw.status == http.StatusNotFound && se.sdk.ID() != ""
}

// judgeSilence judges a call without an answer of the server to it.
func judgeSilence(se *session, saw seen, err, cause error) verdict {
	v := verdict{outcome: agent.OutcomeUnknown, drop: true}
	switch {
	case !saw.sent:
		v.outcome = agent.OutcomeNotSent
		// A session that failed a moment ago refuses requests before the
		// transport hears of them, and before it counts as dead.
		v.stale = cause == nil && (!saw.entered || errors.Is(err, mcp.ErrConnectionClosed) || se.dead())
	case refusal("", false, saw.status) != "":
		v.outcome = agent.OutcomeNotSent
		v.stale = sessionMissing(se, saw)
	}
	switch {
	case cause != nil:
		v.err = ended(cause)
		// A person who gives up says nothing about the session.
		v.drop = se.dead() || !errors.Is(cause, context.Canceled)
	case v.stale:
		v.err = &failure{errSessionDied.Error(), err}
	case saw.status >= 200 && saw.status < 300:
		v.err = &failure{"the connection broke before the answer was complete, or the answer cannot be read: " + plain(causeText(err)), err}
	case saw.status != 0 && v.outcome == agent.OutcomeUnknown:
		v.err = &failure{fmt.Sprintf("the server answered %d %s instead of a result", saw.status, http.StatusText(saw.status)), err}
	default:
		v.err = se.link.explain(saw.status, saw.network, err)
	}
	return v
}

// ended says why a call's context ended.
func ended(cause error) error {
	switch {
	case errors.Is(cause, context.Canceled):
		return &failure{"the call was cancelled", cause}
	case errors.Is(cause, context.DeadlineExceeded):
		return &failure{"the time for the call was over", cause}
	}
	return cause
}

// causeText is the innermost text of an error; what is around it are the SDK's
// inner workings.
func causeText(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
