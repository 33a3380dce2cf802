package console

import (
	"context"
	"sync"
	"time"

	"deskhand/agent"

	tea "github.com/charmbracelet/bubbletea"
)

// Model is the console's one Bubble Tea model. Its parts are plain structs; only
// Update changes them, and it does no input or output: that is what commands
// are for.
type Model struct {
	options Options
	desk    desk
	changes <-chan struct{}
	styles  *styles

	width, height int
	list          *transcript
	composer      editor
	field         *field
	panel         *panel
	guard         guard

	open conversation
	// back are the conversations to go back to with Ctrl+B.
	back []agent.ConversationID
	// waiting is what waits over the whole desk, oldest first.
	waiting []agent.ApprovalReport
	// rung are the cards that the bell was rung for.
	rung map[string]bool
	// attend calls the dispatcher: with the bell, and with a message of the
	// terminal's where its window is not in front.
	attend func(away bool)
	titled string

	keys keyMap
	// focus is the call whose card has the keyboard; empty: the composer has it.
	focus agent.CallID
	view  seen
	// lastJump is the card that /approvals went to last.
	lastJump agent.CallID
	// out are the cards that a verb of this console is about, with what it does.
	out map[string]string

	notice  notice
	pinned  []string
	choice  bool // the line of choices is open
	leaving bool // asked once to leave
	history history

	loading, stale bool // a load is out; it has to be repeated
	draft          draft
	starting       bool

	ticks ticks
	// clipboard puts text where it can be pasted from, and says where that is.
	clipboard func(text string) string

	screen string // the drawn screen
	// drawnHeight is how high the list was in the drawn screen.
	drawnHeight int
}

// notice is one line to the dispatcher above the composer.
type notice struct {
	text  string
	grave bool
	// passing goes away with the next key.
	passing bool
}

// draft is the state of saving the composer's text.
type draft struct {
	saved  string
	due    bool
	outbox string // sent, and not known to be stored yet
}

// New makes the model of a console. [Run] runs it in a terminal; a test can
// drive it by hand, giving it a tea.WindowSizeMsg first.
func New(ctx context.Context, o Options) *Model {
	o = o.withDefaults()
	m := &Model{
		options: o,
		desk:    desk{ctx: ctx, engine: o.Engine, work: &sync.WaitGroup{}, drafts: &draftOrder{written: map[agent.ConversationID]int64{}}, place: o.Place},
		styles:  newStyles(o.Theme),
		list:    newTranscript(),
		guard:   guard{now: o.Quiet},
		keys:    newKeyMap(),
		rung:    map[string]bool{},
		attend:  func(bool) {},

		clipboard: func(string) string { return "There is no clipboard here." },
		out:       map[string]string{},
		pinned:    o.Notices,
	}
	m.changes = o.Engine.Watch(ctx)
	m.restore()
	return m
}

// restore opens the conversation with the oldest waiting card, else the recent
// one, else the newest. It reads the store and nothing else, so that a start
// waits for no server.
func (m *Model) restore() {
	store := m.desk.engine.Store()
	id := agent.ConversationID("")
	if waiting, err := m.desk.engine.Waiting(m.desk.ctx); err == nil && len(waiting) > 0 {
		id = waiting[0].ConversationID
	}
	if id == "" {
		if store.Setting(m.desk.ctx, recentSetting, &id) != nil {
			id = ""
		}
	}
	if id == "" {
		if heads, err := store.Conversations(m.desk.ctx, 0, 1); err == nil && len(heads) > 0 {
			id = heads[0].Conversation
		}
	}
	if id == "" {
		id = m.desk.engine.NewConversation()
	}
	m.open.id = id
	loaded := m.desk.read(id, 0, tailLength, nil)
	for _, w := range loaded.waiting {
		m.rung[waitingName(w)] = true // they waited before; nobody needs to be called
	}
	m.take(loaded)
	m.composer.set(m.desk.draft(id))
	m.draft.saved = m.composer.text
}

// waitingName tells questions apart: a new question about the same call is a
// new one.
func waitingName(w agent.ApprovalReport) string {
	return string(w.ApprovalID) + "/" + string(w.CallID) + "/" + string(w.Status)
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{watchChanges(m.changes), m.tick()}
	if start := m.options.Start; start != nil {
		m.starting = true
		cmds = append(cmds, m.desk.verb(func(ctx context.Context) tea.Msg { return startedMsg{start(ctx)} }))
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	cmd = tea.Batch(cmd, m.keepDraft(), m.pageOlder(), m.title())
	m.draw()
	return m, cmd
}

// View implements tea.Model.
func (m *Model) View() string { return m.screen }

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		m.wheel(msg)
	case tea.BlurMsg:
		m.guard.blurred = true
	case tea.FocusMsg:
		m.guard.blurred = false
		m.guard.land()
	case tickedMsg:
		return m.ticked(msg)
	case leaveMsg:
		return m.leave()
	default:
		return m.fact(msg)
	}
	return nil
}

// fact takes what a command brought back.
func (m *Model) fact(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case changedMsg:
		return tea.Batch(m.reload(), m.watchAgain())
	case loadedMsg:
		return m.loaded(msg)
	case openedMsg:
		return m.opened(msg)
	case olderLoadedMsg:
		m.olderLoaded(msg)
	case sentMsg:
		return m.sent(msg)
	case keyStoodAloneMsg:
		return m.stoodAlone(msg)
	case decidedMsg:
		delete(m.out, msg.key)
		m.say(sentence(msg.err))
		return m.reload()
	case verbDoneMsg:
		m.say(sentence(msg.err))
		return m.reload()
	case unqueuedMsg:
		return m.unqueued(msg)
	case listedMsg:
		m.listed(msg)
	case foundMsg:
		m.found(msg)
	case auditedMsg:
		msg.panel.lines, msg.panel.err = msg.lines, msg.err
	case toldMsg:
		if m.hint(msg.text); msg.grave {
			m.say(msg.text)
		}
	case editedMsg:
		m.edited(msg)
	case startedMsg:
		m.starting = false
		if text := startSentence(msg.err); text != "" {
			m.pinned = append(m.pinned, text)
		}
	case draftDueMsg:
		m.draft.due = false
		return m.saveDraft()
	case draftSavedMsg:
		if msg.err != nil {
			m.say("The draft could not be saved: " + full(msg.err.Error()))
		}
	}
	return nil
}

// watchAgain waits for the next change; while a reply arrives, or a call tells
// how far it is, it takes the changes of a moment together.
func (m *Model) watchAgain() tea.Cmd {
	if m.open.live == "" && !m.open.running {
		return watchChanges(m.changes)
	}
	changes := m.changes
	return tea.Tick(coalesce, func(time.Time) tea.Msg {
		if _, ok := <-changes; !ok {
			return nil
		}
		return changedMsg{}
	})
}

// say shows a line that stays until the dispatcher does something about it.
func (m *Model) say(text string) {
	if text != "" {
		m.notice = notice{text: text, grave: true}
	}
}

// hint shows a line that goes with the next key.
func (m *Model) hint(text string) { m.notice = notice{text: text, passing: true} }
