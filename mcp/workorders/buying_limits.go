package workorders

import (
	"fmt"
	"slices"
	"time"
)

// splitWindow is the time in which orders of one user for one job and part
// count together against the user's limit.
const splitWindow = 24 * time.Hour

// approver is the desk user of the call, or the one with the lowest limit for
// a client without a desk.
func (v view) approver() (u *User, desk bool) {
	if u := v.user(v.caller.user); u != nil {
		return u, true
	}
	return v.lowestUser(), false
}

// lowestUser is the desk user with the lowest limit, or nil.
func (v view) lowestUser() (u *User) {
	for i := range v.users {
		if o := &v.users[i]; u == nil || below(o.ApprovalLimit, u.ApprovalLimit) {
			u = o
		}
	}
	return u
}

// below compares limits, where nil is none.
func below(a, b *int64) bool { return a != nil && (b == nil || *a < *b) }

// limit decides who may approve the purchase. What exceeds the user's power is
// kept as a refusal: an order by a desk user is refused with it, an order by a
// client without a desk waits, a quote shows it.
func (v view) limit(p *purchase) {
	p.role = roleNone
	u, _ := v.approver()
	if u == nil {
		return
	}
	if r := v.overWorkOrderLimit(p); r != nil {
		p.escalate(u, roleManage, r)
	}
	if p.part.Currency != v.company.Currency {
		needed := v.policy.ForeignCurrencyRole
		if needed == "" {
			needed = roleManage
		}
		p.escalate(u, needed, refuse("foreign_currency", "sku", "The total of %s is not in %s; a manager has to approve it.",
			p.money(p.total), v.company.Currency))
		return
	}
	if r := v.dearDuplicate(p); r != nil {
		p.escalate(u, roleManage, r)
	}
	counted := p.total + v.splitSum(p, u)
	if u.ApprovalLimit == nil || counted <= *u.ApprovalLimit {
		return
	}
	message := fmt.Sprintf("%s is above the limit of %s (%s).", p.money(counted), u.Name, p.money(*u.ApprovalLimit))
	if counted != p.total {
		message = fmt.Sprintf("With %s approved in the last 24 hours for this job and part, %s", p.money(counted-p.total), message)
	}
	p.escalate(u, v.roleFor(counted), refuse("over_approval_limit", "quantity", "%s", message).
		detail("limit", p.money(*u.ApprovalLimit)).detail("counted", p.money(counted)))
}

// escalate asks for a role above the user's. The first reason is the refusal.
func (p *purchase) escalate(u *User, role string, r *Refusal) {
	if rank(u.Role) >= rank(role) {
		return
	}
	if rank(role) > rank(p.role) {
		p.role = role
	}
	p.warn(r.Code, "%s", r.Message)
	if p.refusal == nil {
		p.refusal = r.never()
	}
	p.refusal.detail("approver_needed", p.role)
}

func rank(role string) int {
	return slices.Index([]string{roleNone, "dispatcher", roleSenior, roleManage}, role)
}

// roleFor is the lowest role of a user whose limit covers the amount.
func (v view) roleFor(minor int64) string {
	role := roleManage
	for _, u := range v.users {
		if (u.ApprovalLimit == nil || minor <= *u.ApprovalLimit) && rank(u.Role) < rank(role) {
			role = u.Role
		}
	}
	return role
}

// overWorkOrderLimit compares the job's orders and this one with its budget.
func (v view) overWorkOrderLimit(p *purchase) *Refusal {
	if p.job == nil || p.part.Currency != p.job.Currency || p.job.Currency != v.company.Currency {
		return nil
	}
	spent := v.committed(p.job)
	if p.order != nil {
		spent -= p.order.Total // it is one of them
	}
	if spent+p.total <= p.job.SpendLimit {
		return nil
	}
	return refuse("over_work_order_limit", "quantity", "The budget of %s is %s and %s of it is used; with this order it would be %s.",
		p.job.ID, p.money(p.job.SpendLimit), p.money(spent), p.money(spent+p.total)).
		detail("limit", p.money(p.job.SpendLimit)).detail("committed", p.money(spent))
}

// dearDuplicate asks for a manager when a part that is already on order for the
// job is ordered again above the lowest limit of the desk.
func (v view) dearDuplicate(p *purchase) *Refusal {
	lowest := v.lowestUser()
	if len(p.duplicates) == 0 || lowest.ApprovalLimit == nil || p.total <= *lowest.ApprovalLimit {
		return nil
	}
	return refuse("over_approval_limit", "allow_duplicate", "A second order of %s for %s above %s needs a manager.",
		p.part.SKU, p.job.ID, p.money(*lowest.ApprovalLimit))
}

// splitSum is what the same user approved for the same job and part lately, so
// that a limit cannot be passed in small steps.
func (v view) splitSum(p *purchase, u *User) int64 {
	var sum int64
	if p.job == nil {
		return 0
	}
	_, desk := v.approver()
	for _, o := range v.ordersOf(p.job) {
		mine := o.ApprovedBy != nil && *o.ApprovedBy == u.ID
		if !desk {
			mine = o.ApprovedBy == nil && o.RequestedBy == nil
		}
		at := o.RequestedAt.Time
		if o.ApprovedAt != nil {
			at = o.ApprovedAt.Time
		}
		if mine && o != p.order && o.SKU == p.part.SKU && o.Currency == p.part.Currency && v.now.Sub(at) < splitWindow &&
			o.Status != "cancelled" && o.Status != "rejected" {
			sum += o.Total
		}
	}
	return sum
}
