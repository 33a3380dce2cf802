package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"deskhand/agent"
)

// Event is one message of a stream before its result. Exactly one member is
// set.
type Event struct {
	// Text is what the assistant wrote since the event before.
	Text string `json:"text,omitempty"`
	// Call is a call that is new or whose state changed.
	Call *agent.CallReport `json:"call,omitempty"`
	// Progress is how far a running call is.
	Progress *Progress `json:"progress,omitempty"`
	// Approval is a card that now waits for a person.
	Approval *agent.ApprovalReport `json:"approval,omitempty"`
}

// Progress of a running call.
type Progress struct {
	CallID  agent.CallID `json:"callId"`
	Done    float64      `json:"done"`
	Total   float64      `json:"total,omitempty"`
	Message string       `json:"message,omitempty"`
}

// stream does a request's work and tells of it as it goes on. The store says
// what is so; this only looks when something has changed.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, q *Request, job work) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	id := job.conversation
	if id == "" {
		found, err := s.engine.Store().Approvals(ctx, []agent.ApprovalID{job.approval})
		if err == nil && len(found) == 0 {
			err = missing("approval", string(q.ApprovalID), agent.ErrNotFound)
		}
		if err != nil {
			s.failed(w, r, err)
			return
		}
		id = found[0].Conversation
	}
	f := &follower{engine: s.engine, id: id, w: w, calls: map[agent.CallID]agent.CallState{}, progress: map[agent.CallID]agent.Progress{}, cards: map[agent.ApprovalID]bool{}}
	f.skipPast(ctx)
	changed := s.engine.Watch(ctx)

	type outcome struct {
		answer Answer
		err    error
	}
	came := make(chan outcome, 1)
	go func() {
		report, err := s.run(r, job.do)
		answer, err := concluded(report, err)
		came <- outcome{answer, err}
	}()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	f.flush()
	for {
		select {
		case <-changed:
			f.look(ctx)
		case o := <-came:
			f.look(ctx)
			if o.err != nil {
				f.send(errorBody{problemOf(o.err)})
			} else {
				f.send(resultBody{o.answer})
			}
			return
		}
	}
}

// follower writes what is new about a conversation's newest turn.
type follower struct {
	engine *agent.Engine
	id     agent.ConversationID
	w      http.ResponseWriter

	text     string
	calls    map[agent.CallID]agent.CallState
	cards    map[agent.ApprovalID]bool
	progress map[agent.CallID]agent.Progress
}

// skipPast takes what is there before the work begins for told.
func (f *follower) skipPast(ctx context.Context) {
	report, err := f.engine.Report(ctx, f.id)
	if err != nil {
		return // it does not exist yet
	}
	for _, c := range report.Calls {
		f.calls[c.ID] = c.Status
	}
	for _, a := range report.Approvals {
		f.cards[a.ApprovalID] = true
	}
}

// look tells what has changed since the last look.
func (f *follower) look(ctx context.Context) {
	if live := f.engine.Live()[f.id]; live != f.text {
		fresh, goesOn := strings.CutPrefix(live, f.text)
		if !goesOn {
			fresh = live
		}
		f.text = live
		if fresh != "" {
			f.tell(Event{Text: fresh})
		}
	}
	report, err := f.engine.Report(ctx, f.id)
	if err != nil {
		return // it does not exist yet, or the result will say what is wrong
	}
	progress := f.engine.Progress()
	for _, c := range report.Calls {
		if f.calls[c.ID] != c.Status {
			f.calls[c.ID] = c.Status
			f.tell(Event{Call: &c})
		}
		if p, ok := progress[c.ID]; ok && f.progress[c.ID] != p {
			f.progress[c.ID] = p
			f.tell(Event{Progress: &Progress{CallID: c.ID, Done: p.Done, Total: p.Total, Message: p.Message}})
		}
	}
	for _, a := range report.Approvals {
		if !f.cards[a.ApprovalID] {
			f.cards[a.ApprovalID] = true
			f.tell(Event{Approval: &a})
		}
	}
}

func (f *follower) tell(e Event) {
	f.send(struct {
		Message Event `json:"message"`
	}{e})
}

// send writes one event of the stream. A client that has gone away misses it.
func (f *follower) send(v any) {
	text, err := json.Marshal(v)
	if err != nil { // only types of this program are written
		return
	}
	_, _ = fmt.Fprintf(f.w, "data: %s\n\n", text)
	f.flush()
}

func (f *follower) flush() { _ = http.NewResponseController(f.w).Flush() }
