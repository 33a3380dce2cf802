package agent

import "time"

// AuditStep is what an audit line records.
type AuditStep string

// The steps of a call's life that the audit keeps.
const (
	AuditProposed AuditStep = "proposed"
	AuditShown    AuditStep = "shown"
	AuditDecided  AuditStep = "decided"
	AuditSent     AuditStep = "sent"
	AuditNotSent  AuditStep = "not sent"
	AuditResult   AuditStep = "result"
	AuditSettled  AuditStep = "settled"
	AuditClosed   AuditStep = "closed"
	AuditExtended AuditStep = "extended"
	AuditReferred AuditStep = "referred"
)

// AuditLine says who was shown, decided or sent what, when, and what came of
// it. Lines are appended in the transaction of what they record.
type AuditLine struct {
	Number       int            `json:"number"`
	At           time.Time      `json:"at"`
	Step         AuditStep      `json:"step"`
	Conversation ConversationID `json:"conversationId"`
	Turn         TurnID         `json:"turnId"`
	Call         CallID         `json:"callId"`
	ModelID      string         `json:"modelId,omitempty"`
	Approval     ApprovalID     `json:"approvalId,omitempty"`
	Tool         QualifiedName  `json:"tool"`
	Digest       string         `json:"digest,omitempty"`
	Key          string         `json:"key,omitempty"`
	// State is the call's state after the step.
	State CallState `json:"state"`
	By    *User     `json:"by,omitempty"`
	Note  string    `json:"note,omitempty"`
}
