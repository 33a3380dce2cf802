package offline

import (
	"strings"
)

// askPart asks what to order where the words do not settle it.
func (t *turn) askPart(r *request, w workOrder, s selection) answer {
	switch s.verdict {
	case discontinued:
		return t.askSuccessor(r, s.part)
	case unfit:
		q := &question{request: r, choices: []choice{
			{label: "order " + s.part.SKU + " all the same", words: "anyway", apply: func(b *request) {
				b.sku, b.unfit, b.needed = s.part.SKU, true, false
			}},
			leaveIt(),
		}}
		return answer{text: lines(partName(s.part)+" does not fit "+assetOf(w)+" of "+w.ID+". Order it anyway?", q.numbered()), ask: q}
	case contrary:
		return askNeeded(r, w, s)
	case several:
		return askAmong(r, "Which part for "+w.ID+"?", s.among)
	}
	if r.sku != "" && len(s.among) > 0 {
		return askAmong(r, "There is no part "+r.sku+" in the catalogue. Do you mean one of these?", s.among)
	}
	if len(w.PartsNeeded) > 0 && !r.needed {
		return askNeeded(r, w, s)
	}
	said := quoted(wordsOf(r), 60)
	switch {
	case r.needed:
		return answer{text: "Which part? The technician has listed none for " + w.ID + ". Say its name or number.", ask: nil}
	case len(s.among) > 0:
		return askAmong(r, "I found no part that is "+said+" and fits "+w.ID+". Do you mean one of these?", s.among)
	}
	return answer{text: "I found no part " + said + " in the catalogue. Nothing was ordered. Which part do you mean?"}
}

func wordsOf(r *request) string {
	if r.sku != "" {
		return r.sku
	}
	return partQuery(r)
}

func leaveIt() choice {
	return choice{label: "order nothing", leave: "All right. Nothing was ordered."}
}

func assetOf(w workOrder) string {
	if w.Asset == nil {
		return "the equipment"
	}
	return "the " + clean(strings.TrimSpace(w.Asset.Kind+" "+w.Asset.Model), 80)
}

func partName(p part) string {
	return clean(strings.TrimSpace(p.Name), 120) + " (" + clean(p.SKU, 40) + ")"
}

// askAmong asks with numbered choices.
func askAmong(r *request, text string, among []part) answer {
	q := &question{request: r}
	for _, p := range among[:min(len(among), maxChoices)] {
		label := partName(p)
		if p.Price.Currency != "" {
			label += ", " + p.Price.String()
		}
		label += orEmpty(", ", clean(p.DiffersBy, 80), p.DiffersBy != "")
		label += orEmpty(", ", "does not fit", p.Fits == "no")
		label += orEmpty(", ", "discontinued", !p.active())
		q.choices = append(q.choices, partChoice(label, p))
	}
	return answer{text: lines(text, q.numbered()), ask: q}
}

func partChoice(label string, p part) choice {
	return choice{label: label, words: p.SKU, apply: func(b *request) {
		b.sku, b.needed = p.SKU, false
		if b.clause.quantity.article {
			b.quantity.article = true
		}
	}}
}

// askNeeded answers a wish that the technician's list contradicts.
func askNeeded(r *request, w workOrder, s selection) answer {
	text := "The technician's list for " + w.ID + " says something else than " + quoted(wordsOf(r), 60) + "."
	if len(s.among) == 0 {
		text = "There is no part " + quoted(wordsOf(r), 60) + " in the catalogue. The technician's list for " + w.ID + " is below."
	}
	if r.sku != "" {
		text = "There is no part " + r.sku + " in the catalogue. The technician's list for " + w.ID + " is below."
	}
	if len(s.among) > 0 && s.among[0].Fits == "no" {
		text += " " + partName(s.among[0]) + " does not fit " + assetOf(w) + "."
	}
	q := &question{request: r}
	for _, n := range w.PartsNeeded[:min(len(w.PartsNeeded), maxChoices)] {
		label := "order " + clean(n.Text, 100) + " (" + clean(n.SKU, 40) + ")"
		q.choices = append(q.choices, partChoice(label, part{SKU: n.SKU, Name: n.Text}))
	}
	for _, p := range s.among[:min(len(s.among), 3)] {
		if p.active() && p.Fits != "no" {
			q.choices = append(q.choices, partChoice("order "+partName(p), p))
		}
	}
	q.choices = append(q.choices, leaveIt())
	return answer{text: lines(text+" What shall I order?", q.numbered()), ask: q}
}

// askSuccessor offers what replaces a part that is no longer made; it is never
// swapped without being asked for.
func (t *turn) askSuccessor(r *request, p part) answer {
	text := partName(p) + " is discontinued."
	next := p.ReplacedBy
	if next == "" && len(p.Subs) > 0 {
		next = p.Subs[0]
	}
	if next == "" {
		return say(text + " There is no successor in the catalogue. Nothing was ordered; which part shall it be instead?")
	}
	hits, done := t.searchParts(next, r.job)
	if !done {
		return waits
	}
	return offerSuccessor(r, text, find(hits, next))
}

func offerSuccessor(r *request, text string, next part) answer {
	label := "order " + partName(next)
	if next.Name == "" {
		label = "order " + clean(next.SKU, 40)
	}
	if next.Price.Currency != "" {
		label += ", " + next.Price.String()
	}
	c := partChoice(label, next)
	c.words += " successor replacement new"
	q := &question{request: r, choices: []choice{c, leaveIt()}}
	return answer{text: lines(text+" Its successor is "+clean(next.SKU, 40)+". Order that instead?", q.numbered()), ask: q}
}
