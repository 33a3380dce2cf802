package offline

// runSame does the last request again for another job: "same for 1045".
func runSame(t *turn, r *request) answer {
	last := t.memory.last
	if last == nil || r.job == "" {
		return say("The same as what? Nothing came before that I could do again for "+orThat(r.job)+".", t.memory.examples())
	}
	again := last.copy()
	again.job, again.site = r.job, ""
	again.duplicate, again.additional, again.unfit = false, false, false
	if again.sku == "" && again.intent.write == "ordered" && t.memory.sku != "" {
		again.sku, again.needed = t.memory.sku, false // the same part, not the same words
	}
	if r.quantity.given {
		again.quantity = r.quantity
	}
	if r.when.said() {
		again.when = mergeWhen(again.when, r.when)
	}
	t.memory.last, t.memory.lastDone = again, false
	return again.intent.run(t, again)
}

func orThat(job string) string {
	if job == "" {
		return "that"
	}
	return job
}

// runChange does the last request with another slot: "no wait, thursday
// afternoon". What was already booked or ordered is not changed by it.
func runChange(t *turn, r *request) answer {
	last := t.memory.last
	if last == nil {
		return t.notUnderstood([]*clause{r.clause})
	}
	c := r.clause
	next := last.copy()
	if last.intent.write != "" && t.memory.lastDone {
		if last.intent.name != "book" && last.intent.name != "move" || t.memory.visit == "" {
			return say("That is already "+last.intent.write+". Say what to cancel or to do instead. Nothing was changed.", t.memory.examples())
		}
		// What was booked or moved is moved again, from where it is now.
		next = &request{intent: t.table.named("move"), clause: c, visit: t.memory.visit, when: when{from: -1, to: -1}, filled: true}
	}
	changed := false
	if c.when.said() {
		next.when, changed = mergeWhen(next.when, c.when), true
	}
	if c.quantity.given {
		next.quantity, changed = c.quantity, true
	}
	if len(c.ids.jobs) > 0 {
		next.job, next.site, changed = c.ids.jobs[0], "", true
	}
	if len(c.ids.skus) > 0 {
		next.sku, next.needed, changed = c.ids.skus[0], false, true
	}
	if name, _ := meaning(c.words[c.open:]); len(name) > 0 && len(name) <= 3 && (next.intent.name == "book" || next.intent.name == "move") {
		next.technician, changed = joinWords(name), true
	}
	if !changed {
		return t.notUnderstood([]*clause{c})
	}
	t.memory.last, t.memory.lastDone = next, false
	return next.intent.run(t, next)
}
