package skills

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"deskhand/agent"
)

// The codes of refusals. They are stable; messages are for people.
const (
	codeArguments    = "invalid_arguments"
	codeUnknownSkill = "unknown_skill"
	codeUnknownFile  = "unknown_file"
	codePastTheEnd   = "past_the_end"
	codeTooLarge     = "too_large"
	codeNotText      = "not_text"
	codeUnreadable   = "unreadable"
)

// What may help after a refusal.
const (
	retryChange = "change_arguments"
	retryNever  = "never"
	retrySame   = "same_arguments" // once somebody has mended the folder
)

// maxCandidates is how many choices a refusal offers.
const maxCandidates = 20

// refusal is a tool's own answer that it cannot do what was asked.
type refusal struct {
	Code       string      `json:"code"`
	Message    string      `json:"message"`
	Candidates []candidate `json:"candidates,omitempty"`
	Retry      string      `json:"retry"`
}

// candidate is something that could have been meant.
type candidate struct {
	Skill string `json:"skill"`
	File  string `json:"file,omitempty"`
}

// Error is the message for people.
func (r *refusal) Error() string { return r.Message }

func refuse(code, retry, format string, args ...any) *refusal {
	return &refusal{Code: code, Message: fmt.Sprintf(format, args...), Retry: retry}
}

// offer adds what could have been meant, what looks most like asked first.
func (r *refusal) offer(asked string, names []string, make func(name string) candidate) *refusal {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(asked, a), distance(asked, b)) })
	for _, name := range names[:min(len(names), maxCandidates)] {
		r.Candidates = append(r.Candidates, make(name))
	}
	return r
}

// distance says how unlike two names are: 0 in all but case, 1 in all but the
// folder, 2 otherwise.
func distance(a, b string) int {
	switch {
	case strings.EqualFold(a, b):
		return 0
	case strings.EqualFold(path.Base(a), path.Base(b)):
		return 1
	}
	return 2
}

func (r *refusal) result() agent.Result {
	out := agent.TextResult(r.Message, true)
	out.Structured = encode(map[string]any{"error": r})
	return *out
}

// maxEcho is how much of a name that somebody made up is repeated to them.
const maxEcho = 200

// clip shortens what a message repeats.
func clip(name string) string {
	if runes := []rune(name); len(runes) > maxEcho {
		return string(runes[:maxEcho]) + "…"
	}
	return name
}
