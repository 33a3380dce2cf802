package console

import (
	"fmt"
	"strings"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// maxHits is how many hits a search shows.
const maxHits = 50

// hit is a message in which a search found its words.
type hit struct {
	head    agent.Head
	message agent.Message
}

// find searches all conversations, the newest first.
func (m *Model) find(words string) tea.Cmd {
	m.hint("Searching…")
	return m.desk.find(words)
}

func (d desk) find(words string) tea.Cmd {
	return func() tea.Msg {
		out := foundMsg{words: words}
		store := d.engine.Store()
		for before := 0; ; {
			heads, err := store.Conversations(d.ctx, before, pageLength)
			if err != nil || len(heads) == 0 {
				out.err = err
				return out
			}
			for _, h := range heads {
				before = h.Number
				for from := 0; ; {
					messages, err := store.Messages(d.ctx, h.Conversation, from, pageLength)
					if err != nil || len(messages) == 0 {
						out.err = err
						break
					}
					from = messages[0].Number
					for i := len(messages) - 1; i >= 0; i-- {
						if !containsFold(messages[i].Text, words) {
							continue
						}
						if len(out.hits) == maxHits {
							out.more = true
							return out
						}
						out.hits = append(out.hits, hit{h, messages[i]})
					}
					if from <= 1 {
						break
					}
				}
				if out.err != nil {
					return out
				}
			}
		}
	}
}

func containsFold(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}

// found shows the hits; a number opens the conversation of one.
func (m *Model) found(msg foundMsg) {
	m.notice = notice{}
	if msg.err != nil {
		m.say("Searching failed: " + full(msg.err.Error()))
		return
	}
	m.toComposer()
	p := &panel{}
	p.text = func(c canvas) []string {
		title := plural(len(msg.hits), "message has", "messages have")
		if msg.more {
			title = fmt.Sprintf("More than %d messages have", maxHits)
		}
		out := hanging(title+" \""+safeLine(msg.words, prose)+"\", newest first. A number and Enter opens the conversation; Esc closes.", c.width)
		out = append(out, "")
		for i, h := range msg.hits {
			out = append(out, fit(fmt.Sprintf("%3d  #%d %s · %s", i+1, h.head.Number, c.clock.at(h.message.At), safeLine(h.head.Title, prose)), c.width))
			out = append(out, "     "+excerpt(h.message.Text, msg.words, c.width-5, c.styles.strong))
		}
		return append(out, "", "Number: "+p.typed)
	}
	p.pick = func(n int) tea.Cmd {
		if n < 1 || n > len(msg.hits) {
			m.hint("There is no such number.")
			return nil
		}
		m.panel = nil
		if id := msg.hits[n-1].head.Conversation; id != m.open.id {
			m.back = append(m.back, m.open.id)
			return m.switchTo(id, "")
		}
		return nil
	}
	m.panel = p
}

// excerpt is the part of a text around the words, on one line, with the words
// marked: in brackets too, because there may be no bold.
func excerpt(text, words string, width int, ink ansi.Style) string {
	line, words := safeLine(text, prose), safeLine(words, prose)
	at := strings.Index(strings.ToLower(line), strings.ToLower(words))
	if at < 0 || len(strings.ToLower(line)) != len(line) || words == "" {
		return fit(line, width)
	}
	before, found, after := line[:at], line[at:at+len(words)], line[at+len(words):]
	if room := max(0, (width-ansi.StringWidth(words))/2); ansi.StringWidth(before) > room {
		before = "…" + ansi.TruncateLeft(before, ansi.StringWidth(before)-max(0, room-1), "")
	}
	return fit(before+paint(ink, "["+found+"]")+after, width)
}
