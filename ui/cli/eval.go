package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskhand/agent"
	"deskhand/agent/evaluate"
	"deskhand/mcp/workorders"
)

func newEval(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval FILE",
		Short: "Try a file of dispatcher lines on the model, and count what comes out right",
		Long: "Say every line of a file to the configured model, each on an unchanged demo book of its own at the\n" +
			"demo's clock, and print the score by kind and every miss. The desk and its book are not touched.\n\n" +
			"A line of the file is one JSON object:\n" +
			`  {"id": "1", "context": [], "say": "status of WO-1043", "expect": {"calls": [], "answer_mentions": ["Sam Orrin"], "asks": false}}` + "\n\n" +
			"A call is {\"tool\", \"args\"}. Calls that change something must be made or stand on a card, with these\n" +
			"arguments among theirs, and no other change may be; reading is free. Exits with 1 if a line is missed.",
		Example: `  deskhand eval testdata/utterances.jsonl
  deskhand --model openai:NAME eval lines.jsonl --json`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.eval(cmd.Context(), args[0], asJSON) },
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// evaluation is the score of a file.
type evaluation struct {
	Lines int `json:"lines"`
	Right int `json:"right"`
	// WrongWrites are lines at which something was changed, or stood on a card,
	// that was not asked for.
	WrongWrites int                  `json:"wrongWrites"`
	ByKind      map[string]*kindSums `json:"byKind"`
	Misses      []miss               `json:"misses"`
}

type kindSums struct {
	Lines int `json:"lines"`
	Right int `json:"right"`
}

// miss is a line that did not come out right.
type miss struct {
	ID         string               `json:"id"`
	Say        string               `json:"say"`
	Problem    string               `json:"problem"`
	WrongWrite bool                 `json:"wrongWrite"`
	Expected   evaluate.Expectation `json:"expected"`
	Happened   happened             `json:"happened"`
}

type happened struct {
	Changes []evaluate.Call `json:"changes"`
	Answer  string          `json:"answer"`
}

// eval runs the lines of a file.
func (o *options) eval(ctx context.Context, path string, asJSON bool) error {
	file, err := os.Open(path)
	if err != nil {
		return &usageError{err}
	}
	lines, err := evaluate.Read(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	dir, err := os.MkdirTemp("", "deskhand-eval-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	trial, err := o.newTrial(dir)
	if err != nil {
		return err
	}
	score := evaluation{ByKind: map[string]*kindSums{}, Misses: []miss{}}
	bar := o.progressBar(1)
	for i, l := range lines {
		bar.show(int64(i), int64(len(lines)))
		outcome, err := trial.run(ctx, l, i)
		if ctx.Err() != nil {
			bar.done()
			return ctx.Err()
		}
		score.add(l, outcome, err)
	}
	bar.done()
	if asJSON {
		err = printJSON(o.out, score)
	} else {
		err = score.print(o.out)
	}
	if err == nil && score.Right < score.Lines {
		err = &exitError{code: exitFailed}
	}
	return err
}

func (e *evaluation) add(l evaluate.Line, o evaluate.Outcome, err error) {
	verdict := evaluate.Judge(l, o)
	if err != nil {
		verdict.Problem = strings.Trim(verdict.Problem+"; "+err.Error(), "; ")
	}
	sums := e.ByKind[l.Kind()]
	if sums == nil {
		sums = &kindSums{}
		e.ByKind[l.Kind()] = sums
	}
	e.Lines++
	sums.Lines++
	if verdict.WrongWrite {
		e.WrongWrites++
	}
	if verdict.Problem == "" {
		e.Right++
		sums.Right++
		return
	}
	changes := o.Changes
	if changes == nil {
		changes = []evaluate.Call{}
	}
	e.Misses = append(e.Misses, miss{
		ID: l.ID, Say: l.Say, Problem: verdict.Problem, WrongWrite: verdict.WrongWrite, Expected: l.Expect,
		Happened: happened{Changes: changes, Answer: o.Answer},
	})
}

func (e *evaluation) print(w io.Writer) error {
	for _, m := range e.Misses {
		mark := "missed"
		if m.WrongWrite {
			mark = "WRONG CHANGE"
		}
		if _, err := fmt.Fprintf(w, "%s  %s: %s\n  %s\n  it said: %s\n", m.ID, mark, visible(m.Say), visible(m.Problem), oneLine(visible(m.Happened.Answer))); err != nil {
			return err
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, kind := range slices.Sorted(maps.Keys(e.ByKind)) {
		_, _ = fmt.Fprintf(table, "%s\t%d of %d\n", kind, e.ByKind[kind].Right, e.ByKind[kind].Lines) // a tabwriter reports its errors at Flush
	}
	_, _ = fmt.Fprintf(table, "all\t%d of %d\twrong changes: %d\n", e.Right, e.Lines, e.WrongWrites)
	return table.Flush()
}

// trial runs lines, each on a copy of one demo book and a desk that keeps
// nothing.
type trial struct {
	options options
	dir     string
	book    []byte
	names   directory
}

// evalClock is where the clock of the demo book begins; see the workorders
// package.
const evalClock = "2026-12-01T09:00:00+01:00"

func (o *options) newTrial(dir string) (*trial, error) {
	t := &trial{options: *o, dir: dir}
	t.options.store, t.options.out, t.options.err = storeMemory, io.Discard, io.Discard
	if t.options.clock.IsZero() {
		t.options.clock, _ = time.Parse(time.RFC3339, evalClock) // it is a constant
	}
	fixed := t.options.clock
	path := filepath.Join(dir, bookFile)
	book, err := workorders.Open(path, workorders.Options{Now: func() time.Time { return fixed }})
	if err != nil {
		return nil, err
	}
	var export bytes.Buffer
	err = errors.Join(book.Export(&export), book.Close())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(export.Bytes(), &t.names); err != nil {
		return nil, err
	}
	t.book, err = os.ReadFile(path)
	return t, err
}

// run says a line, after those before it, and gives what came of it.
func (t *trial) run(ctx context.Context, l evaluate.Line, n int) (out evaluate.Outcome, err error) {
	out.Resolve = t.names.resolve
	o := t.options
	o.home = filepath.Join(t.dir, fmt.Sprint(n))
	if err := os.MkdirAll(o.home, 0o700); err != nil {
		return out, err
	}
	defer func() { _ = os.RemoveAll(o.home) }()
	if err := os.WriteFile(filepath.Join(o.home, bookFile), t.book, 0o600); err != nil {
		return out, err
	}
	d, err := openDesk(ctx, o, commandWait)
	if err != nil {
		return out, err
	}
	defer d.close()
	if err := d.askCompany(ctx); err != nil {
		return out, err
	}
	id := d.engine.NewConversation()
	for _, before := range l.Context {
		if _, err := d.engine.Send(ctx, agent.SendRequest{Conversation: id, Text: before}); err != nil {
			return out, fmt.Errorf("in the line before: %w", err)
		}
		if err := d.approveAll(ctx); err != nil {
			return out, fmt.Errorf("in the line before: %w", err)
		}
	}
	report, err := d.engine.Send(ctx, agent.SendRequest{Conversation: id, Text: l.Say})
	out.Answer = report.Answer
	for _, c := range report.Calls {
		made := c.Status == agent.CallWaiting || c.Status == agent.CallDone || c.Status == agent.CallUnknown
		if !made || !evaluate.Changes(c.Tool.Tool()) {
			continue
		}
		change := evaluate.Call{Tool: c.Tool.Tool(), Args: map[string]any{}}
		if err := json.Unmarshal(c.Args, &change.Args); err != nil {
			return out, err
		}
		out.Changes = append(out.Changes, change)
	}
	for _, a := range report.Approvals {
		out.Cards = append(out.Cards, a.Summary+" "+string(a.Args)+" "+string(a.Preview))
	}
	return out, err
}

// approveAll decides yes on whatever waits: what earlier lines asked for has
// happened.
func (d *desk) approveAll(ctx context.Context) error {
	for range 20 {
		waiting, err := d.engine.Waiting(ctx)
		if err != nil || len(waiting) == 0 {
			return err
		}
		if _, err := d.engine.Approve(ctx, agent.DecideRequest{Approval: waiting[0].ApprovalID}); err != nil {
			return err
		}
	}
	return errors.New("there was no end to the cards")
}

// directory tells names of the book from ids.
type directory struct {
	Technicians []struct{ ID, Name string } `json:"technicians"`
}

// resolve gives the id of a technician or of a job that is written in another
// way.
func (d directory) resolve(argument, value string) string {
	switch argument {
	case "technician":
		found := value
		for _, t := range d.Technicians {
			switch {
			case strings.EqualFold(t.Name, value):
				return t.ID
			case strings.HasPrefix(strings.ToLower(t.Name), strings.ToLower(value)+" "):
				if found != value {
					return value // two of one name
				}
				found = t.ID
			}
		}
		return found
	case "work_order_id":
		digits := strings.TrimLeft(strings.ToUpper(value), "WO- ")
		return "WO-" + digits
	}
	return value
}
