package offline

import "slices"

// betweenJobs are the words that may stand between two jobs which want the same
// thing: "a 3 kW element for 1044 and for 1045".
var betweenJobs = []string{"and", "for", "also", "plus", "wo", "job", "jobs", "on", "to", "too", "then", "as", "well", "both", "&", "+", ","}

// mixed reports whether an order names several jobs of which each may want
// something of its own: a part, a number or any other word stands between them,
// or there are several part numbers. Which belongs to which is then a guess, and
// a guess is no order.
func (c *clause) mixed() bool {
	if c.intent == nil || c.intent.name != "order" || len(c.ids.jobs) < 2 {
		return false
	}
	if len(c.ids.skus) > 1 {
		return true
	}
	between, started := false, false
	for _, w := range c.words {
		switch {
		case w.isJob():
			if between {
				return true
			}
			started = true
		case started && !slices.Contains(betweenJobs, w.base()):
			between = true
		}
	}
	return false
}

// isJob reports whether the word is a job's number.
func (w word) isJob() bool {
	if w.as != asID {
		return false
	}
	base := w.base()
	m := prefixedID.FindStringSubmatch(base)
	return bareJob.MatchString(base) || m != nil && m[1] == "wo"
}
