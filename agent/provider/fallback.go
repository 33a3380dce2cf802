package provider

import (
	"context"
	"errors"
	"sync"

	"deskhand/agent"
)

// Fallback is a model that another one stands in for while its server cannot be
// reached. Whoever begins a turn as the stand-in also ends it, unless the process
// ends before.
type Fallback struct {
	first, spare agent.Model

	mu sync.Mutex
	// fallen is the moment of the newest turn in which the spare stands in, and
	// what its dispatcher said.
	fallen turnMark
}

// turnMark tells the requests of one turn from those of others: they have the
// same moment and the same last word of a person.
type turnMark struct {
	at   int64 // in nanoseconds since 1970
	said string
}

var _ agent.Model = (*Fallback)(nil)

// NewFallback makes a model that asks first, and spare where first cannot be
// reached. Spare needs no network.
func NewFallback(first, spare agent.Model) *Fallback { return &Fallback{first: first, spare: spare} }

// Name implements [agent.Model].
func (f *Fallback) Name() string { return f.first.Name() }

// First is the model that the other one stands in for.
func (f *Fallback) First() agent.Model { return f.first }

// Respond implements [agent.Model]. A reply of the stand-in says in its text who
// it is, once for each turn.
func (f *Fallback) Respond(ctx context.Context, r agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	mark := markOf(r)
	f.mu.Lock()
	fallen := f.fallen == mark
	f.mu.Unlock()
	if fallen {
		return f.spare.Respond(ctx, r, emit)
	}
	reply, err := f.first.Respond(ctx, r, emit)
	if err == nil || ctx.Err() != nil || !Unreachable(err) {
		return reply, err
	}
	f.mu.Lock()
	f.fallen = mark
	f.mu.Unlock()
	note := "(" + f.first.Name() + " cannot be reached: the " + f.spare.Name() + " model answers.)"
	emit(note + "\n\n")
	reply, err = f.spare.Respond(ctx, r, emit)
	if err != nil {
		return reply, err
	}
	if reply.Text != "" {
		note += "\n\n" + reply.Text
	}
	reply.Text = note
	return reply, nil
}

func markOf(r agent.ModelRequest) turnMark {
	mark := turnMark{at: r.Now.UnixNano()}
	for _, m := range r.Messages {
		if m.Role == agent.RoleUser {
			mark.said = m.Text
		}
	}
	return mark
}

// Unreachable reports whether an error says that nothing came back, however often
// it was asked: the network, the server's own trouble, or a connection that ended
// before an answer began.
func Unreachable(err error) bool {
	var refused *RefusedError
	var lost *unreachable
	return errors.As(err, &lost) || errors.As(err, &refused) && refused.again || errors.Is(err, ErrNothing)
}
