package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"deskhand/agent"
)

// The statuses of a Genkit flow's errors, which are those of gRPC.
const (
	statusInvalid      = "INVALID_ARGUMENT"
	statusUnknownToken = "UNAUTHENTICATED"
	statusForbidden    = "PERMISSION_DENIED"
	statusNotFound     = "NOT_FOUND"
	statusDecided      = "ABORTED"
	statusPrecondition = "FAILED_PRECONDITION"
	statusExhausted    = "RESOURCE_EXHAUSTED"
	statusUnavailable  = "UNAVAILABLE"
	statusUnknown      = "UNKNOWN"
	statusInternal     = "INTERNAL"
)

// httpStatus is the HTTP status of each.
var httpStatus = map[string]int{
	statusInvalid:      http.StatusBadRequest,
	statusUnknownToken: http.StatusUnauthorized,
	statusForbidden:    http.StatusForbidden,
	statusNotFound:     http.StatusNotFound,
	statusDecided:      http.StatusConflict,
	statusPrecondition: http.StatusConflict,
	statusExhausted:    http.StatusTooManyRequests,
	statusUnavailable:  http.StatusServiceUnavailable,
	statusUnknown:      http.StatusBadGateway,
	statusInternal:     http.StatusInternalServerError,
}

// problem is an error as a client sees it.
type problem struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Details *details `json:"details,omitempty"`
	// code is the HTTP status where the status word has no fitting one.
	code int
}

// details name what the error is about.
type details struct {
	ConversationID agent.ConversationID `json:"conversationId,omitempty"`
	ApprovalID     agent.ApprovalID     `json:"approvalId,omitempty"`
	// State and Decision are those of an approval that was decided before.
	State    agent.ApprovalState `json:"state,omitempty"`
	Decision *agent.Decision     `json:"decision,omitempty"`
}

func (p *problem) Error() string { return p.Message }

func invalid(format string, args ...any) *problem {
	return &problem{Status: statusInvalid, Message: fmt.Sprintf(format, args...)}
}

// problemOf words an error of the engine for a client.
func problemOf(err error) *problem {
	var (
		known       *problem
		decided     *agent.DecidedError
		digest      *agent.DigestError
		closed      *agent.ClosedError
		edit        *agent.EditError
		limit       *agent.LimitError
		busy        *agent.BusyError
		unreachable *agent.UnreachableError
		notSent     *agent.NotSentError
		stalled     *agent.StallError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooManyTurns):
		return &problem{Status: statusExhausted, Message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &problem{Status: statusUnavailable, Message: "the server is being stopped; what was decided and done stands, and the turn can be continued"}
	case errors.Is(err, agent.ErrNotFound):
		return &problem{Status: statusNotFound, Message: "there is no such record"}
	case errors.As(err, &decided):
		a := decided.Approval
		return &problem{Status: statusDecided, Message: decided.Error(), Details: &details{
			ConversationID: a.Conversation, ApprovalID: a.ID, State: a.State, Decision: a.Decision}}
	case errors.As(err, &digest):
		return &problem{Status: statusPrecondition, Message: digest.Error(), Details: &details{ApprovalID: digest.Approval}}
	case errors.As(err, &closed):
		return &problem{Status: statusPrecondition, Message: closed.Error(), Details: &details{ApprovalID: closed.Approval}}
	case errors.As(err, &edit):
		return &problem{Status: statusInvalid, Message: edit.Error(), Details: &details{ApprovalID: edit.Approval}}
	case errors.As(err, &limit):
		return &problem{Status: statusForbidden, Message: limit.Error() + "; nothing was recorded", Details: &details{ApprovalID: limit.Approval}}
	case errors.As(err, &busy):
		return &problem{Status: statusPrecondition, Details: &details{ConversationID: busy.Conversation},
			Message: fmt.Sprintf("%s, so it takes no message and nothing was kept: decide first (see /approvals)", busy)}
	case errors.As(err, &unreachable):
		return &problem{Status: statusUnavailable, Message: unreachable.Error() + "; nothing was recorded or sent, and what waited still waits"}
	case errors.As(err, &notSent):
		return &problem{Status: statusUnavailable, Message: notSent.Error() + "; it goes out when it is approved again", Details: &details{ApprovalID: notSent.Approval}}
	case errors.As(err, &stalled):
		return &problem{Status: statusUnavailable, Message: strings.TrimSuffix(stalled.Reason, ".") + "; what was decided and done before stands",
			Details: &details{ConversationID: stalled.Conversation}}
	}
	return &problem{Status: statusInternal, Message: err.Error()}
}

// writeError answers with an error in the form of a Genkit flow.
func writeError(w http.ResponseWriter, err error) {
	p := problemOf(err)
	code := p.code
	if code == 0 {
		code = httpStatus[p.Status]
	}
	if p.Status == statusUnknownToken {
		w.Header().Set("WWW-Authenticate", `Bearer realm="deskhand"`)
	}
	if p.Status == statusExhausted {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, code, errorBody{p})
}

type errorBody struct {
	Error *problem `json:"error"`
}

// writeJSON writes one value. A client that has gone away misses it.
func writeJSON(w http.ResponseWriter, code int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // only types of this program are written
		code, text = http.StatusInternalServerError, []byte(`{"error":{"status":"INTERNAL","message":"the answer could not be written"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n'))
}
