package workorders

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A term is one token of a part's name or of a query: a word, a code (it has a
// digit: A42, G24, 592x592x48) or a quantity (a number with a unit).
type term struct {
	text   string // folded; a quantity in its base unit: "3000w"
	number string // of a quantity, as written: "3.5"
	shown  string // as written in the name: "3.5 kW"
	kind   termKind
}

type termKind int

const (
	word termKind = iota
	code
	quantity
)

// units that a number may carry, with the base unit and the factor to it.
var units = map[string]struct {
	base   string
	factor int64
}{
	"w": {"w", 1}, "kw": {"w", 1000}, "v": {"v", 1}, "a": {"a", 1}, "uf": {"uf", 1}, "bar": {"bar", 1},
	"mm": {"mm", 1}, "cm": {"mm", 10}, "m": {"mm", 1000}, "metre": {"mm", 1000}, "meter": {"mm", 1000},
	"l": {"l", 1}, "litre": {"l", 1}, "liter": {"l", 1}, "kg": {"kg", 1}, "c": {"c", 1},
	"in": {"in", 1}, "inch": {"in", 1}, "watt": {"w", 1}, "volt": {"v", 1}, "amp": {"a", 1},
}

var (
	halves     = strings.NewReplacer(" 1⁄2", ".5", "1⁄2", ".5", " ½", ".5", "½", ".5", "”", `"`, "″", `"`, "°", "", "-phase", " phase")
	halfInches = regexp.MustCompile(`(\d) 1/2\b`)
	tokens     = regexp.MustCompile(`\d+(?:[.,]\d+)?(?:x\d+)+|\d+(?:[.,]\d+)?\s*(?:kw|watts?|w|volts?|v|amps?|a|uf|bar|mm|cm|m|metres?|meters?|litres?|liters?|l|kg|c|inch|in|")(?:[^\pL\pN]|$)|[\pL\pN]+(?:-[\pL]*\d[\pL\pN]*)*|\d+[.,]\d+`)
	amount     = regexp.MustCompile(`^(\d+(?:[.,]\d+)?)\s*([a-z]+|")$`)
)

// terms splits text. Units may be glued to the number or not, decimal commas
// and halves are understood, plurals are cut.
func terms(text string) []term {
	plain := halfInches.ReplaceAllString(halves.Replace(strings.ToLower(text)), "$1.5")
	plain = fold(plain)
	var out []term
	for plain != "" {
		at := tokens.FindStringIndex(plain)
		if at == nil {
			break
		}
		found := plain[at[0]:at[1]]
		// The expression takes one character behind a unit to see its end.
		if trimmed := strings.TrimRightFunc(found, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '"'
		}); trimmed != "" {
			at[1] = at[0] + len(trimmed)
			found = trimmed
		}
		plain = plain[at[1]:]
		out = append(out, termOf(found))
	}
	return out
}

func termOf(s string) term {
	if m := amount.FindStringSubmatch(s); m != nil {
		unit := strings.TrimSuffix(m[2], "s")
		if m[2] == `"` {
			unit = "in"
		}
		if u, ok := units[unit]; ok {
			number := strings.ReplaceAll(m[1], ",", ".")
			value, _ := new(big.Rat).SetString(number)
			value.Mul(value, new(big.Rat).SetInt64(u.factor))
			return term{text: value.RatString() + u.base, number: number, shown: number + " " + shownUnit(unit), kind: quantity}
		}
	}
	if strings.ContainsFunc(s, unicode.IsDigit) {
		return term{text: strings.ReplaceAll(s, ",", "."), shown: strings.ToUpper(s), kind: code}
	}
	return term{text: singular(s), shown: s, kind: word}
}

func shownUnit(unit string) string {
	shown := map[string]string{"kw": "kW", "watt": "W", "w": "W", "volt": "V", "v": "V", "amp": "A", "a": "A", "uf": "µF", "c": "°C", "in": "inch"}
	if s := shown[unit]; s != "" {
		return s
	}
	return unit
}

// singular cuts the usual plural endings of English words.
func singular(w string) string {
	switch {
	case len(w) < 4 || strings.HasSuffix(w, "ss"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "xes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

// compact drops everything but letters and digits: "HE-3000-230" is "he3000230".
func compact(s string) string { return strings.Join(words(s), "") }

func ofKind(all []term, kind termKind) []term {
	return slices.DeleteFunc(slices.Clone(all), func(t term) bool { return t.kind != kind })
}
