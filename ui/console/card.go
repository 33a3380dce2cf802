package console

import (
	"cmp"
	"strings"

	"deskhand/agent"
)

// card is an approval that waits for a person, in a frame. Only what waits has
// a frame: what was decided is drawn by [settledItem], so that nothing that is
// over can look as if it could be decided.
type card struct {
	call     agent.Call
	approval agent.Approval
	// focused says that the card has the keyboard.
	focused bool
	// busy says what this console is doing about the card; empty: nothing.
	busy string
	// left says how long it still waits, if it does not wait for ever.
	left string
	// user is who would decide.
	user agent.User
}

// frame characters; a focused card is heavier, and says so in words too.
type frame struct{ tl, tr, bl, br, h, v string }

var (
	plainFrame = frame{"┌", "┐", "└", "┘", "─", "│"}
	focusFrame = frame{"┏", "┓", "┗", "┛", "━", "┃"}
)

func (k card) lines(c canvas) []string {
	box := newBox(c, k.focused)
	box.head(k.title(c), k.tag(c))
	k.body(box)
	box.flow(k.keys(), c.styles.strong)
	return append([]string{""}, box.close()...)
}

// title says what is asked, in the console's own words only.
func (k card) title(c canvas) string {
	words := map[string]string{
		"order": "ORDER PART", "book_visit": "BOOK VISIT", "move_visit": "MOVE VISIT", "cancel_visit": "CANCEL VISIT",
		"cancel_order": "CANCEL PART ORDER", "note": "ADD NOTE",
	}
	title := words[cmp.Or(k.approval.Kind, k.call.Kind)]
	if title == "" {
		title = "CALL"
	}
	if c.demo {
		title = "DEMO · " + title
	}
	return title + " · " + k.stands().label()
}

func (k card) tag(c canvas) string {
	tag := k.call.Name()
	if k.approval.ID != "" {
		tag = string(k.approval.ID) + " · since " + c.clock.at(k.approval.RequestedAt)
	}
	if k.approval.ExpiresAt != nil {
		tag += " · until " + c.clock.at(*k.approval.ExpiresAt)
		if k.left != "" {
			tag += " (" + k.left + ")"
		}
	}
	return tag
}

// standing is what a card in a frame asks a person for.
type standing int

const (
	standsOver    standing = iota // nothing: it needs nobody
	standsWaiting                 // approve or deny
	standsBlind                   // its preview is missing: deny, or fetch it
	standsHeld                    // approved and not sent: send, or deny
	standsUnknown                 // nobody knows what happened: settle it
)

func (k card) stands() standing { return standingOf(k.call, k.approval) }

func standingOf(c agent.Call, a agent.Approval) standing {
	switch {
	case c.State == agent.CallWaiting && a.NoPreview != "":
		return standsBlind
	case c.State == agent.CallWaiting && a.State == agent.ApprovalOpen:
		return standsWaiting
	case c.Held():
		return standsHeld
	case c.State == agent.CallUnknown:
		return standsUnknown
	}
	return standsOver
}

func (s standing) label() string {
	switch s {
	case standsHeld:
		return "approved, NOT SENT"
	case standsUnknown:
		return "OUTCOME UNKNOWN"
	}
	return "approval needed"
}

// body is everything between head and keys.
func (k card) body(b *box) {
	if q, args, ok := readQuote(k.approval); ok {
		k.order(b, q, args)
	} else if p, v, args, ok := readVisit(k.approval); ok {
		k.visit(b, p, v, args)
	} else if !k.cancelledOrder(b) {
		k.general(b)
	}
	k.reasons(b)
}

// reasons are the lines about the card itself: what changed, why it cannot be
// approved, why it was not sent.
func (k card) reasons(b *box) {
	a := k.approval
	k.changes(b)
	if r := a.Referral; r != nil {
		b.text("Left to a " + roleWord(r.Role) + " by " + safeLine(r.By.DisplayName(), evidence) + " at " + b.canvas.clock.at(r.At) + ".")
	}
	if a.Supersedes != "" {
		b.text("This card takes the place of " + string(a.Supersedes) + ".")
	}
	switch k.stands() {
	case standsBlind:
		b.warning("Approving is off: "+cause(a.NoPreview), true)
	case standsHeld:
		if a.Decision != nil {
			b.text("Approved by " + safeLine(a.Decision.By.DisplayName(), evidence) + " at " + b.canvas.clock.at(a.Decision.At) + ".")
		}
		b.warning("Not sent: "+cause(k.call.NotSent), true)
	case standsUnknown:
		b.warning("It may have happened or not: "+cause(k.call.Lost), true)
	}
}

// keys is the card's last line: what each key does here, or how to get here.
func (k card) keys() []string {
	if k.busy != "" {
		return []string{k.busy}
	}
	if !k.focused {
		return []string{"Tab or Ctrl+G to decide"}
	}
	var labels []string
	for _, key := range k.bindings() {
		labels = append(labels, "["+key.name+"] "+key.does)
	}
	return labels
}

// binding is a key of a card and what it does to this card.
type binding struct{ name, does string }

func (k card) bindings() []binding {
	yes, no := k.effects()
	all := binding{"v", "view all"}
	switch k.stands() {
	case standsBlind:
		return []binding{{"r", "fetch it again"}, {"d", no}, all}
	case standsHeld:
		return []binding{{"r", "send it now"}, {"d", no}, all}
	case standsUnknown:
		return []binding{{"l", "look it up"}, {"h", "it happened"}, {"n", "it did not happen"}, {"x", "send again"}, all}
	}
	keys := []binding{{"a", yes}, {"d", no}, {"e", "edit"}}
	if needs := k.needs(); needs != "" {
		keys = keys[1:]
		if k.approval.Referral == nil {
			keys = append([]binding{{"s", "send to a " + needs}}, keys...)
		}
	}
	if k.approval.ExpiresAt != nil {
		keys = append(keys, binding{"t", "one hour more"})
	}
	return append(keys, all)
}

// effects names what approving and denying do.
func (k card) effects() (yes, no string) {
	q, _, ok := readQuote(k.approval)
	var ids struct {
		Visit string `json:"visit_id"`
		Order string `json:"part_order_id"`
	}
	_ = unmarshal(k.approval.Arguments, &ids)
	visit, order := safeLine(ids.Visit, evidence), safeLine(ids.Order, evidence)
	switch kind := k.approval.Kind; {
	case kind == "order" && ok:
		return "order for " + safeLine(q.Line.Total.String(), evidence), "do not order"
	case kind == "order":
		return "order", "do not order"
	case kind == "book_visit":
		return "book it", "do not book"
	case kind == "move_visit" && visit != "":
		return "move " + visit, "leave it"
	case kind == "cancel_visit" && visit != "":
		return "cancel " + visit, "keep it"
	case kind == "cancel_order" && order != "":
		return "cancel " + order, "keep it"
	case kind == "note":
		return "add the note", "do not add"
	}
	return "run it", "do not run"
}

// needs is the role that has to approve instead of this user; empty if the user
// may. The engine checks it again.
func (k card) needs() string {
	q, _, ok := readQuote(k.approval)
	if !ok {
		return ""
	}
	rank := map[string]int{"dispatcher": 0, "senior_dispatcher": 1, "manager": 2}
	need, known := rank[q.Limits.ApproverNeeded]
	if !known || need <= rank[k.user.Role] {
		return ""
	}
	return roleWord(q.Limits.ApproverNeeded)
}

// roleWord is a role as people say it.
func roleWord(role string) string { return strings.ReplaceAll(safeLine(role, evidence), "_", " ") }
