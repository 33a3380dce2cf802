package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// recordID is the number of a job, visit or order as people and tools write it.
var recordID = regexp.MustCompile(`^[A-Z]{1,3}-\d{3,6}$`)

// wordLength is the shortest word that ties a record to a dispatcher's line.
const wordLength = 4

// inRequest reports whether a write was asked for: a record that its arguments
// name stands in a dispatcher's line of the conversation, or a result record
// with that id shares a word with such a line, in a field that nobody outside
// wrote. What a model or a customer wrote cannot ask for anything.
func inRequest(arguments json.RawMessage, lines []string, results []Result) bool {
	names := identifiers(arguments)
	if len(names) == 0 {
		return true // nothing that a line could have named
	}
	said := map[string]bool{}
	for _, line := range lines {
		for _, word := range words(line) {
			said[word] = true
		}
	}
	for _, name := range names {
		if mentioned(name, said) {
			return true
		}
	}
	for _, result := range results {
		var document any
		if json.Unmarshal(result.Structured, &document) == nil && describes(document, names, said, false) {
			return true
		}
	}
	return false
}

// identifiers are the record numbers and part numbers in arguments.
func identifiers(arguments json.RawMessage) []string {
	var object map[string]any
	if json.Unmarshal(arguments, &object) != nil {
		return nil
	}
	var out []string
	for name, value := range object {
		text, ok := value.(string)
		if ok && (strings.HasSuffix(name, "_id") || name == "id" || name == "sku") {
			out = append(out, text)
		}
	}
	return out
}

// mentioned reports whether a line named the record, with or without the
// letters in front of its number.
func mentioned(name string, said map[string]bool) bool {
	parts := words(name)
	if said[strings.Join(parts, "")] {
		return true
	}
	if recordID.MatchString(strings.ToUpper(name)) {
		_, number, _ := strings.Cut(name, "-")
		return said[number]
	}
	for _, part := range parts {
		if !said[part] {
			return false
		}
	}
	return len(parts) > 0
}

// describes reports whether a record with one of the names, anywhere in the
// document, shares a word with what was said, or stands inside a record whose
// number was said: a visit or an order of the job that somebody named. within
// says that the document does.
func describes(document any, names []string, said map[string]bool, within bool) bool {
	switch v := document.(type) {
	case []any:
		for _, element := range v {
			if describes(element, names, said, within) {
				return true
			}
		}
	case map[string]any:
		if isNamed(v, names) && (within || sharesWord(v, said)) {
			return true
		}
		if id, ok := v["id"].(string); ok && recordID.MatchString(id) {
			within = mentioned(id, said)
		}
		for _, element := range v {
			if describes(element, names, said, within) {
				return true
			}
		}
	}
	return false
}

func isNamed(record map[string]any, names []string) bool {
	for _, field := range []string{"id", "sku"} {
		for _, name := range names {
			if text, ok := record[field].(string); ok && strings.EqualFold(text, name) {
				return true
			}
		}
	}
	return false
}

// sharesWord looks at the record's own trusted text, and one level down (its
// site, its customer), never at fields that people outside wrote.
func sharesWord(record map[string]any, said map[string]bool) bool {
	for name, value := range record {
		switch v := value.(type) {
		case string:
			if strings.HasSuffix(name, "_text") {
				continue
			}
			for _, word := range words(v) {
				if len([]rune(word)) >= wordLength && said[word] {
					return true
				}
			}
		case map[string]any:
			if nested, ok := v["name"].(string); ok && sharesWord(map[string]any{"name": nested, "address": v["address"]}, said) {
				return true
			}
		}
	}
	return false
}

// words splits text into folded words: case and accents do not count.
func words(text string) []string {
	folded := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
