package console

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// table is a table of Markdown in a message: its first row is the head. All rows
// have the same number of cells.
type table struct{ rows [][]string }

// rule is the line under a table's head.
var rule = regexp.MustCompile(`^ {0,3}\|?[ ]*:?-+:?[ ]*(\|[ ]*:?-+:?[ ]*)+\|?[ ]*$`)

// maxColumns is how many columns a table can have; more is no table to read.
const maxColumns = 12

// passage is a part of a message: a table, or the text around one.
type passage struct {
	text  string
	table *table
}

// passages cuts a message at its tables.
func passages(text string) []passage {
	var out []passage
	lines := strings.Split(text, "\n")
	start := 0
	for i := 1; i < len(lines); i++ {
		head := cells(lines[i-1])
		if !rule.MatchString(lines[i]) || len(head) < 2 || len(head) > maxColumns || len(cells(lines[i])) != len(head) || inCode(lines[:i-1]) {
			continue
		}
		end := i + 1
		for end < len(lines) && strings.Contains(lines[end], "|") {
			end++
		}
		if start < i-1 {
			out = append(out, passage{text: strings.Join(lines[start:i-1], "\n")})
		}
		out = append(out, passage{table: newTable(head, lines[i+1:end])})
		start, i = end, end
	}
	if start < len(lines) {
		out = append(out, passage{text: strings.Join(lines[start:], "\n")})
	}
	return out
}

// inCode reports whether a fence is open after these lines.
func inCode(lines []string) bool {
	open := false
	for _, line := range lines {
		if t := strings.TrimLeft(line, " "); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			open = !open
		}
	}
	return open
}

// newTable gives every row as many cells as the head: what is missing is empty,
// what is too much stands in the last one, so that nothing is lost.
func newTable(head []string, body []string) *table {
	t := &table{rows: [][]string{head}}
	for _, line := range body {
		row := cells(line)
		for len(row) < len(head) {
			row = append(row, "")
		}
		last := len(head) - 1
		t.rows = append(t.rows, append(row[:last:last], strings.Join(row[last:], " ")))
	}
	return t
}

// cells are the cells of a row, without marks of emphasis.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	line = strings.ReplaceAll(line, `\|`, "\x00")
	parts := strings.Split(line, "|")
	for i, p := range parts {
		parts[i] = emphasis.Replace(strings.TrimSpace(strings.ReplaceAll(p, "\x00", "|")))
	}
	return parts
}

var emphasis = strings.NewReplacer("**", "", "`", "")

// gap stands between two columns.
const gap = "  "

// lines draws the table in columns as wide as what is in them, or, where that is
// wider than the screen and words would have to be torn, its rows as sentences.
func (t *table) lines(width int, s *styles) []string {
	widths := t.widths(width)
	if widths == nil {
		return indented(t.flat(), width)
	}
	var out []string
	for n, row := range t.rows {
		for _, line := range drawRow(row, widths) {
			if n == 0 {
				line = paint(s.strong, line)
			}
			out = append(out, indent+line)
		}
		if n == 0 {
			out = append(out, indent+paint(s.faint, underline(widths)))
		}
	}
	return out
}

// underline parts the head from the rows.
func underline(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return strings.Join(parts, gap)
}

// widths are those of the columns; nil if they do not fit.
func (t *table) widths(width int) []int {
	room := width - len(indent) - len(gap)*(len(t.rows[0])-1)
	widths, least := make([]int, len(t.rows[0])), make([]int, len(t.rows[0]))
	total := 0
	for i := range widths {
		for _, row := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
			for _, word := range strings.Fields(row[i]) {
				least[i] = max(least[i], ansi.StringWidth(word))
			}
		}
		total += widths[i]
	}
	for ; total > room; total-- {
		widest := -1
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil
		}
		widths[widest]--
	}
	if tallest(t.rows, widths) > maxRowLines {
		return nil
	}
	return widths
}

// maxRowLines is how many lines a row may have; a taller one reads better as a
// sentence.
const maxRowLines = 3

func tallest(rows [][]string, widths []int) int {
	most := 0
	for _, row := range rows {
		most = max(most, len(drawRow(row, widths)))
	}
	return most
}

// drawRow wraps the cells of a row and puts them side by side.
func drawRow(row []string, widths []int) []string {
	wrapped, height := make([][]string, len(row)), 0
	for i, cell := range row {
		wrapped[i] = wrap(cell, max(1, widths[i]))
		height = max(height, len(wrapped[i]))
	}
	out := make([]string, height)
	for n := range out {
		var line strings.Builder
		for i := range row {
			cell := ""
			if n < len(wrapped[i]) {
				cell = wrapped[i][n]
			}
			line.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(cell))) + gap)
		}
		out[n] = strings.TrimRight(line.String(), " ")
	}
	return out
}

// flat is the table as lines of text, one for each row, without its head.
func (t *table) flat() string {
	out := make([]string, 0, len(t.rows))
	for _, row := range t.rows[1:] {
		said := slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return cell == "" })
		out = append(out, strings.Join(said, " · "))
	}
	return strings.Join(out, "\n")
}

// PlainText is a message without tables: each row is a line of its own, for
// screens and readers that have no columns. The rest stays as it is.
func PlainText(message string) string {
	parts := passages(message)
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.table == nil {
			out = append(out, strings.TrimRight(p.text, "\n"))
		} else {
			out = append(out, p.table.flat())
		}
	}
	return strings.Join(out, "\n")
}
