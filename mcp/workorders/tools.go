package workorders

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Keys in the _meta of tools and requests that the desk and this server share.
const (
	metaSpends   = "deskhand/spends"   // the tool spends money
	metaKind     = "deskhand/kind"     // what the tool does, for the ledger line
	metaFill     = "deskhand/fill"     // arguments that the desk fills in
	metaTerms    = "deskhand/terms"    // what of a preview a person consents to
	metaCall     = "deskhand/call"     // the desk's call id
	metaUser     = "deskhand/user"     // the desk user who decided
	metaApproval = "deskhand/approval" // the approval id, where there was one
)

// A tool is one entry of the server's list. Each file tool_*.go has one.
type tool struct {
	name        string
	title       string
	description string
	hints       hints
	meta        mcp.Meta
	input       *jsonschema.Schema
	output      *jsonschema.Schema
	handle      handler
}

// hints are the four annotations; all are always sent.
type hints struct{ readOnly, destructive, idempotent, openWorld bool }

// reading is the usual set for a tool that changes nothing.
var reading = hints{readOnly: true, idempotent: true}

// A handler answers one call whose arguments fit the input schema.
type handler func(ctx context.Context, b *Book, c caller, arguments json.RawMessage) (answer, error)

// An answer is structured content with a short text for models that ignore it.
type answer struct {
	structured any
	text       string
}

// A caller is who sent a request, as the request's metadata says.
type caller struct {
	call     string
	user     string
	approval string
}

func callerOf(meta mcp.Meta) caller {
	text := func(key string) string {
		s, _ := meta[key].(string)
		if len(s) > 128 {
			s = ""
		}
		return s
	}
	return caller{call: text(metaCall), user: text(metaUser), approval: text(metaApproval)}
}

// A view is what a reading tool works on: one committed state at one time.
type view struct {
	*contents
	now    time.Time
	caller caller
	progress
}

// read makes a handler of a function that only looks.
func read[In, Out any](f func(view, In) (Out, string, error)) handler {
	return func(ctx context.Context, b *Book, c caller, arguments json.RawMessage) (answer, error) {
		in, err := decode[In](arguments)
		if err != nil {
			return answer{}, err
		}
		s := b.state.Load()
		out, text, err := f(view{contents: s.contents, now: b.now(s), caller: c, progress: progressOf(ctx)}, in)
		return answer{structured: out, text: text}, err
	}
}

// A keyed input carries an idempotency key.
type keyed interface {
	// split takes the key out, so that arguments can be compared without it,
	// and writes ids in their one full form.
	split() (key string, rest any)
}

// write makes a handler of a function that changes the book and returns the id
// of the record it made. A key is looked up before any rule; the answer is
// stored under it in the transaction of the change. As changes run one at a
// time, the second of two calls with one key gets the answer of the first.
func write[In keyed, Out any](name string, f func(*draft, caller, In) (out Out, text, record string, err error)) handler {
	return func(ctx context.Context, b *Book, c caller, arguments json.RawMessage) (answer, error) {
		in, err := decode[In](arguments)
		if err != nil {
			return answer{}, err
		}
		key, rest := in.split()
		digest := digestOf(name, rest)
		var ans answer
		err = b.update(ctx, key, name, c, func(d *draft) (*keptAnswer, error) {
			if key != "" {
				kept, err := b.keptFor(d, key, name, digest)
				if err != nil {
					return nil, err
				}
				if kept != nil {
					ans = answer{structured: kept.Answer, text: kept.Text}
					return nil, errAnswered
				}
			}
			out, text, record, err := f(d, c, in)
			if err != nil {
				return nil, err
			}
			stored, err := plainJSON(out)
			if err != nil {
				return nil, err
			}
			ans = answer{structured: json.RawMessage(stored), text: text}
			return &keptAnswer{Key: key, Tool: name, Digest: digest, Record: record, Text: text, Answer: stored}, nil
		})
		if err == errAnswered { //nolint:errorlint // never wrapped
			err = nil
		}
		return ans, err
	}
}

// errAnswered ends a draft whose answer was found under its key.
var errAnswered = fmt.Errorf("already answered")

// keptFor finds the answer kept under key for these arguments. The key of a
// change that was made with other arguments is refused.
func (b *Book) keptFor(d *draft, key, name, digest string) (*keptAnswer, error) {
	kept, err := d.fresh[key], error(nil)
	if kept == nil {
		kept, err = b.kept(key)
	}
	if err != nil {
		return nil, err
	}
	if kept != nil && kept.Tool == name && kept.Digest == digest {
		return kept, nil
	}
	record := ""
	if kept != nil {
		record = kept.Record
	}
	if ids := d.related(ordersByKey, key); kept == nil && len(ids) > 0 { // the demo data has keys without answers
		record = ids[0]
	}
	if record == "" {
		return nil, nil
	}
	return nil, refuse("key_reused", "idempotency_key",
		"This idempotency key belongs to %s, which was made with other arguments.", record).detail("record", record)
}

func digestOf(name string, arguments any) string {
	b, err := plainJSON(arguments)
	if err != nil {
		panic(fmt.Sprintf("workorders: arguments of %s: %v", name, err)) // they came from JSON
	}
	sum := sha256.Sum256(append([]byte(name+"\x00"), b...))
	return hex.EncodeToString(sum[:])
}

func decode[In any](arguments json.RawMessage) (In, error) {
	var in In
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return in, refuse("invalid_arguments", "", "The arguments cannot be read: %v.", err)
	}
	return in, nil
}

// tools is the list that the server offers, in the order in which it is sent.
func tools() []tool {
	return []tool{
		lookupWorkOrderTool(),
		searchWorkOrdersTool(),
		listTechniciansTool(),
		findAvailabilityTool(),
		getScheduleTool(),
		searchPartsTool(),
		quotePartTool(),
		listPartOrdersTool(),
		scheduleVisitTool(),
		rescheduleVisitTool(),
		cancelVisitTool(),
		orderPartTool(),
		cancelPartOrderTool(),
		addNoteTool(),
	}
}

// definition is what clients see of the tool.
func (t tool) definition() *mcp.Tool {
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description, Meta: t.meta,
		InputSchema: t.input, OutputSchema: answerOrRefusal(t.output),
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.hints.readOnly, DestructiveHint: ptr(t.hints.destructive),
			IdempotentHint: t.hints.idempotent, OpenWorldHint: ptr(t.hints.openWorld),
		},
	}
}

// register adds the tool to an MCP server.
func (t tool) register(s *mcp.Server, b *Book, log *slog.Logger, every time.Duration) error {
	check, err := t.input.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return fmt.Errorf("tool %s: input schema: %w", t.name, err)
	}
	if _, err := t.output.Resolve(nil); err != nil {
		return fmt.Errorf("tool %s: output schema: %w", t.name, err)
	}
	s.AddTool(t.definition(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		started := time.Now()
		c := callerOf(req.Params.Meta)
		var ans answer
		err := t.validate(check, req.Params.Arguments)
		if err == nil {
			ans, err = t.handle(withProgress(ctx, req, every), b, c, req.Params.Arguments)
		}
		code := "ok"
		result := &mcp.CallToolResult{StructuredContent: ans.structured, Content: []mcp.Content{&mcp.TextContent{Text: ans.text}}}
		if err != nil {
			r := refusalOf(err)
			code = r.Code
			result = errorResult(r)
			if r != err { //nolint:errorlint // anything but a refusal by a rule is our trouble
				log.Error("tool call failed", "tool", t.name, "call", c.call, "error", err)
			}
		}
		log.Info("tool call", "tool", t.name, "call", c.call, "user", c.user, "outcome", code, "took", time.Since(started))
		return result, nil
	})
	return nil
}

func errorResult(r *Refusal) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError:           true,
		StructuredContent: map[string]any{"error": r},
		Content:           []mcp.Content{&mcp.TextContent{Text: r.Message}},
	}
}

// validate checks arguments against the input schema and names the property
// that does not fit.
func (t tool) validate(check *jsonschema.Resolved, arguments json.RawMessage) error {
	given := map[string]any{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return refuse("invalid_arguments", "", "The arguments are not a JSON object.")
		}
	}
	err := check.Validate(given)
	if err == nil {
		return nil
	}
	for _, name := range t.input.Required {
		if _, ok := given[name]; !ok {
			return refuse("invalid_arguments", name, "The argument %s is missing.", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := t.input.Properties[name]
		if p == nil {
			return refuse("invalid_arguments", name, "There is no argument %q.", name)
		}
		if one, err := p.Resolve(nil); err == nil && one.Validate(given[name]) != nil {
			return t.misfit(name, p)
		}
	}
	return refuse("invalid_arguments", "", "The arguments do not fit the schema: %v.", err)
}

func (t tool) misfit(name string, p *jsonschema.Schema) error {
	if name == "quantity" {
		return refuse("quantity_invalid", name, "The quantity must be a whole number of units, 1 or more.")
	}
	r := refuse("invalid_arguments", name, "The argument %s does not fit: %s.", name, p.Description)
	if len(p.Enum) > 0 {
		r.detail("allowed", p.Enum)
	}
	if p.Items != nil && len(p.Items.Enum) > 0 {
		r.detail("allowed", p.Items.Enum)
	}
	return r
}
