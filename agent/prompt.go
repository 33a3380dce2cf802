package agent

import (
	_ "embed"
	"strings"
	"time"
)

// promptText is the standing instruction to a model. Its marks are replaced by
// the turn's own time and user.
//
//go:embed prompt.txt
var promptText string

// prompt is the system text of a turn. It depends on the turn only, so that
// every request of a turn, also after a restart, is the same.
func (e *Engine) prompt(t Turn) string {
	return strings.NewReplacer(
		"{{time}}", t.SentAt.Format("Monday 2 January 2006, 15:04"),
		"{{offset}}", t.SentAt.Format(time.RFC3339),
		"{{user}}", t.User.DisplayName(),
	).Replace(promptText)
}
