package offline

import "strings"

// maxChoices is how many numbered choices fit into a question.
const maxChoices = 8

// jobsAt finds the jobs at the site that the request names. One job fills the
// slot; of several the items are given, and the answer asks which. A nil answer
// means that the flow goes on.
func (t *turn) jobsAt(r *request) ([]jobItem, *answer) {
	got, done := t.call(toolSearchJobs, args{"site": r.site, "limit": 50})
	if done && got.fault.Code == "site_not_found" {
		got, done = t.call(toolSearchJobs, args{"text": r.site, "limit": 50})
	}
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
	return list.Items, askJob(r, list.Items)
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
