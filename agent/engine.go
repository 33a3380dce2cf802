package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Limits that a Config may change; each is a default.
const (
	// defaultCallTimeout is the hard deadline of one call. After it the outcome
	// of a write is unknown.
	defaultCallTimeout = 2 * time.Minute
	// defaultSteps bounds the model's replies in one turn: an order needs
	// three, so more than this is a loop.
	defaultSteps = 16
	// maxBatch is how many calls of one reply are taken.
	maxBatch = 16
	// maxReads is how many reads of one reply run at once.
	maxReads = 4
)

// Config is what an Engine is made of. Store and Owner are required; an engine
// that only reads needs no more.
type Config struct {
	Store   Store
	Model   Model
	Sources []Source
	// Policy defaults to one that asks for everything.
	Policy *Policy
	// Owner names this start of this engine, and no other.
	Owner OwnerID
	// User gives the desk user in whose name the engine acts.
	User func() User
	// Now gives the desk's date and time, in the desk's zone. It fixes dates,
	// never time limits.
	Now func() time.Time
	// NewID gives ids that never repeat.
	NewID func() string
	// Texts are what the model hears of outcomes that the engine states itself;
	// what is left empty has a default.
	Texts Texts
	// OnError says of tools what their failure does; the default is
	// OnErrorModel.
	OnError map[QualifiedName]OnError
	// CallTimeout is the hard deadline of one call.
	CallTimeout time.Duration
	// MaxResult says how many bytes of a result of that server the model gets;
	// nil, or a number below 1, is the default.
	MaxResult func(server string) int
	// MaxSteps bounds the model's replies in one turn.
	MaxSteps int
	// Prompt stands in place of the built-in instruction to the model, if set;
	// see [DefaultPrompt] for the marks in it.
	Prompt string
	Logger *slog.Logger
	// Tracer is told where work begins and ends; nil costs nothing.
	Tracer Tracer
}

// Engine drives turns. Its methods may be called from several goroutines; two
// engines may share a store if their owners differ.
type Engine struct {
	store       Store
	model       Model
	sources     []Source
	policy      *Policy
	owner       OwnerID
	user        func() User
	now         func() time.Time
	newID       func() string
	texts       Texts
	onError     map[QualifiedName]OnError
	callTimeout time.Duration
	maxSteps    int
	promptText  string
	maxResult   func(server string) int
	log         *slog.Logger
	tracer      Tracer

	schemas   schemaCache
	followers followers
	tails     tailCache
	kept      keptDefinitions

	mu      sync.Mutex
	stops   map[TurnID]map[int]context.CancelFunc
	stopSeq int
	live    map[ConversationID]string
	// progress is the newest preliminary word of each call that runs.
	progress map[CallID]Progress
	changed  map[chan struct{}]bool
}

// New makes an engine. It reads and writes nothing; call [Engine.Mark] before
// the first verb, so that what dead owners left is seen for what it is.
func New(c Config) (*Engine, error) {
	if c.Store == nil || c.Owner == "" {
		return nil, errors.New("an engine needs a store and an owner")
	}
	e := &Engine{
		store: c.Store, model: c.Model, sources: c.Sources, policy: c.Policy,
		owner: c.Owner, user: c.User, now: c.Now, newID: c.NewID,
		texts: c.Texts.orDefault(), onError: c.OnError,
		callTimeout: c.CallTimeout, maxSteps: c.MaxSteps, promptText: c.Prompt, maxResult: resultLimit(c.MaxResult), log: c.Logger, tracer: c.Tracer,
		stops: map[TurnID]map[int]context.CancelFunc{}, live: map[ConversationID]string{}, progress: map[CallID]Progress{},
		changed: map[chan struct{}]bool{},
	}
	if e.policy == nil {
		e.policy = &Policy{}
	}
	if e.user == nil {
		e.user = func() User { return User{} }
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.newID == nil {
		return nil, errors.New("an engine needs a source of ids")
	}
	if e.callTimeout == 0 {
		e.callTimeout = defaultCallTimeout
	}
	if e.maxSteps == 0 {
		e.maxSteps = defaultSteps
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	for name, mode := range c.OnError {
		if mode != OnErrorModel && mode != OnErrorStall {
			return nil, fmt.Errorf("onError of %s is %q: write model or stall", name, mode)
		}
	}
	seen := map[string]bool{}
	for _, s := range c.Sources {
		if name := s.Name(); name == "" || strings.Contains(name, "/") || seen[name] {
			return nil, fmt.Errorf("server name %q: names must be unique, not empty and without a slash", name)
		}
		seen[s.Name()] = true
	}
	return e, nil
}

// NewConversation gives an id for a conversation that does not exist yet; it
// comes into being with its first message.
func (e *Engine) NewConversation() ConversationID { return ConversationID(e.newID()) }

// SendRequest is a dispatcher's message.
type SendRequest struct {
	// Conversation may be new; empty makes one.
	Conversation ConversationID
	Text         string
	// Queue puts the message behind an open turn instead of refusing it.
	Queue bool
}

// Send stores a message with its new turn and drives the turn until it pauses,
// stalls or ends. Into a conversation with an open turn it gives a
// [*BusyError] and keeps nothing, unless Queue is set. A turn that stalled is
// reported with a [*StallError]; the message stands.
func (e *Engine) Send(ctx context.Context, r SendRequest) (Report, error) {
	if strings.TrimSpace(r.Text) == "" {
		return Report{}, errors.New("the message is empty")
	}
	if r.Conversation == "" {
		r.Conversation = e.NewConversation()
	}
	turn, err := e.begin(ctx, r)
	if err != nil {
		return Report{}, err
	}
	if turn == "" { // queued
		return e.Report(ctx, r.Conversation)
	}
	return e.finish(ctx, r.Conversation, e.drive(ctx, r.Conversation, turn))
}

// begin commits a message with its turn (or into the queue, giving no turn).
func (e *Engine) begin(ctx context.Context, r SendRequest) (TurnID, error) {
	turn, now, user := TurnID(e.newID()), e.now(), e.userIn(ctx)
	queued := false
	err := e.store.Update(ctx, func(tx Tx) error {
		queued = false
		head, err := tx.Head(r.Conversation)
		if errors.Is(err, ErrNotFound) {
			head, err = e.newHead(tx, r, now)
		}
		if err != nil {
			return err
		}
		head.Updated = now
		if head.Open != nil {
			if !r.Queue {
				return &BusyError{Conversation: r.Conversation, State: head.Open.State}
			}
			queued = true
			head.Queue = append(head.Queue, QueuedMessage{Text: r.Text, User: user, At: now, Behind: head.Open.Turn})
			return tx.PutHead(head)
		}
		return startTurn(tx, &head, turn, QueuedMessage{Text: r.Text, User: user, At: now}, e.owner)
	})
	if err != nil {
		return "", fmt.Errorf("keeping the message: %w", err)
	}
	if queued {
		return "", nil
	}
	e.tell(Happening{Kind: TurnStarted, Conversation: r.Conversation, Turn: turn})
	return turn, nil
}

func (e *Engine) newHead(tx Tx, r SendRequest, now time.Time) (Head, error) {
	number, err := tx.NextConversation()
	if err != nil {
		return Head{}, err
	}
	return Head{
		Version: recordVersion, Conversation: r.Conversation, Number: number,
		Title: title(r.Text), Created: now, NextMessage: 1, NextAudit: 1,
	}, nil
}

// startTurn writes a dispatcher's message, its turn and the head.
func startTurn(tx Tx, head *Head, id TurnID, m QueuedMessage, owner OwnerID) error {
	turn := Turn{
		Version: recordVersion, ID: id, Conversation: head.Conversation,
		User: m.User, SentAt: m.At, FirstMessage: head.NextMessage,
	}
	message := Message{
		Version: recordVersion, Conversation: head.Conversation, Number: head.NextMessage,
		Turn: id, Role: RoleUser, Text: m.Text, At: m.At,
	}
	head.NextMessage++
	head.LastTurn = id
	head.Open = &OpenTurn{Turn: id, State: TurnThinking, Owner: owner}
	if err := tx.PutMessage(message); err != nil {
		return err
	}
	if err := tx.PutTurn(turn); err != nil {
		return err
	}
	return tx.PutHead(*head)
}

// recordVersion is the version of every record that this package writes.
const recordVersion = 1

// titleLength is how much of the first line names a conversation.
const titleLength = 60

func title(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= titleLength {
		return string(runes)
	}
	return string(runes[:titleLength-1]) + "…"
}

// finish reports on a turn after it was driven. A turn that stalled gives its
// reason as a [*StallError] beside the report.
func (e *Engine) finish(ctx context.Context, id ConversationID, driven error) (Report, error) {
	report, err := e.Report(context.WithoutCancel(ctx), id)
	if driven != nil {
		return report, driven
	}
	if err != nil {
		return report, err
	}
	if report.Status == TurnStalled {
		return report, &StallError{Conversation: id, Reason: report.Stall}
	}
	return report, nil
}

// Continue goes on with a stalled turn, or with one of this engine's own that
// nobody drives any more because the store failed in the middle of it.
func (e *Engine) Continue(ctx context.Context, id ConversationID) (Report, error) {
	var turn TurnID
	err := e.store.Update(ctx, func(tx Tx) error {
		head, err := tx.Head(id)
		if err != nil {
			return err
		}
		if head.Open == nil {
			return &NotStalledError{Conversation: id}
		}
		if head.Open.State != TurnStalled && (head.Open.Owner != e.owner || e.driven(head.Open.Turn)) {
			return &NotStalledError{id, head.Open.State}
		}
		turn = head.Open.Turn
		head.Open.revive(e.owner)
		return tx.PutHead(head)
	})
	if err != nil {
		return Report{}, fmt.Errorf("continuing: %w", err)
	}
	return e.finish(ctx, id, e.drive(ctx, id, turn))
}

// revive lets owner go on with a stalled turn.
func (o *OpenTurn) revive(owner OwnerID) {
	o.State, o.Owner = batchState(o.Batch), owner
	o.Stall, o.Interrupted = "", false
	o.Steps, o.Revived = 0, true // a person asked for more
}

// Unqueue takes the n-th queued message (from 0) out of the queue and returns
// its text.
func (e *Engine) Unqueue(ctx context.Context, id ConversationID, n int) (string, error) {
	var text string
	err := e.store.Update(ctx, func(tx Tx) error {
		head, err := tx.Head(id)
		if err != nil {
			return err
		}
		if n < 0 || n >= len(head.Queue) {
			return fmt.Errorf("no queued message %d: %w", n, ErrNotFound)
		}
		text = head.Queue[n].Text
		head.Queue = append(head.Queue[:n:n], head.Queue[n+1:]...)
		return tx.PutHead(head)
	})
	return text, err
}
