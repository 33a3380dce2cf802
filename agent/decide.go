package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// DecideRequest is a person's word on an approval.
type DecideRequest struct {
	Approval ApprovalID
	// Digest is that of the card as it was drawn; empty where the id alone was
	// seen (an approval never changes, so the id stands for the digest).
	Digest string
	// Note is a remark, or the reason of a denial; it is kept word for word.
	Note string
}

// Approve decides yes. It looks at the call once more, and then commits the
// decision together with the dispatch, sends the call, and drives the turn on.
//
// It fails with a [*DecidedError] if somebody was first, a [*DigestError] if
// the card showed something else, an [*UnreachableError] if the server cannot
// be asked (nothing is recorded), a [*ChangedError] if terms, tool or server
// changed (a new card waits), a [*ClosedError] if the call can no longer run, a
// [*LimitError] if the user may not approve so much, and a [*NotSentError] if
// the decision stands but the call could not be sent. An approval that was
// approved and not sent is sent again, like [Engine.Retry].
func (e *Engine) Approve(ctx context.Context, r DecideRequest) (Report, error) {
	a, c, err := e.load(ctx, r.Approval)
	if err != nil {
		return Report{}, err
	}
	if a.State == ApprovalApproved && c.Held() && c.Approval == a.ID {
		return e.resend(ctx, c)
	}
	inside, end := e.span(ctx, decisionSpan(a))
	box, sent, revived, err := e.approve(inside, r, a, c)
	end(decisionEnd(string(ApprovalApproved), err))
	if err != nil {
		return Report{}, err
	}
	return e.sendApproved(ctx, box, sent, revived)
}

// approve looks at the call once more and commits the decision with the
// dispatch.
func (e *Engine) approve(ctx context.Context, r DecideRequest, a Approval, c Call) (box *Toolbox, sent Call, revived bool, err error) {
	if err := checkOpen(a, c, r.Digest); err != nil {
		return nil, Call{}, false, err
	}
	if a.expired(e.now()) {
		return nil, Call{}, false, e.expire(ctx, a)
	}
	if a.NoPreview != "" {
		return nil, Call{}, false, &UnreachableError{Server: a.PreviewTool.Server(), Err: errors.New(a.NoPreview)}
	}
	box, err = e.recheck(ctx, a, c)
	if err != nil {
		return nil, Call{}, false, e.decidedMeanwhile(ctx, r.Approval, err)
	}
	user, now := e.userIn(ctx), e.now()
	if err := checkLimit(a, user); err != nil {
		return nil, Call{}, false, err
	}
	sent, revived, err = e.dispatch(ctx, c.ID, func(tx Tx, c *Call) ([]AuditLine, error) {
		return e.decide(tx, c, a, Decision{Approved: true, By: user, At: now, Note: r.Note})
	})
	return box, sent, revived, err
}

// decidedMeanwhile gives who decided, where somebody did while the call was
// looked at; else the error of the look.
func (e *Engine) decidedMeanwhile(ctx context.Context, id ApprovalID, err error) error {
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) {
		return err
	}
	if fresh, _, loadErr := e.load(ctx, id); loadErr == nil && fresh.State != ApprovalOpen {
		return &DecidedError{Approval: fresh}
	}
	return err
}

// sendApproved sends a call that a person approved, and drives the turn on.
func (e *Engine) sendApproved(ctx context.Context, box *Toolbox, sent Call, revived bool) (Report, error) {
	e.tell(Happening{Kind: TurnResumed, Conversation: sent.Conversation, Turn: sent.Turn})
	goOn, err := e.executeAll(ctx, box, sent, revived)
	if err == nil && goOn {
		err = e.drive(ctx, sent.Conversation, sent.Turn)
	}
	report, err := e.finish(ctx, sent.Conversation, err)
	if err != nil {
		return report, err
	}
	after, err := e.store.Calls(context.WithoutCancel(ctx), []CallID{sent.ID})
	if err == nil && len(after) == 1 && after[0].Held() {
		return report, &NotSentError{Approval: after[0].Approval, Reason: after[0].NotSent}
	}
	return report, err
}

// load reads an approval with its call.
func (e *Engine) load(ctx context.Context, id ApprovalID) (Approval, Call, error) {
	approvals, err := e.store.Approvals(ctx, []ApprovalID{id})
	if err != nil {
		return Approval{}, Call{}, fmt.Errorf("reading %s: %w", id, err)
	}
	if len(approvals) == 0 {
		return Approval{}, Call{}, e.unusable(ctx, id, "")
	}
	calls, err := e.store.Calls(ctx, []CallID{approvals[0].Call})
	if err != nil {
		return Approval{}, Call{}, fmt.Errorf("reading the call of %s: %w", id, err)
	}
	if len(calls) == 0 {
		return Approval{}, Call{}, e.unusable(ctx, id, "")
	}
	if approvals[0].State == ApprovalOpen && calls[0].Approval != id {
		// It was replaced between the two reads.
		if fresh, err := e.store.Approvals(ctx, []ApprovalID{id}); err == nil && len(fresh) == 1 {
			approvals = fresh
		}
	}
	return approvals[0], calls[0], nil
}

// unusable says why an approval, its call, or the turn of its conversation is
// not there.
func (e *Engine) unusable(ctx context.Context, id ApprovalID, in ConversationID) error {
	unusable, err := e.Unusable(ctx)
	if err != nil {
		return err
	}
	for _, u := range unusable {
		if u.Approval == id || in != "" && u.Call == "" && u.Conversation == in {
			return &UnusableError{u}
		}
	}
	return fmt.Errorf("there is no approval %s: %w", id, ErrNotFound)
}

// checkOpen makes sure that the approval can be decided, and that it is what
// was drawn. The digest is worked out anew, so that a record that was changed
// on disk decides nothing.
func checkOpen(a Approval, c Call, drawn string) error {
	switch {
	case a.State != ApprovalOpen:
		return &DecidedError{Approval: a}
	case a.bind() != a.Digest:
		return &DigestError{Approval: a.ID, Reason: "its record does not match its digest"}
	case drawn != "" && drawn != a.Digest:
		return &DigestError{Approval: a.ID, Reason: "the card showed something else"}
	case c.Approval != a.ID, string(c.Arguments) != string(a.Arguments):
		return &DigestError{Approval: a.ID, Reason: "its call is not the one that was drawn"}
	}
	return nil
}

// decide is the compare-and-set on the open approval: of any number of
// decisions at once, one wins, and the others learn who won.
func (e *Engine) decide(tx Tx, c *Call, drawn Approval, d Decision) ([]AuditLine, error) {
	a, err := tx.Approval(drawn.ID)
	if err != nil {
		return nil, err
	}
	event := EventDeny
	if d.Approved {
		if err := checkOpen(a, *c, drawn.Digest); err != nil {
			return nil, err
		}
		a.State, event = ApprovalApproved, EventApprove
	} else if a.State, err = deniable(a, drawn); err != nil {
		return nil, err
	}
	a.Decision = &d
	c.By = d.By.ID
	if err := tx.PutApproval(a); err != nil {
		return nil, err
	}
	by := d.By
	if err := c.Apply(event); err != nil {
		return nil, err
	}
	return []AuditLine{{Step: AuditDecided, At: d.At, By: &by, Note: d.Note, State: c.State}}, nil
}

// deniable lets a person say no to whatever is still open, also where its record
// could not be approved any more: a denial sends nothing.
func deniable(stored, drawn Approval) (ApprovalState, error) {
	if stored.State != ApprovalOpen {
		return stored.State, &DecidedError{Approval: stored}
	}
	if stored.Digest != drawn.Digest {
		return stored.State, &DigestError{Approval: stored.ID, Reason: "the card showed something else"}
	}
	return ApprovalDenied, nil
}

// recheck looks again at a call that is about to be sent: today's rules, the
// server, the tool's definition, and the terms of a fresh preview.
func (e *Engine) recheck(ctx context.Context, a Approval, c Call) (*Toolbox, error) {
	verdict := e.policy.Verdict(PolicyInput{Tool: c.Tool, Args: c.Requested, Spends: true, Call: c.ID})
	if verdict.Decision == DecisionRefuse {
		return nil, e.closeCall(ctx, a, c, "the desk's rules do not allow this call any more", nil)
	}
	box, err := e.toolbox(ctx, c.Conversation)
	if err != nil {
		return nil, err
	}
	turn, err := e.turnOf(ctx, a)
	if err != nil {
		return nil, err
	}
	p, err := e.prepare(ctx, box, c, turn)
	if err != nil {
		return nil, err
	}
	if p.refused != nil {
		return nil, e.closeCall(ctx, a, c, p.reason, p.refused)
	}
	if p.approval.NoPreview != "" {
		return nil, &UnreachableError{Server: p.approval.PreviewTool.Server(), Err: errors.New(p.approval.NoPreview)}
	}
	if p.approval.Preview != nil {
		verdict = e.policy.Verdict(PolicyInput{Tool: c.Tool, Args: c.Requested, Preview: p.approval.Preview.Structured, Spends: true, Call: c.ID})
		if verdict.Decision == DecisionRefuse {
			return nil, e.closeCall(ctx, a, c, ruledOut(verdict), nil)
		}
	}
	if changes := differences(a, p.approval); len(changes) > 0 {
		return nil, e.replace(ctx, a, p, changes)
	}
	return box, nil
}

// differences are what a person has to see before deciding on the new approval
// instead of the old one.
func differences(old, now Approval) []Change {
	var changes []Change
	if old.ServerIdentity != now.ServerIdentity {
		changes = append(changes, Change{Term: "server", Old: old.ServerIdentity, New: now.ServerIdentity})
	}
	if old.Definition != now.Definition {
		changes = append(changes, Change{Term: "tool definition", Old: old.Definition[:min(8, len(old.Definition))], New: now.Definition[:min(8, len(now.Definition))]})
	}
	if old.Preview != nil && now.Preview != nil {
		changes = append(changes, compareTerms(old.TermPointers, old.Preview.Structured, now.Preview.Structured)...)
	}
	return changes
}

// stillAbout makes sure that the call has this approval, and that event may
// happen to it; else somebody was first, and the error says who.
func stillAbout(tx Tx, c *Call, id ApprovalID, event Event) error {
	if _, err := c.State.Next(event); err == nil && c.Approval == id {
		return nil
	}
	a, err := tx.Approval(id)
	if err != nil {
		return err
	}
	return &DecidedError{Approval: a}
}

// replace puts a new approval in the place of one whose terms, tool or server
// changed. It always gives an error: the old one was not decided.
func (e *Engine) replace(ctx context.Context, old Approval, p preparation, changes []Change) error {
	now := e.now()
	draft := p.approval
	draft.Line, draft.RequestedBy = old.Line, old.RequestedBy
	draft.Supersedes, draft.Changes = old.ID, changes
	var opened Approval
	goOn, err := e.change(ctx, p.call.ID, func(tx Tx, c *Call) ([]AuditLine, error) {
		if err := stillAbout(tx, c, old.ID, EventRevise); err != nil {
			return nil, err
		}
		c.Arguments, c.ServerIdentity, c.Definition, c.Keyed = p.call.Arguments, p.call.ServerIdentity, p.call.Definition, p.call.Keyed
		c.Requested, c.EditedBy = p.call.Requested, p.call.EditedBy
		if err := openApproval(tx, c, question{approval: draft, event: EventRevise, expiresAfter: e.policy.expiresAfter}, now); err != nil {
			return nil, err
		}
		fresh, err := tx.Approval(c.Approval)
		if err != nil {
			return nil, err
		}
		opened = fresh
		return []AuditLine{{Step: AuditShown, At: now, Note: "instead of " + string(old.ID)}}, supersede(tx, old.ID, fresh.Number)
	})
	if err != nil {
		return err
	}
	changed := &ChangedError{Old: old, New: opened}
	if goOn { // the turn had been stalled: what else of it may go on, goes on
		return errors.Join(changed, e.drive(ctx, opened.Conversation, opened.Turn))
	}
	return changed
}

// closeCall settles a call that can no longer run, without a decision. It
// always gives an error.
func (e *Engine) closeCall(ctx context.Context, a Approval, c Call, reason string, result *Result) error {
	now := e.now()
	if result == nil {
		result = TextResult(reason, true)
	}
	goOn, err := e.change(ctx, c.ID, func(tx Tx, c *Call) ([]AuditLine, error) {
		if err := stillAbout(tx, c, a.ID, EventRefuse); err != nil {
			return nil, err
		}
		fresh, err := tx.Approval(a.ID)
		if err != nil {
			return nil, err
		}
		if fresh.State == ApprovalOpen {
			fresh.State, fresh.Closed = ApprovalCancelled, reason
			if err := tx.PutApproval(fresh); err != nil {
				return nil, err
			}
		}
		c.Result = result
		return []AuditLine{{Step: AuditClosed, At: now, Note: reason}}, c.Apply(EventRefuse)
	})
	if err != nil {
		return err
	}
	closed := &ClosedError{Approval: a.ID, Reason: reason}
	if goOn {
		return errors.Join(closed, e.drive(ctx, c.Conversation, c.Turn))
	}
	return closed
}

// roles are the desk's roles from the least to the most that they may approve.
var roles = []string{"dispatcher", "senior_dispatcher", "manager"}

// roleRank is a role's place among them; -1 for others.
func roleRank(role string) int { return slices.Index(roles, role) }

// neededRole is who has to approve, as the preview says; empty if it says
// nothing.
func neededRole(a Approval) string {
	if a.Preview == nil {
		return ""
	}
	raw, ok := Pointer(a.Preview.Structured, "/limits/approver_needed")
	if !ok {
		return ""
	}
	return termText(raw)
}

// checkLimit makes sure that an order above the user's limit is never sent by
// that user. The preview says who is needed; the server checks it again.
func checkLimit(a Approval, user User) error {
	if needs := neededRole(a); roleRank(needs) > roleRank(user.Role) {
		return &LimitError{Approval: a.ID, User: user, Needs: needs}
	}
	return nil
}

// Deny decides no. It needs neither server nor model: the decision is committed
// first, and the turn is driven on after it. If that fails, the decision
// stands, and the error is about the rest.
func (e *Engine) Deny(ctx context.Context, r DecideRequest) (Report, error) {
	a, c, err := e.load(ctx, r.Approval)
	if err != nil {
		return Report{}, err
	}
	user, now := e.userIn(ctx), e.now()
	decision := Decision{By: user, At: now, Note: r.Note}
	if r.Digest != "" && r.Digest != a.Digest {
		return Report{}, &DigestError{Approval: a.ID, Reason: "the card showed something else"}
	}
	spends := e.spends(ctx, a)
	inside, end := e.span(ctx, decisionSpan(a))
	goOn, err := e.change(inside, c.ID, func(tx Tx, c *Call) ([]AuditLine, error) {
		c.Result = TextResult(e.texts.denied(spends, r.Note), false)
		if a.State == ApprovalApproved && c.Held() {
			by := user
			return []AuditLine{{Step: AuditDecided, At: now, By: &by, Note: r.Note}}, c.Apply(EventDeny)
		}
		return e.decide(tx, c, a, decision)
	})
	end(decisionEnd(string(ApprovalDenied), err))
	if err != nil {
		return Report{}, err
	}
	if goOn {
		e.tell(Happening{Kind: TurnResumed, Conversation: c.Conversation, Turn: c.Turn})
		err = e.drive(ctx, c.Conversation, c.Turn)
	}
	return e.finish(ctx, c.Conversation, err)
}

// spends reports whether the tool of an approval spends money; a definition
// that cannot be read counts as spending only if its kind says so.
func (e *Engine) spends(ctx context.Context, a Approval) bool {
	tool, err := e.store.Definition(ctx, a.Definition)
	return err == nil && tool.Desk.Spends || a.Kind == kindOrder
}

// Retry sends a call that was approved and not sent, after a new look at it; on
// a card whose preview is missing, it fetches the preview and puts up a card
// that can be approved.
func (e *Engine) Retry(ctx context.Context, id ApprovalID) (Report, error) {
	a, c, err := e.load(ctx, id)
	if err != nil {
		return Report{}, err
	}
	switch {
	case c.Approval != a.ID:
		return Report{}, &DecidedError{Approval: a}
	case c.Held():
		return e.resend(ctx, c)
	case c.State == CallWaiting && a.NoPreview != "":
		return e.fetchAgain(ctx, a, c)
	}
	return Report{}, fmt.Errorf("%s is %s: there is nothing to send again", id, c.State)
}

// resend sends a held call. The decision stands as it was made; what is sent is
// what it was made about.
func (e *Engine) resend(ctx context.Context, c Call) (Report, error) {
	a, c, err := e.load(ctx, c.Approval)
	if err != nil {
		return Report{}, err
	}
	if a.bind() != a.Digest || string(c.Arguments) != string(a.Arguments) {
		return Report{}, &DigestError{Approval: a.ID, Reason: "its record does not match its digest"}
	}
	box, err := e.recheck(ctx, a, c)
	if err != nil {
		return Report{}, err
	}
	sent, revived, err := e.dispatch(ctx, c.ID, nil)
	if err != nil {
		return Report{}, err
	}
	return e.sendApproved(ctx, box, sent, revived)
}

// fetchAgain fetches the preview that a card lacks and puts up a card with it.
func (e *Engine) fetchAgain(ctx context.Context, a Approval, c Call) (Report, error) {
	box, err := e.toolbox(ctx, c.Conversation)
	if err != nil {
		return Report{}, err
	}
	turn, err := e.turnOf(ctx, a)
	if err != nil {
		return Report{}, err
	}
	p, err := e.prepare(ctx, box, c, turn)
	switch {
	case err != nil:
		return Report{}, err
	case p.refused != nil:
		return Report{}, e.closeCall(ctx, a, c, p.reason, p.refused)
	case p.approval.NoPreview != "":
		return Report{}, &UnreachableError{Server: p.approval.PreviewTool.Server(), Err: errors.New(p.approval.NoPreview)}
	}
	p.approval.Because = c.because()
	err = e.replace(ctx, a, p, nil)
	var changed *ChangedError
	if errors.As(err, &changed) { // the card that was missing its preview is replaced
		return e.Report(ctx, c.Conversation)
	}
	return Report{}, err
}

// turnOf reads the turn of an approval.
func (e *Engine) turnOf(ctx context.Context, a Approval) (Turn, error) {
	turns, err := e.store.Turns(ctx, []TurnID{a.Turn})
	if err != nil {
		return Turn{}, fmt.Errorf("reading the turn of %s: %w", a.ID, err)
	}
	if len(turns) == 0 {
		return Turn{}, e.unusable(ctx, a.ID, a.Conversation)
	}
	return turns[0], nil
}
