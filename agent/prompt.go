package agent

import (
	"cmp"
	_ "embed"
	"strings"
	"time"
)

// DefaultPrompt is the standing instruction to a model. Its marks are replaced by
// the turn's own time ({{time}} for reading, {{offset}} in RFC 3339) and by the
// name of its user ({{user}}).
//
//go:embed prompt.txt
var DefaultPrompt string

// prompt is the system text of a turn. It depends on the turn only, so that
// every request of a turn, also after a restart, is the same.
func (e *Engine) prompt(t Turn) string {
	return strings.NewReplacer(
		"{{time}}", t.SentAt.Format("Monday 2 January 2006, 15:04"),
		"{{offset}}", t.SentAt.Format(time.RFC3339),
		"{{user}}", t.User.DisplayName(),
	).Replace(cmp.Or(e.promptText, DefaultPrompt))
}
