package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/agent/agenttest"
)

// checkAtDeath looks at what a killed process left, before anybody recovers it:
// the store must explain everything that reached the server, and hold every card
// that was on a screen.
func checkAtDeath(t *testing.T, dir string) {
	t.Helper()
	e := readEvidence(t, dir)
	if e.faults != nil {
		t.Errorf("after the kill the records disagree: %v", e.faults)
	}
	e.checkSends(t)
	e.checkCards(t)
}

// check holds a story that came to its end against the promises.
func (e evidence) check(t *testing.T, script sweepScript) {
	t.Helper()
	if e.faults != nil {
		t.Errorf("the records disagree: %v", e.faults)
	}
	e.checkSends(t)
	e.checkCards(t)
	e.checkDecisions(t)
	e.checkLedgerLines(t)
	e.checkRequests(t)
	head := e.desk.Heads[0]
	last := e.desk.Messages[head.Conversation][head.NextMessage-2]
	if head.Open != nil || e.waiting != 0 || last.Text != "All right." {
		t.Errorf("the conversation is not usable at the end: %+v, %d wait, last line %q", head, e.waiting, last.Text)
	}
	users := 0
	for _, m := range e.desk.Messages[head.Conversation] {
		if m.Role == agent.RoleUser {
			users++
		}
	}
	if users != len(script.lines)+1 {
		t.Errorf("%d lines in the store, the dispatcher said %d", users, len(script.lines)+1)
	}
}

// checkRequests makes sure that a provider would take every request, and that
// each gives the time at which its line was sent, whichever life asks.
func (e evidence) checkRequests(t *testing.T) {
	t.Helper()
	var sentAt []time.Time
	for _, m := range e.desk.Messages[sweepConversation] {
		if m.Role == agent.RoleUser {
			sentAt = append(sentAt, e.desk.Turns[m.Turn].SentAt)
		}
	}
	for i, r := range e.asked {
		if err := agenttest.CheckRequest(r); err != nil {
			t.Errorf("model request %d: %v", i, err)
		}
		lines := 0
		for _, m := range r.Messages {
			if m.Role == agent.RoleUser {
				lines++
			}
		}
		if want := sentAt[lines-1]; !r.Now.Equal(want) || !strings.Contains(r.System, want.Format(time.RFC3339)) {
			t.Errorf("model request %d gives the time %s, its line was sent at %s", i, r.Now, want)
		}
	}
}

// checkSends holds every write in the server's ledger against the store. What
// was sent was dispatched first; what is gated was approved first, exactly as it
// was sent; what was denied, expired, cancelled or refused was never sent; and
// no work was done twice.
func (e evidence) checkSends(t *testing.T) {
	t.Helper()
	sends, works := map[agent.CallID][]agenttest.Receipt{}, map[agent.CallID]int{}
	for _, r := range e.receipts {
		if agenttest.ShopReads(r.Tool) {
			continue
		}
		if r.Worked {
			works[r.Call]++
		}
		if !r.Refused {
			sends[r.Call] = append(sends[r.Call], r)
		}
		c, ok := e.desk.Calls[r.Call]
		switch {
		case !ok:
			t.Errorf("the server got call %s of %s, which the store does not know", r.Call, r.Tool)
		case c.Attempt < 1 || c.SentAt.IsZero():
			t.Errorf("the server got %s, which was never marked as sent", r.Call)
		case string(c.Tool) != agenttest.ShopName+"/"+r.Tool || string(c.Arguments) != string(r.Arguments):
			t.Errorf("the server got %s %s, the store holds %s %s", r.Tool, r.Arguments, c.Tool, c.Arguments)
		case slices.Contains([]agent.CallState{agent.CallProposed, agent.CallWaiting, agent.CallCancelled, agent.CallExpired, agent.CallRefused, agent.CallDenied}, c.State) && !r.Refused:
			t.Errorf("the server got %s, which is %s", r.Call, c.State)
		}
		if agenttest.ShopGated(r.Tool) {
			e.checkApproved(t, r)
		}
	}
	for id, n := range works {
		if n > 1 {
			t.Errorf("the server did the work of %s %d times", id, n)
		}
	}
	for id, all := range sends {
		for _, r := range all[1:] {
			if r.Key == "" || r.Key != all[0].Key {
				t.Errorf("%s was sent %d times, with keys %q and %q", id, len(all), all[0].Key, r.Key)
			}
		}
	}
}

// checkApproved finds the approval of what a server got: a person said yes to
// exactly this.
func (e evidence) checkApproved(t *testing.T, r agenttest.Receipt) {
	t.Helper()
	a, ok := e.desk.Approvals[r.Approval]
	switch {
	case !ok:
		t.Errorf("the server got %s of %s, and no approval %q is stored", r.Call, r.Tool, r.Approval)
	case a.State != agent.ApprovalApproved || a.Decision == nil || !a.Decision.Approved:
		t.Errorf("the server got %s, and %s is %s", r.Call, a.ID, a.State)
	case a.Call != r.Call || string(a.Tool) != agenttest.ShopName+"/"+r.Tool || string(a.Arguments) != string(r.Arguments):
		t.Errorf("the server got %s %s, and %s was about %s %s", r.Call, r.Arguments, a.ID, a.Call, a.Arguments)
	case a.Definition != e.tools[r.Tool].Hash() || a.ServerIdentity != "test:"+agenttest.ShopName:
		t.Errorf("%s was about another tool or server", a.ID)
	case agenttest.Digest(a) != a.Digest:
		t.Errorf("the digest of %s is not that of what was sent", a.ID)
	case a.Decision.By.ID != r.User:
		t.Errorf("%s was decided by %s and sent for %q", a.ID, a.Decision.By.ID, r.User)
	}
}

// checkCards finds every card that was on a screen: it can be decided, or says
// what became of it.
func (e evidence) checkCards(t *testing.T) {
	t.Helper()
	for _, card := range e.shown {
		if a, ok := e.desk.Approvals[card.Approval]; !ok || a.Digest != card.Digest {
			t.Errorf("%s was on the screen with digest %s; stored: %+v", card.Approval, card.Digest, a)
		}
	}
}

// checkDecisions makes sure that each approval was decided once, by the audit
// too, and that whatever was sent was proposed, shown and decided before.
func (e evidence) checkDecisions(t *testing.T) {
	t.Helper()
	for _, lines := range e.desk.Audit {
		decided := map[agent.ApprovalID]int{}
		first := map[string]int{}
		for i, line := range lines {
			if line.Step == agent.AuditDecided {
				decided[line.Approval]++
			}
			if name := fmt.Sprint(line.Step, line.Call); first[name] == 0 {
				first[name] = i + 1
			}
		}
		for id, n := range decided {
			if n != 1 {
				t.Errorf("the audit has %d decisions of %s", n, id)
			}
		}
		for _, r := range e.receipts {
			at := func(step agent.AuditStep) int { return first[fmt.Sprint(step, r.Call)] }
			switch {
			case agenttest.ShopReads(r.Tool):
			case at(agent.AuditProposed) == 0 || at(agent.AuditSent) < at(agent.AuditProposed):
				t.Errorf("the audit has %s proposed at line %d and sent at line %d", r.Call, at(agent.AuditProposed), at(agent.AuditSent))
			case !agenttest.ShopGated(r.Tool):
			case at(agent.AuditShown) == 0 || at(agent.AuditDecided) < at(agent.AuditShown) || at(agent.AuditSent) < at(agent.AuditDecided):
				t.Errorf("the audit has %s shown at line %d, decided at %d, sent at %d", r.Call, at(agent.AuditShown), at(agent.AuditDecided), at(agent.AuditSent))
			}
		}
	}
}

// checkLedgerLines compares what stands under the answers with what the server
// did.
func (e evidence) checkLedgerLines(t *testing.T) {
	t.Helper()
	for _, turn := range e.desk.Turns {
		orders, settled := 0, false
		for _, c := range e.desk.Calls {
			settled = settled || c.Turn == turn.ID && c.Settlement != nil
		}
		for _, r := range e.receipts {
			if r.Tool == "order" && r.Worked && e.desk.Calls[r.Call].Turn == turn.ID {
				orders++
			}
		}
		claims := 0
		if m := ordersPlaced.FindStringSubmatch(turn.Ledger); m != nil {
			claims, _ = strconv.Atoi(m[1]) // digits
		}
		if claims != orders && !settled {
			t.Errorf("the ledger line says %q, the server has %d orders of the turn", turn.Ledger, orders)
		}
	}
}

// ordersPlaced is what a ledger line claims of orders.
var ordersPlaced = regexp.MustCompile(`(\d+) orders? placed`)

// settledText is how the engine words what a person settled.
const settledText = "A person confirmed that this "

// ourIDs are ids that differ from life to life.
var ourIDs = regexp.MustCompile(`id-\d\d-\d{4}`)

// compare holds a story with kills against the same one without: the model was
// asked the same, and the server did the same, unknown outcomes aside.
func (e evidence) compare(t *testing.T, want evidence) {
	t.Helper()
	aside := e.settledPlaces()
	got, wanted := distinct(e.asked, aside), distinct(want.asked, aside)
	for _, text := range got {
		if !slices.Contains(wanted, text) {
			t.Errorf("only after a kill the model was asked %s", text)
		}
	}
	for _, text := range wanted {
		if !slices.Contains(got, text) {
			t.Errorf("only without a kill the model was asked %s", text)
		}
	}
	did, wants := e.work(), want.work()
	for _, c := range e.desk.Calls {
		if c.Settlement != nil && !c.Settlement.Happened {
			did = append(did, workOf(string(c.Tool), c.Arguments)) // aside
		}
	}
	slices.Sort(did)
	if !slices.Equal(did, wants) {
		t.Errorf("the server did %v, without a kill %v", did, wants)
	}
}

// settledPlaces are the messages whose results a person settled.
func (e evidence) settledPlaces() map[int]bool {
	places := map[int]bool{}
	for _, r := range e.asked {
		for i, m := range r.Messages {
			if m.Role == agent.RoleTool && strings.HasPrefix(m.Result.Text(), settledText) {
				places[i] = true
			}
		}
	}
	return places
}

// distinct gives each different request once, sorted, without our own ids and
// the time of day, and without the results at the places that are left aside.
func distinct(requests []agent.ModelRequest, aside map[int]bool) []string {
	seen := map[string]bool{}
	var out []string
	for _, r := range requests {
		r.System = strings.ReplaceAll(r.System, r.Now.Format(time.RFC3339), "")
		r.System = strings.ReplaceAll(r.System, r.Now.Format("15:04"), "")
		r.Now = time.Time{}
		r.System, r.Tools = digestOf(r.System, r.Tools), nil // long, and the same for all
		r.Messages = slices.Clone(r.Messages)
		for i := range r.Messages {
			if aside[i] {
				r.Messages[i].Result, r.Messages[i].State = nil, ""
			}
		}
		raw, err := json.Marshal(r)
		if err != nil {
			panic("a request that was read from JSON: " + err.Error())
		}
		text := ourIDs.ReplaceAllString(string(raw), "OUR-ID")
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// digestOf stands for values that nobody wants to read in a failure.
func digestOf(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic("values that were read from JSON: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:4])
}

// work is what the server did, without keys, sorted.
func (e evidence) work() []string {
	var out []string
	for _, r := range e.receipts {
		if r.Worked && !agenttest.ShopReads(r.Tool) {
			out = append(out, workOf(agenttest.ShopName+"/"+r.Tool, r.Arguments))
		}
	}
	slices.Sort(out)
	return out
}

func workOf(tool string, arguments json.RawMessage) string {
	var object map[string]any
	if err := json.Unmarshal(arguments, &object); err != nil {
		return tool + " " + string(arguments)
	}
	delete(object, "idempotency_key")
	return fmt.Sprint(tool, " ", object)
}
