package agent

import (
	"encoding/json"
	"time"
)

// DispatchAnswer is the answer of a turn: one type for the command line, the
// HTTP answer and its JSON schema.
type DispatchAnswer struct {
	// Answer is the assistant's text, or, while something waits, a sentence
	// that says what.
	Answer string `json:"answer"`
	// OrderIDs are the work orders that the turn's calls and results named, in
	// the order in which they were named; never ids from free text.
	OrderIDs []string `json:"orderIds"`
	// ApprovalID is the oldest approval that waits in the conversation.
	ApprovalID ApprovalID `json:"approvalId,omitempty"`
}

// Report is where a turn stands, for a screen or a script.
type Report struct {
	DispatchAnswer
	ConversationID ConversationID `json:"conversationId"`
	TurnID         TurnID         `json:"turnId"`
	Status         TurnState      `json:"status"`
	// Ledger is the line that stands under the answer, from records only.
	Ledger string `json:"ledger,omitempty"`
	// Stall says why a stalled turn stopped.
	Stall string `json:"stall,omitempty"`
	// Approvals are those that wait in the conversation, oldest first.
	Approvals []ApprovalReport `json:"approvals"`
	// Calls are those of the turn, in order.
	Calls []CallReport `json:"calls"`
	Usage *Usage       `json:"usage,omitempty"`
}

// ApprovalReport is an approval and the call that it is about.
type ApprovalReport struct {
	ApprovalID     ApprovalID      `json:"approvalId"`
	CallID         CallID          `json:"callId"`
	ConversationID ConversationID  `json:"conversationId"`
	TurnID         TurnID          `json:"turnId"`
	Tool           QualifiedName   `json:"tool"`
	Args           json.RawMessage `json:"args"`
	Digest         string          `json:"digest"`
	// Preview is the preview's structured content.
	Preview  json.RawMessage `json:"preview,omitempty"`
	Warnings []Warning       `json:"warnings"`
	Because  string          `json:"because"`
	// Status is the call's state: waiting, unknown, or approved (not sent).
	Status      CallState  `json:"status"`
	Reason      string     `json:"reason,omitempty"`
	RequestedAt time.Time  `json:"requestedAt"`
	ExpiresAt   *time.Time `json:"expiresAt,omitempty"`
	Decision    *Decision  `json:"decision,omitempty"`
	Referral    *Referral  `json:"referral,omitempty"`
	// Summary says in a few words what it is about; see [Approval.Summary].
	Summary string `json:"-"`
}

// CallReport is a call of a turn.
type CallReport struct {
	ID      CallID        `json:"id"`
	ModelID string        `json:"modelId"`
	Tool    QualifiedName `json:"tool"`
	Alias   string        `json:"alias"`
	// Args is the object that was or would be sent.
	Args       json.RawMessage `json:"args"`
	Status     CallState       `json:"status"`
	ApprovalID ApprovalID      `json:"approvalId,omitempty"`
	Result     *Result         `json:"result,omitempty"`
}
