package console

import (
	"strings"

	"deskhand/agent"
)

// entry prints a message with its calls.
func (p *plain) entry(e agent.TranscriptEntry) {
	if e.Message.Role == agent.RoleAssistant && e.Message.Text != "" {
		p.line("Assistant:")
		for line := range strings.SplitSeq(safe(PlainText(strings.TrimRight(e.Message.Text, "\n ")), prose), "\n") {
			p.line(indent + line)
		}
	}
	for _, c := range e.Calls {
		a, asked := e.Approvals[c.Approval]
		switch {
		case standingOf(c, a) != standsOver:
			p.card(c, a)
		case asked:
			p.settled(c, a)
		default:
			p.line(stateWord(&styles{}, c.State) + " " + callName(c) + " " + callSummary(c))
		}
	}
	for _, text := range lostCalls(e) {
		p.line(text)
	}
	if e.Turn != nil && e.Turn.Ledger != "" {
		p.line("On record: " + safeLine(e.Turn.Ledger, evidence))
	}
}

// settled prints a call that had a card.
func (p *plain) settled(c agent.Call, a agent.Approval) {
	for _, line := range (settledItem{call: c, approval: a}).lines(p.canvas()) {
		if line != "" {
			p.line(line)
		}
	}
}

func (p *plain) canvas() canvas {
	return canvas{width: 1 << 12, styles: &styles{}, demo: p.o.Company().Demo, clock: clockAt(p.o.Now())}
}

// card prints a card with how it is decided.
func (p *plain) card(c agent.Call, a agent.Approval) {
	k := card{call: c, approval: a, user: p.o.User()}
	canvas := p.canvas()
	b := newBox(canvas, false)
	b.bare = true
	k.body(b)
	p.line("Card " + k.tag(canvas) + ": " + k.title(canvas))
	for _, line := range b.out {
		p.line(line)
	}
	p.line("To decide: " + p.how(k) + ". Nothing is sent before that.")
	if a.ID != "" {
		p.shown[a.ID] = a.Digest + string(c.State)
	}
}

// how names the lines that decide a card.
func (p *plain) how(k card) string {
	lead := "deskhand "
	if p.o.Interactive {
		lead = ""
	}
	id := k.call.Name()
	no := lead + "deny " + id + " REASON"
	if !p.o.Interactive {
		no = lead + "deny " + id + " --reason TEXT"
	}
	switch k.stands() {
	case standsBlind:
		if p.o.Interactive {
			return "retry " + id + " fetches what is missing, " + no
		}
		return no
	case standsHeld:
		return lead + "approve " + id + " sends it, " + no
	case standsUnknown:
		return lead + "settle " + id + " happened, did-not-happen or resend"
	}
	if needs := k.needs(); needs != "" {
		return "it needs a " + needs + "; " + no
	}
	yes := lead + "approve " + id
	if typed := k.typed(); len(typed) > 0 && p.o.Interactive {
		yes += " " + typed[0]
	}
	return yes + ", or " + no
}

// typed is what has to be typed beside the id to approve: the id of what is
// overridden, or an order's total, in all accepted spellings. It is empty for
// other calls.
func (k card) typed() []string {
	if _, accepted := k.override(); len(accepted) > 0 {
		return accepted
	}
	q, _, ok := readQuote(k.approval)
	if !ok {
		return nil
	}
	return totals(q)
}

// totals are the spellings of an order's total: 84.90 and 84,90.
func totals(q quote) []string {
	total := amount(q.Line.Total)
	return []string{total, strings.Replace(total, ".", ",", 1)}
}
