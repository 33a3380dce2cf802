package console

// item is one piece of a transcript. What it shows follows from its fields
// alone, so that its lines can be kept until it is replaced.
type item interface {
	// lines gives the item's lines for a width; it is called once per width.
	lines(c canvas) []string
}

// canvas is what an item is drawn on.
type canvas struct {
	width  int
	styles *styles
	// demo marks everything that is decided on made-up data.
	demo bool
	// clock writes times in the desk's zone.
	clock deskClock
}

// cell is an item with its place and its drawn lines.
type cell struct {
	// id is stable over revisions of the same thing.
	id    string
	item  item
	width int // of drawn; 0: not drawn
	drawn []string
}

// transcript is a virtual list: it draws what is on the screen and little more,
// however long the conversation is. It knows the cell at the top of the screen
// and how many of its lines are hidden, never absolute line numbers: exact
// heights would force it to draw everything.
type transcript struct {
	cells  []*cell
	canvas canvas
	height int

	// follow keeps the end in view.
	follow bool
	// first is the cell at the top of the screen; hidden of its lines are above.
	first, hidden int
	// fresh counts the cells that came while the reader was elsewhere.
	fresh int
	// drawnCells bounds the memory of drawn lines.
	drawnCells int
}

const (
	// maxDrawn is how many cells keep their lines; keepDrawn is how many around
	// the screen keep them when that becomes too many.
	maxDrawn, keepDrawn = 2000, 300
)

func newTranscript() *transcript { return &transcript{follow: true} }

// span is a visible part of a cell.
type span struct {
	cell *cell
	// row is the screen row of the part's first line.
	row int
	// from and to are the lines of the cell that are visible.
	from, to int
}

// linesOf gives a cell's lines, drawing it if its lines are not there.
func (t *transcript) linesOf(c *cell) []string {
	if c.width != t.canvas.width {
		if c.width == 0 {
			t.drawnCells++
		}
		c.drawn, c.width = c.item.lines(t.canvas), t.canvas.width
	}
	return c.drawn
}

// resize sets the room for the transcript.
func (t *transcript) resize(width, height int) {
	t.canvas.width, t.height = max(1, width), max(0, height)
}

// redraw forgets all drawn lines.
func (t *transcript) redraw() {
	for _, c := range t.cells {
		c.width, c.drawn = 0, nil
	}
	t.drawnCells = 0
}

// set replaces the cells, keeping the place of a reader who is not at the end:
// the cell at the top of the screen stays there, also if cells came before it.
func (t *transcript) set(cells []*cell) {
	anchor, last := "", ""
	if t.first < len(t.cells) {
		anchor = t.cells[t.first].id
	}
	if len(t.cells) > 0 {
		last = t.cells[len(t.cells)-1].id
	}
	t.cells = cells
	if t.follow {
		t.fresh = 0
		return
	}
	for i := len(cells) - 1; i >= 0 && cells[i].id != last; i-- {
		t.fresh++
	}
	t.first = 0
	for i := len(cells) - 1; i >= 0; i-- {
		if cells[i].id == anchor {
			t.first = i
			break
		}
	}
	t.clamp()
}

// clamp makes sure that the place exists.
func (t *transcript) clamp() {
	if len(t.cells) == 0 {
		t.first, t.hidden = 0, 0
		return
	}
	t.first = min(max(0, t.first), len(t.cells)-1)
	t.hidden = min(max(0, t.hidden), max(0, len(t.linesOf(t.cells[t.first]))-1))
}

// window gives the visible lines, exactly height of them or fewer, and which
// parts of which cells they are. There is never an empty place below the end
// while something is hidden above.
func (t *transcript) window() ([]string, []span) {
	if t.follow {
		t.toBottom()
	}
	t.clamp()
	lines, spans := t.visible()
	if len(lines) < t.height && (t.first > 0 || t.hidden > 0) {
		t.toBottom()
		lines, spans = t.visible()
	}
	t.forget()
	return lines, spans
}

func (t *transcript) visible() ([]string, []span) {
	lines := make([]string, 0, t.height)
	var spans []span
	for i := t.first; i < len(t.cells) && len(lines) < t.height; i++ {
		from := 0
		if i == t.first {
			from = t.hidden
		}
		all := t.linesOf(t.cells[i])
		to := min(len(all), from+t.height-len(lines))
		spans = append(spans, span{cell: t.cells[i], row: len(lines), from: from, to: to})
		lines = append(lines, all[from:to]...)
	}
	return lines, spans
}

// toBottom puts the last line at the bottom of the screen.
func (t *transcript) toBottom() {
	t.placeEnd(len(t.cells) - 1)
}

// placeEnd puts the last line of cell i at the bottom of the screen.
func (t *transcript) placeEnd(i int) {
	room := t.height
	for ; i >= 0; i-- {
		n := len(t.linesOf(t.cells[i]))
		if n >= room {
			t.first, t.hidden = i, n-room
			return
		}
		room -= n
	}
	t.first, t.hidden = 0, 0
}

// scroll moves by n lines, down if n is positive. Reaching the end follows it
// again.
func (t *transcript) scroll(n int) {
	if len(t.cells) == 0 {
		return
	}
	if t.follow {
		t.toBottom()
		t.follow = false
	}
	t.clamp()
	t.hidden += n
	for t.hidden < 0 && t.first > 0 {
		t.first--
		t.hidden += len(t.linesOf(t.cells[t.first]))
	}
	t.hidden = max(0, t.hidden)
	for t.first < len(t.cells)-1 && t.hidden >= len(t.linesOf(t.cells[t.first])) {
		t.hidden -= len(t.linesOf(t.cells[t.first]))
		t.first++
	}
	if t.atEnd() {
		t.toEnd()
	}
}

// atEnd reports whether the end is on the screen.
func (t *transcript) atEnd() bool {
	room := t.height + t.hidden
	for i := t.first; i < len(t.cells); i++ {
		if room -= len(t.linesOf(t.cells[i])); room < 0 {
			return false
		}
	}
	return true
}

// toEnd goes to the end and follows it.
func (t *transcript) toEnd() { t.follow, t.fresh = true, 0 }

// toTop goes to the first loaded line.
func (t *transcript) toTop() {
	t.first, t.hidden, t.follow = 0, 0, false
	if t.atEnd() {
		t.toEnd()
	}
}

// find gives the index of a cell, or -1.
func (t *transcript) find(id string) int {
	for i := len(t.cells) - 1; i >= 0; i-- {
		if t.cells[i].id == id {
			return i
		}
	}
	return -1
}

// show brings a cell into view: all of it if it fits, else its beginning. It
// stops following the end, so that what arrives does not move it.
func (t *transcript) show(id string) {
	i := t.find(id)
	if i < 0 {
		return
	}
	if t.follow {
		t.toBottom()
	}
	t.follow = false
	t.clamp()
	n := len(t.linesOf(t.cells[i]))
	above := t.hidden
	if i > t.first {
		above = 0
	}
	if i < t.first || i == t.first && above > 0 || n >= t.height {
		t.first, t.hidden = i, 0
		return
	}
	room := t.height + t.hidden
	for j := t.first; j <= i; j++ {
		room -= len(t.linesOf(t.cells[j]))
	}
	if room < 0 {
		t.placeEnd(i)
	}
}

// forget drops drawn lines far from the screen when too many are kept.
func (t *transcript) forget() {
	if t.drawnCells <= maxDrawn {
		return
	}
	t.drawnCells = 0
	for i, c := range t.cells {
		if c.width == 0 {
			continue
		}
		if i < t.first-keepDrawn || i > t.first+keepDrawn {
			c.width, c.drawn = 0, nil
			continue
		}
		t.drawnCells++
	}
}
