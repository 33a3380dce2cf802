package console

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// waitingText counts the decisions that wait, and says how long the oldest has.
func (m *Model) waitingText() string {
	n := len(m.waiting)
	if n == 0 {
		return "nothing waits"
	}
	return plural(n, "decision", "decisions") + " waiting (" + age(m.options.Now().Sub(m.waiting[0].RequestedAt)) + ")"
}

// status is the last line of the screen: always there, the count first.
func (m *Model) status() string {
	waiting := m.waitingText()
	now := m.options.Now()
	demo := ""
	if m.options.Company().Demo {
		demo = "DEMO "
	}
	servers, fault := m.servers()
	model := "model: " + safeLine(m.options.Model, prose)
	// From the full form to shorter ones; the first that fits is taken.
	forms := [][]string{
		{waiting, demo + now.Format("Mon 2 Jan 2006 15:04"), servers, model},
		{waiting, demo + now.Format("Mon 2 Jan 15:04"), servers, model},
		{waiting, demo + now.Format("2 Jan 15:04"), servers, model},
		{waiting, demo + now.Format("15:04"), servers, model},
		{waiting, demo + now.Format("15:04"), fault, model},
		{waiting, demo + now.Format("15:04"), servers},
		{waiting, demo + now.Format("15:04"), fault},
		{waiting, demo + now.Format("15:04")},
	}
	for _, form := range forms {
		line := joinParts(form)
		if ansi.StringWidth(line) <= m.width {
			return m.inkStatus(line, waiting)
		}
	}
	return m.inkStatus(fit(waiting, m.width), fit(waiting, m.width))
}

// inkStatus makes the count stand out while something waits.
func (m *Model) inkStatus(line, waiting string) string {
	rest := strings.TrimPrefix(line, waiting)
	if len(m.waiting) == 0 {
		return paint(m.styles.status, line)
	}
	return paint(m.styles.waiting, waiting) + paint(m.styles.status, rest)
}

func joinParts(parts []string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " · ")
}

// servers says how the servers are; fault is empty while all are ready.
func (m *Model) servers() (text, fault string) {
	var parts, faults []string
	for _, s := range m.options.Servers() {
		part := safeLine(s.Name+" "+s.State, prose)
		parts = append(parts, part)
		if s.State != ServerReady {
			faults = append(faults, part)
		}
	}
	return strings.Join(parts, ", "), strings.Join(faults, ", ")
}
