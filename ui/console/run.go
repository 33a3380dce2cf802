package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"
)

// Options is what a console needs. Engine is required; everything else has a
// default. The functions are called for every frame, so they must be quick and
// must not block.
type Options struct {
	// Engine is driven by the console; its store holds drafts too. Mark must
	// have been called.
	Engine *agent.Engine
	// Company says whose desk this is. It may change once the server answers.
	Company func() Company
	// Now is the desk's clock, in the desk's zone, shown in the status line.
	Now func() time.Time
	// User is who decides.
	User func() agent.User
	// Model names the model: "built-in".
	Model string
	// Servers says how the configured servers are.
	Servers func() []ServerStatus
	// ConfigPath is the configuration file's path, and ConfigBlock a block of
	// JSON to paste into it; /connect shows both.
	ConfigPath, ConfigBlock string
	// Notices are lines to show at the top at the start.
	Notices []string
	// Start runs in the background after the first frame: it connects servers
	// and resumes interrupted turns. Its error is shown as a line.
	Start func(context.Context) error
	// Quiet is a monotonic clock for the guard of the cards.
	Quiet func() time.Duration
	// Theme is ThemeNone unless it is set; see [TerminalTheme].
	Theme Theme
	// Mouse captures the mouse. Off by default: the terminal's own selection is
	// worth more.
	Mouse bool
	// Input and Output are the terminal; os.Stdin and os.Stdout by default.
	Input, Output *os.File
	// Guest says that the terminal is another process's, which works beside this
	// one; nil for the terminal of this process.
	Guest *Guest
	// Place tells the consoles of one desk apart: each keeps its own drafts. The
	// first one has 0.
	Place int

	// pasteCut reports, once, that the terminal sent more in one paste than is
	// taken.
	pasteCut func() bool
}

// Guest is what another process says of the terminal that it lends. Signals of
// this process are not meant for it.
type Guest struct {
	// Folder is where relative names of files begin.
	Folder string
	Getenv func(string) string
	// Resized is told when the terminal has another size.
	Resized <-chan struct{}
}

// Company is whose desk it is.
type Company struct {
	// Name is empty as long as it is not known.
	Name string
	// Demo says that the data are made up; the screen says so everywhere.
	Demo bool
	// Clock is the book's: demo, real or fixed.
	Clock string
}

// ServerStatus is how a configured server is.
type ServerStatus struct {
	Name string
	// State is one or two words; [ServerReady] is the good one.
	State string
	// Detail is a sentence for people, e.g. why it cannot be reached.
	Detail string
}

// ServerReady is the state of a server that answers.
const ServerReady = "ready"

func (o Options) withDefaults() Options {
	if o.Company == nil {
		o.Company = func() Company { return Company{} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.User == nil {
		o.User = func() agent.User { return agent.User{} }
	}
	if o.Model == "" {
		o.Model = "built-in"
	}
	if o.Servers == nil {
		o.Servers = func() []ServerStatus { return nil }
	}
	if o.Quiet == nil {
		begun := time.Now()
		o.Quiet = func() time.Duration { return time.Since(begun) }
	}
	if o.Input == nil {
		o.Input = os.Stdin
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.pasteCut == nil {
		o.pasteCut = func() bool { return false }
	}
	return o
}

// TerminalTheme chooses a theme for the terminal that the program was started
// in: none with NO_COLOR or a terminal without colour, else dark or light. It
// must be called before [Run].
func TerminalTheme() Theme {
	switch {
	case termenv.EnvColorProfile() == termenv.Ascii:
		return ThemeNone
	case lipgloss.HasDarkBackground():
		return ThemeDark
	}
	return ThemeLight
}

// recordTime bounds how long leaving waits for what is out to be recorded.
const recordTime = 3 * time.Second

// Run shows the console until the dispatcher leaves, ctx ends, or the terminal
// is gone. Leaving decides nothing: whatever waits is in the store already.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	in := &terminalReader{File: o.Input}
	out := &terminalWriter{File: o.Output}
	o.pasteCut = in.pasteCut
	work, stop := context.WithCancel(ctx)
	defer stop()
	m := New(work, o)
	out.note = noteFor(o.getenv)
	m.attend, m.clipboard = out.attend, clipboardOf(out, o.getenv)
	if width, height, err := term.GetSize(o.Output.Fd()); err == nil {
		m.width, m.height = width, height
		m.draw()
	}
	settings := []tea.ProgramOption{
		tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(), tea.WithReportFocus(), tea.WithoutSignalHandler(),
		tea.WithFPS(60), // the renderer wakes up this often also when nothing happens
	}
	_, _ = io.WriteString(out, pushTitle)
	defer func() { _, _ = io.WriteString(out, popTitle) }()
	if o.Mouse {
		settings = append(settings, tea.WithMouseCellMotion())
	}
	program := tea.NewProgram(m, settings...)
	in.gone = func() { go program.Send(leaveMsg{}) }
	if o.Guest == nil {
		defer leaveOnSignal(ctx, program)()
	} else {
		defer o.Guest.follow(ctx, program, o.Output)()
	}

	_, err := program.Run()
	m.finish(stop)
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("the console: %w", err)
	}
	_, _ = io.WriteString(out.File, m.LastLines()) // the terminal may be gone
	return nil
}

// leaveOnSignal ends the program on a signal or with ctx.
func leaveOnSignal(ctx context.Context, program *tea.Program) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		case <-done:
			return
		}
		program.Send(leaveMsg{})
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// follow hands new sizes of the terminal to the program, and ends it with ctx.
func (g *Guest) follow(ctx context.Context, program *tea.Program, terminal *os.File) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-g.Resized:
				if width, height, err := term.GetSize(terminal.Fd()); err == nil {
					program.Send(tea.WindowSizeMsg{Width: width, Height: height})
				}
			case <-ctx.Done():
				program.Send(leaveMsg{})
				return
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// getenv asks the environment of the terminal.
func (o Options) getenv(name string) string {
	if o.Guest != nil {
		return o.Guest.Getenv(name)
	}
	return os.Getenv(name)
}

// file gives the path of a file that a person named.
func (o Options) file(name string) string {
	if o.Guest == nil || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Guest.Folder, name)
}

// finish saves the draft, stops what is out, and waits until it is recorded.
func (m *Model) finish(stop context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.desk.ctx), recordTime)
	defer cancel()
	_ = m.desk.putDraft(ctx, m.open.id, m.draftText()) // nobody is left to be told
	stop()
	idle := make(chan struct{})
	go func() {
		m.desk.work.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// LastLines is what stays on the normal screen after leaving: the last exchange,
// and what waits.
func (m *Model) LastLines() string {
	c := canvas{width: max(minWidth, m.width), styles: &styles{}, clock: clockAt(m.options.Now())}
	var out []string
	from := max(0, len(m.open.entries)-lastEntries)
	for i := from; i < len(m.open.entries); i++ {
		e := m.open.entries[i].entry
		if e.Message.Role == agent.RoleUser {
			out = nil // only the last exchange
		}
		if e.Message.Text != "" {
			out = append(out, messageItem{e.Message}.lines(c)...)
		}
		if e.Turn != nil && e.Turn.Ledger != "" {
			out = append(out, ledgerItem{*e.Turn}.lines(c)...)
		}
	}
	if len(m.waiting) > 0 {
		out = append(out, "", m.waitingText()+"; start again to decide:")
		for _, w := range m.waiting {
			out = append(out, fit(indent+waitingLine(w), c.width))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// lastEntries bounds the last exchange.
const lastEntries = 20

// waitingLine names one thing that waits.
func waitingLine(w agent.ApprovalReport) string {
	name := string(w.ApprovalID)
	if name == "" {
		name = string(w.CallID)
	}
	line := name + " " + string(w.Status) + ": " + safeLine(w.Summary, evidence)
	if w.Reason != "" {
		line += ": " + safeLine(w.Reason, prose)
	}
	return line
}
