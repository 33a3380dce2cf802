package client

import (
	"bytes"
	"fmt"
	"io"
)

// answerBody is the body of an answer. It shows the exchange each message as
// it passes by, and ends with an error when the answer is too large: the SDK
// reads some answers into memory without a bound of its own.
type answerBody struct {
	io.ReadCloser
	x      *exchange // nil: only the size counts
	stream bool      // server-sent events, not one JSON document
	loose  bool      // see [exchange.deliver]

	max, size int // bytes
	// pending is the JSON document so far, or the unfinished line of a stream.
	pending []byte
	// data are the data lines of the event so far.
	data []byte
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += n
	if b.size > b.max {
		return 0, fmt.Errorf("the answer is larger than %d bytes", b.max)
	}
	if b.x != nil {
		b.take(p[:n])
		if err == io.EOF {
			b.finish()
		}
	}
	return n, err
}

func (b *answerBody) take(p []byte) {
	if !b.stream {
		b.pending = append(b.pending, p...)
		return
	}
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.pending = append(b.pending, p...)
			return
		}
		line := p[:i]
		if len(b.pending) > 0 {
			line = append(b.pending, line...)
		}
		b.line(bytes.TrimSuffix(line, []byte("\r")))
		b.pending = b.pending[:0]
		p = p[i+1:]
	}
}

// line takes one line of a stream. A blank one ends the event.
func (b *answerBody) line(line []byte) {
	if len(line) == 0 {
		if len(b.data) > 0 {
			b.x.deliver(b.data, b.loose)
			b.data = b.data[:0]
		}
		return
	}
	value, isData := bytes.CutPrefix(line, []byte("data:"))
	if !isData {
		return
	}
	if len(b.data) > 0 {
		b.data = append(b.data, '\n')
	}
	b.data = append(b.data, bytes.TrimPrefix(value, []byte(" "))...)
}

// finish takes what the end of the body completes.
func (b *answerBody) finish() {
	if b.stream {
		if len(b.pending) > 0 {
			b.line(b.pending)
		}
		b.line(nil)
	} else if len(b.pending) > 0 {
		b.x.deliver(b.pending, b.loose)
	}
	b.pending = nil
}
