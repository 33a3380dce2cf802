package agent

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Referral says that a card waits for somebody with a role. It is no part of
// the question: the same approval waits, under the same id.
type Referral struct {
	// Role is the book's word: senior_dispatcher or manager.
	Role string    `json:"role"`
	By   User      `json:"by"`
	At   time.Time `json:"at"`
}

// Refer leaves an open approval that is above the limit of the person who asks
// to somebody with the role that it needs. It decides nothing. It fails with a
// [*DecidedError] if the approval is not open any more.
func (e *Engine) Refer(ctx context.Context, id ApprovalID) (Approval, error) {
	user, now := e.userIn(ctx), e.now()
	return e.amend(ctx, id, func(a *Approval) (AuditLine, error) {
		role := neededRole(*a)
		if roleRank(role) <= roleRank(user.Role) {
			return AuditLine{}, fmt.Errorf("%s needs nobody else: %s may approve it", id, user.DisplayName())
		}
		a.Referral = &Referral{Role: role, By: user, At: now}
		return AuditLine{Step: AuditReferred, At: now, By: &user, Note: "to a " + strings.ReplaceAll(role, "_", " ")}, nil
	})
}
