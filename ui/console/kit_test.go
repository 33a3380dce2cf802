package console

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/state"
	"deskhand/state/memory"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// scriptedModel gives its replies in order, whatever it is asked; when it has
// none left it says so in an answer.
type scriptedModel struct {
	mu      sync.Mutex
	replies []agent.ModelReply
	// gate, if set, is waited for before each reply.
	gate chan struct{}
	// live is emitted before the gate.
	live string
}

func (m *scriptedModel) Name() string { return "scripted" }

func (m *scriptedModel) Respond(ctx context.Context, _ agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	m.mu.Lock()
	gate, live := m.gate, m.live
	m.mu.Unlock()
	if live != "" {
		emit(live)
	}
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return agent.ModelReply{}, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.replies) == 0 {
		return agent.ModelReply{Text: "That is all."}, nil
	}
	reply := m.replies[0]
	m.replies = m.replies[1:]
	return reply, nil
}

func (m *scriptedModel) script(replies ...agent.ModelReply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies = append(m.replies, replies...)
}

func says(text string) agent.ModelReply { return agent.ModelReply{Text: text} }

func calls(pairs ...string) agent.ModelReply {
	var r agent.ModelReply
	for i := 0; i < len(pairs); i += 2 {
		r.Calls = append(r.Calls, agent.ModelCall{ID: fmt.Sprintf("call_%d", i), Name: pairs[i], Arguments: json.RawMessage(pairs[i+1])})
	}
	return r
}

const orderArgs = `{"work_order_id":"WO-1044","sku":"HE-3000-230","quantity":1}`

// scriptedSource is the work-orders server of the tests.
type scriptedSource struct {
	mu     sync.Mutex
	counts map[string]int
	// answer gives a tool's answer; by default an order works and a quote is
	// quoteJSON.
	answer func(agent.CallRequest) (agent.Result, error)
	down   error
	quote  string
	// quotes, if set, gives the quote of a request.
	quotes func(agent.CallRequest) string
	// refuseEmpty refuses a quote for no part.
	refuseEmpty bool
	// failQuote lets the preview fail in a way that passes.
	failQuote bool
}

func (s *scriptedSource) Name() string { return "work-orders" }

func (s *scriptedSource) Tools(context.Context) (agent.ToolList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return agent.ToolList{}, s.down
	}
	object := func(properties string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
	}
	order := `"work_order_id":{"type":"string"},"sku":{"type":"string"},"quantity":{"type":"integer"},"reason":{"type":"string"},"deliver_to":{"type":"string"},"allow_duplicate":{"type":"boolean"}`
	return agent.ToolList{Identity: "book-1", Tools: []agent.Tool{
		{Name: "lookup_work_order", InputSchema: object(`"work_order_id":{"type":"string"}`)},
		{Name: "quote_part", InputSchema: object(order)},
		{Name: "order_part", InputSchema: object(order + `,"idempotency_key":{"type":"string"},"max_total_minor":{"type":"integer"}`), Desk: agent.DeskMeta{
			Spends: true, Kind: "order", Fill: map[string]string{"idempotency_key": "key", "max_total_minor": "/line/total/minor"},
			Terms: []string{"/line/total", "/supplier/id", "/expected_on", "/fits", "/duplicates", "/limits/approver_needed", "/warnings"},
		}},
		{Name: "cancel_visit", InputSchema: object(`"visit_id":{"type":"string"},"reason":{"type":"string"}`), Desk: agent.DeskMeta{Kind: "cancel_visit"}},
	}}, nil
}

func (s *scriptedSource) Call(_ context.Context, r agent.CallRequest) (agent.Result, error) {
	s.mu.Lock()
	s.counts[r.Tool]++
	answer, quote, down, fail := s.answer, s.quote, s.down, s.failQuote
	if s.quotes != nil {
		quote = s.quotes(r)
	}
	empty := s.refuseEmpty && strings.Contains(string(r.Arguments), `"sku":""`)
	s.mu.Unlock()
	if down != nil {
		return agent.Result{}, &agent.CallError{Outcome: agent.OutcomeNotSent, Server: "work-orders", Err: down}
	}
	if fail && r.Tool == "quote_part" {
		return *agent.TextResult("the supplier's price list is being loaded", true), nil
	}
	if empty && r.Tool == "quote_part" {
		out := agent.TextResult("There is no such part.", true)
		out.Structured = json.RawMessage(`{"error":{"code":"not_found","message":"There is no such part.","retry":"change_arguments"}}`)
		return *out, nil
	}
	if r.Tool == "quote_part" {
		return agent.Result{Structured: json.RawMessage(quote), Content: agent.TextResult("quoted", false).Content}, nil
	}
	if answer != nil {
		return answer(r)
	}
	if r.Tool == "order_part" {
		out := agent.TextResult("PO-3021 ordered: 1 × HE-3000-230, 84.90 EUR, arrives Thu 3 Dec.", false)
		out.Structured = json.RawMessage(`{"part_order":{"id":"PO-3021","status":"ordered","total":{"minor":8490,"currency":"EUR"}}}`)
		return *out, nil
	}
	return *agent.TextResult("WO-1043 is booked.", false), nil
}

func (s *scriptedSource) count(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[tool]
}

func (s *scriptedSource) set(change func(*scriptedSource)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

const quoteJSON = `{"quote_id":"Q-1","part":{"sku":"HE-3000-230","name":"Heating element 3 kW, 230 V, 1½\" thread","unit":"pcs","min_quantity":1,"pack_size":1,"differs_by":"not the 3.5 kW (HE-3500-230)"},
 "line":{"unit_price":{"minor":8490,"currency":"EUR"},"quantity":1,"goods":{"minor":8490,"currency":"EUR"},"fees":[],"total":{"minor":8490,"currency":"EUR"}},
 "supplier":{"id":"SUP-1","name":"Tandrel Thermal Supply"},"lead_time_working_days":2,"expected_on":{"at":"2026-12-03T12:00:00+01:00","local":"Thu 3 Dec 12:00","tz":"Europe/Brussels"},
 "stock":[{"location_id":"D-1","location":"Central Depot","quantity":0},{"location_id":"V-4","location":"Van 4","holder":"Benoît Carrowell","quantity":1}],
 "substitutes":[],"duplicates":[],"on_order_elsewhere":0,"fits":"yes",
 "work_order":{"id":"WO-1044","title":"Hotel water heater","status":"waiting_parts","customer":"Sandpiper Rest Hotels","site":"Sandpiper Rest Hotel","address":"Quay Road 5","asset":"commercial water heater CW-300","asset_maker":"Thermavox","asset_model":"CW-300","resolve_by":{"at":"2026-12-04T12:00:00+01:00","local":"Fri 4 Dec 12:00"},"days_to_deadline":1},
 "limits":{"work_order":{"limit":{"minor":60000,"currency":"EUR"},"committed":{"minor":0,"currency":"EUR"},"left_after":{"minor":51510,"currency":"EUR"}},"user":{"id":"U-01","name":"Dispatch Desk 1","role":"dispatcher","limit":{"minor":50000,"currency":"EUR"}},"approver_needed":"none"},
 "warnings":[]}`

const duplicates = `"duplicates":[{"part_order_id":"PO-3007","work_order_id":"WO-1044","status":"ordered","quantity":1,"requested_at":{"at":"2026-11-30T10:00:00+01:00","local":"Mon 30 Nov 10:00"}}]`

// pilot drives a console by hand: keys go in, commands run beside it, and what
// they bring back is taken in when the test waits for it.
type pilot struct {
	t      *testing.T
	m      *Model
	engine *agent.Engine
	store  *state.Store
	model  *scriptedModel
	source *scriptedSource
	facts  chan tea.Msg
	clock  time.Duration
	bells  atomic.Int32
	notes  atomic.Int32
	quit   bool
	now    time.Time
	ctx    context.Context
	// expiresAfter is how long cards wait; empty: for ever.
	expiresAfter string
}

var deskUser = agent.User{ID: "U-01", Name: "Dispatch Desk 1", Role: "dispatcher", Limit: &agent.Money{Minor: 50000, Currency: "EUR"}}

func newPilot(t *testing.T, width, height int) *pilot {
	t.Helper()
	p := &pilot{
		t: t, model: &scriptedModel{}, source: &scriptedSource{counts: map[string]int{}, quote: quoteJSON},
		store: state.New(memory.New()),
		now:   time.Date(2026, 12, 1, 9, 4, 0, 0, time.FixedZone("CET", 3600)),
	}
	p.start("owner-1", width, height)
	return p
}

var ids struct {
	sync.Mutex
	n int
}

func nextID() string {
	ids.Lock()
	defer ids.Unlock()
	ids.n++
	return fmt.Sprintf("id%06d", ids.n)
}

// start starts a console over the pilot's store, as a new process would.
func (p *pilot) start(owner agent.OwnerID, width, height int) {
	p.t.Helper()
	policy, err := agent.NewPolicy(agent.PolicyConfig{
		ExpiresAfter:       p.expiresAfter,
		RunWithoutApproval: []agent.QualifiedName{"work-orders/lookup_work_order", "work-orders/quote_part"},
		ReadOnly:           []agent.QualifiedName{"work-orders/lookup_work_order"},
		Previews:           map[agent.QualifiedName]agent.QualifiedName{"work-orders/order_part": "work-orders/quote_part"},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.engine, err = agent.New(agent.Config{
		Store: p.store, Model: p.model, Sources: []agent.Source{p.source}, Policy: policy, Owner: owner,
		User: func() agent.User { return deskUser }, Now: func() time.Time { return p.now }, NewID: nextID,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.t.Cleanup(cancel)
	if err := p.engine.Mark(ctx, nil); err != nil {
		p.t.Fatal(err)
	}
	p.ctx, p.facts = ctx, make(chan tea.Msg, 1000)
	p.m = New(ctx, Options{
		Engine:      p.engine,
		Company:     func() Company { return Company{Name: "Quillmoor Service", Demo: true, Clock: "demo"} },
		Now:         func() time.Time { return p.now },
		User:        func() agent.User { return deskUser },
		Servers:     func() []ServerStatus { return []ServerStatus{{Name: "work-orders", State: ServerReady}} },
		Quiet:       func() time.Duration { return p.clock },
		ConfigPath:  "/home/desk/.config/deskhand/deskhand.json",
		ConfigBlock: "{\n  \"mcpServers\": {}\n}",
	})
	p.m.attend = func(away bool) {
		p.bells.Add(1)
		if away {
			p.notes.Add(1)
		}
	}
	p.quit = false
	p.clock = time.Hour
	p.m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	p.run(p.m.Init())
}

// run runs a command beside the console.
func (p *pilot) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	out := p.out()
	go func() { out(cmd()) }()
}

// out gives the way back for what commands bring to the console of now.
func (p *pilot) out() func(tea.Msg) {
	ctx, facts := p.ctx, p.facts
	var bring func(msg tea.Msg)
	bring = func(msg tea.Msg) {
		switch v := reflect.ValueOf(msg); {
		case msg == nil:
		case v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]():
			sequence := !v.Type().AssignableTo(reflect.TypeFor[tea.BatchMsg]())
			for i := range v.Len() {
				cmd := v.Index(i).Interface().(tea.Cmd)
				switch {
				case cmd == nil:
				case sequence:
					bring(cmd())
				default:
					go func() { bring(cmd()) }()
				}
			}
		default:
			select {
			case facts <- msg:
			case <-ctx.Done():
			}
		}
	}
	return bring
}

func (p *pilot) update(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		p.quit = true
		return
	}
	_, cmd := p.m.Update(msg)
	p.run(cmd)
}

// until takes in what commands bring until a condition holds.
func (p *pilot) until(what string, holds func() bool) {
	p.t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for !holds() {
		select {
		case msg := <-p.facts:
			p.update(msg)
		case <-deadline.C:
			p.t.Fatalf("waited in vain for %s; the screen is\n%s", what, p.screen())
		}
	}
}

func (p *pilot) untilText(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q", text), func() bool { return p.says(text) })
}

// says reports whether the screen says something, wherever its lines break.
func (p *pilot) says(text string) bool {
	return strings.Contains(strings.Join(strings.Fields(p.screen()), " "), strings.Join(strings.Fields(text), " "))
}

// settle waits until the screen shows what the store holds.
func (p *pilot) settle() {
	p.t.Helper()
	p.until("the screen to be as the store", func() bool {
		shown := p.m.desk.read(p.m.open.id, 0, tailLength, nil)
		entries := make([]agent.TranscriptEntry, 0, len(p.m.open.entries))
		for _, e := range p.m.open.entries {
			entries = append(entries, e.entry)
		}
		return !p.m.loading && len(p.m.out) == 0 && reflect.DeepEqual(shown.waiting, p.m.waiting) &&
			reflect.DeepEqual(shown.head, p.m.open.head) && (len(entries) == 0 || reflect.DeepEqual(shown.entries, entries))
	})
}

// rest lets 500 ms of quiet pass.
func (p *pilot) rest() { p.clock += 500 * time.Millisecond }

var namedKeys = map[string]tea.KeyMsg{
	"enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "tab": {Type: tea.KeyTab}, "space": {Type: tea.KeySpace, Runes: []rune{' '}},
	"ctrl+g": {Type: tea.KeyCtrlG}, "ctrl+o": {Type: tea.KeyCtrlO}, "ctrl+x": {Type: tea.KeyCtrlX}, "ctrl+b": {Type: tea.KeyCtrlB},
	"ctrl+c": {Type: tea.KeyCtrlC}, "ctrl+d": {Type: tea.KeyCtrlD}, "ctrl+p": {Type: tea.KeyCtrlP}, "ctrl+n": {Type: tea.KeyCtrlN},
	"ctrl+j": {Type: tea.KeyCtrlJ}, "up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight},
	"pgup": {Type: tea.KeyPgUp}, "pgdown": {Type: tea.KeyPgDown}, "home": {Type: tea.KeyHome}, "end": {Type: tea.KeyEnd},
	"backspace": {Type: tea.KeyBackspace}, "alt+enter": {Type: tea.KeyEnter, Alt: true}, "alt+a": {Type: tea.KeyRunes, Runes: []rune{'a'}, Alt: true},
}

func keyMsg(name string) tea.KeyMsg {
	if k, ok := namedKeys[name]; ok {
		return k
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press presses keys one after another, with a pause before each that is long
// enough to count as quiet.
func (p *pilot) press(names ...string) {
	for _, name := range names {
		p.rest()
		p.update(keyMsg(name))
	}
}

// write types text at 20 keys a second.
func (p *pilot) write(text string) {
	for _, r := range text {
		p.clock += 50 * time.Millisecond
		name := string(r)
		if r == ' ' {
			name = "space"
		}
		p.update(keyMsg(name))
	}
}

func (p *pilot) send(text string) {
	p.write(text)
	p.press("enter")
}

// screen is what is on the screen, without styles.
func (p *pilot) screen() string {
	lines := strings.Split(ansi.Strip(p.m.View()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// ready goes to the card, reads it to its end and waits until it takes
// decisions.
func (p *pilot) ready() {
	p.press("tab")
	for range 6 {
		if p.m.view.refusal() != "" {
			p.press("pgdown")
		}
	}
	p.rest()
}

// card brings up the card of an order.
func (p *pilot) card() {
	p.t.Helper()
	p.model.script(calls("order_part", orderArgs))
	p.send("order a 3 kW heating element for WO-1044")
	p.until("the card", func() bool { return len(p.m.open.cards) == 1 && len(p.m.waiting) == 1 })
}

// approval reads the newest state of an approval.
func (p *pilot) approval(id agent.ApprovalID) agent.Approval {
	p.t.Helper()
	all, err := p.store.Approvals(p.ctx, []agent.ApprovalID{id})
	if err != nil || len(all) != 1 {
		p.t.Fatalf("reading %s: %v", id, err)
	}
	return all[0]
}

func (p *pilot) undecided(id agent.ApprovalID) {
	p.t.Helper()
	if a := p.approval(id); a.State != agent.ApprovalOpen {
		p.t.Fatalf("%s is %s, and nobody decided it; the screen is\n%s", id, a.State, p.screen())
	}
	if n := p.source.count("order_part"); n != 0 {
		p.t.Fatalf("%d orders went out", n)
	}
}

// benchPilot is a console on a conversation of which all messages were read.
func benchPilot(tb testing.TB, messages int) *Model {
	tb.Helper()
	store := state.New(memory.New())
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	now := time.Date(2026, 12, 1, 9, 4, 0, 0, time.UTC)
	if err := fill(ctx, store, "long", messages, now); err != nil {
		tb.Fatal(err)
	}
	engine, err := agent.New(agent.Config{Store: store, Owner: "bench", NewID: nextID, Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	m := New(ctx, Options{Engine: engine, Now: func() time.Time { return now }})
	for m.open.oldest() > 1 {
		m.olderLoaded(m.desk.loadOlder(m.open.id, m.open.oldest())().(olderLoadedMsg))
	}
	if len(m.open.entries) != messages {
		tb.Fatalf("%d messages were read, want %d", len(m.open.entries), messages)
	}
	return m
}
