package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Report says where a conversation's newest turn stands.
func (e *Engine) Report(ctx context.Context, id ConversationID) (Report, error) {
	s, err := e.store.Snapshot(ctx, id)
	if err != nil {
		return Report{}, fmt.Errorf("reading conversation %s: %w", id, err)
	}
	head := s.Head
	report := Report{ConversationID: id, TurnID: head.LastTurn, Approvals: []ApprovalReport{}, Calls: []CallReport{}}
	report.OrderIDs = []string{}
	turns, err := e.store.Turns(ctx, []TurnID{head.LastTurn})
	if err != nil {
		return report, fmt.Errorf("reading the turn: %w", err)
	}
	if len(turns) == 0 {
		return report, &RecordError{Key: "of turn " + string(head.LastTurn), Reason: "it is missing or damaged"}
	}
	turn := turns[0]
	messages, calls, err := e.turnRecords(ctx, head, turn)
	if err != nil {
		return report, err
	}
	for _, c := range calls {
		report.Calls = append(report.Calls, ReportCall(c))
	}
	report.OrderIDs = orderIDs(calls)
	report.Status, report.Ledger = turn.End, turn.Ledger
	if turn.End == TurnAborted { // calls that were out may have been answered since
		report.Ledger = Ledger(calls)
	}
	usage := turn.Usage
	if head.Open != nil {
		report.Status, report.Stall, usage = head.Open.State, head.Open.Stall, head.Open.Usage
	}
	if usage != (Usage{}) {
		report.Usage = &usage
	}
	for _, c := range s.Calls {
		if a, ok := s.Approvals[c.Approval]; ok && !c.State.Settled() {
			report.Approvals = append(report.Approvals, ReportApproval(a, c))
		}
	}
	report.answer(messages, s)
	return report, nil
}

// answer fills in the text and the approval that a caller should look at first.
func (r *Report) answer(messages []Message, s Snapshot) {
	if len(messages) > 0 && messages[len(messages)-1].Role == RoleAssistant {
		r.Answer = messages[len(messages)-1].Text
	}
	switch r.Status {
	case TurnPaused:
		var sentences []string
		for _, c := range s.Calls {
			if !c.State.Settled() {
				sentences = append(sentences, pendingSentence(c, s.Approvals[c.Approval]))
			}
		}
		sentences = append(sentences, unusableSentences(s)...)
		r.Answer = strings.TrimSpace(r.Answer + "\n" + strings.Join(sentences, "\n"))
		if len(r.Approvals) > 0 {
			r.ApprovalID = r.Approvals[0].ApprovalID
		}
	case TurnStalled:
		r.Answer = "The assistant stopped: " + r.Stall + "."
	case TurnAborted:
		r.Answer = "This request was stopped."
	}
}

// pendingSentence says in a sentence what waits for a person.
func pendingSentence(c Call, a Approval) string {
	switch c.State {
	case CallUnknown:
		return fmt.Sprintf("It is not known whether %s happened (%s): %s.", c.Tool, c.Name(), c.Lost)
	case CallApproved:
		return fmt.Sprintf("%s is approved, not sent: %s.", c.Name(), c.NotSent)
	case CallWaiting:
		if a.ID == "" {
			return fmt.Sprintf("%s cannot be decided: %s. Nothing was sent.", c.Approval, unusableApproval)
		}
		return fmt.Sprintf("%s waits for your decision: %s. Nothing is sent until you approve it.", a.ID, a.Summary())
	}
	return fmt.Sprintf("%s is %s.", c.Tool, c.State)
}

// unusableApproval is why a call waits that nobody can decide.
const unusableApproval = "the record of what was asked is missing or damaged"

// unusableSentences says which calls of the newest reply have no record that
// could be used.
func unusableSentences(s Snapshot) []string {
	var out []string
	for _, b := range s.Head.Open.Batch {
		if b.State.Settled() || slices.ContainsFunc(s.Calls, func(c Call) bool { return c.ID == b.ID }) {
			continue
		}
		out = append(out, fmt.Sprintf("A call of this request, %s when it was last seen, has a record that is missing or damaged, so it can be neither decided nor sent. Stopping the request ends it.", b.State))
	}
	return out
}

func pointerText(document json.RawMessage, pointer string) (string, bool) {
	raw, ok := Pointer(document, pointer)
	if !ok {
		return "", false
	}
	var text string
	return text, json.Unmarshal(raw, &text) == nil
}

// turnRecords reads the messages and calls of a conversation's newest turn.
func (e *Engine) turnRecords(ctx context.Context, head Head, turn Turn) ([]Message, []Call, error) {
	messages, err := e.store.Messages(ctx, head.Conversation, head.NextMessage, head.NextMessage-turn.FirstMessage)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the turn's messages: %w", err)
	}
	var ids []CallID
	for _, m := range messages {
		ids = append(ids, m.Calls...)
	}
	calls, err := e.store.Calls(ctx, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the turn's calls: %w", err)
	}
	return messages, calls, nil
}

// ReportCall describes a call as screens and scripts see it.
func ReportCall(c Call) CallReport {
	r := CallReport{
		ID: c.ID, ModelID: c.ModelID, Tool: c.Tool, Alias: c.Alias, Args: c.Arguments, Status: c.State,
		ApprovalID: c.Approval, Result: c.Result,
	}
	if r.Args == nil {
		r.Args = c.Proposed
	}
	return r
}

// ReportApproval describes an approval and its call as screens and scripts see
// them.
func ReportApproval(a Approval, c Call) ApprovalReport {
	r := ApprovalReport{
		ApprovalID: a.ID, CallID: c.ID, ConversationID: a.Conversation, TurnID: a.Turn, Tool: a.Tool, Args: a.Arguments,
		Digest: a.Digest, Warnings: a.PreviewWarnings(), Because: a.Because, Status: c.State,
		RequestedAt: a.RequestedAt, ExpiresAt: a.ExpiresAt, Decision: a.Decision, Referral: a.Referral, Summary: a.Summary(),
	}
	if a.Preview != nil {
		r.Preview = a.Preview.Structured
	}
	for _, reason := range []string{c.Lost, c.NotSent, a.NoPreview} {
		if reason != "" {
			r.Reason = reason
			break
		}
	}
	return r
}

// Waiting lists what waits for a person over the whole desk: open approvals,
// calls that were approved and not sent, calls with unknown outcome. The oldest
// comes first. What cannot be decided because of its records is in
// [Engine.Unusable] instead.
func (e *Engine) Waiting(ctx context.Context) ([]ApprovalReport, error) {
	calls, err := e.store.OpenCalls(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what waits: %w", err)
	}
	var ids []ApprovalID
	for _, c := range calls {
		if c.Approval != "" {
			ids = append(ids, c.Approval)
		}
	}
	approvals, err := e.store.Approvals(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("reading what waits: %w", err)
	}
	byID := map[ApprovalID]Approval{}
	for _, a := range approvals {
		byID[a.ID] = a
	}
	out := []ApprovalReport{}
	for _, c := range calls {
		if c.State != CallWaiting && c.State != CallUnknown && !c.Held() {
			continue
		}
		a, ok := byID[c.Approval]
		if !ok && c.Approval != "" && c.State != CallUnknown {
			continue // see Unusable
		}
		if !ok { // a call that had none is named by its own id
			a = Approval{Conversation: c.Conversation, Turn: c.Turn, Tool: c.Tool, Arguments: c.Arguments, RequestedAt: c.SentAt}
		}
		out = append(out, ReportApproval(a, c))
	}
	return out, nil
}

// Unusable lists what is open over the whole desk and cannot be acted on,
// because a record is missing, damaged or of a newer program. Nothing of it is
// sent; aborting its conversation's turn ends it, and leaves the records as they
// are.
func (e *Engine) Unusable(ctx context.Context) ([]Unusable, error) {
	unusable, err := e.store.Unusable(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for records that cannot be used: %w", err)
	}
	return unusable, nil
}

// workOrderID is a work order's number.
var workOrderID = regexp.MustCompile(`^WO-\d{4,6}$`)

// orderIDs are the work orders that calls and results named in arguments and id
// fields, in the order in which they were named; never ids from free text.
func orderIDs(calls []Call) []string {
	out := []string{}
	seen := map[string]bool{}
	note := func(name, value string) {
		value = strings.ToUpper(value)
		if (name == "id" || strings.HasSuffix(name, "_id")) && workOrderID.MatchString(value) && !seen[value] {
			seen[value] = true
			out = append(out, value)
		}
	}
	for _, c := range calls {
		if c.Tool == "" {
			continue
		}
		eachField(c.Requested, note)
		if c.Result != nil {
			eachField(c.Result.Structured, note)
		}
	}
	return out
}

// eachField visits the string members of all objects in a document, in the
// order in which they stand there.
func eachField(document json.RawMessage, visit func(name, value string)) {
	decoder := json.NewDecoder(strings.NewReader(string(document)))
	var walk func(name string) bool
	walk = func(name string) bool {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch v := token.(type) {
		case string:
			visit(name, v)
		case json.Delim:
			for decoder.More() {
				inner := name
				if v == '{' {
					key, err := decoder.Token()
					if err != nil {
						return false
					}
					inner, _ = key.(string)
				}
				if !walk(inner) {
					return false
				}
			}
			_, err = decoder.Token()
			return err == nil
		}
		return true
	}
	walk("")
}

// Entry of a transcript: one message with what belongs to it.
type TranscriptEntry struct {
	Message Message
	// Calls are those of an assistant's message, in order.
	Calls []Call
	// Approvals are the newest approvals of Calls.
	Approvals map[ApprovalID]Approval
	// Turn is set on the last message of an ended turn.
	Turn *Turn
}

// Transcript gives at most limit messages with numbers below before (0: from
// the newest), oldest first, each with its calls.
func (e *Engine) Transcript(ctx context.Context, id ConversationID, before, limit int) ([]TranscriptEntry, error) {
	messages, err := e.store.Messages(ctx, id, before, limit)
	if err != nil {
		return nil, fmt.Errorf("reading conversation %s: %w", id, err)
	}
	out := make([]TranscriptEntry, 0, len(messages))
	for _, m := range messages {
		entry := TranscriptEntry{Message: m}
		if m.Role == RoleAssistant {
			if err := e.complete(ctx, &entry); err != nil {
				return nil, err
			}
		}
		out = append(out, entry)
	}
	return out, nil
}

func (e *Engine) complete(ctx context.Context, entry *TranscriptEntry) error {
	m := entry.Message
	if len(m.Calls) == 0 {
		turns, err := e.store.Turns(ctx, []TurnID{m.Turn})
		if err == nil && len(turns) == 1 && turns[0].LastMessage == m.Number {
			entry.Turn = &turns[0]
		}
		return err
	}
	calls, err := e.store.Calls(ctx, m.Calls)
	if err != nil {
		return fmt.Errorf("reading calls: %w", err)
	}
	entry.Calls = calls
	var ids []ApprovalID
	for _, c := range calls {
		if c.Approval != "" {
			ids = append(ids, c.Approval)
		}
	}
	approvals, err := e.store.Approvals(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading approvals: %w", err)
	}
	entry.Approvals = map[ApprovalID]Approval{}
	for _, a := range approvals {
		entry.Approvals[a.ID] = a
	}
	return nil
}

// Store gives the engine's store, for reading.
func (e *Engine) Store() Store { return e.store }
