package provider_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/openai"
	"deskhand/agent/provider"
)

// counting is a stand-in that needs no network.
type counting struct{ asked int }

func (c *counting) Name() string { return "built-in" }

func (c *counting) Respond(context.Context, agent.ModelRequest, func(string)) (agent.ModelReply, error) {
	c.asked++
	return agent.ModelReply{Text: "WO-1043 is scheduled."}, nil
}

func said(line string) agent.ModelRequest {
	return agent.ModelRequest{
		Now:      time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC),
		Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: line}},
	}
}

// TestTheBuiltInModelAnswersForOneThatCannotBeReached for the whole turn, and says
// so once; the next turn tries the other one again.
func TestTheBuiltInModelAnswersForOneThatCannotBeReached(t *testing.T) {
	requests, status := 0, http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		http.Error(w, "", status)
	}))
	defer server.Close()
	var waits []agent.ModelWait
	first, err := openai.New(openai.Options{Name: "m", BaseURL: server.URL, Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	spare := &counting{}
	model := provider.NewFallback(first, spare)
	shown := ""
	ask := func(r agent.ModelRequest) (agent.ModelReply, error) {
		r.Waiting = func(w agent.ModelWait) { waits = append(waits, w) }
		return model.Respond(t.Context(), r, func(text string) { shown += text })
	}
	reply, err := ask(said("status 1043"))
	if err != nil || reply.Text != "(openai:m cannot be reached: the built-in model answers.)\n\nWO-1043 is scheduled." || !strings.HasPrefix(shown, "(openai:m cannot") {
		t.Fatalf("%+v, %v; shown %q", reply, err, shown)
	}
	if len(waits) != provider.Attempts-1 || !strings.Contains(waits[0].Reason, "has a problem (503)") || waits[0].Pause <= 0 {
		t.Errorf("waits %+v", waits)
	}
	if reply, err := ask(said("status 1043")); err != nil || strings.Contains(reply.Text, "reached") || requests != provider.Attempts {
		t.Errorf("the same turn goes on with %+v, %v after %d requests", reply, err, requests)
	}
	if _, err := ask(said("status 1044")); err != nil || requests != 2*provider.Attempts {
		t.Errorf("the next turn: %v after %d requests", err, requests)
	}
	status = http.StatusUnauthorized
	if _, err := ask(said("status 1045")); err == nil || spare.asked != 3 {
		t.Errorf("a key that is refused is no fault of the network: %v, %d", err, spare.asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.Respond(ctx, said("x"), func(string) {}); !errors.Is(err, context.Canceled) || spare.asked != 3 {
		t.Errorf("stopped: %v, %d", err, spare.asked)
	}
}
