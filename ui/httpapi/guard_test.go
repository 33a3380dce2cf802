package httpapi

import (
	"bufio"
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
)

func TestOnlyTokensOfUsersGetIn(t *testing.T) {
	users := map[agent.UserID]agent.User{
		"U-01": {ID: "U-01", Name: "Ada", Role: "dispatcher"},
		"U-02": {ID: "U-02", Name: "Ben", Role: "manager"},
	}
	d := newDoor(t, func(o *Options) {
		o.Callers = []Caller{caller("U-01", "ada's"), caller("U-02", "ben's"), caller("U-99", "nobody's")}
		o.User = func(id agent.UserID) (agent.User, bool) { u, ok := users[id]; return u, ok }
	})
	quote := d.wo.Handler("quote")
	d.wo.SetHandler("quote", func(ctx context.Context, r agent.CallRequest) (agent.Result, error) {
		result, err := quote(ctx, r)
		result.Structured = append([]byte(`{"limits":{"approver_needed":"senior_dispatcher"},`), result.Structured[1:]...)
		return result, err
	})
	ask := `{"data":{"message":"` + orderLine + `"}}`
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic ben's", "ben's", "Bearer ben's x"} {
		for _, request := range [][3]string{{"POST", "/dispatchAgent", ask}, {"GET", "/approvals", ""}, {"GET", "/approvals/A-1", ""}, {"POST", "/approvals/A-1/decision", `{"approved":true}`}, {"GET", "/conversations/x", ""}, {"GET", "/anything", ""}} {
			r := d.do(request[0], request[1], request[2], "Authorization", authorization)
			d.wantError(r, http.StatusUnauthorized, statusUnknownToken)
			if r.header.Get("WWW-Authenticate") == "" {
				t.Error("it does not say how to")
			}
		}
	}
	d.wantError(d.do("POST", "/dispatchAgent", ask, "Authorization", "Bearer nobody's"), http.StatusForbidden, statusForbidden)
	if len(d.model.Requests()) != 0 {
		t.Error("the model was asked")
	}
	// Without a token one may know that it is alive, and what it speaks.
	for _, path := range []string{"/healthz", "/readyz", "/schema.json", "/openapi.json"} {
		if r := d.do("GET", path, ""); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	asked := d.dispatch(`{"message":"`+orderLine+`"}`, "Authorization", "Bearer ada's")
	p := d.refused(http.StatusForbidden, statusForbidden, `{"approvalId":"A-1","approved":true}`, "Authorization", "Bearer ada's")
	if !strings.Contains(p.Message, "Ada may not approve it") {
		t.Errorf("%s", p.Message)
	}
	d.orders(0)
	d.dispatch(`{"approvalId":"A-1","approved":true}`, "Authorization", "bearer ben's")
	d.orders(1)
	found, err := d.store.Approvals(t.Context(), []agent.ApprovalID{asked.ApprovalID})
	if err != nil || found[0].Decision.By.Name != "Ben" {
		t.Errorf("%+v, %v", found, err)
	}
	p = d.refused(http.StatusConflict, statusDecided, `{"approvalId":"A-1","approved":true}`, "Authorization", "Bearer ada's")
	if !strings.Contains(p.Message, "already approved by Ben") {
		t.Errorf("%s", p.Message)
	}
}

func TestForeignOriginsAndNamesAreRefused(t *testing.T) {
	d := newDoor(t)
	body := `{"data":{"message":"hello"}}`
	for _, header := range [][2]string{
		{"Origin", "https://example.com"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:1"}, {"Origin", ""},
		{"Host", "example.com"}, {"Host", "127.0.0.1.example.com"}, {"Host", "localhost.example.com:80"},
	} {
		for _, path := range []string{"/dispatchAgent", "/healthz"} {
			method := map[bool]string{true: "POST", false: "GET"}[path == "/dispatchAgent"]
			r := d.do(method, path, body, header[0], header[1])
			d.wantError(r, http.StatusForbidden, statusForbidden)
		}
	}
	if len(d.model.Requests()) != 0 {
		t.Error("the model was asked")
	}
	if r := d.do("POST", "/dispatchAgent", body, "Origin", d.http.URL); r.status != http.StatusOK {
		t.Errorf("its own origin: %d", r.status)
	}
	if r := d.do("POST", "/dispatchAgent", body, "Host", "localhost"); r.status != http.StatusOK {
		t.Errorf("localhost: %d %s", r.status, r.body)
	}
}

func TestARefusedRequestIsLoggedWithoutItsToken(t *testing.T) {
	log := &strings.Builder{}
	d := newDoor(t, func(o *Options) {
		o.Callers = []Caller{{User: "U-01", Token: sha256.Sum256([]byte("right"))}}
		o.Logger = logTo(log)
	})
	d.do("GET", "/approvals", "", "Authorization", "Bearer sesame-open")
	if text := log.String(); !strings.Contains(text, "the bearer token is missing or wrong") || strings.Contains(text, "sesame") {
		t.Errorf("the log says %q", text)
	}
}

// TestASlowClientHoldsNothing: one that does not finish its head is cut off.
func TestASlowClientHoldsNothing(t *testing.T) {
	d := newDoor(t)
	slow := httptest.NewUnstartedServer(nil)
	slow.Config = d.server.HTTPServer()
	if got := slow.Config; got.ReadHeaderTimeout != headerTime || got.ReadTimeout != bodyTime || got.MaxHeaderBytes != maxHeader {
		t.Errorf("limits: %+v", got)
	}
	slow.Config.ReadHeaderTimeout = time.Millisecond // instead of the many seconds
	slow.Start()
	defer slow.Close()
	conn, err := net.Dial("tcp", slow.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("POST /dispatchAgent HTTP/1.1\r\nHost: localhost\r\n")); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	if line != "" && !strings.Contains(line, "408") {
		t.Errorf("it says %q", line)
	}
}
