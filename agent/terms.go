package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// compareTerms says which terms of a preview moved against the person who
// consented to the old ones: dearer, later, another currency or supplier, a new
// warning. What moved in their favour (cheaper, earlier, a warning gone) is no
// change.
func compareTerms(pointers []string, old, now json.RawMessage) []Change {
	var changes []Change
	for _, pointer := range pointers {
		before, _ := Pointer(old, pointer)
		after, _ := Pointer(now, pointer)
		if worse(before, after) {
			changes = append(changes, Change{Term: termName(pointer), Old: termText(before), New: termText(after)})
		}
	}
	return changes
}

// worse reports whether a term moved against the person. How terms compare
// follows from their shape: money, times, lists; anything else must be equal.
func worse(before, after json.RawMessage) bool {
	if equalJSON(before, after) {
		return false
	}
	if a, b, ok := bothMoney(before, after); ok {
		return a.Currency != b.Currency || b.Minor > a.Minor
	}
	if a, b, ok := bothTimes(before, after); ok {
		return b.After(a)
	}
	var a, b []json.RawMessage
	if json.Unmarshal(before, &a) == nil && json.Unmarshal(after, &b) == nil {
		return hasNew(a, b)
	}
	return true
}

func bothMoney(before, after json.RawMessage) (a, b Money, ok bool) {
	ok = json.Unmarshal(before, &a) == nil && json.Unmarshal(after, &b) == nil && a.Currency != "" && b.Currency != ""
	return a, b, ok
}

// bothTimes reads times as the work-orders server writes them: an object with
// "at", or a string.
func bothTimes(before, after json.RawMessage) (a, b time.Time, ok bool) {
	a, okA := readTime(before)
	b, okB := readTime(after)
	return a, b, okA && okB
}

func readTime(raw json.RawMessage) (time.Time, bool) {
	var object struct {
		At string `json:"at"`
	}
	text := ""
	if json.Unmarshal(raw, &text) != nil {
		if json.Unmarshal(raw, &object) != nil {
			return time.Time{}, false
		}
		text = object.At
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// hasNew reports whether b holds an element that a does not. Warnings and
// records are compared by their code or id, so that a reworded one is not new.
func hasNew(a, b []json.RawMessage) bool {
	known := map[string]bool{}
	for _, element := range a {
		known[elementName(element)] = true
	}
	for _, element := range b {
		if !known[elementName(element)] {
			return true
		}
	}
	return false
}

func elementName(raw json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		for _, name := range []string{"code", "id", "part_order_id"} {
			if value, ok := object[name]; ok {
				return string(value)
			}
		}
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return string(canonical)
}

func equalJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	ca, errA := Canonical(a)
	cb, errB := Canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// termName turns a pointer into words: "/line/total" is "total".
func termName(pointer string) string {
	parts := strings.Split(pointer, "/")
	name := parts[len(parts)-1]
	if (name == "id" || name == "at") && len(parts) > 2 {
		name = parts[len(parts)-2]
	}
	return strings.ReplaceAll(name, "_", " ")
}

// termText shows a term's value to a person.
func termText(raw json.RawMessage) string {
	var money Money
	if json.Unmarshal(raw, &money) == nil && money.Currency != "" {
		return money.String()
	}
	var when struct {
		Local string `json:"local"`
	}
	if json.Unmarshal(raw, &when) == nil && when.Local != "" {
		return when.Local
	}
	var warnings []Warning
	if json.Unmarshal(raw, &warnings) == nil {
		texts := make([]string, 0, len(warnings))
		for _, w := range warnings {
			if w.Message != "" {
				texts = append(texts, w.Message)
			}
		}
		if len(texts) == len(warnings) && len(texts) > 0 {
			return strings.Join(texts, "; ")
		}
		if len(warnings) == 0 {
			return "none"
		}
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if len(raw) == 0 {
		return "not given"
	}
	return string(raw)
}

// String prints money for people: "84.90 EUR".
func (m Money) String() string {
	sign, minor := "", m.Minor
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, minor/100, minor%100, m.Currency)
}
