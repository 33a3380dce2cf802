package agent

import (
	"encoding/json"
	"time"
)

// ApprovalState is where an approval stands.
type ApprovalState string

// The states of an approval: open once, then one of the others for ever.
const (
	ApprovalOpen       ApprovalState = "open"
	ApprovalApproved   ApprovalState = "approved"
	ApprovalDenied     ApprovalState = "denied"
	ApprovalExpired    ApprovalState = "expired"
	ApprovalCancelled  ApprovalState = "cancelled"
	ApprovalSuperseded ApprovalState = "superseded"
)

// Approval is the question put to a person about one call. It has exactly one
// digest and its question never changes: something different is a new approval.
// Only State, Decision, Closed, SupersededBy, ExpiresAt and Referral, which are
// no part of the question, are ever written again.
type Approval struct {
	Version      int            `json:"v"`
	ID           ApprovalID     `json:"id"`
	Number       int            `json:"number"`
	Conversation ConversationID `json:"conversation"`
	Turn         TurnID         `json:"turn"`
	Call         CallID         `json:"call"`
	State        ApprovalState  `json:"state"`

	Tool           QualifiedName `json:"tool"`
	Kind           string        `json:"kind,omitempty"`
	ServerIdentity string        `json:"serverIdentity"`
	// Definition is the hash of the tool's definition that was drawn.
	Definition string `json:"definition"`
	// Description is the server's own text on the tool (untrusted).
	Description string `json:"description,omitempty"`
	// Arguments are the canonical bytes that will be sent.
	Arguments json.RawMessage `json:"arguments"`
	// Digest binds a decision to all of the above and to the preview.
	Digest string `json:"digest"`

	// PreviewTool fills the card; empty if the tool has none.
	PreviewTool QualifiedName `json:"previewTool,omitempty"`
	Preview     *Result       `json:"preview,omitempty"`
	// NoPreview says why the preview could not be fetched. While it is set the
	// call cannot be approved; it can be denied.
	NoPreview string `json:"noPreview,omitempty"`
	// TermPointers are the JSON pointers into the preview that a person
	// consents to.
	TermPointers []string `json:"termPointers,omitempty"`

	// Because is the reason for asking, in a sentence.
	Because string `json:"because,omitempty"`
	// NotInRequest marks a write that no dispatcher's line asked for.
	NotInRequest bool `json:"notInRequest,omitempty"`
	// Line is the dispatcher's message that led to the call (untrusted).
	Line string `json:"line,omitempty"`

	RequestedAt time.Time `json:"requestedAt"`
	// RequestedBy is the desk user who sent Line.
	RequestedBy User       `json:"requestedBy"`
	ExpiresAt   *time.Time `json:"expiresAt,omitempty"`

	// Supersedes is the approval that this one replaced, and Changes what
	// became different.
	Supersedes   ApprovalID `json:"supersedes,omitempty"`
	Changes      []Change   `json:"changes,omitempty"`
	SupersededBy ApprovalID `json:"supersededBy,omitempty"`

	// Referral says for whom it waits, if somebody left it to a role.
	Referral *Referral `json:"referral,omitempty"`

	Decision *Decision `json:"decision,omitempty"`
	// Closed says why the approval ended without a person's decision.
	Closed string `json:"closed,omitempty"`
}

// Change is one term that became different, in words that a person can compare.
type Change struct {
	// Term names it, e.g. "total".
	Term string `json:"term"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Decision is what a person said of an approval.
type Decision struct {
	Approved bool      `json:"approved"`
	By       User      `json:"by"`
	At       time.Time `json:"at"`
	// Note is the reason of a denial, or a remark; word for word.
	Note string `json:"note,omitempty"`
}

// User is somebody who works at the desk.
type User struct {
	ID   UserID `json:"id"`
	Name string `json:"name,omitempty"`
	// Role is the book's word: dispatcher, senior_dispatcher or manager.
	Role string `json:"role,omitempty"`
	// Limit is the most that the user may approve at once, fees included; nil
	// means no limit.
	Limit *Money `json:"limit,omitempty"`
}

// Money is an amount in minor units (cents) of a currency, never a float.
type Money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

// Warning is one line that a server wants a person to read before deciding.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
