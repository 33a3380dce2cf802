package offline

import (
	"regexp"
	"strings"

	"deskhand/agent"
)

// maxNote is how long a note may be, in characters; the tool takes no more.
const maxNote = 2000

// runNote writes a note on a job, in the dispatcher's own words.
func runNote(t *turn, r *request) answer {
	text := strings.TrimSpace(r.clause.note)
	if r.note != "" {
		text = r.note
	}
	if r.job == "" && r.site != "" {
		if _, a := t.jobsAt(r); a != nil {
			return *a
		}
	}
	switch {
	case r.job == "":
		return answer{text: "A note on which job? Nothing was written down.", ask: &question{request: r, slot: slotJob}}
	case text == "":
		return say("What shall the note on "+r.job+" say? Write it behind a colon, like this:", "  note on "+r.job+": bring a ladder", "Nothing was written down.")
	case len([]rune(text)) > maxNote:
		return say("A note holds at most 2000 characters. Nothing was written down.")
	}
	call := args{"work_order_id": r.job, "text": text, "visibility": "internal"}
	who := ""
	if r.has("customer note", "for the customer", "visible to the customer", "to the customer", "to customer", "for customer", "customer-visible", "customer visible", "the customer can see") {
		call["visibility"], who = "customer", ", which the customer will see"
	}
	got, done := t.write(toolNote, call, "a note on "+r.job)
	if !done {
		return waits
	}
	switch got.state {
	case agent.CallDone:
		t.memory.lastDone = true
		return say("Noted on " + r.job + who + ": " + quoted(text, 300))
	case agent.CallDenied, agent.CallExpired, agent.CallCancelled:
		return say("The note on " + r.job + " was not written. " + withNothing(got, "Nothing was changed."))
	case agent.CallUnknown:
		return say("Nobody knows whether the note on "+r.job+" was written.", got.why())
	}
	if got.fault.Code == "work_order_not_found" {
		return say(t.trouble(got, r.job), "Nothing was written down.")
	}
	return say(withNothing(got, "Nothing was written down."))
}

var (
	// noteHead is how a note begins, with what leads to it.
	noteHead = regexp.MustCompile(`(?i)^\s*(?:(?:please|pls|can you|could you|and|then|also)\s+)*(?:(?:add|leave|put|write|make|drop|log|record)\s+)?(?:(?:a|an|the|another)\s+)?(?:(?:internal|customer|quick|short)[\s-]+)?note\b|^\s*(?:(?:please|pls)\s+)?(?:write|jot)\s+down\b`)
	// noteInside is a note behind another request of the line.
	noteInside = regexp.MustCompile(`(?i)(?:[.,;]|\band\b|\bthen\b)\s*(?:(?:and|then|also)\s+)*(?:(?:add|leave|put|write|make|log|record)\s+(?:a|an|the)\s+)(?:(?:internal|customer|quick|short)[\s-]+)?note\b`)
	// jobNote is a note behind the number of its job.
	jobNote = regexp.MustCompile(`(?is)^\s*((?:wo[-\s]?)?\d{4,6})\s*[:,-]?\s*(?:(?:please|pls)\s+)?(?:add\s+)?(?:a\s+)?note\b\s*:?\s*(?:that\s+)?(\S.*)$`)
	// noteBody is what stands between the head of a note and its text.
	noteBody = regexp.MustCompile(`(?i)\s*(?::|\b(?:saying|that says|says|to say|reading)\b:?|\bthat\b)\s*`)
	// afterNote begins another request behind a note.
	afterNote = regexp.MustCompile(`(?i)[.;!?]\s+(?:(?:and\s+)?(?:then|also|after that)\s+|and\s+(?:please\s+)?(book|schedule|move|push|cancel|order)\s+|(status)\s+(?:of\s+)?(?:wo[-\s]?)?\d{4})`)
	// jobInHead is a job's number, behind which a note's text may begin without
	// a colon.
	jobInHead = regexp.MustCompile(`(?i)\b(?:wo[-\s]?)?\d{4,6}\b[,.\s-]*`)
)

// cutNote takes a note out of a line: what stands before it, its head (which
// names the job), its text word for word, and what comes behind.
func cutNote(line string) (before, head, text, rest string, ok bool) {
	if m := jobNote.FindStringSubmatch(line); m != nil {
		line = "note on " + m[1] + ": " + m[2] // "1041: please note the cover is loose"
	}
	start := 0
	if noteHead.FindStringIndex(line) == nil {
		at := noteInside.FindStringIndex(line)
		if at == nil {
			return line, "", "", "", false
		}
		start = at[0]
	}
	before, head = line[:start], strings.TrimLeft(line[start:], " .,;")
	body := ""
	if at := noteBody.FindStringIndex(head); at != nil {
		head, body = head[:at[0]], head[at[1]:]
	} else if at := jobInHead.FindStringIndex(head); at != nil {
		head, body = head[:at[1]], head[at[1]:]
	} else if at := afterNote.FindStringIndex(head); at != nil {
		head, rest = head[:at[0]], head[at[0]+1:]
	}
	if at := afterNote.FindStringIndex(body); at != nil {
		body, rest = body[:at[0]+1], body[at[0]+1:]
	}
	return before, head, strings.TrimSpace(strings.Trim(strings.TrimSpace(body), `"“”`)), rest, true
}
