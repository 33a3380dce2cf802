package console

// roomy is the width from which there is room for what can be left out.
const roomy = 60

// welcomeItem is the first minute: what this is, three lines to try, how to
// connect one's own system, how to leave.
type welcomeItem struct {
	company  Company
	starting bool
}

func (m *Model) welcome() item {
	return welcomeItem{company: m.options.Company(), starting: m.starting}
}

func (i welcomeItem) lines(c canvas) []string {
	name := safeLine(i.company.Name, prose)
	var out []string
	add := func(text string) { out = append(out, hanging(text, c.width)...) }
	switch {
	case i.company.Demo:
		out = append(out, hanging("Deskhand · DEMO: "+name+", made-up data, no supplier is contacted", c.width)...)
	case name != "":
		out = append(out, hanging("Deskhand · "+name, c.width)...)
	default:
		out = append(out, "Deskhand")
	}
	for n := range out {
		out[n] = paint(c.styles.strong, out[n])
	}
	add("")
	if i.company.Demo || name == "" {
		add("Try one of these lines:")
		add("  status of WO-1043")
		add("  who's free for 1047 tomorrow morning")
		add("  order a 3 kW heating element for WO-1044")
	} else {
		add("Ask for a job's status, for who is free, or for a part; for example:")
		add("  what is due by tomorrow noon")
		add("  anything urgent without a technician?")
	}
	add("")
	if c.width >= roomy {
		add("What spends money or breaks a promise waits for your decision; nothing else asks.")
		add("")
	}
	add("/connect  your own work-order system or model")
	add("/help     keys and commands; Ctrl+C twice leaves")
	if i.starting {
		out = append(out, "", paint(c.styles.faint, "Connecting…"))
	}
	return out
}
