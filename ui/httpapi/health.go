package httpapi

import (
	"context"
	"net/http"
)

// Readiness is the state of the parts that an answer needs.
type Readiness struct {
	// Ready says that a message would be answered now.
	Ready   bool              `json:"ready"`
	Store   string            `json:"store"`
	Model   string            `json:"model"`
	Servers map[string]string `json:"servers"`
	// Waiting is how much waits for a person.
	Waiting int `json:"waiting"`
}

// health says that the process is alive, and nothing else.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ready says how the parts are; 503 if a message would not be answered now.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	state := Readiness{Ready: true, Store: "ok", Servers: map[string]string{}}
	if s.options.Ready != nil {
		state = s.options.Ready(context.WithoutCancel(r.Context()))
	}
	waiting, err := s.engine.Waiting(r.Context())
	if err != nil {
		state.Ready, state.Store = false, err.Error()
	}
	state.Waiting = len(waiting)
	code := http.StatusOK
	if !state.Ready {
		code = http.StatusServiceUnavailable
	}
	writeJSON(w, code, state)
}
