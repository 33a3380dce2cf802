package workorders

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A partIndex is what search_parts looks in: the terms of every part, and its
// neighbours. Parts do not change while a book is open, so it is made once.
type partIndex struct {
	entries []*partEntry
	bySKU   map[string]*partEntry
}

type partEntry struct {
	part       *Part
	name       []term
	sku        []string // pieces of the SKU, folded
	compact    string   // the SKU without its dashes
	around     []term   // category, description, models that it fits and what those are
	segments   []string // of the name, at the commas
	head       string   // the words of the first segment: what kind of thing it is
	neighbours []*partEntry
}

func newPartIndex(c *contents) *partIndex {
	kinds := map[string][]string{}
	for a := range c.assets.all() {
		kinds[a.Model] = append(kinds[a.Model], a.Kind)
	}
	x := &partIndex{bySKU: map[string]*partEntry{}}
	for p := range c.parts.all() {
		e := &partEntry{part: p, name: terms(p.Name), sku: words(p.SKU), compact: compact(p.SKU)}
		around := p.Category + " . " + p.Description
		for _, m := range p.FitsModels {
			around += " . " + m + " . " + strings.Join(kinds[m], " ")
		}
		e.around = terms(around)
		e.segments = strings.Split(p.Name, ", ")
		e.head = headOf(e.segments[0])
		x.entries = append(x.entries, e)
		x.bySKU[p.SKU] = e
	}
	for _, e := range x.entries {
		for _, o := range x.entries {
			if o != e && o.part.Category == e.part.Category && o.head == e.head && e.head != "" {
				e.neighbours = append(e.neighbours, o)
			}
		}
		slices.SortStableFunc(e.neighbours, func(a, b *partEntry) int { return cmp.Compare(gap(e, a), gap(e, b)) })
	}
	return x
}

// headOf keeps the words that say what a thing is: no quantities, no codes, no
// single letters, nothing in brackets.
func headOf(segment string) string {
	segment, _, _ = strings.Cut(segment, "(")
	var out []string
	for _, t := range ofKind(terms(segment), word) {
		if len(t.text) > 1 {
			out = append(out, t.text)
		}
	}
	return strings.Join(out, " ")
}

// gap counts the terms that only one of two names has.
func gap(a, b *partEntry) int { return len(onlyIn(a.name, b.name)) + len(onlyIn(b.name, a.name)) }

func onlyIn(a, b []term) []term {
	var out []term
	for _, t := range a {
		if !slices.ContainsFunc(b, func(o term) bool { return o.text == t.text }) {
			out = append(out, t)
		}
	}
	return out
}

// difference says what this part has and what the other has instead, at the
// most telling place: a quantity in the same unit, then a code, then the part
// of the name that differs, then the SKU.
func (e *partEntry) difference(o *partEntry) (mine, theirs string) {
	ours, others := onlyIn(e.name, o.name), onlyIn(o.name, e.name)
	for _, q := range ofKind(ours, quantity) {
		for _, r := range ofKind(others, quantity) {
			if unitOf(q) == unitOf(r) {
				return q.shown, r.shown
			}
		}
	}
	if a, b := codesOf(e, o), codesOf(o, e); a != "" && b != "" {
		return a, b
	}
	for i := range min(len(e.segments), len(o.segments)) {
		if e.segments[i] != o.segments[i] {
			return e.segments[i], o.segments[i]
		}
	}
	return e.part.SKU, o.part.SKU
}

func unitOf(t term) string { return strings.TrimLeft(t.text, "0123456789./") }

// codesOf is the first code or single letter of a's name that b's has not;
// a letter is shown with the word before it ("revision E").
func codesOf(a, b *partEntry) string {
	for i, t := range a.name {
		single := t.kind == word && len(t.text) == 1
		if t.kind != code && !single || slices.ContainsFunc(b.name, func(o term) bool { return o.text == t.text }) {
			// A letter that both have may still stand elsewhere: "E (replaces C)".
			if !single || i >= len(b.name) || b.name[i].text == t.text {
				continue
			}
		}
		if single && i > 0 {
			return a.name[i-1].shown + " " + strings.ToUpper(t.shown)
		}
		return t.shown
	}
	return ""
}

// maxDifferences keeps the sentence readable.
const maxDifferences = 3

// differsBy is the sentence of a search hit, about its nearest neighbours.
func (x *partIndex) differsBy(sku string) string {
	e := x.bySKU[sku]
	var out []string
	said := map[string]bool{}
	for _, o := range e.neighbours {
		mine, theirs := e.difference(o)
		if said[mine] || len(out) == maxDifferences {
			continue // the nearest neighbour has said it
		}
		said[mine] = true
		out = append(out, mine+", not "+theirs+" ("+o.part.SKU+")")
	}
	return strings.Join(out, "; ")
}

// notThe is the line of a card, about the one nearest neighbour.
func (x *partIndex) notThe(sku string) string {
	e := x.bySKU[sku]
	if len(e.neighbours) == 0 {
		return ""
	}
	_, theirs := e.difference(e.neighbours[0])
	return "not the " + theirs + " (" + e.neighbours[0].part.SKU + ")"
}

// A hit is a part that a query found; a higher score is a better one.
type hit struct {
	part  *Part
	score int
}

const exactSKU = 1000

// search finds the parts for a query. Quantities and codes must all be there;
// of the words as many as possible, where words that no part has do not count.
func (x *partIndex) search(query string) []hit {
	asked := terms(query)
	glued := compact(query)
	var best []hit
	most := 0
	for _, e := range x.entries {
		if glued == e.compact {
			best = append(best, hit{e.part, exactSKU})
			continue
		}
		score, matched, ok := e.match(asked, glued)
		if !ok || matched == 0 {
			continue
		}
		if matched > most {
			most = matched
			best = slices.DeleteFunc(best, func(h hit) bool { return h.score < exactSKU })
		}
		if matched == most {
			best = append(best, hit{e.part, score})
		}
	}
	return best
}

// match scores one part: how many terms it matches, and how well.
func (e *partEntry) match(asked []term, glued string) (score, matched int, ok bool) {
	if len(glued) >= 4 && strings.ContainsFunc(glued, unicode.IsDigit) && strings.HasPrefix(e.compact, glued) {
		return 50, len(asked), true
	}
	for _, t := range asked {
		s := e.matchTerm(t)
		if s == 0 && t.kind != word {
			return 0, 0, false
		}
		if s > 0 {
			matched++
		}
		score += s
	}
	return score, matched, true
}

func (e *partEntry) matchTerm(t term) int {
	if t.kind == quantity {
		if slices.ContainsFunc(e.name, func(n term) bool { return n.kind == quantity && n.text == t.text }) {
			return 5
		}
		return 0
	}
	if strings.Contains(t.text, "-") && strings.Contains(e.compact, compact(t.text)) {
		return 6
	}
	for _, piece := range e.sku {
		if piece == t.text {
			return 6
		}
	}
	for _, n := range e.name {
		if n.text == t.text || n.kind == quantity && n.number == t.text {
			return 5
		}
	}
	if t.kind == word && len(t.text) >= 3 {
		for _, n := range e.name {
			if strings.HasPrefix(n.text, t.text) {
				return 3
			}
		}
	}
	for _, n := range e.around {
		if n.text == t.text || len(t.text) >= 4 && t.kind == word && strings.HasPrefix(n.text, t.text) {
			return 1
		}
	}
	return 0
}
