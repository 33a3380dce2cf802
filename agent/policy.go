package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DecisionKind is what policy says of a call.
type DecisionKind string

// The decisions of a policy, from loose to strict.
const (
	DecisionRun    DecisionKind = "run"
	DecisionAsk    DecisionKind = "ask"
	DecisionRefuse DecisionKind = "refuse"
)

// becauseSpends is why a spending tool asks where no rule says more.
const becauseSpends = "spends money"

// strictness orders decisions; what is no decision at all is the strictest that
// still lets a person choose.
func (d DecisionKind) strictness() int {
	switch d {
	case DecisionRun:
		return 0
	case DecisionRefuse:
		return 2
	}
	return 1
}

// Verdict is a policy's decision with its reason.
type Verdict struct {
	Decision DecisionKind `json:"decision"`
	// Because is a sentence for the card; empty where nothing needs saying.
	Because string `json:"because,omitempty"`
	// Fixed says that a person has to be asked whatever a later look finds.
	Fixed bool `json:"fixed,omitempty"`
	// Ceiling is set for a spending call that runs unasked: the rule's ceiling,
	// and what this call spends.
	Ceiling *Ceiling `json:"ceiling,omitempty"`
	Spends  *Money   `json:"spends,omitempty"`
}

// Ceiling bounds what a rule lets a spending tool spend unasked.
type Ceiling struct {
	// Minor and Currency are the most that one call may spend.
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
	// At is the JSON pointer into the preview where the amount stands.
	At string `json:"at"`
	// PerDay is the most that all such calls of the tool may spend in a day of
	// the desk, in minor units; 0 means that only Minor counts.
	PerDay int64 `json:"perDay,omitempty"`
}

// PolicyConfig is the policy as the configuration file writes it.
type PolicyConfig struct {
	// RunWithoutApproval lists qualified names of tools that run unasked.
	// Anything not listed asks.
	RunWithoutApproval []QualifiedName `json:"runWithoutApproval,omitempty"`
	// Rules are asked for every call; of those that match, the strictest wins,
	// and it also wins over the list.
	Rules []Rule `json:"rules,omitempty"`
	// Previews maps a tool to the read-only tool that fills its card.
	Previews map[QualifiedName]QualifiedName `json:"previews,omitempty"`
	// ReadOnly lists tools that only read, by the desk's own word; what servers
	// say of themselves does not count. Preview tools are always among them.
	ReadOnly []QualifiedName `json:"readOnly,omitempty"`
	// ExpiresAfter is how long an approval waits, as a Go duration ("8h"); empty
	// means that it waits for ever.
	ExpiresAfter string `json:"expiresAfter,omitempty"`
}

// Rule is one rule of a policy.
type Rule struct {
	// Tool is the qualified name that the rule is about.
	Tool QualifiedName `json:"tool"`
	// When is a CEL expression over args, preview, tool, server, conversation
	// and call; empty matches always.
	When string `json:"when,omitempty"`
	// Then is run, ask or refuse.
	Then DecisionKind `json:"then"`
	// Because is shown on the card.
	Because string `json:"because,omitempty"`
	// Ceiling lets a tool that spends money run unasked up to an amount; without
	// one, a spending tool never runs unasked.
	Ceiling *Ceiling `json:"ceiling,omitempty"`
}

// Policy says of a call: run, ask or refuse. The zero Policy asks for
// everything. It is safe for concurrent use.
type Policy struct {
	free     map[QualifiedName]bool
	readOnly map[QualifiedName]bool
	previews map[QualifiedName]QualifiedName
	rules    []compiledRule
	// expiresAfter is how long an approval waits; zero is for ever.
	expiresAfter time.Duration
}

type compiledRule struct {
	Rule
	matches predicate // nil: always
}

// PolicyInput is what rules see of a call.
type PolicyInput struct {
	Tool QualifiedName
	// Args are the canonical arguments.
	Args json.RawMessage
	// Preview is the structured content of the call's preview; nil if there is
	// none (yet), which makes rules about it ask.
	Preview json.RawMessage
	// Spends is set for a tool that spends money.
	Spends bool
	// Amount is what a call spends that was let run before; nil where only the
	// preview says it.
	Amount *Money
	Call   CallID
	// Conversation are the texts of the messages before the call, oldest first.
	Conversation []string
}

// NewPolicy checks and compiles a policy. Its errors name the entry at fault
// and the position in its expression.
func NewPolicy(c PolicyConfig) (*Policy, error) {
	p := &Policy{free: map[QualifiedName]bool{}, readOnly: map[QualifiedName]bool{}, previews: c.Previews}
	for i, name := range c.RunWithoutApproval {
		if err := checkQualified(name); err != nil {
			return nil, fmt.Errorf("policy.runWithoutApproval[%d]: %w", i, err)
		}
		p.free[name] = true
	}
	for i, name := range c.ReadOnly {
		if err := checkQualified(name); err != nil {
			return nil, fmt.Errorf("policy.readOnly[%d]: %w", i, err)
		}
		p.readOnly[name] = true
	}
	for tool, preview := range c.Previews {
		for _, name := range []QualifiedName{tool, preview} {
			if err := checkQualified(name); err != nil {
				return nil, fmt.Errorf("policy.previews: %w", err)
			}
		}
		p.readOnly[preview] = true
	}
	if c.ExpiresAfter != "" {
		after, err := time.ParseDuration(c.ExpiresAfter)
		if err != nil || after <= 0 {
			return nil, fmt.Errorf("policy.expiresAfter: %q is no length of time: write 30m or 8h", c.ExpiresAfter)
		}
		p.expiresAfter = after
	}
	for i, rule := range c.Rules {
		compiled, err := compileRule(rule)
		if err != nil {
			return nil, fmt.Errorf("policy.rules[%d]: %w", i, err)
		}
		p.rules = append(p.rules, compiled)
	}
	return p, nil
}

func checkQualified(name QualifiedName) error {
	if name.Server() == "" || name.Tool() == "" {
		return fmt.Errorf("%q is no qualified name: write server/tool", name)
	}
	if strings.ContainsAny(string(name), "*?") {
		return fmt.Errorf("%q would match no tool: patterns are not known here, write each tool's whole name", name)
	}
	return nil
}

func compileRule(rule Rule) (compiledRule, error) {
	if err := checkQualified(rule.Tool); err != nil {
		return compiledRule{}, err
	}
	if !slices.Contains([]DecisionKind{DecisionRun, DecisionAsk, DecisionRefuse}, rule.Then) {
		return compiledRule{}, fmt.Errorf("\"then\" is %q: write run, ask or refuse", rule.Then)
	}
	if err := rule.Ceiling.check(rule.Then); err != nil {
		return compiledRule{}, err
	}
	compiled := compiledRule{Rule: rule}
	if strings.TrimSpace(rule.When) != "" {
		matches, err := compilePredicate(rule.When)
		if err != nil {
			return compiledRule{}, fmt.Errorf("\"when\": %w", err)
		}
		compiled.matches = matches
	}
	return compiled, nil
}

// check refuses a ceiling that bounds nothing.
func (c *Ceiling) check(then DecisionKind) error {
	switch {
	case c == nil:
		return nil
	case then != DecisionRun:
		return fmt.Errorf("a ceiling goes with \"then\": \"run\", not %q", then)
	case c.Minor <= 0 || c.PerDay < 0:
		return fmt.Errorf("a ceiling needs an amount above zero")
	case c.Currency == "" || !strings.HasPrefix(c.At, "/"):
		return fmt.Errorf("a ceiling needs a currency, and in \"at\" a JSON pointer into the preview")
	}
	return nil
}

// Verdict decides about a call. Whatever goes wrong inside asks.
func (p *Policy) Verdict(in PolicyInput) Verdict {
	verdict := Verdict{Decision: DecisionAsk}
	matched := false
	consider := func(v Verdict) {
		if !matched || v.Decision.strictness() > verdict.Decision.strictness() {
			verdict = v
		}
		matched = true
	}
	if p.free[in.Tool] {
		consider(Verdict{Decision: DecisionRun}.bounded(nil, in))
	}
	for _, rule := range p.rules {
		if rule.Tool != in.Tool {
			continue
		}
		ok, err := rule.match(in)
		switch {
		case err != nil:
			consider(Verdict{Decision: DecisionAsk, Because: fmt.Sprintf("a rule could not be read: %v", err)})
		case ok:
			consider(Verdict{Decision: rule.Then, Because: rule.Because}.bounded(rule.Ceiling, in))
		}
	}
	if in.Spends && verdict.Decision == DecisionAsk && verdict.Because == "" {
		verdict.Because = becauseSpends
	}
	return verdict
}

// bounded makes sure that a spending tool runs unasked only under a ceiling, in
// the ceiling's currency.
func (v Verdict) bounded(ceiling *Ceiling, in PolicyInput) Verdict {
	if v.Decision != DecisionRun || !in.Spends {
		return v
	}
	if ceiling == nil {
		return Verdict{Decision: DecisionAsk, Because: becauseSpends}
	}
	var amount Money
	raw, ok := Pointer(in.Preview, ceiling.At)
	ok = ok && json.Unmarshal(raw, &amount) == nil
	if !ok && in.Amount != nil {
		amount, ok = *in.Amount, true
	}
	if !ok || amount.Minor < 0 {
		return Verdict{Decision: DecisionAsk, Because: becauseSpends + ", and the amount is not known"}
	}
	most := Money{Minor: ceiling.Minor, Currency: ceiling.Currency}
	if amount.Currency != ceiling.Currency || amount.Minor > ceiling.Minor {
		return Verdict{Decision: DecisionAsk, Because: fmt.Sprintf("spends %s; up to %s would run by itself", amount, most)}
	}
	v.Ceiling, v.Spends = ceiling, &amount
	return v
}

func (r compiledRule) match(in PolicyInput) (bool, error) {
	if r.matches == nil {
		return true, nil
	}
	return r.matches(in)
}

// ReadOnly reports whether the desk's policy says that the tool only reads.
func (p *Policy) ReadOnly(name QualifiedName) bool { return p.readOnly[name] }

// Preview is the tool that fills the card of name; empty if none does.
func (p *Policy) Preview(name QualifiedName) QualifiedName { return p.previews[name] }
