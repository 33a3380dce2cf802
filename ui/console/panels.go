package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// listLength is how many conversations the list shows.
const listLength = 50

// panel is text that lies over the transcript until a key closes it. It decides
// nothing.
type panel struct {
	// text gives the lines for a width.
	text func(c canvas) []string
	top  int
	// pick is told of a number that was typed; nil if there is nothing to pick.
	pick  func(n int) tea.Cmd
	typed string
	// lines are the history of the card that the panel is about, once read.
	lines []agent.AuditLine
	err   error
}

func (p *panel) scroll(n int) { p.top = max(0, p.top+n) }

// view gives the visible lines.
func (p *panel) view(c canvas, height int) []string {
	lines := p.text(c)
	p.top = max(0, min(p.top, len(lines)-height))
	return lines[p.top:min(len(lines), p.top+height)]
}

// panelKey acts on the panel; a key that it does not know closes it and is used
// as if it had not been there.
func (m *Model) panelKey(k tea.KeyMsg) (cmd tea.Cmd, used bool) {
	p := m.panel
	switch name := k.String(); {
	case name == "up" || name == "down":
		p.scroll(map[string]int{"up": -1, "down": 1}[name])
	case name == "home":
		p.top = 0
	case name == "end":
		p.top = 1 << 20
	case p.pick != nil && len(name) == 1 && name[0] >= '0' && name[0] <= '9':
		p.typed += name
	case p.pick != nil && name == "backspace" && p.typed != "":
		p.typed = p.typed[:len(p.typed)-1]
	case p.pick != nil && name == "enter" && p.typed != "":
		n, _ := strconv.Atoi(p.typed)
		p.typed = ""
		return p.pick(n), true
	case name == "esc" || name == "enter" || name == "q" || name == "v":
		m.panel = nil
	case m.focus != "": // a card is behind it, and must be looked at first
		m.panel = nil
		m.guard.land()
	default:
		m.panel = nil
		return nil, false
	}
	return nil, true
}

func textPanel(text string) *panel {
	return &panel{text: func(c canvas) []string {
		var out []string
		for line := range strings.SplitSeq(text, "\n") {
			out = append(out, hanging(line, c.width)...)
		}
		return out
	}}
}

func helpPanel() *panel {
	k := newKeyMap()
	return textPanel("Typing\n" + helpRow(k.send, k.newline) + helpRow(k.earlier, k.leave) + strings.TrimPrefix(`
  ↑ ↓ PgUp PgDn Home End on an empty line scroll
  Alt+E            write in $EDITOR

Cards: what spends money or breaks a promise waits for you
`+helpLine(k.cards)+strings.TrimPrefix(`
  a  approve       d  decline (asks for a reason)
  e  edit          s  leave it to somebody with the limit
  v  view all      r  fetch or send again    t  an hour more
  h  it happened   n  it did not     x  send again (outcome unknown)
  l  look it up (outcome unknown)
  y  copy it       Y  copy its id
  Esc              back to typing; decides nothing
  Keys count after a moment of quiet, once all of the card was in view.

`, "\n")+commandHelp()+"\nEsc closes this.", "\n"))
}

// connectPanel says how to connect one's own work-order system or model.
func (m *Model) connectPanel() *panel {
	o := m.options
	text := "Your own work-order system, or another model, stands in one file:\n\n  " + o.ConfigPath +
		"\n\nPut this there, with your own address, and start again:\n"
	c := textPanel(text)
	intro := c.text
	c.text = func(cv canvas) []string {
		lines := intro(cv)
		for line := range strings.SplitSeq(safe(spread(o.ConfigBlock), prose), "\n") {
			lines = append(lines, hanging(line, cv.width)...)
		}
		lines = append(lines, "", "The servers now:")
		for _, s := range o.Servers() {
			line := indent + s.Name + " " + s.State
			if s.Detail != "" {
				line += ": " + s.Detail
			}
			lines = append(lines, hanging(indent+safeLine(line, prose), cv.width)...)
		}
		return append(lines, "", "Esc closes this.")
	}
	return c
}

// spread puts each member of a JSON block on a line of its own, so that it can
// be copied from a narrow screen.
func spread(block string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(block), "", "  ") != nil {
		return block
	}
	return out.String()
}

// viewAll shows everything about a card: what will be sent, byte for byte in a
// form that can be read, and all that the server said.
func viewAll(k card) *panel {
	a := k.approval
	p := &panel{}
	p.text = func(c canvas) []string {
		var out []string
		add := func(lead, text string) { out = append(out, hanging(lead+text, c.width)...) }
		add("", string(a.ID)+"  "+safeLine(string(k.call.Tool), evidence))
		add("  server: ", safeLine(a.ServerIdentity, evidence))
		add("  digest: ", safeLine(a.Digest, evidence))
		add("  call: ", safeLine(string(k.call.ID), evidence))
		if k.call.Key != "" {
			add("  key: ", safeLine(k.call.Key, evidence))
		}
		if a.Because != "" {
			add("  asks because: ", safeLine(a.Because, evidence))
		}
		arguments := a.Arguments
		if len(arguments) == 0 {
			arguments = k.call.Arguments
		}
		out = append(out, "", "What is sent")
		for _, m := range members(arguments) {
			add("  ", m.name+": "+m.value)
		}
		if a.Preview != nil {
			out = append(out, "")
			add("", "What the server says (from "+safeLine(string(a.PreviewTool), evidence)+")")
			for _, m := range members(a.Preview.Structured) {
				add("  ", m.name+": "+m.value)
			}
		}
		if a.Description != "" {
			out = append(out, "", "The server's description of the tool")
			out = append(out, indented(safe(a.Description, evidence), c.width)...)
		}
		out = append(out, "", "History")
		out = append(out, p.history(c)...)
		return append(out, "", "Esc goes back to the card.")
	}
	return p
}

// history tells what is on record about the card's call, oldest first.
func (p *panel) history(c canvas) []string {
	if p.err != nil {
		return hanging(indent+"It could not be read: "+say(p.err.Error()), c.width)
	}
	var out []string
	for _, l := range p.lines {
		parts := []string{c.clock.at(l.At), string(l.Step)}
		if l.Approval != "" {
			parts = append(parts, string(l.Approval))
		}
		if l.By != nil {
			parts = append(parts, "by "+safeLine(l.By.DisplayName(), evidence))
		}
		if l.Note != "" {
			parts = append(parts, safeLine(l.Note, evidence))
		}
		out = append(out, hanging(indent+joinParts(parts), c.width)...)
	}
	return out
}

// listed shows the conversations.
func (m *Model) listed(msg listedMsg) {
	if msg.err != nil {
		m.say(sentence(msg.err))
		return
	}
	m.toComposer()
	waits := map[agent.ConversationID]int{}
	for _, w := range m.waiting {
		waits[w.ConversationID]++
	}
	p := &panel{}
	p.text = func(c canvas) []string {
		out := []string{"Conversations, newest first. Type a number and Enter to open one; Esc closes.", ""}
		for i, h := range msg.heads {
			state := ""
			if n := waits[h.Conversation]; n > 0 {
				state = plural(n, "decision waits", "decisions wait") + " · "
			} else if h.Open != nil {
				state = string(h.Open.State) + " · "
			}
			out = append(out, fit(fmt.Sprintf("%3d  %s%s · %s", i+1, state, c.clock.at(h.Updated), safeLine(h.Title, prose)), c.width))
		}
		if len(msg.heads) == 0 {
			out = append(out, "  none yet")
		}
		return append(out, "", "Number: "+p.typed)
	}
	p.pick = func(n int) tea.Cmd {
		if n < 1 || n > len(msg.heads) {
			m.hint("There is no such number.")
			return nil
		}
		m.panel = nil
		if id := msg.heads[n-1].Conversation; id != m.open.id {
			m.back = append(m.back, m.open.id)
			return m.switchTo(id, "")
		}
		return nil
	}
	m.panel = p
}
