package console

import (
	"strings"
	"testing"
)

const jobsTable = `Two open jobs:

| Job | What | Where | Until |
|---|:--|---|---|
| WO-1042 | Lift down, only lift in the house | Tern House A | due Tue 1 Dec 16:00, AT RISK |
| WO-1055 | Wasserschaden \| Keller | **Café Zinnia** | |

Call them.`

func TestATableIsDrawnInColumnsWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		100: `
  Two open jobs:
  Job      What                               Where         Until
  ───────  ─────────────────────────────────  ────────────  ────────────────────────────
  WO-1042  Lift down, only lift in the house  Tern House A  due Tue 1 Dec 16:00, AT RISK
  WO-1055  Wasserschaden | Keller             Café Zinnia

  Call them.`,
		64: `
  Two open jobs:
  Job      What                Where         Until
  ───────  ──────────────────  ────────────  ───────────────────
  WO-1042  Lift down, only     Tern House A  due Tue 1 Dec
           lift in the house                 16:00, AT RISK
  WO-1055  Wasserschaden |     Café Zinnia
           Keller

  Call them.`,
		40: `
  Two open jobs:
  WO-1042 · Lift down, only lift in the
  house · Tern House A · due Tue 1 Dec
  16:00, AT RISK
  WO-1055 · Wasserschaden | Keller ·
  Café Zinnia

  Call them.`,
	} {
		got := "\n" + strings.Join(markdownLines(jobsTable, width, newStyles(ThemeNone)), "\n")
		if got != want {
			t.Errorf("width %d:%s\nwant:%s", width, got, want)
		}
	}
}

func TestPlainTextHasNoColumns(t *testing.T) {
	t.Parallel()
	want := `Two open jobs:
WO-1042 · Lift down, only lift in the house · Tern House A · due Tue 1 Dec 16:00, AT RISK
WO-1055 · Wasserschaden | Keller · Café Zinnia

Call them.`
	if got := PlainText(jobsTable); got != want {
		t.Errorf("got\n%s", got)
	}
	for _, text := range []string{"", "no table", "a | b\nc | d", "|a|\n|-|\n|b|", "```\n| a | b |\n|---|---|\n```", "| a | b |\n|---|---|---|\n| c | d |"} {
		if got := PlainText(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
