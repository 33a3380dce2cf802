package agent_test

import (
	"strings"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// sweepScript is one story that the crash sweep tells: what the dispatcher and
// the model say, what the person decides, and how the server misbehaves. Model
// and person look only at what lies in the store, so that a new process goes on
// where a killed one stopped.
type sweepScript struct {
	name string
	// lines are the dispatcher's; one that begins with "+" is queued.
	lines []string
	// replies are the model's to each line, step by step.
	replies [][]agent.ModelReply
	// decide says what the person does about a card of a tool.
	decide map[string]string
	// lose and refuse are those of the server.
	lose, refuse map[string]int
	expiresAfter string
}

// What a person does about a card.
const (
	doApprove = "approve"
	doDeny    = "deny"
	doEdit    = "edit, then approve"
	doAbort   = "abort"
	doExpire  = "let it expire"
	doDearer  = "approve after the price went up"
)

// lastLine ends every script: the conversation must be usable.
const lastLine = "anything else?"

func tool(alias, arguments string) agent.ModelCall {
	return agenttest.Tool(alias, arguments)
}

var (
	lookUp    = tool("look_up", `{"work_order_id":"WO-1044"}`)
	lookOther = tool("look_up", `{"work_order_id":"WO-1045"}`)
	bookVisit = tool("book", `{"work_order_id":"WO-1044"}`)
	addNote   = tool("note", `{"work_order_id":"WO-1044","text":"called"}`)
	callOut   = tool("call_out", `{"work_order_id":"WO-1044"}`)
	orderTwo  = tool("order", `{"work_order_id":"WO-1044","sku":"P-2","quantity":1}`)
)

// story is a script of one line.
func story(name string, decide map[string]string, replies ...agent.ModelReply) sweepScript {
	return sweepScript{name: name, lines: []string{orderLine}, decide: decide, replies: [][]agent.ModelReply{replies}}
}

func decideAll(what string) map[string]string {
	return map[string]string{"order": what, "call_out": what}
}

func sweepScripts() []sweepScript {
	call, say := agenttest.Call, agenttest.Say
	lost := story("an answer that is lost", decideAll(doApprove), call(callOut), call(orderCall), say("Done."))
	lost.lose = map[string]int{"call_out": 1, "order": 1}
	refused := story("a connection that is refused", decideAll(doApprove), call(orderCall), call(callOut), say("Done."))
	refused.refuse = map[string]int{"order": 1, "call_out": 1}
	expired := story("a card that expires", decideAll(doExpire), call(orderCall), say("Nobody decided."))
	expired.expiresAfter = "8h"
	return []sweepScript{
		story("reads together", nil, call(lookUp, lookOther), say("It waits for parts.")),
		story("a free write with a key", nil, call(bookVisit), say("Booked.")),
		story("a free write without a key", nil, call(addNote), say("Noted.")),
		story("a gated call with a key", decideAll(doApprove), call(lookUp), call(orderCall), say("Ordered.")),
		story("a gated call without a key", decideAll(doApprove), call(callOut), say("The van is on its way.")),
		story("calls of all kinds at once", map[string]string{"order": doApprove, "call_out": doDeny},
			call(callOut, lookUp, bookVisit, orderCall, addNote, orderTwo), say("Done.")),
		story("an edited call", decideAll(doEdit), call(orderCall), say("Two ordered.")),
		story("a denied call that comes back", decideAll(doDeny), call(orderCall), call(orderCall), say("Not ordered.")),
		{name: "an aborted turn", lines: []string{orderLine, "status 1044"}, decide: decideAll(doAbort),
			replies: [][]agent.ModelReply{{call(bookVisit, orderCall, callOut)}, {call(lookUp), say("It waits.")}}},
		{name: "a queued line", lines: []string{orderLine, "+book a visit for WO-1044"}, decide: decideAll(doApprove),
			replies: [][]agent.ModelReply{{call(orderCall), say("Ordered.")}, {call(bookVisit), say("Booked.")}}},
		story("dearer terms", decideAll(doDearer), call(orderCall), say("Ordered.")),
		lost, refused, expired,
	}
}

// reply is the script's model: its answer follows from the request alone.
func (s sweepScript) reply(r agent.ModelRequest) agent.ModelReply {
	line, step := -1, 0
	for _, m := range r.Messages {
		switch m.Role {
		case agent.RoleUser:
			line, step = line+1, 0
		case agent.RoleAssistant:
			step++
		}
	}
	if line < len(s.replies) && step < len(s.replies[line]) {
		return s.replies[line][step]
	}
	return agenttest.Say("All right.")
}

// line gives the n-th line and whether it is queued; ok is false behind the
// last.
func (s sweepScript) line(n int) (text string, queue, ok bool) {
	all := append(append([]string(nil), s.lines...), lastLine)
	if n >= len(all) {
		return "", false, false
	}
	text, queue = strings.CutPrefix(all[n], "+")
	return text, queue, true
}
