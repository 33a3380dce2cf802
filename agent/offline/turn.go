package offline

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskhand/agent"
)

const (
	// maxSteps bounds the rounds of calls for one line; no flow needs more
	// than five.
	maxSteps = 10
	// maxCalls is what an engine takes of one reply.
	maxCalls = 16
)

// args are a call's arguments; encoding sorts the keys, so that equal calls
// have equal bytes.
type args map[string]any

// answer is what a flow came to. While its calls are out it is empty, and
// waiting is set.
type answer struct {
	text    string
	ask     *question
	waiting bool
}

func say(parts ...string) answer { return answer{text: strings.Trim(lines(parts...), "\n")} }

// waits is the answer of a flow whose calls are not back yet.
var waits = answer{waiting: true}

// turn answers one line. A flow runs from its beginning for every request: calls
// whose results are in the messages give these at once, the first that is not
// there ends the run. So a flow reads like a program that waits, and keeps
// nothing in between.
type turn struct {
	table    table
	tools    toolset
	now      time.Time
	memory   *memory
	line     string
	outcomes []outcome
	used     []bool
	wants    []want
	// past is set for a line that was answered before.
	past bool
}

type want struct {
	tool  string
	alias string
	args  json.RawMessage
	// note says in a few words what a write is for.
	note string
}

// call gives the result of a call, or notes that it has to be made.
func (t *turn) call(tool string, a args) (outcome, bool) { return t.write(tool, a, "") }

// write is call for what changes something; note says what.
func (t *turn) write(tool string, a args, note string) (outcome, bool) {
	alias, offered := t.tools.alias(tool)
	if i := t.recorded(tool, a); i >= 0 {
		t.used[i] = true
		t.memory.observe(t.outcomes[i])
		return t.outcomes[i], true
	}
	if !offered {
		return outcome{
			tool: tool, args: a, state: agent.CallRefused,
			fault: fault{Code: codeNoTool, Message: "This desk has no tool " + tool + ", which is needed for that."},
		}, true
	}
	raw, err := json.Marshal(a)
	if err != nil {
		raw = []byte("{}") // impossible: arguments are strings, numbers and lists
	}
	t.wants = append(t.wants, want{tool: tool, alias: alias, args: raw, note: note})
	return outcome{}, false
}

// codeNoTool is the code of a call to a tool that the request does not offer.
const codeNoTool = "no_such_tool"

// recorded finds the result of a call among those of the line: of the same
// arguments, or of the next call of that tool where a person edited a write or
// the line is an old one, whose times could now be read differently.
func (t *turn) recorded(tool string, a args) int {
	same, again, next := -1, -1, -1
	wanted := canonical(a)
	for i, o := range t.outcomes {
		switch equal := o.tool == tool && canonical(o.args) == wanted; {
		case o.tool != tool:
		case t.used[i] && equal:
			again = i // two requests of a line read the same thing once
		case t.used[i]:
		case equal && same < 0:
			same = i
		case next < 0:
			next = i
		}
	}
	switch writing := slices.Contains(writes, tool); {
	case same >= 0:
		return same
	case again >= 0 && !writing:
		return again
	case t.past || writing:
		return next
	}
	return -1
}

func canonical(a map[string]any) string {
	raw, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(raw)
}

// run answers the line as far as the results go.
func (t *turn) run() answer {
	pending := t.memory.pending
	t.memory.pending = nil
	t.memory.nextLine()
	if len(t.line) > maxLine {
		return say("That is more text than I read in one line. Please say in a sentence what to do.")
	}
	before := t.memory.people
	clauses := t.table.readLine(t.line, t.now, before)
	if people, known := t.peopleOf(clauses); !known {
		return waits
	} else if before == nil && people != nil {
		clauses = t.table.readLine(t.line, t.now, people)
	}
	if pending != nil {
		got := pending.react(t.table, clauses)
		switch {
		case got.request != nil:
			return t.do([]*request{got.request})
		case got.again:
			return answer{text: lines("Which one do you mean?", pending.numbered()), ask: pending}
		case !got.other:
			return say(got.say)
		}
	}
	requests, unread := t.requests(clauses)
	if len(requests) == 0 {
		return t.notUnderstood(clauses)
	}
	a := t.do(requests)
	for _, c := range unread {
		a.text += "\n\nI did not understand “" + clean(c.text(), 80) + "”."
	}
	return a
}

// requests makes requests of the clauses, and gives those that nothing fits.
func (t *turn) requests(clauses []*clause) (out []*request, unread []*clause) {
	job, many := "", false
	var previous *clause
	for _, c := range clauses {
		if previous != nil {
			c.goesOn(previous)
		}
		previous = c
		if c.intent == nil || c.corrects || c.shaped {
			if next := t.memory.follows(c); next != nil {
				out = append(out, next)
				continue
			}
		}
		if c.intent == nil {
			if look := t.looks(c); look != nil {
				out = append(out, look)
			} else {
				unread = append(unread, c)
			}
			continue
		}
		c.unsure = many && len(c.ids.jobs) == 0 && c.intent.write != "" // of which of the jobs just named?
		if len(c.ids.jobs) == 0 && job != "" && !c.unsure && len(c.site) == 0 && c.intent.context {
			c.ids.jobs = []string{job} // "... for 1044 and book lukasz friday"
		}
		if len(c.ids.jobs) > 0 {
			job, many = c.ids.jobs[0], len(c.ids.jobs) > 1
		}
		out = append(out, newRequests(c, t.memory)...)
	}
	return out, unread
}

// goesOn completes a clause from the one before it: "book mairead for 1041 9-10
// and 1058 11-12", "1047 needs a probe, order one".
func (c *clause) goesOn(previous *clause) {
	if previous.intent == nil || c.intent == nil {
		return
	}
	switch before := previous.intent; {
	case (before.name == "book" || before.name == "move") && c.shaped && len(c.ids.jobs) == 1 && c.when.clockKnown() && c.plain():
		c.intent, c.terse, c.shaped = before, previous.terse, false
		if len(c.people) == 0 {
			c.people = previous.people
		}
		if !c.when.dayKnown() && len(c.when.days) == 0 {
			c.when = mergeWhen(previous.when, c.when)
		}
	case previous.shaped && before.name == "status" && len(previous.ids.jobs) == 1 && c.intent.name == "order" && len(c.rest)+len(c.site)+len(c.measures)+len(c.ids.skus)+len(c.ids.jobs) == 0:
		c.rest, c.measures, c.ids.skus = without(previous.rest, "needs", "need", "requires"), previous.measures, previous.ids.skus
	}
}

// do runs the requests together, so that their calls go out in one reply.
func (t *turn) do(requests []*request) answer {
	var out answer
	var texts []string
	for _, r := range requests {
		a := t.perform(r)
		if a.waiting {
			out.waiting = true
			continue
		}
		if a.ask != nil && out.ask != nil {
			a.text += "\n(Please answer the first question first, then say this again.)"
		} else if a.ask != nil {
			out.ask = a.ask
		}
		if !slices.Contains(texts, a.text) {
			texts = append(texts, a.text)
		}
	}
	t.memory.pending = out.ask
	out.text = strings.Join(texts, "\n\n")
	return out
}

// perform runs one request. A line that says not to do something does nothing.
func (t *turn) perform(r *request) answer {
	switch {
	case r.intent.write != "" && r.clause.negated() && !(r.intent.name == "move" && r.clause.insteadOnly()):
		return say("I read that as not to do it. Nothing was " + r.intent.write + ".")
	case r.intent.write != "" && r.clause.conditional():
		return say("I cannot do that on a condition; please say it again without one, when it is met. Nothing was " + r.intent.write + ".")
	}
	if a := r.mixesUp(); a != nil {
		return *a
	}
	if r.job != "" {
		t.memory.setJob(r.job)
	}
	if r.intent.name != "same" && r.intent.name != "change" {
		t.memory.last, t.memory.lastDone = r, false
	}
	a := r.intent.run(t, r)
	if !a.waiting {
		if r.job != "" && len(t.memory.list) < 2 {
			t.memory.setJob(r.job)
		}
	}
	return a
}

// mixesUp answers a write that names more than it can be about: which belongs to
// which would be a guess.
func (r *request) mixesUp() *answer {
	c := r.clause
	nothing := " Please say one at a time. Nothing was " + r.intent.write + "."
	var a answer
	switch name := r.intent.name; {
	case c == nil || name != "book" && name != "move" || r.filled || r.sure:
		return nil
	case len(c.ids.jobs) > 1 && (name == "book" || c.when.clockKnown()):
		a = say("There is more than one job in that: " + joined(c.ids.jobs, "and") + "." + nothing)
	case name == "book" && c.when.several:
		a = say("There is more than one time in that." + nothing)
	case name == "book" && len(c.people) > 1:
		a = say("There is more than one person in that." + nothing)
	default:
		return nil
	}
	return &a
}

// asked says what the writes of a reply are for, where there are several: one of
// them may wait for a decision while another already happened.
func (t *turn) asked() string {
	var notes []string
	for _, w := range t.wants {
		if !slices.Contains(writes, w.tool) {
			return ""
		}
		notes = append(notes, w.note)
	}
	if len(notes) < 2 {
		return ""
	}
	return "Asked for: " + strings.Join(notes, "; ") + "."
}

// calls are those to be made now. Writes wait until no request of the line
// reads any more, so that they go out together.
func (t *turn) calls(firstID int) []agent.ModelCall {
	reads := slices.DeleteFunc(slices.Clone(t.wants), func(w want) bool { return slices.Contains(writes, w.tool) })
	if len(reads) == 0 {
		reads = t.wants
	}
	var out []agent.ModelCall
	seen := map[string]bool{}
	for _, w := range reads {
		if key := w.alias + string(w.args); !seen[key] && len(out) < maxCalls {
			seen[key] = true
			out = append(out, agent.ModelCall{ID: "call-" + strconv.Itoa(firstID+len(out)), Name: w.alias, Arguments: w.args})
		}
	}
	return out
}
