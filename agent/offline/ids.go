package offline

import (
	"regexp"
	"slices"
	"strings"
)

// ids are the records that a clause names.
type ids struct {
	jobs        []string // WO-1044
	orders      []string // PO-3007
	visits      []string // V-2019
	technicians []string // T-03
	sites       []string // S-101
	approvals   []string
	skus        []string // as printed, upper case
}

var (
	prefixedID = regexp.MustCompile(`^(wo|po|v|t|s|a)[-#.]?(\d{1,6})$`)
	bareJob    = regexp.MustCompile(`^\d{4,6}$`)
	skuShape   = regexp.MustCompile(`^[a-z]{1,4}[0-9]{0,4}(-[a-z0-9]{1,8}){1,3}$`)
	hasDigit   = regexp.MustCompile(`[0-9]`)
)

// notSKU are hyphenated words that people write without meaning a part.
var notSKU = []string{"to", "the", "of", "in", "by", "up", "on", "off", "out", "re", "pre", "non", "co", "so", "no", "as", "e", "too", "all", "day"}

// readIDs finds ids that cannot be anything else. Bare numbers are left for
// readNumbers, which knows what stands around them.
func readIDs(words []word) ids {
	var out ids
	for i := range words {
		w := &words[i]
		if w.as != asNothing {
			continue
		}
		base := w.base()
		if (base == "wo" || base == "po") && !w.ends && i+1 < len(words) && bareJob.MatchString(words[i+1].base()) {
			out.add(base, words[i+1].base())
			w.as, words[i+1].as = asID, asID
			continue
		}
		if base == "order" && i > 0 && (words[i-1].text == "part" || slices.Contains(cancelVerbs, words[i-1].text)) && i+1 < len(words) && !w.ends && bareJob.MatchString(words[i+1].base()) {
			out.add("po", words[i+1].base()) // "part order 3015"
			words[i+1].as = asID
			continue
		}
		if m := prefixedID.FindStringSubmatch(base); m != nil && isID(m[1], m[2], base) {
			out.add(m[1], m[2])
			w.as = asID
			continue
		}
		if sku, ok := readSKU(*w); ok {
			out.skus = append(out.skus, sku)
			w.as = asID
		}
	}
	return out
}

// isID tells ids from things that look alike: "a42" is a belt, "s1" is nothing.
func isID(prefix, digits, whole string) bool {
	switch prefix {
	case "wo", "po":
		return len(digits) >= 4
	case "v":
		return len(digits) >= 4
	}
	return strings.Contains(whole, "-")
}

func (x *ids) add(prefix, digits string) {
	put := func(list *[]string, id string) {
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	switch prefix {
	case "wo":
		put(&x.jobs, "WO-"+digits)
	case "po":
		put(&x.orders, "PO-"+digits)
	case "v":
		put(&x.visits, "V-"+digits)
	case "t":
		put(&x.technicians, "T-"+digits)
	case "s":
		put(&x.sites, "S-"+digits)
	case "a":
		put(&x.approvals, "A-"+digits)
	}
}

// readSKU takes printed numbers: with a digit in any case, without one only in
// capitals or with three parts (GB-FAN-24, AP-DW-SEAL, ap-wx-lock).
func readSKU(w word) (string, bool) {
	if len(w.text) > 24 || !skuShape.MatchString(w.text) {
		return "", false
	}
	parts := strings.Split(w.text, "-")
	for _, p := range parts {
		if slices.Contains(notSKU, p) {
			return "", false
		}
	}
	capitals := w.raw == strings.ToUpper(w.raw)
	if hasDigit.MatchString(w.text) || capitals || len(parts) > 2 && len(parts[0]) <= 3 {
		return strings.ToUpper(w.text), true
	}
	return "", false
}
