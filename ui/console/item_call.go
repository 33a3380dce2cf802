package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deskhand/agent"

	"github.com/charmbracelet/x/ansi"
)

// callItem is a call that needed nobody, as one line: state, tool, in short. It
// begins where text from outside never begins.
type callItem struct {
	call agent.Call
	// lead puts an empty line before it.
	lead bool
	// progress is what it says of itself while it runs.
	progress agent.Progress
}

func (i callItem) lines(c canvas) []string {
	line := i.state(c.styles) + " " + callName(i.call) + " " + paint(c.styles.faint, callSummary(i.call))
	out := []string{fit(line, c.width)}
	if i.lead {
		out = []string{"", out[0]}
	}
	if p := progressLine(i.progress, c.width-len(indent)); p != "" && !i.call.State.Settled() {
		out = append(out, indent+p)
	}
	return out
}

// state is the call's state in a word. Nobody approved such a call, so it does
// not say so.
func (i callItem) state(s *styles) string {
	switch {
	case i.call.State != agent.CallApproved || i.call.Approval != "":
		return stateWord(s, i.call.State)
	case i.progress != agent.Progress{}:
		return stateWord(s, agent.CallRunning)
	}
	return paint(s.faint, "[to run]")
}

// stateWord is the call's state as a word that needs no colour to be read.
func stateWord(s *styles, state agent.CallState) string {
	ink := s.faint
	switch state {
	case agent.CallDone:
		ink = s.good
	case agent.CallFailed, agent.CallUnknown, agent.CallRefused:
		ink = s.danger
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		ink = s.warn
	}
	return paint(ink, "["+string(state)+"]")
}

func callName(c agent.Call) string {
	if c.Tool != "" {
		return safeLine(string(c.Tool), evidence)
	}
	return safeLine(c.Alias, evidence)
}

// callSummary says in short what a call was about, or why it came to nothing.
func callSummary(c agent.Call) string {
	switch c.State {
	case agent.CallFailed, agent.CallRefused:
		return safeLine(c.Result.Text(), prose)
	}
	arguments := c.Requested
	if len(arguments) == 0 {
		arguments = c.Proposed
	}
	var ids, values, others []string
	for _, m := range members(arguments) {
		text, isText := strings.CutPrefix(m.value, `"`)
		text = strings.TrimSuffix(text, `"`)
		switch {
		case m.value == "true" || m.value == "false" || paging[m.name]:
			// How it was asked, not what about.
		case !isText:
			others = append(others, m.name+" "+m.value)
		case strings.HasSuffix(m.name, "_id"):
			ids = append(ids, text)
		default:
			values = append(values, shortTime(text))
		}
	}
	return strings.Join(slices.Concat(ids, values, others), " · ")
}

// paging are arguments that say how much of a list is wanted.
var paging = map[string]bool{"limit": true, "page_size": true, "cursor": true}

// shortTime writes a time as people say it; other text stays as it is.
func shortTime(text string) string {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.Format("Mon 2 Jan 15:04")
	}
	return text
}

// settledItem is a call that had a card and needs nobody any more. It has no
// frame.
type settledItem struct {
	call     agent.Call
	approval agent.Approval
	// busy says what this console is doing about it.
	busy string
	// progress is what it says of itself while it runs.
	progress agent.Progress
}

func (i settledItem) lines(c canvas) []string {
	k := card{call: i.call, approval: i.approval}
	head := stateWord(c.styles, i.call.State) + " " + i.call.Name() + " " + k.what()
	out := append([]string{""}, hanging(head, c.width)...)
	for _, line := range i.history(c) {
		out = append(out, hanging(indent+line, c.width)...)
	}
	return out
}

// what says in a few words what the card was about.
func (k card) what() string {
	q, args, ok := readQuote(k.approval)
	if _, v, moved, isVisit := readVisit(k.approval); isVisit {
		what := safeLine(v.ID+" of "+v.Job+" "+v.Title, evidence) + ", " + spanOf(v.Start.text(), v.End.text())
		if k.approval.Kind == "move_visit" {
			start, end, _ := moved.times()
			return "move " + what + " → " + spanOf(start.Format("Mon 2 Jan 15:04"), end.Format("Mon 2 Jan 15:04"))
		}
		return "cancel " + what
	}
	if !ok {
		name := callName(k.call)
		if summary := callSummary(k.call); k.call.State != agent.CallRefused && summary != "" {
			name += " " + summary
		}
		return name
	}
	return fmt.Sprintf("%d × ", q.Line.Quantity) + safeLine(q.Part.Name+" ("+q.Part.SKU+")", evidence) + ", " +
		safeLine(q.Line.Total.String(), evidence) + ", for " + safeLine(args.WorkOrder, evidence)
}

// history says who decided, and what came of it.
func (i settledItem) history(c canvas) []string {
	var out []string
	a := i.approval
	if a.Supersedes != "" {
		out = append(out, "took the place of "+string(a.Supersedes))
	}
	if d := a.Decision; d != nil {
		verb := "denied"
		if d.Approved {
			verb = "approved"
		}
		line := verb + " by " + safeLine(d.By.DisplayName(), evidence) + " at " + c.clock.at(d.At)
		if d.Note != "" {
			line += `: "` + safeLine(d.Note, evidence) + `"`
		}
		out = append(out, line)
	} else if a.Closed != "" {
		out = append(out, "closed without a decision: "+safeLine(a.Closed, evidence))
	}
	switch i.call.State {
	case agent.CallRunning:
		out = append(out, "sent; the answer is on its way")
		if p := progressLine(i.progress, c.width-2*len(indent)); p != "" {
			out = append(out, p)
		}
	case agent.CallDone, agent.CallFailed:
		if s := i.call.Settlement; s != nil {
			out = append(out, "settled by a person at "+c.clock.at(s.At))
			break
		}
		if text := safeLine(i.call.Result.Text(), prose); text != "" {
			out = append(out, "the server says: "+ansi.Truncate(text, 160, "…"))
		}
	case agent.CallRefused:
		if a.Closed == "" {
			out = append(out, safeLine(i.call.Result.Text(), prose))
		}
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		out = append(out, "nothing was sent")
	}
	if i.busy != "" {
		out = append(out, i.busy)
	}
	return out
}

// hanging wraps a line and indents what follows its first row.
func hanging(line string, width int) []string {
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))] + indent
	lines := wrap(strings.TrimLeft(line, " "), width-len(lead))
	for i := range lines {
		if i == 0 {
			lines[i] = lead[len(indent):] + lines[i]
			continue
		}
		lines[i] = lead + lines[i]
	}
	return lines
}
