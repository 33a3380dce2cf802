// Mutations shows that the engine's guards are held by its tests: it takes one
// guard after the other out of the sources (in an overlay, never in the files)
// and runs the engine's quick tests, which have to fail. It prints a table and
// fails if a guard could be taken out unseen. Run it from the module's root:
//
//	go run .ci/mutations/main.go [-run PATTERN] [-from N]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// mutation is one guard, and the edits that take it out.
type mutation struct {
	name  string
	edits []edit
}

// edit replaces text that stands in a file exactly once.
type edit struct{ file, old, instead string }

// one is a mutation of a single edit.
func one(name, file, old, instead string) mutation {
	return mutation{name, []edit{{file, old, instead}}}
}

func main() {
	pattern := flag.String("run", "", "only guards whose name matches")
	from := flag.Int("from", 1, "begin with this one, counted from 1")
	tests := flag.String("package", "./agent", "the package whose tests have to fail")
	flag.Parse()
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(2)
	}
	survivors := 0
	for i, m := range mutations {
		if i+1 < *from || !wanted.MatchString(m.name) {
			continue
		}
		begun := time.Now()
		verdict, err := m.try(*tests)
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutations: %s: %v\n", m.name, err)
			os.Exit(1)
		}
		if verdict == "" {
			verdict = "SURVIVED"
			survivors++
		}
		fmt.Printf("%2d %-64s %4.0f s  %s\n", i+1, m.name, time.Since(begun).Seconds(), verdict)
	}
	if survivors > 0 {
		fmt.Printf("%d guards can be taken out and no test fails\n", survivors)
		os.Exit(1)
	}
}

// slowTests are left out of the first run: most guards are held by a test of
// their own, and these take most of the time.
const slowTests = "TestWhereverAProcessIsKilled|TestOfTwoVerbs|TestOfFifty|TestNoHistory|TestPruningKeeps"

// try gives the first test that fails without the guard; empty if none does.
func (m mutation) try(tests string) (string, error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "guards.test")
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, tests).CombinedOutput(); err != nil {
		return "", fmt.Errorf("without the guard the tests do not build:\n%s", out)
	}
	for _, which := range []string{"-test.skip=" + slowTests, "-test.run=" + slowTests} {
		run := exec.Command(binary, "-test.failfast", "-test.timeout=5m", which)
		run.Dir = tests
		out, err := run.CombinedOutput()
		var failed *exec.ExitError
		switch {
		case err == nil:
			continue
		case !errors.As(err, &failed):
			return "", err
		}
		if name := regexp.MustCompile(`--- FAIL: (\S+)`).FindSubmatch(out); name != nil {
			return string(name[1]), nil
		}
		return "the test binary failed", nil
	}
	return "", nil
}

// overlay writes the edited files, and the list of them for the go command.
func (m mutation) overlay(dir string) (string, error) {
	texts := map[string]string{}
	for _, e := range m.edits {
		text, ok := texts[e.file]
		if !ok {
			raw, err := os.ReadFile(e.file)
			if err != nil {
				return "", err
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("%s holds %q %d times, not once: the guard has moved", e.file, e.old, n)
		}
		texts[e.file] = strings.Replace(text, e.old, e.instead, 1)
	}
	replace := map[string]string{}
	for file, text := range texts {
		edited := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(edited, []byte(text), 0o600); err != nil {
			return "", err
		}
		whole, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[whole] = edited
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// mutations are the guards of the engine.
var mutations = []mutation{
	// What a decision binds to.
	one("approving works the digest out anew", "agent/decide.go", `case a.bind() != a.Digest:`, `case false:`),
	one("approving compares the digest that was drawn", "agent/decide.go", `case drawn != "" && drawn != a.Digest:`, `case false:`),
	one("approving compares the call with its approval", "agent/decide.go",
		`case c.Approval != a.ID, string(c.Arguments) != string(a.Arguments):`, `case false:`),
	one("sending again works the digest out anew", "agent/decide.go",
		`if a.bind() != a.Digest || string(c.Arguments) != string(a.Arguments) {`, `if false {`),
	one("the digest holds the preview", "agent/digest.go", `if a.Preview != nil {`, `if false {`),
	one("the digest holds the definition", "agent/digest.go", `string(a.Tool), a.Definition, string(a.Arguments)`, `string(a.Tool), string(a.Arguments)`),
	one("the fields of the digest have lengths", "agent/digest.go", `h.Write(size[:])`, `_ = size`),

	// One decision wins.
	one("an approval is claimed in its transaction", "agent/decide.go",
		`if err := checkOpen(a, *c, drawn.Digest); err != nil {`, `if err := checkOpen(a, *c, drawn.Digest); err != nil && false {`),
	one("a denial is claimed in its transaction", "agent/decide.go", `if stored.State != ApprovalOpen {`, `if false {`),
	one("what moved meanwhile is not replaced", "agent/decide.go",
		`if err := stillAbout(tx, c, old.ID, EventRevise); err != nil {`, `if err := stillAbout(tx, c, old.ID, EventRevise); err != nil && false {`),
	one("what expired cannot be approved", "agent/decide.go", `if a.expired(e.now()) {`, `if false {`),
	one("what was extended does not expire", "agent/expire.go", `|| !fresh.expired(now) {`, `{`),
	one("above the limit nobody approves", "agent/decide.go", `if needs := neededRole(a); roleRank(needs) > roleRank(user.Role) {`, `if needs := neededRole(a); false {`),
	one("without its preview a card cannot be approved", "agent/decide.go",
		"if a.NoPreview != \"\" {\n\t\treturn nil, Call{}, false, &Unreachable", "if false {\n\t\treturn nil, Call{}, false, &Unreachable"),

	// The look at approval.
	one("terms that moved make a new card", "agent/terms.go", `if worse(before, after) {`, `if false {`),
	one("another server makes a new card", "agent/decide.go", `if old.ServerIdentity != now.ServerIdentity {`, `if false {`),
	one("another definition makes a new card", "agent/decide.go", `if old.Definition != now.Definition {`, `if false {`),
	one("a preview that refuses closes the card", "agent/decide.go",
		"if p.refused != nil {\n\t\treturn nil, e.closeCall", "if false {\n\t\treturn nil, e.closeCall"),
	one("today's rules refuse at approval", "agent/decide.go",
		"if verdict.Decision == DecisionRefuse {\n\t\treturn nil, e.closeCall(ctx, a, c, \"the desk's", "if false {\n\t\treturn nil, e.closeCall(ctx, a, c, \"the desk's"),
	one("rules about the preview refuse at approval", "agent/decide.go",
		"if verdict.Decision == DecisionRefuse {\n\t\t\treturn nil, e.closeCall", "if false {\n\t\t\treturn nil, e.closeCall"),
	one("a call goes only to the server that it was meant for", "agent/dispatch.go", `if entry.Identity != c.ServerIdentity {`, `if false {`),

	// Policy.
	one("a rule that cannot be read asks", "agent/policy.go", `case err != nil:
			consider(`, `case err != nil && false:
			consider(`),
	one("what no rule matches asks", "agent/policy.go", `verdict := Verdict{Decision: DecisionAsk}`, `verdict := Verdict{Decision: DecisionRun}`),
	one("the strictest rule wins", "agent/policy.go", `if !matched || v.Decision.strictness() > verdict.Decision.strictness() {`, `if true || !matched {`),
	one("spending needs a ceiling", "agent/policy.go", `if ceiling == nil {`, `if ceiling == nil && false || ceiling == nil && in.Spends {
		return v
	}
	if false {`),
	one("a ceiling bounds the amount", "agent/policy.go", `|| amount.Minor > ceiling.Minor {`, `{`),
	one("a ceiling bounds the currency", "agent/policy.go", `if amount.Currency != ceiling.Currency ||`, `if`),
	one("a ceiling bounds the day", "agent/act.go", `if spent+v.Spends.Minor > v.Ceiling.PerDay {`, `if false {`),
	one("today's rules stop what was not sent yet", "agent/act.go", `if c.State == CallApproved && c.Free() && !e.stillFree(box, &c, past) {`, `if false {`),
	one("a write that no line asked for asks", "agent/propose.go", `if !c.ReadOnly && !inRequest(c.Arguments, past.lines, past.results) {`, `if false {`),
	one("the same call once more asks", "agent/propose.go", `if same := doneBefore(*c, earlier); same != nil &&`, `if same := doneBefore(*c, earlier); false && same != nil &&`),
	one("a declined call does not come back", "agent/propose.go", `case old.State == CallDenied:`, `case false:`),
	one("who keeps asking for a declined call is stopped", "agent/propose.go", `if denied && again >= 2 {`, `if false {`),

	// Arguments and names.
	one("arguments are validated before anybody is asked", "agent/propose.go",
		`err = e.schemas.validate(entry, hideFilled(entry.Tool), arguments)`, `err = nil`),
	one("edited arguments are validated", "agent/edit.go",
		`if err := e.schemas.validate(entry, hideFilled(entry.Tool), arguments); err != nil {`, `if err := error(nil); err != nil {`),
	one("filled arguments of the model are dropped", "agent/propose.go", `arguments, err = dropFilled(entry.Tool, arguments)`, `err = nil`),
	one("filled arguments cannot be edited", "agent/edit.go", `if _, set := object[name]; set {`, `if false {`),
	one("filled arguments are hidden from the model", "agent/toolbox.go", `InputSchema: hideFilled(e.Tool)}`, `InputSchema: e.Tool.InputSchema}`),
	one("duplicate keys are refused", "agent/canonical.go", `if _, twice := members[name]; twice {`, `if false {`),
	one("an alias that is not known finds nothing", "agent/toolbox.go", `return Entry{}, &ToolError{Code: ToolUnmapped,`, `for _, e := range t.entries {
		if e.Name.Tool() == alias {
			return e, nil
		}
	}
	return Entry{}, &ToolError{Code: ToolUnmapped,`),
	one("a tool that is gone is not looked for elsewhere", "agent/toolbox.go", `return Entry{}, &ToolError{Code: ToolGone,`, `for _, e := range t.entries {
		if e.Name.Tool() == name.Tool() {
			return e, nil
		}
	}
	return Entry{}, &ToolError{Code: ToolGone,`),
	one("two calls with one id are both refused", "agent/propose.go", "if twice {", "if false {"),
	one("an id that was used is not used again", "agent/propose.go", `if used || !legalWireID`, `if !legalWireID`),
	one("at most so many calls of a reply are taken", "agent/propose.go", `if i == maxBatch {`, `if false {`),

	// At most once.
	{"a call is marked before it is sent", []edit{
		{"agent/dispatch.go", "sent = *c\n", "sent = *c\n\t\tc.State = CallApproved\n"},
		{"agent/dispatch.go", `if c.State == CallApproved && c.Free() && c.ReadOnly {`, `if c.State == CallApproved {`},
	}},
	one("a write without a key is not asked again by itself", "agent/dispatch.go", `if lost(failure) && c.Keyed &&`, `if lost(failure) &&`),
	one("a write without a key is not asked again after a start", "agent/recover.go", `if c.State != CallUnknown || !c.Keyed {`, `if c.State != CallUnknown {`),
	one("a write without a key is sent again only after its deadline", "agent/settle.go", `if !c.Keyed && time.Now().Before(c.Deadline) {`, `if false {`),
	{"a call is sent again with its own key", []edit{
		{"agent/dispatch.go", `Arguments: c.Arguments, Call: c.ID, Approval: c.Approval, User: c.By,`,
			"Arguments: []byte(strings.ReplaceAll(string(c.Arguments), c.Key, fmt.Sprint(c.Key, c.Attempt))), Call: c.ID, Approval: c.Approval, User: c.By,"},
		{"agent/dispatch.go", "\t\"fmt\"\n", "\t\"fmt\"\n\t\"strings\"\n"},
	}},
	one("what was tried with another tool is not asked again", "agent/settle.go", `if !person && (entry.Definition != c.Definition || entry.Identity != c.ServerIdentity) {`, `if _ = entry; false {`),
	one("no word of an earlier send is taken from a later one", "agent/dispatch.go", `case c.Lost != "" && !c.ReadOnly:`, `case false:`),
	one("a result is stored once", "agent/dispatch.go", `if c.Attempt != sent.Attempt || c.State`, `if c.State`),
	one("starting sends nothing that was approved", "agent/recover.go", `if c.State != CallUnknown || !c.Keyed {`, `if c.State != CallUnknown && !c.Held() || !c.Keyed {`),

	// Whose turn it is.
	one("a turn is driven by its owner only", "agent/run.go", `if open == nil || open.Owner != e.owner {`, `if open == nil {`),
	one("a reply is kept by the owner only", "agent/run.go", `if head.Open == nil || head.Open.Turn != s.Turn.ID || head.Open.Owner != e.owner {`,
		`if head.Open == nil || head.Open.Turn != s.Turn.ID {`),
	one("nothing of an aborted turn is kept", "agent/run.go", `if head.Open == nil || head.Open.Turn != s.Turn.ID || head.Open.Owner != e.owner {`,
		`if head.Open == nil || head.Open.Owner != e.owner {`),
	one("a call of an ended turn does not move the open one", "agent/turn.go", `if o == nil || o.Turn != c.Turn {`, `if o == nil {`),
	one("aborting stops what is out", "agent/settle.go", "\te.stop(turn)\n", "\t_ = e.stop\n"),
	one("aborting closes the cards", "agent/settle.go", `if a.State == ApprovalOpen {`, `if false {`),
	one("the work of living owners is not marked", "agent/recover.go", `return o != "" && o != e.owner && (alive == nil || !alive(o))`, `return o != "" && o != e.owner`),
	one("the model hears a batch when all of it has settled", "agent/turn.go", "default:\n\t\t\tstate = TurnPaused", "default:\n\t\t\tstate = TurnThinking"),
	one("a turn has a cap of steps", "agent/run.go", `if s.Head.Open.Steps >= e.maxSteps {`, `if false {`),
	one("a line behind an aborted turn is not sent by itself", "agent/turn.go", `if q.Behind != "" && q.Behind != ended {`, `if false {`),
	one("what waits is not pruned", "agent/retention.go", `if h.Open != nil || kept[h.Conversation] {`, `if _ = kept; h.Open != nil {`),
}
