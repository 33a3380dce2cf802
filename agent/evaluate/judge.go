package evaluate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// changing are the tools of the work-orders server that change something.
var changing = []string{"schedule_visit", "reschedule_visit", "cancel_visit", "order_part", "cancel_part_order", "add_note"}

// Changes reports whether a tool, named without its server, changes something.
func Changes(tool string) bool { return slices.Contains(changing, tool) }

// Call is a call that changes something, as it was made or stands on a card.
type Call struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// Outcome is what came of a line.
type Outcome struct {
	// Changes are the calls that changed something or wait at a card.
	Changes []Call
	Answer  string
	// Cards are the texts of the cards that wait.
	Cards []string
	// Resolve gives the id that a name stands for in an argument; nil: names are
	// compared as they are.
	Resolve func(argument, value string) string
}

// Verdict is what was wrong; the zero value is a line that came out right.
type Verdict struct {
	// Problem says what is wrong; empty if nothing is.
	Problem string
	// WrongWrite says that something was changed, or stands on a card, that the
	// line did not ask for, or otherwise than asked.
	WrongWrite bool
}

// Judge compares an outcome with what a line expects.
func Judge(l Line, o Outcome) Verdict {
	left := slices.Clone(o.Changes)
	missing := ""
	for _, want := range l.Expect.Calls {
		if !Changes(want.Tool) || want.Error != "" {
			continue
		}
		i := slices.IndexFunc(left, func(c Call) bool { return c.Tool == want.Tool && o.has(want.Args, c.Args) })
		if i < 0 {
			missing = fmt.Sprintf("%s %s was not called", want.Tool, text(want.Args))
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		problem := fmt.Sprintf("unexpected change: %s %s", left[0].Tool, text(left[0].Args))
		if missing != "" {
			problem = missing + "; " + problem
		}
		return Verdict{Problem: problem, WrongWrite: true}
	}
	if missing != "" {
		return Verdict{Problem: missing}
	}
	said := comparable(o.Answer + "\n" + strings.Join(o.Cards, "\n"))
	for _, m := range l.Expect.Mentions {
		if !strings.Contains(said, comparable(m)) {
			return Verdict{Problem: fmt.Sprintf("the answer does not mention %q", m)}
		}
	}
	if l.Expect.Asks && !strings.Contains(o.Answer, "?") {
		return Verdict{Problem: "the answer asks nothing"}
	}
	return Verdict{}
}

func text(args map[string]any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Sprint(args)
	}
	return string(raw)
}

// has reports whether every listed argument is equal: times as instants, names
// as what they stand for, other text without case and accents.
func (o Outcome) has(want, got map[string]any) bool {
	for name, v := range want {
		a, b := fmt.Sprint(v), fmt.Sprint(got[name])
		ta, errA := time.Parse(time.RFC3339, a)
		tb, errB := time.Parse(time.RFC3339, b)
		if errA == nil && errB == nil && ta.Equal(tb) {
			continue
		}
		if o.Resolve != nil {
			a, b = o.Resolve(name, a), o.Resolve(name, b)
		}
		if got[name] == nil || comparable(a) != comparable(b) {
			return false
		}
	}
	return true
}

// comparable takes case, accents and thousands separators away, and writes
// decimals with a point.
func comparable(s string) string {
	s = strings.NewReplacer("ø", "o", "ł", "l", "đ", "d", "ß", "ss", "æ", "ae").Replace(strings.ToLower(s))
	s = decimals(s)
	return strings.Map(func(r rune) rune {
		if r >= 0x300 && r < 0x370 {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// decimals writes "84,90" as "84.90".
func decimals(s string) string {
	raw := []byte(s)
	digit := func(i int) bool { return i >= 0 && i < len(raw) && raw[i] >= '0' && raw[i] <= '9' }
	for i, b := range raw {
		if b == ',' && digit(i-1) && digit(i+1) && digit(i+2) && !digit(i+3) {
			raw[i] = '.'
		}
	}
	return string(raw)
}
