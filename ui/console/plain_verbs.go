package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deskhand/agent"
)

// plainVerbs are the commands of a person at a plain terminal.
var plainVerbs = map[string]func(*plain, context.Context, []string) error{
	"help":      (*plain).help,
	"quit":      func(*plain, context.Context, []string) error { return errQuit },
	"exit":      func(*plain, context.Context, []string) error { return errQuit },
	"new":       (*plain).fresh,
	"approvals": func(p *plain, ctx context.Context, _ []string) error { p.approvals(ctx); return nil },
	"approve":   (*plain).approve,
	"deny":      (*plain).deny,
	"retry":     (*plain).retry,
	"settle":    (*plain).settle,
	"abort":     (*plain).abort,
	"continue":  (*plain).goOn,
}

func (p *plain) help(context.Context, []string) error {
	p.line("approve A-17 84.90: approve a card; the total has to match")
	p.line("deny A-17 REASON: decline a card; the reason may be left out")
	p.line("retry A-17: fetch what a card lacks, or send what was approved and not sent")
	p.line("settle A-17 happened, did-not-happen or resend: say what a call with unknown outcome did")
	p.line("/approvals: everything that waits. /new: a new conversation. /continue, /abort: a request that stopped. /quit: leave")
	p.line("Any other line is a message.")
	return nil
}

func (p *plain) fresh(context.Context, []string) error {
	p.id = p.o.Engine.NewConversation()
	p.line("A new conversation.")
	return nil
}

// approvals prints everything that waits, as cards.
func (p *plain) approvals(ctx context.Context) {
	waiting, err := p.o.Engine.Waiting(ctx)
	if err != nil {
		p.line(sentence(err))
		return
	}
	if len(waiting) == 0 {
		p.line("Nothing waits for a decision.")
	}
	for _, w := range waiting {
		if c, a, err := p.find(ctx, w.ApprovalID, w.CallID); err == nil {
			p.card(c, a)
		}
	}
}

// find reads a call with its approval.
func (p *plain) find(ctx context.Context, id agent.ApprovalID, call agent.CallID) (agent.Call, agent.Approval, error) {
	var a agent.Approval
	if id != "" {
		approvals, err := p.o.Engine.Store().Approvals(ctx, []agent.ApprovalID{id})
		if err != nil {
			return agent.Call{}, a, err
		}
		if len(approvals) == 0 {
			return agent.Call{}, a, fmt.Errorf("there is no approval %s", id)
		}
		a, call = approvals[0], approvals[0].Call
	}
	calls, err := p.o.Engine.Store().Calls(ctx, []agent.CallID{call})
	if err != nil {
		return agent.Call{}, a, err
	}
	if len(calls) == 0 {
		return agent.Call{}, a, fmt.Errorf("there is no call %s", call)
	}
	return calls[0], a, nil
}

// named finds the card that a line names. Only a card that was printed as it
// stands now can be decided; any other is printed instead.
func (p *plain) named(ctx context.Context, words []string) (card, bool) {
	if len(words) < 2 {
		p.line("Name the card: " + words[0] + " A-17")
		return card{}, false
	}
	c, a, err := p.find(ctx, agent.ApprovalID(words[1]), "")
	if err != nil {
		p.line(full(err.Error()))
		return card{}, false
	}
	k := card{call: c, approval: a, user: p.o.User()}
	switch {
	case c.Approval != a.ID:
		p.line(string(a.ID) + " was replaced by " + string(a.SupersededBy) + ".")
		return card{}, false
	case k.stands() == standsOver:
		p.settled(c, a)
		p.line("Nothing waits there any more.")
		return card{}, false
	case p.shown[a.ID] != a.Digest+string(c.State):
		p.card(c, a)
		p.line("Read it, and type the line again.")
		return card{}, false
	}
	return k, true
}

func (p *plain) approve(ctx context.Context, words []string) error {
	k, ok := p.named(ctx, words)
	if !ok {
		return nil
	}
	accepted := k.typed()
	if len(accepted) > 0 && !slices.Contains(accepted, strings.Join(words[2:], " ")) && k.stands() == standsWaiting {
		p.line("Nothing was decided. What has to be typed is: approve " + words[1] + " " + accepted[0])
		return nil
	}
	return p.after(ctx, k, func() (agent.Report, error) {
		return p.o.Engine.Approve(ctx, agent.DecideRequest{Approval: k.approval.ID, Digest: k.approval.Digest})
	})
}

func (p *plain) deny(ctx context.Context, words []string) error {
	k, ok := p.named(ctx, words)
	if !ok {
		return nil
	}
	return p.after(ctx, k, func() (agent.Report, error) {
		return p.o.Engine.Deny(ctx, agent.DecideRequest{Approval: k.approval.ID, Digest: k.approval.Digest, Note: strings.Join(words[2:], " ")})
	})
}

func (p *plain) retry(ctx context.Context, words []string) error {
	k, ok := p.named(ctx, words)
	if !ok {
		return nil
	}
	return p.after(ctx, k, func() (agent.Report, error) { return p.o.Engine.Retry(ctx, k.approval.ID) })
}

func (p *plain) settle(ctx context.Context, words []string) error {
	k, ok := p.named(ctx, words)
	if !ok {
		return nil
	}
	if len(words) < 3 {
		p.line("Say what it did: settle " + words[1] + " happened, did-not-happen or resend")
		return nil
	}
	return p.after(ctx, k, func() (agent.Report, error) {
		return p.o.Engine.Settle(ctx, agent.SettleRequest{
			Approval: k.approval.ID, As: agent.SettleAs(words[2]), Note: strings.Join(words[3:], " "),
		})
	})
}

// after runs a verb on a card, and prints what became of it.
func (p *plain) after(ctx context.Context, k card, verb func() (agent.Report, error)) error {
	p.begin(ctx, k.call.Conversation)
	report, err := verb()
	if c, a, findErr := p.find(ctx, k.call.Approval, k.call.ID); findErr == nil && standingOf(c, a) == standsOver {
		p.settled(c, a)
	}
	return p.conclude(ctx, k.call.Conversation, report, err)
}

func (p *plain) abort(ctx context.Context, _ []string) error {
	report, err := p.o.Engine.Abort(ctx, p.id)
	if err == nil {
		p.line("This request was stopped.")
	}
	return p.conclude(ctx, p.id, report, err)
}

func (p *plain) goOn(ctx context.Context, _ []string) error {
	report, err := p.o.Engine.Continue(ctx, p.id)
	return p.conclude(ctx, p.id, report, err)
}
