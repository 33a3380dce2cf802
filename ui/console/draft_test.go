package console

import "testing"

// Saving runs beside the console: an older text that is late replaces no newer
// one.
func TestALateDraftReplacesNoNewerOne(t *testing.T) {
	p := newPilot(t, 80, 24)
	id := p.m.open.id
	older, newer := p.m.desk.saveDraft(id, "older"), p.m.desk.saveDraft(id, "")
	newer()
	older()
	if text := p.m.desk.draft(id); text != "" {
		t.Errorf("the draft is %q", text)
	}
}
