package console

import (
	"context"
	"errors"
	"strings"

	"deskhand/agent"
)

// sentence says in plain words what an error of the engine means, and what to
// do next. It is empty where nothing needs saying.
func sentence(err error) string {
	var (
		decided     *agent.DecidedError
		changed     *agent.ChangedError
		unreachable *agent.UnreachableError
		notSent     *agent.NotSentError
		limit       *agent.LimitError
		closed      *agent.ClosedError
		digest      *agent.DigestError
		edit        *agent.EditError
		stalled     *agent.StallError
		busy        *agent.BusyError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &changed):
		return "The terms changed, so nothing was sent: " + say(changed.Error()) + ", the new card."
	case errors.As(err, &decided):
		return say(decided.Error()) + ". Nothing more to do."
	case errors.As(err, &closed):
		return string(closed.Approval) + " was closed and nothing was sent: " + full(closed.Reason)
	case errors.As(err, &notSent):
		return string(notSent.Approval) + " is approved, not sent: " + full(cause(notSent.Reason)) + " On the card, r sends it again and d takes the approval back."
	case errors.As(err, &unreachable):
		return "The server " + say(unreachable.Server) + " cannot be reached, so nothing was recorded and the card still waits (" + say(unreachable.Err.Error()) + "). Try again later, or decline with d."
	case errors.As(err, &limit):
		return full(limit.Error()) + " On the card, s leaves it to somebody who may, and d declines it."
	case errors.As(err, &edit):
		return full(edit.Error()) + " The card waits as it was."
	case errors.As(err, &digest):
		return "Nothing was decided: " + say(digest.Reason) + ". Read the card again as it stands now."
	case errors.As(err, &stalled):
		return "The assistant stopped: " + full(stalled.Reason) + " /continue tries again, /abort ends this request."
	case errors.As(err, &busy):
		return "This conversation still works on the request before (" + string(busy.State) + ")."
	}
	return "That did not work: " + full(err.Error()) + " What you see is as it is stored; try again."
}

// startSentence says what a start could not do.
func startSentence(err error) string {
	var unreachable *agent.UnreachableError
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &unreachable):
		return "The server " + say(unreachable.Server) + " cannot be reached (" + say(unreachable.Err.Error()) + "). /connect shows where it is configured; declining a card works without it."
	}
	return "At the start: " + full(err.Error())
}

// cause shortens what a call's record says about why there is no answer: the
// screen says the outcome in its own words.
func cause(text string) string {
	text = say(text)
	for _, outcome := range []agent.Outcome{agent.OutcomeNotSent, agent.OutcomeUnknown} {
		text = strings.Replace(text, ": "+string(outcome)+": ", ": ", 1)
	}
	return text
}

// say makes an error's text harmless and one line.
func say(text string) string { return safeLine(text, prose) }

// full ends a sentence.
func full(text string) string {
	text = say(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
