package workorders

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A caller of tools without a connection: arguments are validated and handled
// as they are for a client.
type direct struct {
	book   *Book
	tools  map[string]tool
	inputs map[string]*jsonschema.Resolved
}

func newDirect(t testing.TB, b *Book) direct {
	t.Helper()
	d := direct{book: b, tools: map[string]tool{}, inputs: map[string]*jsonschema.Resolved{}}
	for _, tool := range tools() {
		resolved, err := tool.input.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		d.tools[tool.name], d.inputs[tool.name] = tool, resolved
	}
	return d
}

func (d direct) call(name, user string, a args) (answer, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	tool := d.tools[name]
	if err := tool.validate(d.inputs[name], raw); err != nil {
		return answer{}, err
	}
	return tool.handle(context.Background(), d.book, caller{user: user, call: "call-" + user}, raw)
}

// A script makes random calls, the same for the same number: some fit, some
// name what is not there, and some are nonsense.
type script struct {
	r    *rand.Rand
	from time.Time
}

func scriptAt(n uint64) script {
	return script{r: rand.New(rand.NewPCG(n, 2026)), from: demoNow()}
}

func (s script) one(of ...string) string { return of[s.r.IntN(len(of))] }

func (s script) id(format string, low, high int) string {
	return fmt.Sprintf(format, low+s.r.IntN(high-low+1))
}

// time is in quarters of an hour of the demo's next days, so that visits touch
// and overlap; sometimes it is in the past, far away, or no time.
func (s script) time(hours int) string {
	switch s.r.IntN(40) {
	case 0:
		return "2026-12-02T10:00:00"
	case 1:
		return s.from.AddDate(0, 5, 0).Format(time.RFC3339)
	}
	quarter := time.Duration(s.r.IntN(24*4*8)-20+4*hours) * 15 * time.Minute
	return s.from.Truncate(time.Hour).Add(quarter).Format(time.RFC3339)
}

// window mostly lies in the shift of a day of the next two weeks.
func (s script) window() (start, end string) {
	if s.r.IntN(5) == 0 {
		return s.time(0), s.time(2)
	}
	day := time.Date(2026, 12, 1+s.r.IntN(12), 8, 0, 0, 0, s.from.Location())
	begin := day.Add(time.Duration(s.r.IntN(32)) * 15 * time.Minute)
	return begin.Format(time.RFC3339), begin.Add(time.Duration(1+s.r.IntN(10)) * 15 * time.Minute).Format(time.RFC3339)
}

var someNames = []string{"sam", "Sam Orrin", "jun", "priya", "lukasz", "dov", "tomas", "noor", "Zaphod", "mairead"}

func (s script) technician() string {
	if s.r.IntN(4) == 0 {
		return s.one(someNames...)
	}
	return s.id("T-%02d", 1, 13)
}

func (s script) maybe(a args, key string, value any) {
	if s.r.IntN(3) == 0 {
		a[key] = value
	}
}

// call is the script's call. Writes carry a key that is made of the number,
// where the tool takes one.
func (s script) call(n uint64) (tool, user string, a args) {
	key := fmt.Sprintf("key-%08d", n)
	user = s.one("", "U-01", "U-01", "U-02", "U-03", "U-77")
	job := s.id("WO-%d", 1000, 1062)
	switch s.r.IntN(16) {
	case 0, 1, 2, 3:
		start, end := s.window()
		a = args{"work_order_id": job, "technician": s.technician(), "start": start, "end": end, "idempotency_key": key}
		s.maybe(a, "override", []string{s.one("outside_shift", "double_book", "skill_missing")})
		s.maybe(a, "override_reason", "the customer asked")
		s.maybe(a, "additional", s.r.IntN(2) == 0)
		return "schedule_visit", user, a
	case 4, 5, 6:
		start, end := s.window()
		a = args{"visit_id": s.id("V-%d", 2010, 2090), "start": start, "end": end, "idempotency_key": key}
		s.maybe(a, "technician", s.technician())
		s.maybe(a, "override", []string{s.one("outside_shift", "double_book")})
		s.maybe(a, "reason", "it rains")
		s.maybe(a, "expected_version", 1+s.r.IntN(3))
		return "reschedule_visit", user, a
	case 7:
		return "cancel_visit", user, args{"visit_id": s.id("V-%d", 2010, 2100), "reason": s.one("no access", "ab", "sold the house")}
	case 8, 9:
		a = args{"work_order_id": job, "sku": s.one("HE-3000-230", "WH-GASK-112", "GB-FAN-24", "HP-PCB-45", "LF-GOV-P13", "GB-PCB-24", "AC-BELT-A42", "nonsense"),
			"quantity": s.r.IntN(12), "idempotency_key": key}
		s.maybe(a, "allow_duplicate", true)
		s.maybe(a, "max_total_minor", s.r.IntN(90000))
		return "order_part", user, a
	case 10:
		return "cancel_part_order", user, args{"part_order_id": s.id("PO-%d", 3001, 3080), "reason": "found one in the van"}
	case 11:
		a = args{"work_order_id": job, "text": s.one("bring the tarp", "  ", "\x1b[2J", "ok"), "idempotency_key": key}
		s.maybe(a, "visibility", s.one("internal", "customer", "public"))
		return "add_note", user, a
	}
	return s.read(job, user)
}

func (s script) read(job, user string) (string, string, args) {
	start, end := s.window()
	switch s.r.IntN(7) {
	case 0:
		return "lookup_work_order", user, args{"work_order_id": job}
	case 1:
		return "search_work_orders", user, args{"technician": s.technician(), "from": start, "to": end}
	case 2:
		return "find_availability", user, args{"work_order_id": job, "from": start, "to": end}
	case 3:
		return "get_schedule", user, args{"technician": s.technician()}
	case 4:
		return "list_technicians", user, args{"name": s.one(someNames...), "on": s.one("2026-12-02", "soon")}
	case 5:
		return "quote_part", user, args{"sku": "HE-3000-230", "quantity": s.r.IntN(9), "work_order_id": job}
	}
	return "list_part_orders", user, args{"work_order_id": job}
}

// TestRandomCalls: whatever is called, the book stays consistent, a refused
// call changes nothing, and nothing fails but by a rule.
func TestRandomCalls(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.db.NoSync = true // what a crash leaves is another test's matter
	d := newDirect(t, b)
	outcomes := map[string]int{}
	calls := 10_000
	if raceEnabled {
		calls = 2_000
	}
	for n := range uint64(calls) {
		tool, user, a := scriptAt(n).call(n)
		before := b.state.Load()
		_, err := d.call(tool, user, a)
		if err == nil {
			outcomes[tool+" ok"]++
			continue
		}
		r := refusalOf(err)
		outcomes[tool+" "+r.Code]++
		if r.Retry == retrySame || r.Retry == retryCheckFirst {
			t.Fatalf("call %d, %s: %v", n, tool, err)
		}
		if b.state.Load() != before {
			t.Fatalf("call %d, %s, was refused with %s and changed the book", n, tool, r.Code)
		}
	}
	t.Logf("%v", outcomes)
	for _, outcome := range []string{
		"schedule_visit ok", "schedule_visit technician_busy", "schedule_visit already_scheduled", "reschedule_visit ok", "reschedule_visit technician_busy",
		"reschedule_visit version_conflict", "cancel_visit ok", "order_part ok", "order_part duplicate_order", "cancel_part_order ok", "add_note ok",
	} {
		if outcomes[outcome] == 0 {
			t.Errorf("the script never gave %s", outcome)
		}
	}
	checked(t, b)
	sameAfterReading(t, b)
}

// sameAfterReading compares the book in memory with what its file says.
func sameAfterReading(t *testing.T, b *Book) {
	t.Helper()
	kept := b.state.Load()
	if err := b.load(); err != nil {
		t.Fatal(err)
	}
	read := b.state.Load()
	for _, what := range []struct {
		name      string
		kept, now any
	}{
		{"work orders", dump(t, kept.workOrders), dump(t, read.workOrders)},
		{"visits", dump(t, kept.visits), dump(t, read.visits)},
		{"part orders", dump(t, kept.partOrders), dump(t, read.partOrders)},
	} {
		if what.kept != what.now {
			t.Errorf("the %s in memory are not those of the file", what.name)
		}
	}
	for i := range kept.relations {
		for _, key := range keysOf(read.relations[i]) {
			a, _ := kept.relations[i].get(key)
			b, _ := read.relations[i].get(key)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("relation %d of %s: %v in memory, %v in the file", i, key, a, b)
			}
		}
	}
}

func dump[T any](t *testing.T, table table[T]) string {
	t.Helper()
	var all []*T
	for r := range table.all() {
		all = append(all, r)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func keysOf(o overlay[[]string]) []string {
	var keys []string
	for key := range o.base {
		keys = append(keys, key)
	}
	return keys
}
