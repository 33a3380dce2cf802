package workorders

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// People do what no tool may: they take jobs in, move them on, receive goods
// and approve what a client without a desk ordered. These commands go through
// the book's changes like a tool's do, but are not in the list that models see,
// and over HTTP they need a secret of their own.

// An Act is one command of a person.
type Act struct {
	Command   string          `json:"command"`
	User      string          `json:"user,omitempty"` // a desk user; empty is the first
	Arguments json.RawMessage `json:"arguments"`
}

// A Done act says what happened, for people and for scripts.
type Done struct {
	Text   string          `json:"text"`
	Result json.RawMessage `json:"result"`
}

// acts are the commands by name.
func acts() map[string]handler {
	return map[string]handler{
		"new":        write("new", newJob),
		"set-status": write("set-status", setStatus),
		"receive":    write("receive", receiveGoods),
		"approve":    write("approve", approveOrder),
		"reject":     write("reject", rejectOrder),
		"order-text": read(orderText),
	}
}

// Do carries out a person's command. The error is a [*Refusal] if a rule speaks
// against it; then nothing was changed.
func (b *Book) Do(ctx context.Context, a Act) (Done, error) {
	h := acts()[a.Command]
	if h == nil {
		return Done{}, refuse("unknown_command", "command", "There is no command %q.", a.Command)
	}
	s := b.state.Load()
	c := caller{user: a.User}
	if c.user == "" && len(s.users) > 0 {
		c.user = s.users[0].ID
	}
	if s.user(c.user) == nil {
		r := refuse("user_not_found", "user", "There is no desk user %q.", c.user)
		for _, u := range s.users {
			r.offer(map[string]any{"user": u.ID, "name": u.Name, "role": u.Role})
		}
		return Done{}, r
	}
	ans, err := h(ctx, b, c, a.Arguments)
	if err != nil {
		return Done{}, refusalOf(err)
	}
	result, err := plainJSON(ans.structured)
	return Done{Text: ans.text, Result: result}, err
}

// people lets another process of the same home carry out a person's command.
func (s *Server) people(w http.ResponseWriter, r *http.Request) {
	var a Act
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(&a); err != nil {
		http.Error(w, "the body must be one command as JSON", http.StatusBadRequest)
		return
	}
	done, err := s.book.Do(r.Context(), a)
	status, body := http.StatusOK, any(done)
	if err != nil {
		status, body = http.StatusUnprocessableEntity, map[string]any{"error": refusalOf(err)}
	}
	s.log.Info("person's command", "command", a.Command, "user", a.User, "status", status)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked is gone if this fails
}

// Do asks the holder to carry out a person's command, as [Book.Do] does.
func (h Holder) Do(ctx context.Context, a Act) (Done, error) {
	body, err := json.Marshal(a)
	if err != nil {
		return Done{}, err
	}
	res, err := h.send(ctx, http.MethodPost, "/people", body)
	if err != nil {
		return Done{}, err
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode {
	case http.StatusOK:
		var done Done
		return done, json.NewDecoder(res.Body).Decode(&done)
	case http.StatusUnprocessableEntity:
		var refused struct{ Error *Refusal }
		if err := json.NewDecoder(res.Body).Decode(&refused); err != nil || refused.Error == nil {
			return Done{}, fmt.Errorf("the answer of %s cannot be read", res.Request.URL.Host)
		}
		return Done{}, refused.Error
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 200))
	return Done{}, fmt.Errorf("%s: %s: %s", res.Request.URL.Host, res.Status, text)
}
