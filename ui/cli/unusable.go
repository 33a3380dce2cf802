package cli

import (
	"context"
	"fmt"

	"deskhand/agent"
)

// noteUnusable makes a notice of everything that is open and cannot be acted on,
// because a record of it cannot be used.
func (d *desk) noteUnusable(ctx context.Context) error {
	sentences, err := d.unusable(ctx)
	d.notices = append(d.notices, sentences...)
	return err
}

func (d *desk) unusable(ctx context.Context) ([]string, error) {
	found, err := d.engine.Unusable(ctx)
	out := make([]string, 0, len(found))
	for _, u := range found {
		out = append(out, unusableSentence(u))
	}
	return out, err
}

func unusableSentence(u agent.Unusable) string {
	text := fmt.Sprintf("%s waits and cannot be decided: %v; nothing of it is sent, and deskhand export gives its records", u.Name(), u.Record)
	if u.Conversation == "" || u.Unreadable {
		return text
	}
	return fmt.Sprintf("%s; deskhand abort %s ends the request", text, u.Conversation)
}
