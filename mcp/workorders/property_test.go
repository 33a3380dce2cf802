package workorders

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// minutes makes instants of one day, so that many of them touch.
func minutes(t *rapid.T, label string) time.Time {
	return demoNow().Add(time.Duration(rapid.IntRange(0, 40).Draw(t, label)) * 15 * time.Minute)
}

func drawInterval(t *rapid.T, label string) interval {
	start := minutes(t, label)
	return interval{start, start.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, label+" length")) * 15 * time.Minute)}
}

// quarters lists the quarters of an hour that an interval holds: a model in
// which half-open overlap is having one in common.
func quarters(i interval) map[time.Time]bool {
	out := map[time.Time]bool{}
	for t := i.start; t.Before(i.end); t = t.Add(15 * time.Minute) {
		out[t] = true
	}
	return out
}

func TestOverlapIsHalfOpen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInterval(t, "a"), drawInterval(t, "b")
		shared := false
		for q := range quarters(a) {
			shared = shared || quarters(b)[q]
		}
		if overlaps(a.start, a.end, b.start, b.end) != shared {
			t.Fatalf("%v and %v: overlap must be %v", a, b, shared)
		}
		if overlaps(a.start, a.end, b.start, b.end) != overlaps(b.start, b.end, a.start, a.end) {
			t.Fatal("overlap is not symmetric")
		}
		if overlaps(a.start, a.end, a.end, a.end.Add(time.Hour)) {
			t.Fatal("intervals that touch overlap")
		}
	})
}

func TestWithoutLeavesExactlyTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := merge([]interval{drawInterval(t, "from 1"), drawInterval(t, "from 2")})
		var taken []interval
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			taken = append(taken, drawInterval(t, "taken"))
		}
		want := map[time.Time]bool{}
		for _, f := range from {
			for q := range quarters(f) {
				want[q] = true
			}
		}
		for _, i := range taken {
			for q := range quarters(i) {
				delete(want, q)
			}
		}
		got := map[time.Time]bool{}
		for _, i := range without(from, taken) {
			for q := range quarters(i) {
				got[q] = true
			}
		}
		if len(got) != len(want) {
			t.Fatalf("left %v, want %v", got, want)
		}
		for q := range want {
			if !got[q] {
				t.Fatalf("%v is missing", q)
			}
		}
	})
}

// TestSumsOfMoney: a total is always goods plus fees, never negative, and the
// job's budget after the order is what was left minus the total.
func TestSumsOfMoney(t *testing.T) {
	t.Parallel()
	s := openBook(t).state.Load()
	var skus, jobs []string
	for p := range s.parts.all() {
		if p.Status == "active" {
			skus = append(skus, p.SKU)
		}
	}
	for w := range s.workOrders.all() {
		if !s.isClosed(w) {
			jobs = append(jobs, w.ID)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := view{contents: s.contents, now: demoNow(), caller: caller{user: rapid.SampledFrom([]string{"", "U-01", "U-02", "U-03"}).Draw(t, "user")}}
		part := s.parts.get(rapid.SampledFrom(skus).Draw(t, "sku"))
		quantity := rapid.IntRange(1, 60).Draw(t, "quantity")
		p, err := v.purchase(wish{workOrder: rapid.SampledFrom(jobs).Draw(t, "job"), sku: part.SKU, quantity: quantity, allowDuplicate: true})
		if err != nil {
			var r *Refusal
			if r = refusalOf(err); r.Retry == retrySame {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		q := v.quote(p)
		sum := q.Line.Goods.Minor
		for _, f := range q.Line.Fees {
			if f.Amount.Minor <= 0 || f.Amount.Currency != q.Line.Total.Currency {
				t.Fatalf("fee %+v", f)
			}
			sum += f.Amount.Minor
		}
		if q.Line.Total.Minor != sum || q.Line.Goods.Minor != part.Price*int64(quantity) || q.Line.Total.Currency != part.Currency {
			t.Fatalf("line %+v", q.Line)
		}
		b := q.Limits.WorkOrder
		left := b.Limit.Minor - b.Committed.Minor
		if part.Currency == "EUR" {
			left -= sum
		}
		if b.LeftAfter.Minor != left {
			t.Fatalf("budget %+v", b)
		}
		if over := part.Currency == "EUR" && left < 0; over && v.caller.user != "U-03" && q.Limits.ApproverNeeded != roleManage {
			t.Fatalf("over the budget, approver %s", q.Limits.ApproverNeeded)
		}
		if !s.workingDay(p.expected) {
			t.Fatalf("expected on %v", p.expected)
		}
	})
}

func TestMoneyForPeople(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int64]string{0: "0.00 EUR", 5: "0.05 EUR", 8490: "84.90 EUR", 100000000: "1000000.00 EUR", -5: "-0.05 EUR"} {
		if got := (Money{minor, "EUR"}).String(); got != want {
			t.Errorf("%d: %s, want %s", minor, got, want)
		}
	}
}
