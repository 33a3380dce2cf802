package offline

import (
	"slices"
	"strings"
)

// maxChoices is how many numbered choices fit into a question.
const maxChoices = 8

// jobsAt finds the jobs at the site that the request names. One job fills the
// slot; of several the items are given, and the answer asks which. A nil answer
// means that the flow goes on.
func (t *turn) jobsAt(r *request) ([]jobItem, *answer) {
	got, done := t.searchPlace(args{"limit": 50}, r.site)
	if !done {
		return nil, &waits
	}
	nothing := orEmpty(" Nothing was ", r.intent.write+".", r.intent.write != "")
	if !got.ok() {
		a := whichSite(r, got)
		if a == nil {
			failed := say(t.trouble(got, "") + nothing)
			a = &failed
		}
		return nil, a
	}
	var list jobList
	got.read(&list)
	switch len(list.Items) {
	case 0:
		a := say("There is no open job at " + quoted(r.site, 60) + "." + nothing)
		return nil, &a
	case 1:
		r.job = list.Items[0].ID
		return list.Items, nil
	}
	if id := describedJob(list.Items, r.clause.rest); id != "" {
		r.job = id
		return list.Items, nil
	}
	return list.Items, askJob(r, list.Items)
}

// describedJob is the only job of a list that words describe: "to the grange for
// the dishwasher"; empty if there is none or several.
func describedJob(items []jobItem, words []string) string {
	found := ""
	for i := range items {
		if !listed(items[i], words) {
			continue
		}
		if found != "" {
			return ""
		}
		found = items[i].ID
	}
	return found
}

// searchPlace lists jobs at a site, of a customer, or described by words: only
// the server knows which of these the words are. Of several sites with such a
// name the customer's count, if they are one customer's.
func (t *turn) searchPlace(filter args, words string) (outcome, bool) {
	with := func(key, value string) (outcome, bool) {
		a := args{key: value}
		for k, v := range filter {
			a[k] = v
		}
		return t.call(toolSearchJobs, a)
	}
	first, done := with("site", words)
	if !done || first.fault.Code != "site_not_found" && first.fault.Code != "ambiguous_site" {
		return first, done
	}
	if got, done := with("customer", words); !done || got.ok() {
		return got, done
	}
	if first.fault.Code == "ambiguous_site" {
		return first, true
	}
	got, done := with("text", words)
	if !done || !got.ok() || found(got) > 0 {
		return got, done
	}
	for _, glued := range gluedPairs(words) { // "fish market" is Fishmarket
		more, done := with("text", glued)
		if !done || more.ok() && found(more) > 0 {
			return more, done
		}
	}
	return got, true
}

// lessOf is a name without its last word; empty if it has only one.
func lessOf(name string) string {
	i := strings.LastIndexByte(name, ' ')
	return name[:max(i, 0)]
}

// found is how many jobs a search gave.
func found(o outcome) int {
	var list jobList
	o.read(&list)
	return len(list.Items)
}

// gluedPairs writes each two neighbours as one word.
func gluedPairs(words string) []string {
	all := strings.Fields(words)
	var out []string
	for i := 0; i+1 < min(len(all), 5); i++ {
		out = append(out, joinWords(slices.Concat(all[:i], []string{all[i] + all[i+1]}, all[i+2:])))
	}
	return out
}

// askJob asks which of several jobs is meant.
func askJob(r *request, items []jobItem) *answer {
	q := &question{request: r, slot: slotJob}
	for _, j := range items[:min(len(items), maxChoices)] {
		q.choices = append(q.choices, choice{
			label: clean(j.ID, 20) + " " + clean(j.Title, 80) + ", " + plain(j.Status), words: j.ID + " " + strings.TrimPrefix(j.ID, "WO-"),
			apply: func(b *request) { b.job, b.site = j.ID, "" },
		})
	}
	text := "Which job at " + quoted(r.site, 60) + "?"
	return &answer{text: lines(text, q.numbered()), ask: q}
}

// whichSite asks which of several sites is meant; nil if there is nothing to
// choose from.
func whichSite(r *request, o outcome) *answer {
	if o.fault.Code != "ambiguous_site" {
		return nil
	}
	said, _ := o.args["site"].(string)
	q := &question{request: r}
	for _, c := range o.fault.Candidates {
		if id := field(c, "site"); id != "" {
			q.choices = append(q.choices, choice{
				label: field(c, "name") + orEmpty(", ", field(c, "address"), field(c, "address") != ""), words: id,
				apply: func(b *request) { b.site = id },
			})
		}
	}
	if len(q.choices) == 0 {
		return nil
	}
	return &answer{text: lines("Which site do you mean by "+quoted(said, 60)+"?", q.numbered()), ask: q}
}
