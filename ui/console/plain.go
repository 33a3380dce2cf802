package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"deskhand/agent"
)

// PlainOptions is what [RunPlain] needs. Engine, In and Out are required.
type PlainOptions struct {
	Engine *agent.Engine
	In     io.Reader
	Out    io.Writer
	// Interactive says that a person sits at a real terminal on both ends. Only
	// then is a typed decision taken; piped input never decides.
	Interactive bool

	// The rest is as in [Options].
	Company func() Company
	Now     func() time.Time
	User    func() agent.User
	Notices []string
	Start   func(context.Context) error
}

// plain is the desk as lines that are only ever appended: no frames, no
// spinners, nothing drawn twice. It suits pipes, logs and screen readers.
type plain struct {
	o  PlainOptions
	id agent.ConversationID
	// shown are the digests of the cards that were printed: only what was
	// printed can be decided.
	shown map[agent.ApprovalID]string
	// told is the newest message of each conversation that was printed.
	told map[agent.ConversationID]int
	// report is where the newest turn stands, and paused names the first
	// conversation of this run that was left waiting.
	report agent.Report
	paused agent.ConversationID
	err    error // of writing
}

// RunPlain reads lines and answers them until the input or ctx ends. Without a
// person at a terminal it sends each line as a message of one conversation, and
// prints what waits with the command that decides it. A line that comes while a
// card waits is asked in a new conversation beside it. It gives where the first
// turn stands that still waits, else the last one, and the last line's error.
func RunPlain(ctx context.Context, o PlainOptions) (agent.Report, error) {
	defaults := Options{Engine: o.Engine, Company: o.Company, Now: o.Now, User: o.User}.withDefaults()
	o.Company, o.Now, o.User = defaults.Company, defaults.Now, defaults.User
	p := &plain{o: o, id: o.Engine.NewConversation(), shown: map[agent.ApprovalID]string{}, told: map[agent.ConversationID]int{}}
	for _, notice := range o.Notices {
		p.line("Note: " + safeLine(notice, prose))
	}
	if o.Start != nil {
		if text := sentence(o.Start(ctx)); text != "" {
			p.line(text)
		}
	}
	if o.Interactive {
		p.greet(ctx)
	}
	last := p.loop(ctx, lines(ctx, o.In))
	if errors.Is(last, errQuit) {
		last = nil
	}
	if p.paused != "" {
		if r, err := o.Engine.Report(ctx, p.paused); err == nil && r.Status == agent.TurnPaused {
			p.report = r
		}
	}
	return p.report, errors.Join(p.err, last)
}

// loop takes lines until there are no more, and gives the last one's error.
func (p *plain) loop(ctx context.Context, in <-chan inputLine) error {
	var last error
	for {
		var line inputLine
		ok := false
		select {
		case line, ok = <-in:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch {
		case !ok:
			return last
		case line.err != nil:
			return line.err
		}
		if text := strings.TrimSpace(line.text); text != "" {
			last = p.take(ctx, text)
		}
		if p.err != nil || errors.Is(last, errQuit) {
			return last
		}
		p.ask()
	}
}

var (
	errQuit    = errors.New("the dispatcher leaves")
	errTooLong = fmt.Errorf("a line is longer than %d kilobytes: split it", maxDraft/1024)
)

// inputLine is a line of the input, or why there is none.
type inputLine struct {
	text string
	err  error
}

// lines reads lines beside the caller, so that ctx ends the wait for one.
func lines(ctx context.Context, in io.Reader) <-chan inputLine {
	out := make(chan inputLine)
	go func() {
		defer close(out)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(make([]byte, 0, 4096), maxDraft)
		for scanner.Scan() {
			select {
			case out <- inputLine{text: scanner.Text()}:
			case <-ctx.Done():
				return
			}
		}
		err := scanner.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = errTooLong
		}
		if err != nil {
			select {
			case out <- inputLine{err: err}:
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// line prints one line.
func (p *plain) line(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.o.Out, text)
	}
}

func (p *plain) ask() {
	if p.o.Interactive && p.err == nil {
		_, p.err = io.WriteString(p.o.Out, prompt)
	}
}

// greet says where one is, and what waits.
func (p *plain) greet(ctx context.Context) {
	company := p.o.Company()
	name := safeLine(company.Name, prose)
	switch {
	case company.Demo:
		p.line("Deskhand, DEMO: " + name + ", made-up data, no supplier is contacted.")
	case name != "":
		p.line("Deskhand, " + name + ".")
	default:
		p.line("Deskhand.")
	}
	p.line("Type a line and press Enter. /help lists the commands, /quit leaves.")
	p.approvals(ctx)
	p.ask()
}

// take does what a line says.
func (p *plain) take(ctx context.Context, text string) error {
	words := strings.Fields(text)
	if p.o.Interactive {
		if verb, ok := plainVerbs[strings.TrimPrefix(words[0], "/")]; ok && (strings.HasPrefix(text, "/") || decides(words)) {
			return verb(p, ctx, words)
		}
		if strings.HasPrefix(text, "/") {
			p.line("There is no command " + safeLine(words[0], prose) + ". /help lists them.")
			return nil
		}
	}
	return p.send(ctx, text)
}

// decides reports whether a line is a typed decision: a verb and an id. Any
// other line that begins with such a word is a message.
func decides(words []string) bool {
	return len(words) > 1 && strings.HasPrefix(words[1], "A-") && len(words[1]) > 2
}

// send sends a message and prints what came of it.
func (p *plain) send(ctx context.Context, text string) error {
	if s, err := p.o.Engine.Store().Snapshot(ctx, p.id); err == nil && s.Head.Open != nil {
		p.id = p.o.Engine.NewConversation()
		p.line("(The request before still waits, so this is asked in a new conversation beside it.)")
	}
	p.begin(ctx, p.id)
	report, err := p.o.Engine.Send(ctx, agent.SendRequest{Conversation: p.id, Text: text})
	return p.conclude(ctx, p.id, report, err)
}

// conclude prints what is new in a conversation, and the error if there is one.
func (p *plain) conclude(ctx context.Context, id agent.ConversationID, report agent.Report, err error) error {
	if report.TurnID != "" {
		p.report = report
		if p.paused == "" && report.Status == agent.TurnPaused {
			p.paused = id
		}
	}
	if tellErr := p.tell(ctx, id); tellErr != nil {
		err = errors.Join(err, tellErr)
	}
	if text := sentence(err); text != "" {
		p.line(text)
	}
	return err
}

// begin notes where a conversation stands, so that only what comes after is
// printed.
func (p *plain) begin(ctx context.Context, id agent.ConversationID) {
	if _, known := p.told[id]; known {
		return
	}
	p.told[id] = 0
	if s, err := p.o.Engine.Store().Snapshot(ctx, id); err == nil {
		p.told[id] = s.Head.NextMessage - 1
	}
}

// tell prints the messages of a conversation that were not printed yet.
func (p *plain) tell(ctx context.Context, id agent.ConversationID) error {
	s, err := p.o.Engine.Store().Snapshot(ctx, id)
	if errors.Is(err, agent.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if fresh := s.Head.NextMessage - 1 - p.told[id]; fresh > 0 {
		entries, err := p.o.Engine.Transcript(ctx, id, 0, fresh)
		if err != nil {
			return err
		}
		for _, e := range entries {
			p.entry(e)
		}
		p.told[id] = s.Head.NextMessage - 1
	}
	for _, c := range s.Calls { // a card may be new on an old message
		if a, ok := s.Approvals[c.Approval]; ok && standingOf(c, a) != standsOver && p.shown[a.ID] != a.Digest+string(c.State) {
			p.card(c, a)
		}
	}
	return nil
}
