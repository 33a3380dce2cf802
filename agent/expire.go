package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// expired reports whether the approval's time has run out at now.
func (a *Approval) expired(now time.Time) bool {
	return a.ExpiresAt != nil && !now.Before(*a.ExpiresAt)
}

// expire stores that nobody decided in time and drives the turn on. Until it is
// stored, a denial is still a denial. On success it gives a [*DecidedError] with
// the expired approval, for whoever came too late.
func (e *Engine) expire(ctx context.Context, a Approval) error {
	now := e.now()
	var c Call
	goOn, err := e.change(ctx, a.Call, func(tx Tx, stored *Call) ([]AuditLine, error) {
		fresh, err := tx.Approval(a.ID)
		if err != nil {
			return nil, err
		}
		if fresh.State != ApprovalOpen || !fresh.expired(now) {
			return nil, &DecidedError{Approval: fresh}
		}
		fresh.State = ApprovalExpired
		fresh.Closed = "nobody decided before " + fresh.ExpiresAt.Format("15:04 on Mon 2 Jan")
		if err := tx.PutApproval(fresh); err != nil {
			return nil, err
		}
		a = fresh
		stored.Result = TextResult(e.texts.Expired, false)
		err = stored.Apply(EventExpire)
		c = *stored
		return []AuditLine{{Step: AuditClosed, At: now, Note: fresh.Closed}}, err
	})
	if err != nil {
		return err
	}
	if goOn {
		err = e.drive(ctx, c.Conversation, c.Turn)
	}
	return errors.Join(&DecidedError{Approval: a}, err)
}

// ExpireDue ends the approvals whose time has run out, over the whole desk, and
// drives their turns on. Programs that stay call it from time to time.
func (e *Engine) ExpireDue(ctx context.Context) error {
	waiting, err := e.Waiting(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, w := range waiting {
		if w.Status != CallWaiting || w.ExpiresAt == nil || e.now().Before(*w.ExpiresAt) {
			continue
		}
		err := e.expire(ctx, Approval{ID: w.ApprovalID, Call: w.CallID})
		var decided *DecidedError
		if !errors.As(err, &decided) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// Extend gives an open approval more time, counted from now.
func (e *Engine) Extend(ctx context.Context, id ApprovalID, by time.Duration) (Approval, error) {
	if by <= 0 {
		return Approval{}, errors.New("extend by a length of time above zero")
	}
	end, user, now := e.now().Add(by), e.userIn(ctx), e.now()
	return e.amend(ctx, id, func(a *Approval) (AuditLine, error) {
		if a.ExpiresAt == nil {
			return AuditLine{}, fmt.Errorf("%s waits for ever already", id)
		}
		a.ExpiresAt = &end
		return AuditLine{Step: AuditExtended, At: now, By: &user, Note: "until " + end.Format(time.RFC3339)}, nil
	})
}

// amend changes an approval that is open, and decides nothing. A turn that had
// been stalled goes on.
func (e *Engine) amend(ctx context.Context, id ApprovalID, fn func(*Approval) (AuditLine, error)) (Approval, error) {
	loaded, _, err := e.load(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	var out Approval
	goOn, err := e.change(ctx, loaded.Call, func(tx Tx, _ *Call) ([]AuditLine, error) {
		a, err := tx.Approval(id)
		if err != nil {
			return nil, err
		}
		if a.State != ApprovalOpen {
			return nil, &DecidedError{Approval: a}
		}
		line, err := fn(&a)
		if err != nil {
			return nil, err
		}
		out = a
		return []AuditLine{line}, tx.PutApproval(a)
	})
	if err == nil && goOn {
		err = e.drive(ctx, out.Conversation, out.Turn)
	}
	return out, err
}
