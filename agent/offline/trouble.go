package offline

import (
	"strings"

	"deskhand/agent"
)

// trouble says why a call did not do what it was for, in its own words.
func (t *turn) trouble(o outcome, subject string) string {
	switch o.state {
	case agent.CallDenied:
		return "That was declined: " + o.why()
	case agent.CallExpired:
		return "Nobody decided in time. " + o.why()
	case agent.CallCancelled:
		return "That was cancelled. " + o.why()
	case agent.CallUnknown:
		return "Nobody knows whether that happened. " + o.why()
	}
	switch o.fault.Code {
	case "work_order_not_found":
		return lines(notFound(subject, o), nearJobs(o.fault))
	case codeNoTool, "":
		return "I could not look that up. " + o.why()
	}
	return o.why()
}

// notFound names the job that was asked for, also where the message does not.
func notFound(subject string, o outcome) string {
	if subject == "" {
		return o.why()
	}
	if why := o.why(); strings.Contains(why, subject) {
		return why
	}
	return subject + " was not found. " + o.why()
}

// nearJobs offers ids that look alike; choosing one is a new line.
func nearJobs(f fault) string {
	var out []string
	for _, c := range f.Candidates {
		if id := field(c, "work_order"); id != "" {
			out = append(out, "  "+id+" "+field(c, "title"))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return lines(append([]string{"Near ids:"}, out...)...)
}
