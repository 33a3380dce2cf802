package console

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// readSize keeps a read below the 256 bytes that Bubble Tea asks for, so
	// that what was pending fits too and nothing has to stay behind: bytes that
	// stay behind would not wake it.
	readSize = 256 - maxSequence - 16
	// restTime is how long the rest of a key's sequence may take to arrive; a
	// lone Esc is known to be the key after it.
	restTime = 60 * time.Millisecond
)

// terminalReader is standard input for Bubble Tea: the file, with a [framer] in
// its Read. It stays a file, so that raw mode and cancelling work.
type terminalReader struct {
	*os.File
	framer framer
	// left are whole pieces that did not fit into a Read.
	left []byte
	cut  atomic.Bool
	// gone is told once when the terminal is closed.
	gone func()
	once sync.Once
}

// Read gives whole pieces only. It may give nothing without an error.
func (r *terminalReader) Read(p []byte) (int, error) {
	if len(r.left) > 0 {
		return r.give(p, r.left), nil
	}
	var buf [readSize]byte
	n, err := r.File.Read(buf[:min(len(buf), max(1, len(p)-maxSequence))])
	if n == 0 || err != nil {
		r.once.Do(func() {
			if r.gone != nil {
				r.gone()
			}
		})
		return 0, err
	}
	out := r.framer.feed(nil, buf[:n])
	for r.framer.unfinished() && len(out) < readSize/2 {
		if !readable(r.Fd(), restTime) {
			out = r.framer.flush(out)
			break
		}
		n, err := r.File.Read(buf[:min(len(buf), readSize-len(out))])
		if n == 0 || err != nil {
			break // the next Read says so
		}
		out = r.framer.feed(out, buf[:n])
	}
	if r.framer.cut {
		r.framer.cut = false
		r.cut.Store(true)
	}
	return r.give(p, out), nil
}

func (r *terminalReader) give(p, out []byte) int {
	n := copy(p, out)
	r.left = out[n:]
	return n
}

// pasteCut reports, once, that part of a paste was dropped.
func (r *terminalReader) pasteCut() bool { return r.cut.Swap(false) }

// terminalWriter is standard output for Bubble Tea. Each frame is written as
// one synchronised update that ends with the real cursor at the caret, so that
// nothing tears and input methods find their place. Whatever else goes to the
// terminal goes through it too.
type terminalWriter struct {
	*os.File
	mu sync.Mutex
	// row and column are where the caret was last; row 0: no caret.
	row, column int
	// note is the terminal's message that a decision waits.
	note string
}

const (
	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	showCursor = "\x1b[?25h"
	hideCursor = "\x1b[?25l"
	frameStart = "\x1b[H"
)

// Write writes what the renderer gives; a frame begins at the home position.
func (w *terminalWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) <= len(frameStart) || !bytes.HasPrefix(p, []byte(frameStart)) {
		return w.File.Write(p)
	}
	frame := w.takeCaret(p)
	out := make([]byte, 0, len(frame)+64)
	out = append(out, syncBegin+hideCursor...)
	out = append(out, frame...)
	if w.row > 0 {
		out = fmt.Appendf(out, "\x1b[%d;%dH%s", w.row, w.column, showCursor)
	}
	out = append(out, syncEnd...)
	if _, err := w.File.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString is Write; the file's own would go past it.
func (w *terminalWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// takeCaret takes the caret's mark out of a frame. A frame in which the caret
// did not move has none.
func (w *terminalWriter) takeCaret(p []byte) []byte {
	at := bytes.LastIndex(p, []byte("\x1b[<"))
	if at < 0 {
		return p
	}
	end := bytes.IndexByte(p[at:], 'z')
	if end < 0 {
		return p
	}
	row, column, ok := bytes.Cut(p[at+3:at+end], []byte(";"))
	if !ok {
		return p
	}
	w.row, _ = strconv.Atoi(string(row))
	w.column, _ = strconv.Atoi(string(column))
	return append(append(make([]byte, 0, len(p)), p[:at]...), p[at+end+1:]...)
}

// attend rings the terminal's bell, and leaves a message if nobody looks.
func (w *terminalWriter) attend(away bool) {
	signal := "\x07"
	if away {
		signal += w.note
	}
	w.raw(signal)
}

// raw writes a sequence that is no part of a frame.
func (w *terminalWriter) raw(sequence string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.File.Write([]byte(sequence)) // a bell that fails is not worth a word
}
