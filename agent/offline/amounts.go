package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measure is a number with a unit that tells parts apart: 3 kW is not 3.5 kW.
type measure struct {
	value string // decimal text without trailing zeros
	unit  string
}

// units maps how people write units to one form.
var units = map[string]string{
	"kw": "kW", "kilowatt": "kW", "kilowatts": "kW", "w": "W", "watt": "W", "watts": "W",
	"v": "V", "volt": "V", "volts": "V", "amp": "A", "amps": "A", "mm": "mm", "cm": "cm",
	"kg": "kg", "bar": "bar", "uf": "µF", "hz": "Hz", "l": "l", "litre": "l", "litres": "l", "liter": "l", "liters": "l",
}

// gluedUnits count only without a space: "40a" is a current, "40 a" is not.
var gluedUnits = map[string]string{"a": "A"}

var numberUnit = regexp.MustCompile(`^(\d+(?:[.,]\d+)?)([a-z]*)$`)

// readMeasures finds "3 kw", "3.5kW", "230 V".
func readMeasures(words []word) []measure {
	var out []measure
	for i := range words {
		if words[i].as != asNothing {
			continue
		}
		m := numberUnit.FindStringSubmatch(words[i].text)
		if m == nil {
			continue
		}
		unit, ok := units[m[2]]
		if !ok {
			unit, ok = gluedUnits[m[2]]
		}
		if ok {
			words[i].as = asMeasure
		} else if m[2] == "" && i+1 < len(words) && words[i+1].as == asNothing {
			if unit, ok = units[words[i+1].text]; ok {
				words[i].as, words[i+1].as = asMeasure, asMeasure
			}
		}
		if ok {
			out = append(out, measure{value: plainDecimal(m[1]), unit: unit})
		}
	}
	return out
}

func plainDecimal(s string) string {
	s = strings.Replace(s, ",", ".", 1)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func (m measure) String() string { return m.value + " " + m.unit }

// measuresOf reads the measures in a part's name or description.
func measuresOf(text string) []measure { return readMeasures(splitWords(text)) }

// quantity is how many pieces were asked for.
type quantity struct {
	// given is set if the line says a number; article if it says "a" or "an".
	given, article bool
	n              int
	// typed is what stood there; bad is set if it is no whole number.
	typed string
	bad   bool
	// packs is set if the number counts packs or boxes.
	packs bool
}

var numberWords = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
	"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "pair": 2, "couple": 2, "thirteen": 13, "fourteen": 14, "fifteen": 15,
	"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
	"seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
}

var (
	timesMark   = regexp.MustCompile(`^(-?\d{1,7})x$|^x(\d{1,7})$`)
	plainNumber = regexp.MustCompile(`^-?\d{1,7}$`)
	anyDecimal  = regexp.MustCompile(`^-?\d{1,7}[.,]\d+$`)
)

// jobLeads are the words after which a bare number is a job.
var jobLeads = []string{"for", "on", "to", "job", "jobs", "wo", "same", "at", "about", "of", "and", "is", "status", "order"}

// packWords count packs, not pieces.
var packWords = []string{"pack", "packs", "box", "boxes", "packet", "packets"}

// readNumbers sorts the bare numbers of a clause into jobs and a quantity. Four
// to six digits are a job unless another number is the better job: in "order
// 10000 elements for 1044" the job is what stands after "for".
func readNumbers(words []word, found *ids, ordering bool) quantity {
	var candidates []int
	q := readMarkedQuantity(words)
	for i := range words {
		if words[i].as == asNothing && bareJob.MatchString(words[i].base()) {
			candidates = append(candidates, i)
		}
	}
	for _, i := range candidates {
		if ordering && !q.given && isCount(words, i, candidates, len(found.jobs) > 0) {
			q = setNumber(q, words[i].text)
			words[i].as = asNumber
			continue
		}
		words[i].as = asID
		found.add("wo", words[i].base())
	}
	if !q.given {
		q = readPlainQuantity(words, q)
	}
	return q
}

// isCount reports whether the bare number at i counts pieces: it stands right
// after the verb or before a part, and something else is the job.
func isCount(words []word, i int, candidates []int, jobKnown bool) bool {
	if i > 0 && slices.Contains(jobLeads[:6], words[i-1].text) {
		return false
	}
	last := len(words)-1 == i || words[i].ends
	if last {
		return false
	}
	return jobKnown || len(candidates) > 1 && i != candidates[len(candidates)-1] || i == 1
}

// readMarkedQuantity finds numbers that can only be counts: 2x, x2, qty 3.
func readMarkedQuantity(words []word) quantity {
	var q quantity
	for i := range words {
		if words[i].as != asNothing || q.given {
			continue
		}
		if m := timesMark.FindStringSubmatch(words[i].text); m != nil {
			q = setNumber(q, m[1]+m[2])
			words[i].as = asNumber
		}
		if i+1 < len(words) && words[i+1].as == asNothing && isNumber(words[i+1].text) &&
			(words[i].text == "qty" || words[i].text == "quantity" || words[i].text == "x") {
			q = setNumber(q, words[i+1].text)
			words[i].as, words[i+1].as = asNumber, asNumber
		}
		if i+1 < len(words) && words[i+1].text == "x" && isNumber(words[i].text) && !q.given {
			q = setNumber(q, words[i].text)
			words[i].as, words[i+1].as = asNumber, asNumber
		}
	}
	return q
}

func isNumber(s string) bool { return plainNumber.MatchString(s) || anyDecimal.MatchString(s) }

// readPlainQuantity takes the first small number or number word.
func readPlainQuantity(words []word, q quantity) quantity {
	for i := range words {
		w := &words[i]
		if w.as != asNothing {
			continue
		}
		n, isWord := numberWords[w.text]
		switch {
		case isWord && slices.Contains(countNouns, w.text) && i > 0 && words[i-1].text != "half" && !slices.Contains(articles, words[i-1].text) && !isVerbLike(words[i-1].text):
			continue // "a battery pair" is one
		case isWord && w.text == "one" && i > 0 && !isVerbLike(words[i-1].text):
			continue // "the stainless one" is no number
		case isWord:
			q.given, q.n, q.typed = true, n, w.text
			if both, used := spokenNumber(words, i); used == 2 && words[i+1].as == asNothing {
				q.n, q.typed, words[i+1].as = both, w.text+" "+words[i+1].text, asNumber
			}
			if half := halfBefore(words, i); half >= 0 {
				q.n /= 2
				words[half].as = asNumber
			}
		case isNumber(w.text):
			q = setNumber(q, w.text)
		case w.text == "a" || w.text == "an":
			q.article = true
			continue
		default:
			continue
		}
		w.as = asNumber
		if q.packs = i+1 < len(words) && slices.Contains(packWords, words[i+1].text); q.packs {
			words[i+1].as = asNumber
		}
		return q
	}
	return q
}

// countNouns count like a number where nothing but an article stands before them.
var countNouns = []string{"pair", "couple", "dozen"}

// halfBefore finds the "half" of "half a dozen", or -1.
func halfBefore(words []word, i int) int {
	for _, back := range []int{1, 2} {
		if k := i - back; k >= 0 && words[k].text == "half" && (back == 1 || words[i-1].text == "a") {
			return k
		}
	}
	return -1
}

func isVerbLike(s string) bool {
	return slices.Contains([]string{"order", "ordr", "buy", "get", "of", "need", "just", "only", "it"}, s)
}

func setNumber(q quantity, typed string) quantity {
	q.given, q.typed = true, typed
	n, err := strconv.Atoi(typed)
	q.n, q.bad = n, err != nil
	return q
}
