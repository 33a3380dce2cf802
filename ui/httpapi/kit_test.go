package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskhand/agent"
	"deskhand/agent/agenttest"
	"deskhand/state"
	"deskhand/state/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what comes at once on an idle machine.
const patience = 30 * time.Second

const orderLine = "order a heating element for WO-1044"

// door is a desk with the small work-orders server behind a real HTTP address.
type door struct {
	t      testing.TB
	engine *agent.Engine
	store  *state.Store
	model  *agenttest.Model
	wo     *agenttest.WorkOrders
	spoken agent.Model // in place of model, if set
	server *Server
	http   *httptest.Server
}

// obedient is a model that orders when it is asked to, and says what came of it.
func obedient(_ int, r agent.ModelRequest) (agent.ModelReply, error) {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case last.Result != nil && strings.Contains(last.Result.Text(), "Declined"):
		return agenttest.Say("You declined it."), nil
	case last.Result != nil:
		return agenttest.Say("The result: " + last.Result.Text()), nil
	case strings.Contains(last.Text, "order"):
		return agenttest.Call(agenttest.Tool("order", `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":1}`)), nil
	}
	return agenttest.Say("You said: " + last.Text), nil
}

func newDoor(t testing.TB, change ...func(*Options)) *door {
	return newDoorOn(t, state.New(memory.New()), change...)
}

func newDoorOn(t testing.TB, store *state.Store, change ...func(*Options)) *door {
	d := &door{
		t: t, store: store, model: &agenttest.Model{Script: obedient}, wo: agenttest.NewWorkOrders("work-orders"),
	}
	d.open(change...)
	return d
}

// open starts an engine and a server on the store, as a start of the program
// does.
func (d *door) open(change ...func(*Options)) {
	var model agent.Model = d.model
	if d.spoken != nil {
		model = d.spoken
	}
	d.engine = agenttest.NewEngine(d.t, agent.Config{
		Store: d.store, Model: model, Sources: []agent.Source{d.wo}, Policy: agenttest.NewPolicy(d.t, agenttest.Policy("work-orders")),
	})
	o := Options{Engine: d.engine, Local: true}
	for _, c := range change {
		c(&o)
	}
	d.server = New(o)
	d.http = httptest.NewUnstartedServer(nil)
	d.http.Config = d.server.HTTPServer()
	d.http.Start()
	server, listener := d.server, d.http
	d.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		server.Close(ctx)
		listener.CloseClientConnections()
		listener.Close()
	})
}

// reopenWith starts anew with another model.
func (d *door) reopenWith(model agent.Model) {
	d.spoken = model
	d.open()
}

// logTo writes a log's lines into text. Only one request at a time may log.
func logTo(text *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(text, nil)) }

// reply is an answer to a request.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers are name, value, name, value.
func (d *door) do(method, path, body string, headers ...string) reply {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := d.fetch(ctx, method, path, body, headers...)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *door) fetch(ctx context.Context, method, path, body string, headers ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, d.http.URL+path, bytes.NewBufferString(body))
	if err != nil {
		return reply{}, err
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.http.Client().Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(raw)}, err
}

// dispatch sends data to /dispatchAgent and wants a result.
func (d *door) dispatch(data string, headers ...string) Answer {
	d.t.Helper()
	r := d.do("POST", "/dispatchAgent", `{"data":`+data+`}`, headers...)
	var body struct{ Result *Answer }
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.status != http.StatusOK || body.Result == nil {
		d.t.Fatalf("%s: %d %s", data, r.status, r.body)
	}
	return *body.Result
}

// refused sends data to /dispatchAgent and wants an error.
func (d *door) refused(status int, word, data string, headers ...string) *problem {
	d.t.Helper()
	r := d.do("POST", "/dispatchAgent", `{"data":`+data+`}`, headers...)
	return d.wantError(r, status, word)
}

func (d *door) wantError(r reply, status int, word string) *problem {
	d.t.Helper()
	var body errorBody
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.status != status || body.Error == nil || body.Error.Status != word || body.Error.Message == "" {
		d.t.Fatalf("%d %s, want %d %s", r.status, r.body, status, word)
	}
	return body.Error
}

func (d *door) orders(want int) {
	d.t.Helper()
	if got := d.wo.Orders(); len(got) != want {
		d.t.Errorf("%d orders, want %d", len(got), want)
	}
}

func caller(user, token string) Caller {
	return Caller{User: agent.UserID(user), Token: sha256.Sum256([]byte(token))}
}
