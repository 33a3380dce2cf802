package httpapi

import (
	"context"
	"net/http"

	"deskhand/agent"
)

// Card is an approval with everything that a card shows.
type Card struct {
	agent.ApprovalReport
	// State is the approval's own: open, approved, denied, expired, cancelled or
	// superseded.
	State agent.ApprovalState `json:"state"`
	// Summary says in a few words what it is about.
	Summary string `json:"summary"`
	// SupersededBy is the approval that took its place.
	SupersededBy agent.ApprovalID `json:"supersededBy,omitempty"`
	// Changes are the terms that differ from the approval that it took the place
	// of.
	Changes []agent.Change `json:"changes,omitempty"`
}

// Decision is what POST /approvals/{id}/decision takes.
type Decision struct {
	Approved *bool  `json:"approved"`
	Reason   string `json:"reason,omitempty"`
	Digest   string `json:"digest,omitempty"`
}

// approvals lists what waits, what is unknown, and what was approved and not
// sent, the oldest first.
func (s *Server) approvals(w http.ResponseWriter, r *http.Request) {
	waiting, err := s.engine.Waiting(r.Context())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	cards := make([]Card, 0, len(waiting))
	for _, a := range waiting {
		card := Card{ApprovalReport: a, Summary: a.Summary}
		if a.ApprovalID != "" {
			if err := s.complete(r.Context(), &card); err != nil {
				s.failed(w, r, err)
				return
			}
		}
		cards = append(cards, card)
	}
	writeJSON(w, http.StatusOK, cards)
}

// approval gives one approval, waiting or not.
func (s *Server) approval(w http.ResponseWriter, r *http.Request) {
	card := Card{}
	card.ApprovalID = agent.ApprovalID(r.PathValue("id"))
	if err := s.complete(r.Context(), &card); err != nil {
		s.failed(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, card)
}

// complete fills in a card from the records.
func (s *Server) complete(ctx context.Context, card *Card) error {
	store := s.engine.Store()
	found, err := store.Approvals(ctx, []agent.ApprovalID{card.ApprovalID})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return missing("approval", string(card.ApprovalID), agent.ErrNotFound)
	}
	a := found[0]
	if card.CallID == "" {
		calls, err := store.Calls(ctx, []agent.CallID{a.Call})
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			return missing("call", string(a.Call), agent.ErrNotFound)
		}
		card.ApprovalReport = agent.ReportApproval(a, calls[0])
	}
	card.State, card.Summary, card.SupersededBy, card.Changes = a.State, a.Summary(), a.SupersededBy, a.Changes
	return nil
}

// decision decides an approval by its id.
func (s *Server) decision(w http.ResponseWriter, r *http.Request) {
	var d Decision
	if err := readBody(r, &d); err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	job, p := s.workOf(Request{ApprovalID: agent.ApprovalID(r.PathValue("id")), Approved: d.Approved, Reason: d.Reason, Digest: d.Digest}, "", "")
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	answer, err := concluded(s.run(r, job.do))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// conversation reports where a conversation's newest turn stands.
func (s *Server) conversation(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	report, err := s.engine.Report(r.Context(), agent.ConversationID(id))
	if err != nil {
		s.failed(w, r, missing("conversation", id, err))
		return
	}
	writeJSON(w, http.StatusOK, report)
}
