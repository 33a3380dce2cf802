package workorders

import (
	"errors"
	"fmt"
)

// When a refused call may be made again.
const (
	retryNever      = "never"
	retryChange     = "change_arguments"
	retrySame       = "same_arguments" // the trouble is transient
	retryCheckFirst = "check_first"    // outcome unknown: look before anything else
)

// maxCandidates is how many choices a refusal offers.
const maxCandidates = 5

// A Refusal says why a call was refused. Codes are stable; messages are for
// people and name record ids. A refused call has changed nothing.
type Refusal struct {
	Code       string           `json:"code"`
	Message    string           `json:"message"`
	Field      string           `json:"field,omitempty"`
	Details    map[string]any   `json:"details,omitempty"`
	Candidates []map[string]any `json:"candidates,omitempty"`
	Retry      string           `json:"retry"`
}

// Error is the message for people.
func (r *Refusal) Error() string { return r.Message }

// refuse makes a refusal that other arguments would avoid, which is most.
func refuse(code, field, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Field: field, Message: fmt.Sprintf(format, args...), Retry: retryChange}
}

func (r *Refusal) never() *Refusal {
	r.Retry = retryNever
	return r
}

func (r *Refusal) detail(key string, value any) *Refusal {
	if r.Details == nil {
		r.Details = map[string]any{}
	}
	r.Details[key] = value
	return r
}

func (r *Refusal) offer(candidates ...map[string]any) *Refusal {
	r.Candidates = append(r.Candidates, candidates...)
	if len(r.Candidates) > maxCandidates {
		r.Candidates = r.Candidates[:maxCandidates]
	}
	return r
}

// refusalOf turns any error of a tool into a refusal.
func refusalOf(err error) *Refusal {
	var r *Refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, errCommit):
		return &Refusal{
			Code:    "not_stored",
			Message: "The change could not be written to the book. Look whether it is there before trying again.",
			Retry:   retryCheckFirst,
		}
	}
	return &Refusal{Code: "interrupted", Message: "The call ended before anything was changed.", Retry: retrySame}
}
