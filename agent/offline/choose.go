package offline

import (
	"slices"
	"strings"
)

// verdict is how well a line's words name one part.
type verdict int

const (
	chosen       verdict = iota // this one
	discontinued                // this one, and it is no longer made
	unfit                       // this one, and it does not fit the job's asset
	several                     // more than one fits
	contrary                    // what is needed differs from what was said
	unknown                     // nothing fits the words
)

// selection is what came of choosing a part.
type selection struct {
	verdict verdict
	part    part
	// needed is the quantity on the technician's list; 0 if the part is not on it.
	needed int
	// among are the parts to choose from.
	among []part
}

// choosePart follows one order: a part number wins; else what the technician
// needs and the words fit; else the only active part that fits the words and
// the asset; else the dispatcher is asked.
func choosePart(r *request, w workOrder, hits []part) selection {
	if r.sku != "" {
		return chooseSKU(r, w, hits)
	}
	var needed []neededPart
	for _, n := range w.PartsNeeded {
		if r.needed || fitsWords(r, w, n.SKU+" "+n.Text+" "+nameOf(hits, n.SKU), nil) {
			needed = append(needed, n)
		}
	}
	switch {
	case len(needed) == 1:
		return confirm(selection{verdict: chosen, part: find(hits, needed[0].SKU), needed: max(needed[0].Quantity, 1)})
	case len(needed) > 1:
		return selection{verdict: several, among: partsOf(needed, hits)}
	case r.needed:
		return selection{verdict: unknown}
	}
	return chooseFitting(r, w, hits)
}

func chooseSKU(r *request, w workOrder, hits []part) selection {
	i := slices.IndexFunc(hits, func(p part) bool { return strings.EqualFold(p.SKU, r.sku) })
	if i < 0 {
		return selection{verdict: unknown, among: hits}
	}
	s := selection{verdict: chosen, part: hits[i]}
	for _, n := range w.PartsNeeded {
		if n.SKU == hits[i].SKU {
			s.needed = n.Quantity
		}
	}
	if hits[i].active() && hits[i].Fits == "no" && !r.unfit && s.needed == 0 {
		s.verdict = unfit
	}
	return confirm(s)
}

// chooseFitting takes the only active part that fits words and asset.
func chooseFitting(r *request, w workOrder, hits []part) selection {
	var named, fitting []part
	for _, p := range hits {
		if !fitsWords(r, w, p.SKU+" "+p.Name+" "+p.Category, &p) {
			continue
		}
		named = append(named, p)
		if p.active() && p.Fits == "yes" {
			fitting = append(fitting, p)
		}
	}
	switch {
	case len(fitting) == 1:
		return selection{verdict: chosen, part: fitting[0]}
	case len(fitting) > 1:
		return selection{verdict: several, among: fitting}
	case len(w.PartsNeeded) > 0:
		return selection{verdict: contrary, among: named}
	case len(named) == 1 && !named[0].active():
		return selection{verdict: discontinued, part: named[0]}
	case len(named) == 1 && named[0].Fits == "no":
		return selection{verdict: unfit, part: named[0]}
	case len(named) == 1 && named[0].Fits != "not_listed":
		return selection{verdict: chosen, part: named[0]} // made for no model: a valve, a hose
	case len(named) > 0:
		return selection{verdict: several, among: named}
	}
	return selection{verdict: unknown, among: hits}
}

// confirm turns a choice of a part that is no longer made into a question.
func confirm(s selection) selection {
	if s.verdict == chosen && !s.part.active() {
		s.verdict = discontinued
	}
	return s
}

// fitsWords reports whether the words and measures of a request describe a
// part. Every measure must be the part's; every word must be the part's or at
// least describe the job ("the washer lock" is the door lock of the washer), and
// something must be the part's own.
func fitsWords(r *request, w workOrder, text string, p *part) bool {
	own := 0
	have := measuresOf(text)
	for _, m := range r.measures {
		if !slices.Contains(have, m) {
			return false
		}
		own++
	}
	partWords, jobWords := textWords(text), textWords(jobContext(w))
	for _, word := range unhyphenated(r.words) {
		switch {
		case slices.ContainsFunc(partWords, func(h string) bool { return alike(h, word) }):
			own++
		case p != nil && p.Fits == "yes" && len(r.words) > 1 && slices.ContainsFunc(jobWords, func(h string) bool { return alike(h, word) }):
		case p == nil && slices.ContainsFunc(jobWords, func(h string) bool { return alike(h, word) }):
		default:
			return false
		}
	}
	return own > 0
}

// alike compares words without plural and endings: "element" is "elements",
// "heat" is not "heating".
func alike(have, said string) bool {
	a, b := stem(have), stem(said)
	return a == b || len(b) > 5 && strings.HasPrefix(a, b)
}

func jobContext(w workOrder) string {
	text := w.Title + " " + w.Site.Name + " " + w.Customer.Name
	if w.Asset != nil {
		text += " " + w.Asset.Kind + " " + w.Asset.Model
	}
	return text
}

func nameOf(hits []part, sku string) string { return find(hits, sku).Name }

// find gives the part of a number, or one that has only the number.
func find(hits []part, sku string) part {
	for _, p := range hits {
		if p.SKU == sku {
			return p
		}
	}
	return part{SKU: sku}
}

func partsOf(needed []neededPart, hits []part) []part {
	var out []part
	for _, n := range needed {
		p := find(hits, n.SKU)
		if p.Name == "" {
			p.Name = clean(n.Text, 100)
		}
		out = append(out, p)
	}
	return out
}

// unhyphenated parts words as the words of a part's name are parted: "v-belt" is
// "v" and "belt".
func unhyphenated(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, strings.FieldsFunc(w, func(r rune) bool { return r == '-' || r == '/' })...)
	}
	return out
}
