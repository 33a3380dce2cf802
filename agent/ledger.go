package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The kinds of tools that the ledger line and the card have words for.
const (
	kindOrder       = "order"
	kindBookVisit   = "book_visit"
	kindMoveVisit   = "move_visit"
	kindCancelVisit = "cancel_visit"
	kindCancelOrder = "cancel_order"
	kindNote        = "note"
)

// ledgerWords say what a kind of call did, and where its result names the
// record and the amount.
var ledgerWords = []struct {
	kind, one, many string
	ids             []string
	amount          string
}{
	{kindOrder, "order placed", "orders placed", []string{"/part_order/id"}, "/part_order/total"},
	{kindCancelOrder, "order cancelled", "orders cancelled", []string{"/part_order/id"}, ""},
	{kindBookVisit, "visit booked", "visits booked", []string{"/visit/id"}, ""},
	{kindMoveVisit, "visit moved", "visits moved", []string{"/visit/id", "/visit/after/id"}, ""},
	{kindCancelVisit, "visit cancelled", "visits cancelled", []string{"/visit/id"}, ""},
	{kindNote, "note added", "notes added", []string{"/note/id"}, ""},
	{"", "call made", "calls made", nil, ""},
}

// Ledger is the line under the answer of a turn with gated calls: what the
// records say was done, so that a model's prose cannot mislead. It is empty for
// a turn in which nothing was gated and nothing was spent.
func Ledger(calls []Call) string {
	gated, spends := false, false
	done := map[string][]Call{}
	unknown := 0
	for _, c := range calls {
		gated = gated || c.Gated() || c.Verdict.Spends != nil && c.State == CallDone
		spends = spends || c.Gated() && c.Kind == kindOrder
		switch {
		case c.ReadOnly:
		case c.State == CallDone:
			kind := knownKind(c.Kind)
			done[kind] = append(done[kind], c)
		case c.State == CallUnknown:
			unknown++
		}
	}
	if !gated {
		return ""
	}
	var parts []string
	for _, w := range ledgerWords {
		made := done[w.kind]
		if len(made) == 0 {
			continue
		}
		words := w.many
		if len(made) == 1 {
			words = w.one
		}
		var details []string
		for _, c := range made {
			details = append(details, ledgerDetail(c, w.ids, w.amount))
		}
		parts = append(parts, fmt.Sprintf("%d %s: %s", len(made), words, strings.Join(details, "; ")))
	}
	if unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d with unknown outcome", unknown))
	}
	switch {
	case spends && len(done[kindOrder]) == 0 && unknown == 0:
		parts = append([]string{"Nothing was ordered"}, parts...)
	case len(parts) == 0:
		parts = []string{"Nothing was changed"}
	}
	return strings.Join(parts, " · ") + "."
}

func knownKind(kind string) string {
	for _, w := range ledgerWords {
		if w.kind == kind {
			return kind
		}
	}
	return ""
}

// ledgerDetail names the record that a call made: "PO-3021, 84.90 EUR".
func ledgerDetail(c Call, ids []string, amount string) string {
	if c.Settlement != nil {
		return "confirmed by a person, number not known"
	}
	var parts []string
	if c.Result != nil {
		for _, pointer := range ids {
			var id string
			if raw, ok := Pointer(c.Result.Structured, pointer); ok && json.Unmarshal(raw, &id) == nil && id != "" {
				parts = append(parts, id)
				break
			}
		}
		var money Money
		if raw, ok := Pointer(c.Result.Structured, amount); ok && amount != "" && json.Unmarshal(raw, &money) == nil && money.Currency != "" {
			parts = append(parts, money.String())
		}
	}
	if len(parts) == 0 {
		return string(c.Tool)
	}
	return strings.Join(parts, ", ")
}
