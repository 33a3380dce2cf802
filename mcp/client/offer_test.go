package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"deskhand/agent"
)

// A tool that the desk does not have is neither listed nor sent.
func TestToolsThatAreLeftOut(t *testing.T) {
	p := newPeer(t)
	p.list = func(w http.ResponseWriter, id, _ string) {
		answerWith(w, id, `{"tools":[{"name":"order","inputSchema":{"type":"object"}},{"name":"get","inputSchema":{"type":"object"}}]}`)
	}
	s := connectTo(t, p.url(), func(o *Options) { o.Offers = func(tool string) bool { return tool == "get" } })
	list, err := s.Tools(t.Context())
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "get" {
		t.Fatalf("tools %v, %v", list.Tools, err)
	}
	_, err = call(t, s, "order")
	wantOutcome(t, err, agent.OutcomeNotSent)
	mustCall(t, s, "get")
	if n := p.executions.Load(); n != 1 {
		t.Errorf("%d executions, want 1", n)
	}
}

// A server whose configuration is wrong is down from the start and says why.
func TestFault(t *testing.T) {
	fault := errors.New("give it a url")
	s := connectTo(t, "", func(o *Options) { o.Fault = fault })
	if st := s.State(); st.Phase != PhaseDown || st.Err != fault {
		t.Errorf("state %+v", st)
	}
	if _, err := s.Tools(context.Background()); err != fault {
		t.Errorf("tools: %v", err)
	}
	_, err := call(t, s, "order")
	if ce := wantOutcome(t, err, agent.OutcomeNotSent); !strings.Contains(ce.Error(), "give it a url") {
		t.Errorf("error %v", ce)
	}
}

// A server that answers that it has no such resource is there.
func TestAnswered(t *testing.T) {
	p := newPeer(t)
	s := connectTo(t, p.url())
	p.down()
	if _, _, err := s.ReadResource(t.Context(), "deskhand://company"); err == nil || Answered(err) {
		t.Errorf("a server that is down answered: %v", err)
	}
}

// A server that is there but whose tools cannot be listed is degraded, until
// they can.
func TestDegraded(t *testing.T) {
	p := newPeer(t)
	p.list = func(w http.ResponseWriter, id, _ string) { answerWith(w, id, `{"tools":[{"name":"order"}]}`) }
	s := connectTo(t, p.url())
	if err := s.Check(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if st := s.State(); st.Phase != PhaseDegraded || !strings.Contains(st.Err.Error(), "the tool order: inputSchema") {
		t.Errorf("state %+v", st)
	}
	p.mu.Lock()
	p.list = nil
	p.mu.Unlock()
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := s.State(); st.Phase != PhaseReady || st.Err != nil {
		t.Errorf("state %+v", st)
	}
}

// A look waits for a slow server once and not again; its tools are there as soon
// as it has answered.
func TestPatience(t *testing.T) {
	p := newPeer(t)
	answer := make(chan struct{})
	p.first = func(http.ResponseWriter, *http.Request) bool { <-answer; return false }
	s := connectTo(t, p.url(), func(o *Options) { o.Patience, o.ConnectTimeout = short, patient })
	for range 3 {
		if _, err := s.Tools(t.Context()); !errors.Is(err, errConnecting) {
			t.Fatalf("error %v", err)
		}
	}
	if st := s.State(); st.Phase != PhaseConnecting {
		t.Errorf("state %+v", st)
	}
	close(answer)
	eventually(t, "the server is ready", func() bool { return s.State().Phase == PhaseReady })
	if list, err := s.Tools(t.Context()); err != nil || len(list.Tools) != 1 {
		t.Errorf("tools %v, %v", list.Tools, err)
	}
}
