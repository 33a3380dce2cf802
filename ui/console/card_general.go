package console

// otherArguments shows the arguments that have no line of their own, so that
// nothing is sent that was not on the card.
func (k card) otherArguments(b *box) {
	for _, m := range members(k.approval.Arguments) {
		if !placed[m.name] {
			b.text(m.name + " (from the assistant): " + m.value)
		}
	}
}

// general draws the card of a call that has no form of its own: its name, all
// its arguments, and why it asks.
func (k card) general(b *box) {
	a := k.approval
	tool := a.Tool
	arguments := a.Arguments
	if a.ID == "" { // an unknown call that never had an approval
		tool, arguments = k.call.Tool, k.call.Arguments
	}
	b.text(paint(b.canvas.styles.strong, safeLine(string(tool), evidence)))
	for _, m := range members(arguments) {
		b.text(indent + m.name + ": " + m.value)
	}
	if a.Preview != nil && a.Kind == "order" {
		b.warning("The quote does not fit the call; read both (v shows the quote).", true)
	}
	if a.ID != "" {
		k.asked(b)
	}
	for _, w := range a.PreviewWarnings() {
		b.warning(safeLine(w.Message, evidence), false)
	}
	if a.NotInRequest {
		b.warning("not in your request", true)
	}
}

// override gives what has to be typed before the card can be approved, because
// it goes over a warning: the accepted spellings and what to ask for. It is
// empty for other cards.
func (k card) override() (label string, accepted []string) {
	if q, _, ok := readQuote(k.approval); ok && len(q.Duplicates) > 0 {
		return "Ordered before. Type the total to order again: ", totals(q)
	}
	var args struct {
		Override  []string `json:"override"`
		Duplicate bool     `json:"allow_duplicate"`
		WorkOrder string   `json:"work_order_id"`
		Visit     string   `json:"visit_id"`
	}
	if unmarshal(k.approval.Arguments, &args) != nil || len(args.Override) == 0 && !args.Duplicate {
		return "", nil
	}
	id := args.Visit
	if id == "" {
		id = args.WorkOrder
	}
	if id == "" {
		id = string(k.approval.ID)
	}
	return "This goes over a conflict. Type " + safeLine(id, evidence) + " to allow it: ", []string{id}
}
