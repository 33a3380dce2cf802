package console

import (
	"bytes"
	"unicode/utf8"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// maxPaste is how much of one paste is taken; the rest is dropped and said
	// so. It is more than a message holds.
	maxPaste = 64 << 10
	// maxSequence is longer than any key's escape sequence.
	maxSequence = 48
)

// framer cuts what a terminal sends into whole pieces, however the bytes
// arrive: whole runes, whole key sequences, whole markers of a paste. Replies of
// the terminal to questions that nobody asked any more are dropped. Without it,
// a split arrow key is read as Esc, and a split paste as typing.
type framer struct {
	// pending is the beginning of a piece whose end has not arrived.
	pending []byte
	paste   bool
	pasted  int
	afterCR bool // the newest byte of a paste was a carriage return
	cut     bool // part of the paste was dropped
	// swallowing is set inside a reply that is dropped up to its end.
	swallowing bool
}

// feed takes bytes and appends all whole pieces to out.
func (f *framer) feed(out, in []byte) []byte {
	data := append(f.pending, in...)
	for len(data) > 0 {
		n := 0
		switch {
		case f.swallowing:
			n = f.swallow(data)
			if !f.swallowing { // over, or broken off: what follows is its own piece
				data = data[n:]
				continue
			}
		case f.paste:
			out, n = f.pastePiece(out, data)
		default:
			out, n = f.piece(out, data)
		}
		if n == 0 {
			break
		}
		data = data[n:]
	}
	f.pending = append([]byte(nil), data...)
	return out
}

// unfinished reports whether the rest of a piece should arrive any moment.
func (f *framer) unfinished() bool { return len(f.pending) > 0 }

// flush is called when the rest did not arrive. A lone Esc is the key; anything
// else stays pending, because half a sequence would be read as typing.
func (f *framer) flush(out []byte) []byte {
	if !f.paste && len(f.pending) == 1 && f.pending[0] == 0x1b {
		f.pending = nil
		return append(out, 0x1b)
	}
	return out
}

// piece takes one piece outside of a paste; n is 0 if it is not whole.
func (f *framer) piece(out, data []byte) (_ []byte, n int) {
	if data[0] != 0x1b {
		if !utf8.FullRune(data) {
			return out, 0
		}
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			return out, 1 // no character: dropped
		}
		return append(out, data[:size]...), size
	}
	if len(data) == 1 {
		return out, 0
	}
	switch data[1] {
	case '[':
		return f.csi(out, data)
	case 'O':
		if len(data) < 3 {
			return out, 0
		}
		if data[2] < ' ' || data[2] > '~' {
			return out, 2
		}
		return append(out, data[:3]...), 3
	case ']', 'P', 'X', '^', '_': // a reply in a string: OSC, DCS, SOS, PM, APC
		f.swallowing = true
		return out, 2
	case 0x1b:
		if len(data) >= 3 && data[2] == '[' { // Alt with an arrow, in some terminals
			return append(out, 0x1b), 1
		}
		return append(out, data[:1]...), 1
	}
	if !utf8.FullRune(data[1:]) {
		return out, 0
	}
	r, size := utf8.DecodeRune(data[1:])
	if r == utf8.RuneError && size == 1 {
		return out, 2
	}
	return append(out, data[:1+size]...), 1 + size
}

// csi takes a control sequence: ESC [, parameters, one final byte.
func (f *framer) csi(out, data []byte) (_ []byte, n int) {
	end := 2
	for end < len(data) && (data[end] >= 0x20 && data[end] <= 0x3f) {
		end++
	}
	if end == len(data) {
		if len(data) > maxSequence {
			return out, len(data) // no key is that long
		}
		return out, 0
	}
	final := data[end]
	if final < 0x40 || final > 0x7e { // broken off by something else
		return out, end
	}
	if end == 2 && final == 'M' { // an old mouse report: three more bytes
		if len(data) < 6 {
			return out, 0
		}
		return out, 6
	}
	if end == 2 && final == '[' { // a function key of the Linux console
		if len(data) < 4 {
			return out, 0
		}
		if data[3] < 'A' || data[3] > 'E' {
			return out, 3
		}
		return append(out, data[:4]...), 4
	}
	piece := data[:end+1]
	switch {
	case string(piece) == pasteStart:
		f.paste, f.pasted, f.afterCR = true, 0, false
	case string(piece) == pasteEnd, isReply(piece):
		return out, len(piece)
	}
	return append(out, piece...), len(piece)
}

// isReply reports whether a sequence answers a question to the terminal instead
// of being a key.
func isReply(piece []byte) bool {
	switch piece[len(piece)-1] {
	case 'c', 'n', 't', 'y', 'x':
		return true
	case 'R': // a cursor position; "ESC [ 1 ; 2 R" is also Shift+F3, which nobody needs
		return bytes.IndexByte(piece, ';') > 0
	case 'u':
		return len(piece) > 3 && piece[2] == '?'
	}
	return false
}

// swallow drops a reply up to its terminator, BEL or ESC \. Any other escape
// breaks it off.
func (f *framer) swallow(data []byte) int {
	for i, b := range data {
		switch {
		case b == 0x07 || b == 0x18 || b == 0x1a:
			f.swallowing = false
			return i + 1
		case b == 0x1b && i+1 == len(data):
			return i
		case b == 0x1b && data[i+1] == '\\':
			f.swallowing = false
			return i + 2
		case b == 0x1b:
			f.swallowing = false
			return i
		}
	}
	return len(data)
}

// pastePiece takes bytes of a paste up to its end. Line ends become newlines.
func (f *framer) pastePiece(out, data []byte) (_ []byte, n int) {
	if data[0] == 0x1b {
		if bytes.HasPrefix(data, []byte(pasteEnd)) {
			f.paste = false
			return append(out, pasteEnd...), len(pasteEnd)
		}
		if len(data) < len(pasteEnd) && bytes.HasPrefix([]byte(pasteEnd), data) {
			return out, 0
		}
		return out, 1 // an escape in a paste is nothing to type
	}
	if !utf8.FullRune(data) {
		return out, 0
	}
	r, size := utf8.DecodeRune(data)
	after := f.afterCR
	f.afterCR = r == '\r'
	switch {
	case r == '\n' && after, r == utf8.RuneError && size == 1:
		return out, size
	case f.pasted+size > maxPaste:
		f.cut = true
		return out, size
	}
	f.pasted += size
	if r == '\r' {
		return append(out, '\n'), size
	}
	return append(out, data[:size]...), size
}
