package agent

import (
	"context"
	"encoding/json"
	"errors"
)

// Tracer is told where the engine's work begins and ends. It is called from
// several goroutines at once, and never in the middle of a transaction.
type Tracer interface {
	// Start begins a piece of work; the context that it gives is that of
	// everything inside. The engine calls end once.
	Start(ctx context.Context, s Span) (inside context.Context, end func(SpanEnd))
}

// SpanKind tells the kinds of a Span apart.
type SpanKind string

// The kinds of work.
const (
	// SpanTurn is a turn as far as one drive takes it: until it pauses, stalls
	// or ends. A turn that waits has several.
	SpanTurn SpanKind = "turn"
	// SpanModel is one model request.
	SpanModel SpanKind = "model request"
	// SpanCall is one call of a tool, or of the preview of a tool.
	SpanCall SpanKind = "call"
	// SpanDecision is a person's word on an approval, until it is committed.
	SpanDecision SpanKind = "decision"
)

// Span is a piece of the engine's work. What does not belong to its kind is
// empty.
type Span struct {
	Kind         SpanKind
	Conversation ConversationID
	Turn         TurnID
	// Model is the model's name, for SpanModel.
	Model string
	// Call belongs to SpanCall and SpanDecision; Preview says that it is looked
	// at and not run, and Tool is then the tool of the preview.
	Call    CallID
	Tool    QualifiedName
	Preview bool
	// Approval is that of a SpanDecision, or of the call that was approved.
	Approval ApprovalID
	// Arguments are what is sent. They may hold anything; who was not asked for
	// them passes them on to nobody.
	Arguments json.RawMessage
}

// SpanEnd is what became of a Span.
type SpanEnd struct {
	// Outcome is a word out of a few: the state of a turn; answered or failed for
	// a request; done, failed, not sent or unknown for a call; approved, denied,
	// or why a decision was not taken.
	Outcome string
	// Err is why it did not work out; nil where it did.
	Err error
	// Usage are the tokens of a request.
	Usage Usage
}

// span begins a piece of work. Without a tracer it costs nothing.
func (e *Engine) span(ctx context.Context, s Span) (context.Context, func(SpanEnd)) {
	if e.tracer == nil {
		return ctx, func(SpanEnd) {}
	}
	return e.tracer.Start(ctx, s)
}

// turnEnd says where a drive left a turn. It reads the store, so it is asked
// only where somebody traces.
func (e *Engine) turnEnd(ctx context.Context, id ConversationID, turn TurnID, err error) SpanEnd {
	end := SpanEnd{Outcome: "failed", Err: err}
	if e.tracer == nil {
		return end
	}
	s, readErr := e.store.Snapshot(context.WithoutCancel(ctx), id)
	if readErr == nil && s.Head.Open != nil && s.Head.Open.Turn == turn {
		end.Outcome = string(s.Head.Open.State)
		return end
	}
	turns, readErr := e.store.Turns(context.WithoutCancel(ctx), []TurnID{turn})
	if readErr == nil && len(turns) == 1 {
		end.Outcome = string(turns[0].End)
	}
	return end
}

// modelEnd says whether the model answered.
func modelEnd(reply ModelReply, err error) SpanEnd {
	if err != nil {
		return SpanEnd{Outcome: "failed", Err: err}
	}
	return SpanEnd{Outcome: "answered", Usage: reply.Usage}
}

// callEnd says what a source's answer was.
func callEnd(result Result, err error) SpanEnd {
	switch {
	case err == nil && result.IsError:
		return SpanEnd{Outcome: string(CallFailed)}
	case err == nil:
		return SpanEnd{Outcome: string(CallDone)}
	}
	outcome := outcomeOf(err)
	if outcome == OutcomeAnswered {
		return SpanEnd{Outcome: string(CallFailed), Err: err}
	}
	return SpanEnd{Outcome: string(outcome), Err: err}
}

func decisionSpan(a Approval) Span {
	return Span{Kind: SpanDecision, Conversation: a.Conversation, Turn: a.Turn, Call: a.Call, Tool: a.Tool, Approval: a.ID}
}

// decisionEnd says whether a decision was taken; word is approved or denied.
func decisionEnd(word string, err error) SpanEnd {
	var (
		decided     *DecidedError
		digest      *DigestError
		unreachable *UnreachableError
		changed     *ChangedError
		closed      *ClosedError
		limit       *LimitError
	)
	outcome := "failed"
	switch {
	case err == nil:
		outcome = word
	case errors.As(err, &decided):
		outcome = "decided before"
	case errors.As(err, &digest):
		outcome = "something else was drawn"
	case errors.As(err, &unreachable):
		outcome = "server unreachable"
	case errors.As(err, &changed):
		outcome = "terms changed"
	case errors.As(err, &closed):
		outcome = "closed"
	case errors.As(err, &limit):
		outcome = "above the limit"
	}
	return SpanEnd{Outcome: outcome, Err: err}
}
