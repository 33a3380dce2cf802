package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"deskhand/agent"
)

// Request is what /dispatchAgent takes under "data": either a message, or what a
// person says to an approval.
type Request struct {
	// Message is the dispatcher's text.
	Message string `json:"message,omitempty"`
	// ConversationID is where it belongs; empty: a new conversation.
	ConversationID agent.ConversationID `json:"conversationId,omitempty"`
	// Queue keeps the message behind a turn that waits, instead of refusing it.
	Queue bool `json:"queue,omitempty"`

	// ApprovalID is the approval that a person decides or edits.
	ApprovalID agent.ApprovalID `json:"approvalId,omitempty"`
	// Approved is the decision.
	Approved *bool `json:"approved,omitempty"`
	// Reason is kept with the decision; the assistant hears that of a denial.
	Reason string `json:"reason,omitempty"`
	// Digest, if given, must be that of the card that the person saw.
	Digest string `json:"digest,omitempty"`
	// Edits replace the whole arguments. They never approve: a new approval
	// waits under a new id.
	Edits json.RawMessage `json:"edits,omitempty"`
}

// Answer is what /dispatchAgent gives under "result".
type Answer struct {
	agent.DispatchAnswer
	ConversationID agent.ConversationID `json:"conversationId"`
	// Ledger is the line from the records that belongs under the answer: what
	// was really ordered, booked or cancelled.
	Ledger string `json:"ledger,omitempty"`
}

func answerOf(r agent.Report) Answer {
	return Answer{DispatchAnswer: r.DispatchAnswer, ConversationID: r.ConversationID, Ledger: r.Ledger}
}

// dispatch serves POST /dispatchAgent.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	var envelope struct {
		Data *Request `json:"data"`
	}
	if err := readBody(r, &envelope); err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	if envelope.Data == nil {
		s.refuse(w, r, invalid(`the body must be {"data":{"message":"…"}} or {"data":{"approvalId":"…","approved":true}}`))
		return
	}
	work, p := s.workOf(*envelope.Data, r.Header.Get("Idempotency-Key"), callerName(r.Context()))
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	if accepts(r, "text/event-stream") {
		s.stream(w, r, envelope.Data, work)
		return
	}
	report, err := s.run(r, work.do)
	answer, err := concluded(report, err)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, resultBody{answer})
}

type resultBody struct {
	Result any `json:"result"`
}

// failed answers with an error, unless nobody waits for it any more.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	p := problemOf(err)
	if p.Status == statusInternal {
		s.log.Error("a request failed", "path", r.URL.Path, "error", err)
	}
	writeError(w, p)
}

// concluded turns what a verb gave into an answer. Changed terms are one: a new
// card waits, and nothing was sent.
func concluded(report agent.Report, err error) (Answer, error) {
	var changed *agent.ChangedError
	if !errors.As(err, &changed) {
		return answerOf(report), err
	}
	a := changed.New
	answer := Answer{ConversationID: a.Conversation}
	answer.Answer = fmt.Sprintf("Nothing was sent: %s. %s waits for your decision: %s.", changed, a.ID, a.Summary())
	answer.ApprovalID, answer.OrderIDs = a.ID, []string{}
	if report.ConversationID == a.Conversation {
		answer.OrderIDs = report.OrderIDs
	}
	return answer, nil
}

// work is a request that may be done.
type work struct {
	// conversation is known before it is done, for those who follow it; empty
	// for a decision.
	conversation agent.ConversationID
	approval     agent.ApprovalID
	do           func(context.Context) (agent.Report, error)
}

// workOf checks a request and gives what it asks for.
func (s *Server) workOf(q Request, key, caller string) (work, *problem) {
	deciding := q.ApprovalID != ""
	switch {
	case deciding && (q.Message != "" || q.ConversationID != "" || q.Queue):
		return work{}, invalid("a request is a message or a decision, not both")
	case deciding && q.Edits != nil && q.Approved != nil:
		return work{}, invalid("edits never approve: send them without \"approved\", and decide on the new approval")
	case deciding && q.Edits != nil:
		return work{approval: q.ApprovalID, do: func(ctx context.Context) (agent.Report, error) { return s.edit(ctx, q) }}, nil
	case deciding && q.Approved == nil:
		return work{}, invalid(`say "approved": true or false`)
	case deciding:
		return work{approval: q.ApprovalID, do: func(ctx context.Context) (agent.Report, error) { return s.decide(ctx, q) }}, nil
	case q.Approved != nil || q.Reason != "" || q.Digest != "" || q.Edits != nil:
		return work{}, invalid("say with \"approvalId\" which approval is meant")
	case strings.TrimSpace(q.Message) == "":
		return work{}, invalid("the message is empty")
	}
	send := agent.SendRequest{Conversation: q.ConversationID, Text: q.Message, Queue: q.Queue}
	if send.Conversation == "" {
		send.Conversation = s.engine.NewConversation()
	}
	made := q.ConversationID == ""
	if len(key) > maxKey {
		return work{}, invalid("an Idempotency-Key has at most %d characters", maxKey)
	}
	return work{conversation: send.Conversation, do: func(ctx context.Context) (agent.Report, error) {
		if key == "" {
			return s.send(ctx, send, made)
		}
		return s.keys.once(ctx, s.engine, caller, key, send, made, func(ctx context.Context, send agent.SendRequest, made bool) (agent.Report, error) {
			return s.send(ctx, send, made)
		})
	}}, nil
}

// send sends a message; into a conversation that somebody named it must exist.
func (s *Server) send(ctx context.Context, send agent.SendRequest, made bool) (agent.Report, error) {
	if !made {
		if _, err := s.engine.Store().Snapshot(ctx, send.Conversation); err != nil {
			return agent.Report{}, missing("conversation", string(send.Conversation), err)
		}
	}
	return s.engine.Send(ctx, send)
}

func (s *Server) decide(ctx context.Context, q Request) (agent.Report, error) {
	verb := s.engine.Deny
	if *q.Approved {
		verb = s.engine.Approve
	}
	report, err := verb(ctx, agent.DecideRequest{Approval: q.ApprovalID, Digest: q.Digest, Note: q.Reason})
	if err == nil && report.Status.Open() && report.Status != agent.TurnPaused {
		// What else the turn needs, such as reads that a kill interrupted.
		if resumed := s.engine.ResumeTurn(ctx, report.ConversationID); resumed == nil {
			report, err = s.engine.Report(ctx, report.ConversationID)
		}
	}
	return report, missing("approval", string(q.ApprovalID), err)
}

func (s *Server) edit(ctx context.Context, q Request) (agent.Report, error) {
	a, err := s.engine.Edit(ctx, agent.EditRequest{Approval: q.ApprovalID, Digest: q.Digest, Arguments: q.Edits})
	if err != nil {
		return agent.Report{}, missing("approval", string(q.ApprovalID), err)
	}
	report, err := s.engine.Report(ctx, a.Conversation)
	report.ApprovalID = a.ID
	return report, err
}

// missing names a record that a client asked for and that does not exist.
func missing(what, id string, err error) error {
	if errors.Is(err, agent.ErrNotFound) {
		return &problem{Status: statusNotFound, Message: fmt.Sprintf("there is no %s %s", what, id)}
	}
	return err
}

// callerName tells callers' keys apart.
func callerName(ctx context.Context) string {
	user, _ := callerOf(ctx)
	return string(user.ID)
}

// readBody reads a JSON body; unknown fields are errors, so that a misspelt
// "approved" is not taken for a missing one.
func readBody(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &problem{Status: statusInvalid, Message: "the body must be JSON, with Content-Type: application/json", code: http.StatusUnsupportedMediaType}
	}
	raw, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &problem{Status: statusInvalid, Message: fmt.Sprintf("the body is larger than %d bytes", large.Limit), code: http.StatusRequestEntityTooLarge}
	case err != nil:
		return invalid("the body could not be read: %v", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return invalid("the body is not understood: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("the body holds more than one JSON value")
	}
	return nil
}

// accepts says whether a client asks for this kind of answer by name.
func accepts(r *http.Request, want string) bool {
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			if kind, _, err := mime.ParseMediaType(part); err == nil && kind == want {
				return true
			}
		}
	}
	return false
}
