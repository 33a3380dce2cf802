package offline

import "slices"

// intent is one row of the table of what can be asked. A clause belongs to the
// first row that fits: it opens with one of starts, or holds one of any; if also
// is set, one of these too; none of not; and fits, if set, agrees.
type intent struct {
	name   string
	starts []string
	any    []string
	also   []string
	not    []string
	fits   func(*clause) bool
	// preps are the words that lead to a site ("at the bakery").
	preps []string
	// write says in a participle what a write of this intent does ("ordered");
	// empty for reading.
	write string
	// many says that several jobs in one clause are several requests.
	many bool
	// context says that the last job fills in for one that is not named.
	context bool
	run     func(*turn, *request) answer
	// says is the answer of a row that does nothing else.
	says string
}

var defaultPreps = []string{"at", "for", "to", "on", "of"}

var (
	orderVerbs = []string{"order", "ordr", "oder", "orde", "oredr", "reorder", "re-order", "buy", "purchase", "place an order for"}
	bookVerbs  = []string{"book", "bok", "sched", "schedule", "schedul", "put", "assign", "plan", "send", "get", "book in"}

	// clauseVerbs begin a second request in one line.
	clauseVerbs = []string{
		"order", "ordr", "buy", "purchase", "book", "sched", "schedule", "put", "assign", "send", "move", "push", "cancel",
		"reschedule", "note", "status", "show", "whos", "whats", "wheres",
	}
	// questionClauses begin a second request behind "and" and the like.
	questionClauses = []string{"who", "whos", "what", "whats", "where", "wheres", "when", "whens", "how", "hows", "tell", "which", "add", "leave", "let", "shift", "give", "hand", "write"}
	moveVerbs       = []string{
		"move", "push", "reschedule", "resched", "shift", "postpone", "delay", "swap", "give", "hand over", "hand", "bring forward", "reassign", "transfer", "bring",
		"can we move", "can we push", "can we reschedule", "can we shift", "can we swap", "could we move", "could we push", "could we reschedule", "could we shift",
		"is it possible to move", "would it be possible to move", "any chance to move", "any chance we can move", "change",
	}
	cancelVerbs = []string{"cancel", "call off", "drop", "scrap", "delete", "remove", "can we cancel", "could we cancel"}
	anyoneWords = []string{"someone", "somebody", "anyone", "anybody"}
	// tradeWords are people by what they do.
	tradeWords = []string{"tech", "techs", "technician", "technicians", "engineer", "engineers", "plumber", "plumbers", "electrician", "electricians", "fitter", "mechanic", "guy", "guys"}
	// noPartWords are what somebody may want to get that is no part.
	noPartWords = []string{"status", "price", "prices", "list", "note", "notes", "details", "schedule", "agenda", "availability", "info", "number", "address", "update", "overview"}
)

// table is the order in which the rows are tried.
type table []*intent

// newTable puts writes first, because their verbs open a line; then what this
// desk refuses, then reading from the narrow to the wide.
func newTable() table {
	return slices.Concat(writeIntents(), refusedIntents(), readIntents())
}

func writeIntents() []*intent {
	return []*intent{
		{
			name: "not", run: runRefused, says: "I read that as not to do it.",
			starts: append(forbidden(orderVerbs, bookVerbs, moveVerbs, cancelVerbs, []string{"add", "write", "note"}), "stop ordering", "stop booking"),
		},
		{
			name: "send", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on"},
			starts: []string{"send", "find", "get", "book", "put", "schedule", "assign"}, also: anyoneWords,
		},
		{
			name: "order", run: runOrder, write: "ordered", many: true, context: true, preps: []string{"for", "at", "to"},
			starts: orderVerbs,
			not:    []string{"order status", "order number", "order list", "order history", "order book"},
		},
		{
			name: "order", run: runOrder, write: "ordered", many: true, context: true, preps: []string{"for", "at", "to"},
			starts: []string{"get"}, also: []string{"ordered"},
			not:  []string{"was ordered", "were ordered", "been ordered", "we ordered", "is ordered", "get me", "get us"},
			fits: func(c *clause) bool { return c.words[len(c.words)-1].text == "ordered" },
		},
		{
			name: "order", run: runOrder, write: "ordered", many: true, context: true, preps: []string{"for", "at", "to"},
			starts: []string{"get", "grab", "fetch", "get in"},
			not:    slices.Concat(anyoneWords, tradeWords, []string{"get me", "get us", "to do", "to go", "to look"}, noPartWords),
			fits: func(c *clause) bool {
				return namesJob(c) && !c.when.said() && len(c.people) == 0 && (c.quantity.given || c.quantity.article || len(c.measures)+len(c.ids.skus) > 0)
			},
		},
		{
			name: "order", run: runOrder, write: "ordered", many: true, context: true, preps: []string{"for", "at", "to"},
			starts: []string{"we need", "i need", "need", "please get"}, also: []string{"ordered", "on order"},
			not: []string{"was ordered", "were ordered", "been ordered", "we ordered", "is ordered", "to know"},
		},
		{
			name: "order", run: runOrder, write: "ordered", many: true, context: true, preps: []string{"for", "at", "to"},
			starts: []string{"get me", "get us"},
			not:    slices.Concat(noPartWords, anyoneWords, tradeWords),
			fits:   func(c *clause) bool { return namesJob(c) && !c.when.said() },
		},
		{
			name: "book", run: runBooking, write: "booked", context: true, preps: []string{"at", "for", "to", "on"},
			starts: []string{"get"}, also: []string{"to do", "to go", "to look", "on"}, not: []string{"get me", "get us"},
			fits: func(c *clause) bool { return c.when.said() && namesJob(c) },
		},
		{
			name: "book", run: runBooking, write: "booked", context: true, preps: []string{"at", "for", "to", "on"},
			starts: []string{"book", "bok", "sched", "schedule", "schedul", "put", "assign", "plan", "send", "book in"},
			not:    []string{"put a note", "put note", "schedule for", "send me", "send us", "put it on hold", "on hold"},
		},
		{
			name: "same", run: runSame, many: true, preps: []string{"for", "at", "on"},
			starts: []string{"same for", "same again for", "same on", "same thing for", "the same for", "ditto for", "same part for"},
		},
		{
			name: "move", run: runMove, write: "moved", many: true, context: true, preps: []string{"at", "of", "on"},
			any:  []string{"later", "earlier", "sooner"},
			fits: shiftsOnly,
		},
		{
			name: "move", run: runMove, write: "moved", many: true, context: true, preps: []string{"at", "of", "on"},
			starts: []string{"let"}, any: []string{"take over", "take"},
			fits: func(c *clause) bool {
				return c.words[c.open].text == "let" && c.has("take", "take over") && (namesJob(c) || len(c.ids.visits) > 0)
			},
		},
		{
			name: "change", run: runChange,
			starts: []string{"make it", "make that"},
		},
	}
}

// forbidden are the ways to say not to do what the verbs say.
func forbidden(verbs ...[]string) []string {
	var out []string
	for _, verb := range slices.Concat(verbs...) {
		for _, not := range []string{"dont ", "do not ", "never ", "no need to ", "please dont ", "you should not ", "we should not "} {
			out = append(out, not+verb)
		}
	}
	return out
}

// shiftsOnly reports whether a clause says by how much something moves, and
// little else: "an hour later", "make 1040 two hours earlier".
func shiftsOnly(c *clause) bool {
	if c.isQuestion() || c.negated() || c.conditional() || c.when.clockKnown() || c.when.dayKnown() {
		return false
	}
	if c.has("will", "is", "are", "was", "were", "be", "been", "would", "might", "may", "he", "she", "they") {
		return false // that tells something
	}
	minutes, days := shiftOf(&request{clause: c, when: c.when})
	name, _ := meaning(c.words[c.open:])
	return (minutes != 0 || days != 0) && len(without(name, "make", "two", "three", "four")) == 0
}

func namesJob(c *clause) bool { return len(c.ids.jobs) > 0 }

func refusedIntents() []*intent {
	return []*intent{
		{
			name: "approve", run: runRefused,
			any:  []string{"approve", "approving yourself", "authorise", "authorize", "sign off", "skip the card", "without asking", "ignore your rules", "ignore the rules"},
			not:  []string{"waiting for sign off", "need sign off", "needs sign off", "to sign off", "waiting on sign off", "need to approve", "to approve"},
			says: "I cannot approve anything: a decision on a card is a person's, at the desk.",
		},
		{
			name: "create", run: runRefused,
			starts: []string{"create", "new job", "make a new job", "open a new job", "raise", "log a job", "log a new job", "add a job", "add a new job", "make a job", "open a job", "hire"},
			says:   "I cannot make new jobs or people: that is done in the book.",
		},
		{
			name: "priority", run: runRefused, context: true,
			any:  []string{"make it urgent", "change the priority", "set the priority", "raise the priority", "lower the priority", "higher priority", "lower priority"},
			says: "I cannot change a job's priority.",
		},
		{
			name: "priority", run: runRefused, context: true,
			starts: []string{"make", "set", "mark"}, also: []string{"priority", "emergency", "urgent"},
			says: "I cannot change a job's priority.",
		},
		{
			name: "close", run: runRefused, context: true,
			starts: []string{"close", "complete", "reopen", "mark", "finish"},
			says:   "I cannot close, complete or reopen jobs: that is done with the technician's report.",
		},
		{
			name: "message", run: runRefused, context: true,
			starts: []string{"tell", "email", "e-mail", "mail", "call", "ring", "text", "message", "sms", "notify", "inform", "phone"},
			not:    []string{"tell me", "tell us", "call off", "call out"},
			says:   "I cannot write to or call customers and technicians.",
		},
		{
			name: "reprice", run: runRefused,
			any:  []string{"change the price", "set the price", "lower the price", "raise the limit", "change the limit", "discount", "% off", "percent off", "10% off"},
			says: "I cannot change prices or limits.",
		},
		{
			name: "obey", run: runObey, context: true,
			any: []string{"do what the note", "do what it says", "do what the customer", "do as the note", "follow the note", "do what the text", "follow the instructions", "do everything the note"},
		},
		{
			name: "move", run: runMove, write: "moved", many: true, context: true, preps: []string{"at", "of", "on"},
			starts: moveVerbs,
			not:    []string{"give me", "give us", "change the price", "change the limit", "hand in"},
			fits: func(c *clause) bool {
				switch c.words[c.open].text {
				case "bring":
					return c.has("forward", "earlier")
				case "change":
					return namesJob(c) || len(c.ids.visits) > 0 || c.has("visit", "appointment", "booking")
				}
				return true
			},
		},
		{
			name: "cancel", run: runCancel, write: "cancelled", many: true, context: true, preps: []string{"at", "for", "of", "on"},
			starts: cancelVerbs,
		},
		{
			name: "note", run: runNote, write: "written down", many: true, context: true, preps: []string{"at", "for", "to", "on", "of"},
			starts: []string{"note", "add a note", "add note", "leave a note", "write a note", "put a note", "put note", "make a note", "write down", "jot down"},
		},
		{
			name: "status", run: runStatus, many: true, context: true,
			any: []string{
				"when is that", "when is it", "when is this", "whens that", "whens it", "where is that", "where is it", "wheres that", "address there", "its address", "the address", "address",
				"who is going", "whos going", "who goes", "get in there", "which site is that", "what site is that", "what is the deadline", "whats the deadline", "when is it due", "is it due",
			},
			not:  []string{"address of", "address for the", "po", "order", "part"},
			fits: func(c *clause) bool { return namesJob(c) || len(c.people) == 0 && !c.when.said() },
		},
		{
			name: "agenda", run: runAgenda, preps: []string{"at"},
			any:  []string{"jobs", "visits", "day", "week", "rounds", "appointments", "round", "on", "doing", "plan", "up to", "busy with"},
			not:  []string{"free", "available", "skills"},
			fits: func(c *clause) bool { return !namesJob(c) && len(c.ids.orders) == 0 && ofSomebody(c) },
		},
		{
			name: "agenda", run: runAgenda, preps: []string{"at"},
			any:  []string{"on the road", "out today", "out tomorrow", "visits on", "visits", "double booking", "double bookings", "clashes"},
			not:  []string{"due", "cancel", "cancelled", "order", "orders", "part", "parts", "free", "available"},
			fits: func(c *clause) bool { return !namesJob(c) && len(c.ids.orders) == 0 && len(c.ids.visits) == 0 },
		},
		{
			name: "agenda", run: runAgenda, preps: []string{"at"},
			any: []string{
				"double booked", "double-booked", "jobs for", "jobs has", "visits for", "visits has", "visits at", "schedule for", "agenda", "diary", "calendar", "what has", "what have",
				"when is", "whens", "whereabouts", "where is", "wheres", "doing", "whats on", "what visits", "which visits", "visits today", "visits tomorrow", "day look",
				"route", "schedule", "got on", "covering", "overview", "briefing", "todays visits", "tomorrows visits", "is everyone", "is everybody",
			},
			not: []string{"due", "progress", "hold", "open jobs", "new jobs", "jobs are", "how many jobs", "part", "parts", "order", "orders", "delivery", "stock", "overdue", "unassigned", "in stock", "the price"},
			fits: func(c *clause) bool {
				nobody := c.listed && len(c.people) == 0
				return !namesJob(c) && len(c.ids.orders) == 0 && len(c.ids.skus) == 0 && len(c.measures) == 0 && !(nobody && c.has("jobs for", "jobs has"))
			},
		},
		{
			name: "agenda", run: runAgenda, preps: []string{"at"},
			starts: []string{"is anyone going to", "is anybody going to", "is someone going to", "is somebody going to", "anyone going to", "who is going to", "whos going to", "who is at", "whos at", "who is on at", "who goes to", "anyone at", "anybody at", "is anyone at", "is anybody at", "is somebody at", "who will be at"},
			not:    []string{"free", "available"},
			fits:   func(c *clause) bool { return !namesJob(c) },
		},
		{
			name: "agenda", run: runAgenda, preps: []string{"at"},
			starts: []string{"is", "has", "did"}, also: []string{"on site", "there yet", "arrived yet", "on the way", "still at", "left yet"},
			fits: func(c *clause) bool { return !namesJob(c) && (len(c.people) == 1 || c.has("at")) },
		},
	}
}

func readIntents() []*intent {
	reading := []string{"at", "for", "to", "on", "of"}
	return []*intent{
		{
			name: "people", run: runPeople, preps: []string{},
			any: []string{
				"skills of", "skills has", "ticket", "tickets", "certified", "on call", "gas skills", "lift skills", "has skills", "skills", "ticket for", "who has a ticket", "with a ticket", "who is qualified", "what skills", "which skills", "skills does", "qualified", "certificate", "certificates", "list technicians", "list the technicians", "our technicians",
				"show technicians", "which technicians", "who are our", "what can", "who is off", "whos off", "is off", "on holiday", "on leave", "off sick", "who is working", "whos working",
			},
			not: []string{"what can i", "what can you", "what can we", "free", "available", "turn off", "send", "part", "parts"},
			fits: func(c *clause) bool {
				return !namesJob(c) && len(c.ids.orders) == 0 && len(c.ids.skus) == 0
			},
		},
		{
			name: "help", run: runHelp,
			starts: []string{"help", "what can you do", "what can i ask", "what can i say", "commands", "how does this work"},
		},
		{
			name: "orders", run: runOrders, many: true, context: true, preps: reading,
			any: []string{
				"order status", "orders", "part order", "part orders", "purchase order", "purchase orders", "arrived", "arrive", "arrives", "arriving", "delivered",
				"delivery", "eta", "shipped", "on its way", "late parts", "back ordered", "back order", "backorder", "backordered", "on backorder", "on order", "still to come", "outstanding parts", "did we order", "have we ordered", "has been ordered",
				"waiting for approval", "pending approval", "needs approval", "need approval", "already ordered", "waiting for sign off", "need sign off", "needs sign off", "to sign off", "need to approve", "to approve",
			},
		},
		{
			name: "orders", run: runOrders, many: true, context: true, preps: reading,
			any: []string{"wheres", "where is", "where are", "status", "wheres my", "part in", "chase"},
			not: []string{"where are we", "where are we with"},
			fits: func(c *clause) bool {
				return len(c.ids.orders) > 0 || c.has("wheres", "where is", "where are", "part in", "chase") && (namesJob(c) || c.has("part", "parts", "order"))
			},
		},
		{
			name: "price", run: runPrice, preps: []string{"at"}, not: slices.Concat(anyoneWords, []string{"how many jobs", "how many visits", "how many orders", "tech", "technician", "in progress", "on hold"}),
			starts: []string{"i need a", "i need an", "i need the", "we need a", "we need an", "we need the", "looking for"},
			any: []string{
				"price", "prices", "cost", "costs", "how much", "do we have", "have we got", "have you got", "do you have", "got any", "any left", "left in", "is there a", "are there any", "which van", "whose van", "do we stock", "in stock", "stock", "what fits", "which fits", "fit",
				"what part", "which part", "compare", "difference between", "replacement", "replacements", "replace", "substitute", "substitutes", "alternative", "alternatives", "still made", "still sold", "discontinued",
				"instead of", "fits", "find part", "search part", "search parts", "find parts", "look up part", "how many", "quote", "cheapest", "how long does the", "how long is the", "lead time", "in the van", "in a van", "in the depot", "in his van", "in her van", "in their van", "on the van", "part does", "parts does", "part do", "parts do",
			},
		},
		{
			name: "availability", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on", "in"},
			starts: []string{"can", "could", "is", "would", "why cant", "why can not", "why cannot", "why isnt", "why not"},
			not:    []string{"the customer", "customer", "access", "done", "finished", "closed", "booked", "on hold", "due", "part", "order", "access"},
			fits: func(c *clause) bool {
				why := c.words[c.open].text == "why"
				return len(c.ids.orders)+len(c.ids.skus)+len(c.measures) == 0 && (c.when.said() || why) && (namesJob(c) || len(c.site) == 0 && !why) && c.namesOne()
			},
		},
		{
			name: "availability", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on", "in"},
			any: []string{
				"first slot", "next slot", "earliest slot", "earliest", "soonest", "next available", "first available", "any slots", "any slot", "free slots", "free slot", "slots for", "slot for",
				"when could", "when can", "how soon", "quickest", "why not", "why cant", "why can not",
			},
			not: []string{"part", "parts", "order", "delivery", "the customer"},
		},
		{
			name: "availability", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on", "in"},
			starts: []string{"need a", "need an", "we need a", "we need an", "i need a", "i need an", "looking for a", "looking for an", "get a", "get an", "want a", "find a", "find me a"},
			also:   slices.Concat(tradeWords, anyoneWords),
		},
		{
			name: "availability", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on", "in"},
			starts: []string{"does", "is", "do", "will"}, also: []string{"work", "works", "working", "in", "free", "available", "around", "on shift", "off", "here"},
			fits: func(c *clause) bool { return c.somebody() != nil && !namesJob(c) },
		},
		{
			name: "availability", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on", "in"},
			starts: []string{"any"},
			not:    []string{"news", "part", "parts", "orders", "notes", "note"},
			fits:   func(c *clause) bool { return namesJob(c) && c.when.said() },
		},
		{
			name: "availability", run: runAvailability, context: true, preps: []string{"at", "for", "to", "on", "in"},
			not: []string{"without anyone", "without anybody", "without somebody"},
			any: []string{"got time", "has time", "spare hour", "spare time", "spare slot", "gap", "gaps", "have time", "time for",
				"who is free", "whos free", "who can", "who could", "who else", "anyone", "anybody", "someone", "somebody", "available", "availability",
				"free", "any people", "people", "who has time", "who is available", "whos available", "who do we have",
			},
		},
		{
			name: "list", run: runList, preps: reading, fits: hasFilter,
		},
		{
			name: "status", run: runStatus, many: true, context: true, preps: reading,
			any: []string{
				"status", "statuses", "whats the status", "state of", "update on", "tell me about", "whats up with", "whats happening", "details", "detail", "info", "going on with", "whats the story", "how far", "where are we with", "where we at with", "any news on", "news on", "looking",
				"notes on", "the notes", "access", "whos on", "who is on", "when", "why", "finished", "done", "customer say", "what does the customer", "what about", "how is", "hows",
			},
		},
	}
}

// find gives the first row that fits, or nil.
func (t table) find(c *clause) *intent {
	for _, row := range t {
		if row.matches(c) {
			return row
		}
	}
	return nil
}

func (x *intent) matches(c *clause) bool {
	opens := startsWith(c.words, c.open, x.starts)
	holds := len(x.any) > 0 && c.has(x.any...)
	if !opens && !holds && len(x.starts)+len(x.any) > 0 {
		return false
	}
	if len(x.also) > 0 && !c.has(x.also...) || c.has(x.not...) {
		return false
	}
	return x.fits == nil || x.fits(c)
}

// shape reads a clause without any cue by what it names: a job, a name and a
// time are a booking; a lone job, order or part number asks how it stands.
func (t table) shape(c *clause) (row *intent, terse bool) {
	switch {
	case c.corrects:
		return t.named("change"), false
	case c.plain() && c.when.clockKnown() && !c.when.before && c.namesWhom():
		return t.named("book"), true
	case c.plain() && c.goesElsewhere():
		return t.named("move"), true
	case namesJob(c):
		return t.named("status"), false
	case len(c.ids.visits) > 0, c.somebody() != nil && len(c.rest)+len(c.site) == 0 && !c.isQuestion():
		return t.named("agenda"), false // "V-2028", "dov friday?"
	case len(c.ids.orders) == 0 && len(c.ids.skus) == 0 && len(c.measures) == 0 && !c.listed && c.when.dayKnown() && !c.when.clockKnown() && len(c.site) == 0 && c.open == 0 && c.namesOne() && !c.isQuestion():
		return t.named("agenda"), false // "dov friday?"
	case len(c.ids.orders) > 0:
		return t.named("orders"), false
	case len(c.ids.skus) > 0:
		return t.named("price"), false
	case len(c.ids.approvals) > 0:
		return t.named("approve"), false
	}
	return nil, false
}

// plain reports whether a clause may ask for a write without a verb: it asks
// nothing, forbids nothing, sets no condition and tells nothing.
func (c *clause) plain() bool {
	return !c.isQuestion() && !c.words[len(c.words)-1].asks && !c.negated() && !c.conditional() && !c.has(tellWords...)
}

// tellWords are verbs of lines that tell what is so.
var tellWords = []string{"is", "are", "was", "were", "will", "would", "said", "says", "has", "had", "been", "might", "may", "thinks", "asked", "wants", "did", "does", "called", "booked", "moved", "ordered", "cancelled", "thought"}

// namesWhom reports whether a clause says for which job and, as far as anybody
// can tell without knowing the names, whom to send.
func (c *clause) namesWhom() bool {
	if !c.listed {
		return len(c.ids.jobs) <= 1 && c.hasRest()
	}
	return c.somebody() != nil && (len(c.ids.jobs) == 1 || len(c.ids.jobs) == 0 && c.hasRest())
}

// goesElsewhere reports whether a clause says of one job or visit where it shall
// go, without a verb: "1059 to monday same time", "V-2032 an hour earlier", "1032
// to lukasz, same slot".
func (c *clause) goesElsewhere() bool {
	if len(c.ids.jobs)+len(c.ids.visits) != 1 {
		return false
	}
	if minutes, days := shiftOf(&request{clause: c, when: c.when}); (minutes != 0 || days != 0) && c.has("later", "earlier", "sooner") {
		return true
	}
	if c.has("same time", "same slot") {
		return c.somebody() != nil || c.when.dayKnown()
	}
	return c.leads("to", asTime) || c.has("needs to be", "has to be", "needs to move", "make it") && c.when.said()
}

// leads reports whether a word stands right before one that was read so.
func (c *clause) leads(lead string, as reading) bool {
	for i := 1; i < len(c.words); i++ {
		if c.words[i].as == as && c.words[i-1].text == lead {
			return true
		}
	}
	return false
}

// named gives the first row of a name.
func (t table) named(name string) *intent {
	for _, row := range t {
		if row.name == name {
			return row
		}
	}
	return nil
}
