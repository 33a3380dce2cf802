package offline

import "slices"

// accessWords ask how to get into a place.
var accessWords = []string{"access", "get in", "get into", "key", "keys", "entrance", "door code", "code", "parking", "park"}

// looks makes a request of a clause that no row of the table fits but that says
// something: perhaps it is a job, a place or a part that can be shown.
func (t *turn) looks(c *clause) *request {
	words := without(append(slices.Clone(c.site), c.rest...), lookWords...)
	if len(words) == 0 || len(words) > 5 || c.conditional() || c.negated() || len(c.ids.approvals) > 0 {
		return nil
	}
	return &request{intent: lookIntent, clause: c, words: words, measures: c.measures, when: c.when}
}

// lookIntent only reads.
var lookIntent = &intent{name: "look", run: runLook}

// lookWords belong to questions and describe nothing.
var lookWords = []string{"wrong", "fault", "problem", "happening", "story", "news", "update", "broken", "issue", "doing", "stand", "standing", "looking", "quick"}

// runLook shows the jobs that the words describe, else the parts.
func runLook(t *turn, r *request) answer {
	said := joinWords(r.words)
	if len(r.measures) == 0 {
		got, done := t.searchPlace(args{"limit": 50}, said)
		if !done {
			return waits
		}
		if a := whichSite(r, got); a != nil {
			return *a
		}
		if got.ok() && found(got) > 0 {
			return t.lookedUp(r, got, said)
		}
	}
	hits, done := t.searchParts(partQuery(r), "")
	if !done {
		return waits
	}
	hits = slices.DeleteFunc(hits, func(p part) bool { return !fitsWords(r, workOrder{}, p.SKU+" "+p.Name+" "+p.Category, nil) })
	if len(hits) == 0 {
		return t.notUnderstood([]*clause{r.clause})
	}
	if len(hits) == 1 {
		t.memory.setSKU(hits[0].SKU)
	}
	return say(partLines(hits))
}

// lookedUp shows what was found: one job whole, several as a list.
func (t *turn) lookedUp(r *request, o outcome, said string) answer {
	var list jobList
	o.read(&list)
	if len(list.Items) > 1 && !r.has(accessWords...) {
		return say(listText(list, said, "")...)
	}
	w, got, done := t.lookup(list.Items[0].ID)
	switch {
	case !done:
		return waits
	case !got.ok():
		return say(t.trouble(got, list.Items[0].ID))
	case len(list.Items) > 1:
		t.memory.list = list.Items
		return say(siteLine(w, true))
	}
	return say(jobText(w, r))
}
