package offline

import (
	"slices"
	"strings"
)

const greeting = "This is the built-in assistant. Ask about jobs, people and parts, or say what to book or order."

// runHelp shows what can be asked.
func runHelp(t *turn, _ *request) answer {
	id := t.memory.example()
	return say(
		"I answer lines like these:",
		"  status "+id,
		"  what is still unassigned · what is due by tomorrow noon · anything urgent without a technician",
		"  who is free for "+id+" tomorrow morning",
		"  book NAME for "+id+" thursday 10-12",
		"  price of a 3 kW element · do we have V-belts",
		"  order a fan motor for "+id+" · order 2 x SKU for "+id+" (you decide on the card)",
		"  where is the part for "+id+" · what orders are waiting for approval",
		"  what has NAME got tomorrow · when is somebody at SITE",
		"  move the "+id+" visit to friday 8-10 · give "+id+" to NAME · cancel the "+id+" visit (you decide on the card)",
		"  note on "+id+": bring a ladder",
		"I never close jobs, approve orders, change prices or write to customers.",
	)
}

// example is a job for examples: one that was named, else any.
func (m *memory) example() string {
	if m.job != "" {
		return m.job
	}
	if n := len(m.seen); n > 0 {
		return m.seen[n-1]
	}
	return "WO-1043"
}

// examples are three lines that work.
func (m *memory) examples() string {
	id := m.example()
	return strings.Join([]string{
		"These would work:",
		"  status " + id,
		"  who is free for " + id + " tomorrow morning",
		"  what is still unassigned",
	}, "\n")
}

// smallTalk are lines that ask for nothing.
var smallTalk = []string{"thanks", "thank you", "thx", "cheers", "ok thanks", "great thanks", "hello", "hi", "hey", "good morning", "bye"}

// notUnderstood answers a line that no rule fits.
func (t *turn) notUnderstood(clauses []*clause) answer {
	if len(clauses) == 1 {
		texts := make([]string, len(clauses[0].words))
		for i, w := range clauses[0].words {
			texts[i] = w.text
		}
		whole := strings.Join(texts, " ")
		switch {
		case slices.Contains(smallTalk, whole):
			return say("At your service.", t.memory.examples())
		case slices.Contains(yesWords, whole) || slices.Contains(noWords, whole) || bareChoice.MatchString(whole):
			return say("There is no open question of mine, so that decides nothing.", t.memory.examples())
		}
	}
	if len(clauses) == 0 {
		return say("I cannot read that as one or a few requests.", t.memory.examples())
	}
	return say("I do not know how to answer that; I look up jobs, people and parts, book, move and cancel visits, order parts and write notes.", t.memory.examples())
}

// runRefused answers what this desk does not do.
func runRefused(t *turn, r *request) answer {
	return say(r.intent.says+subject(r)+" Nothing was changed.", t.memory.examples())
}

// subject names what stays as it is.
func subject(r *request) string {
	var names []string
	if len(r.clause.ids.jobs) > 0 || r.job != "" && r.intent.context {
		names = append(names, r.job)
	}
	names = append(names, r.clause.ids.orders...)
	names = append(names, r.clause.ids.approvals...)
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " " + names[0] + " stays as it is."
	}
	return " " + joined(names, "and") + " stay as they are."
}
