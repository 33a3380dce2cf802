package offline

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// clean makes text from outside fit for one line of an answer: control and
// direction marks become visible, white space one space, and what is longer
// than limit runes is cut. The console makes text safe as well; an answer is
// also read by scripts.
func clean(s string, limit int) string {
	var out strings.Builder
	n, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = out.Len() > 0
			continue
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			r = '\uFFFD'
		}
		if space {
			out.WriteByte(' ')
			n, space = n+1, false
		}
		if n >= limit && !unicode.Is(unicode.Mn, r) {
			return out.String() + "…"
		}
		out.WriteRune(r)
		n++
	}
	return out.String()
}

// quoted is text by people outside, marked as theirs.
func quoted(s string, limit int) string { return "“" + clean(s, limit) + "”" }

// plain turns a status word into words: "waiting_parts" is "waiting for parts".
func plain(status string) string {
	switch status {
	case "waiting_parts":
		return "waiting for parts"
	case "pending_approval":
		return "waiting for approval"
	}
	return strings.ReplaceAll(clean(status, 40), "_", " ")
}

// count is "1 job" or "3 jobs".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// joined lists names for a sentence: "a", "a and b", "a, b and c".
func joined(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// lines joins what is not empty, one line each.
func lines(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// tabled is a Markdown table with an empty line before and behind it. A column
// with nothing in it is left out.
func tabled(head []string, rows [][]string) string {
	for i := len(head) - 1; i >= 0; i-- {
		if slices.ContainsFunc(rows, func(r []string) bool { return r[i] != "" }) {
			continue
		}
		head = slices.Delete(head, i, i+1)
		for k := range rows {
			rows[k] = slices.Delete(rows[k], i, i+1)
		}
	}
	var out strings.Builder
	row := func(cells []string) {
		for _, c := range cells {
			out.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		out.WriteString("|\n")
	}
	out.WriteByte('\n')
	row(head)
	out.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		row(r)
	}
	return out.String()
}

// span prints two moments of one result, the day once.
func span(start, end *moment) string {
	if start == nil || start.Local == "" {
		return "time not known"
	}
	from := clean(start.Local, 40)
	if end == nil || end.Local == "" {
		return from
	}
	to := clean(end.Local, 40)
	i, k := strings.LastIndexByte(from, ' '), strings.LastIndexByte(to, ' ')
	if i > 0 && k > 0 && from[:i] == to[:k] {
		return from + "–" + to[k+1:]
	}
	return from + " – " + to
}

// dayOf is a moment's day without the time.
func dayOf(m *moment) string {
	if m == nil {
		return ""
	}
	s := clean(m.Local, 40)
	if i := strings.LastIndexByte(s, ' '); i > 0 && strings.Contains(s[i:], ":") {
		return s[:i]
	}
	return s
}

func timeOf(m *moment) string {
	if m == nil {
		return ""
	}
	return clean(m.Local, 40)
}

// pieces is "1 piece" or "3 m".
func pieces(n int, unit string) string {
	switch unit {
	case "", "pcs", "piece", "pc":
		return count(n, "piece")
	}
	return strconv.Itoa(n) + " " + unit
}
