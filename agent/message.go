package agent

import (
	"encoding/json"
	"fmt"
	"time"
)

// Role says who a message is from.
type Role string

// The roles of messages. Results of calls are no messages in the store: they
// stand in the call's own record.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	// RoleTool appears in model requests only.
	RoleTool Role = "tool"
)

// Message is one stored line of a conversation. Messages are appended, never
// rewritten.
type Message struct {
	Version      int            `json:"v"`
	Conversation ConversationID `json:"conversation"`
	// Number orders the messages of a conversation, from 1, without holes.
	Number int       `json:"number"`
	Turn   TurnID    `json:"turn"`
	Role   Role      `json:"role"`
	Text   string    `json:"text,omitempty"`
	Calls  []CallID  `json:"calls,omitempty"`
	At     time.Time `json:"at"`
	// Opaque is what the provider wants back with the message, untouched.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Result is what a call gave, as the server sent it: every content block,
// structured content and metadata, in the protocol's own JSON. Outcomes that
// the engine states itself (denied, refused, ...) have one text block.
type Result struct {
	// Content are MCP content blocks, each one JSON object.
	Content []json.RawMessage `json:"content"`
	// Structured is the structured content; nil if the server sent none.
	Structured json.RawMessage `json:"structured,omitempty"`
	// Meta is the result's _meta; nil if the server sent none.
	Meta json.RawMessage `json:"meta,omitempty"`
	// IsError is the tool's own error flag. A denial is no error, because
	// models try errors again.
	IsError bool `json:"isError,omitempty"`
}

// check makes sure that a result can be kept. Its error names the place.
func (r Result) check() error {
	for i, block := range r.Content {
		if err := checkJSON(fmt.Sprintf("content/%d", i), block); err != nil {
			return err
		}
	}
	if err := checkJSON("structured", r.Structured); err != nil {
		return err
	}
	return checkJSON("meta", r.Meta)
}

// checkJSON makes sure that a part is JSON, or not there.
func checkJSON(path string, part json.RawMessage) error {
	if part == nil || json.Valid(part) {
		return nil
	}
	var ignored any
	return fmt.Errorf("%s: %w", path, json.Unmarshal(part, &ignored))
}

// TextResult is a result of one text block.
func TextResult(text string, isError bool) *Result {
	block, err := json.Marshal(map[string]string{"type": "text", "text": text})
	if err != nil {
		panic("agent: a string cannot be encoded: " + err.Error()) // impossible: invalid UTF-8 is replaced
	}
	return &Result{Content: []json.RawMessage{block}, IsError: isError}
}

// Usage counts a model's tokens; zero for the built-in model.
type Usage struct {
	Input  int `json:"input,omitempty"`
	Output int `json:"output,omitempty"`
	Cached int `json:"cached,omitempty"`
}

// Add gives the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached}
}
