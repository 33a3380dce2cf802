package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// proposal is a call on its way into the store, with what is needed to ask
// about it at once.
type proposal struct {
	call  Call
	entry Entry // zero if the alias names no tool
	ask   *question
}

// propose turns the calls of a reply into records with verdicts. Nothing that
// is wrong with a call ends the turn: the model is told.
func (e *Engine) propose(ctx context.Context, s Snapshot, box *Toolbox, past history, calls []ModelCall) ([]proposal, error) {
	var out []proposal
	twice := repeatedIDs(calls)
	earlier := slices.Clone(past.turnCalls)
	for i, m := range calls {
		if i == maxBatch {
			break
		}
		p := proposal{call: Call{
			Version: recordVersion, ID: CallID(e.newID()), Conversation: s.Head.Conversation, Turn: s.Turn.ID,
			Position: i, ModelID: m.ID, Alias: m.Name, Proposed: rawArguments(m.Arguments), Key: e.newID(),
			State: CallProposed,
		}}
		p.call.WireID = wireID(m.ID, p.call.ID, twice[m.ID] || past.ids[m.ID])
		if entry, err := box.Lookup(m.Name); err != nil {
			e.log.Warn("call to no tool", "alias", m.Name, "branch", "first", "known", box.aliases())
			p.call.refuse(fmt.Sprintf("There is no tool %q. The tools are: %s.", m.Name, strings.Join(box.aliases(), ", ")))
		} else if err := e.examine(ctx, &p, entry, s, past, earlier, twice[m.ID]); err != nil {
			return nil, err
		}
		if len(calls) > maxBatch && i == maxBatch-1 {
			p.call.NotTaken = len(calls) - maxBatch
		}
		earlier = append(earlier, p.call)
		out = append(out, p)
	}
	return out, nil
}

// examine checks a call to a known tool and gives it its verdict.
func (e *Engine) examine(ctx context.Context, p *proposal, entry Entry, s Snapshot, past history, earlier []Call, twice bool) error {
	c := &p.call
	p.entry = entry
	c.Tool, c.ServerIdentity, c.Definition = entry.Name, entry.Identity, entry.Definition
	c.Keyed, c.ReadOnly, c.Kind = entry.Tool.keyed(), e.policy.ReadOnly(entry.Name), entry.Tool.Desk.Kind
	if twice {
		c.refuse("Two calls of one reply had the same id, so neither was taken. Ask again, with an id for each.")
		return nil
	}
	arguments, err := CanonicalObject(c.Proposed)
	if err == nil {
		arguments, err = dropFilled(entry.Tool, arguments)
	}
	if err == nil {
		c.Requested, c.Arguments = arguments, arguments
		err = e.schemas.validate(entry, hideFilled(entry.Tool), arguments)
	}
	if err != nil {
		c.refuse(fmt.Sprintf("The arguments of %s are not valid: %v.", c.Alias, err))
		return nil
	}
	if text := repeated(*c, earlier); text != "" {
		c.refuse(text)
		return nil
	}
	c.Verdict = e.policy.Verdict(PolicyInput{
		Tool: c.Tool, Args: c.Arguments, Spends: entry.Tool.Desk.Spends, Call: c.ID, Conversation: past.texts,
	})
	if !c.ReadOnly && !inRequest(c.Arguments, past.lines, past.results) {
		c.NotInRequest = true
		c.Verdict = c.Verdict.unasked()
	}
	if same := doneBefore(*c, earlier); same != nil && !c.ReadOnly && c.Verdict.Decision != DecisionRefuse {
		c.Verdict = Verdict{Decision: DecisionAsk, Because: "the same call was already made in this turn", Fixed: true}
	}
	if c.Verdict.Decision == DecisionAsk {
		if c.Before, err = e.before(ctx, *c, entry, past); err != nil {
			return err
		}
	}
	return e.start(p, s, past)
}

// start moves a call as its verdict says.
func (e *Engine) start(p *proposal, s Snapshot, past history) error {
	c := &p.call
	switch c.Verdict.Decision {
	case DecisionRun:
		var err error
		if c.Arguments, err = fill(p.entry.Tool, c.Arguments, c.Key, nil); err != nil {
			return err
		}
		c.By = s.Turn.User.ID
		return c.Apply(EventRun)
	case DecisionRefuse:
		c.refuse(ruledOut(c.Verdict))
		return nil
	}
	if e.policy.Preview(c.Tool) != "" {
		return nil // stays proposed until its preview is there
	}
	arguments, err := fill(p.entry.Tool, c.Arguments, c.Key, nil)
	if err != nil {
		return err
	}
	c.Arguments = arguments
	draft := newApproval(*c, p.entry, s.Turn)
	if len(past.lines) > 0 {
		draft.Line = past.lines[len(past.lines)-1] // the newest line is the turn's own
	}
	p.ask = &question{approval: draft, event: EventAsk, expiresAfter: e.policy.expiresAfter}
	return nil
}

// unasked is the verdict of a write that no dispatcher's line asked for: it asks,
// also where policy would let it run, and whatever a later look finds.
func (v Verdict) unasked() Verdict {
	if v.Decision == DecisionRefuse {
		return v
	}
	because := "not in your request"
	if v.Decision == DecisionAsk && v.Because != "" && !strings.HasPrefix(v.Because, becauseSpends) {
		because += "; " + v.Because
	}
	return Verdict{Decision: DecisionAsk, Because: because, Fixed: true}
}

// ruledOut tells the model that a rule of the desk refuses a call.
func ruledOut(v Verdict) string {
	return strings.TrimSpace("The desk's rules do not allow this call. " + v.Because)
}

// refuse settles a call that may not or cannot run; the text goes to the model.
func (c *Call) refuse(text string) {
	if c.Apply(EventRefuse) == nil {
		c.Verdict.Decision = DecisionRefuse
		c.Result = TextResult(text, true)
	}
}

// repeated answers a call that equals an earlier one of the turn which waits or
// was declined; empty if it is to be looked at afresh.
func repeated(c Call, earlier []Call) string {
	for _, old := range earlier {
		if !equalCalls(c, old) {
			continue
		}
		switch {
		case old.State == CallWaiting || old.State == CallUnknown || old.Held():
			return fmt.Sprintf("The same call already waits for the dispatcher (%s). It was not proposed again.", old.Name())
		case old.State == CallProposed || old.State == CallApproved && !c.ReadOnly: // no earlier reply has such calls
			return "The same call stands twice in this reply; it was taken once."
		case old.State == CallDenied:
			return "The dispatcher has already declined this call. It was not proposed again."
		}
	}
	return ""
}

// looping gives the reason to stop a turn in which a declined call comes back
// for the third time; empty otherwise.
func looping(earlier []Call, proposals []proposal) string {
	for _, p := range proposals {
		if p.call.State != CallRefused || p.call.Tool == "" {
			continue
		}
		denied, again := false, 1
		for _, old := range earlier {
			if !equalCalls(p.call, old) {
				continue
			}
			denied = denied || old.State == CallDenied
			if old.State == CallRefused {
				again++
			}
		}
		if denied && again >= 2 {
			return fmt.Sprintf("the assistant keeps asking for %s, which was declined", p.call.Tool)
		}
	}
	return ""
}

func doneBefore(c Call, earlier []Call) *Call {
	for i := range earlier {
		if equalCalls(c, earlier[i]) && earlier[i].State == CallDone {
			return &earlier[i]
		}
	}
	return nil
}

func equalCalls(a, b Call) bool {
	return a.Tool == b.Tool && a.Requested != nil && bytes.Equal(a.Requested, b.Requested)
}

// rawArguments keeps what the model sent as JSON that can be stored: as it is
// where it is JSON, else as a JSON string.
func rawArguments(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if json.Valid(raw) {
		return raw
	}
	return mustJSON(string(raw))
}

// legalWireID is what every provider takes as the id of a call.
var legalWireID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// wireID is the id under which a call goes back to the model.
func wireID(model string, ours CallID, used bool) string {
	if used || !legalWireID.MatchString(model) {
		return string(ours)
	}
	return model
}

func repeatedIDs(calls []ModelCall) map[string]bool {
	seen, twice := map[string]bool{}, map[string]bool{}
	for _, c := range calls {
		if c.ID != "" && seen[c.ID] {
			twice[c.ID] = true
		}
		seen[c.ID] = true
	}
	return twice
}
