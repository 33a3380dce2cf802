package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdioTransport starts a server's program and speaks with it over its standard
// input and output.
type stdioTransport struct{ opts Options }

func (t *stdioTransport) open(context.Context) (*link, error) {
	if t.opts.Permit != nil {
		if err := t.opts.Permit(); err != nil {
			return nil, err
		}
	}
	p, err := startProcess(*t.opts.Command, t.opts.Logger.With("server", t.opts.Name))
	if err != nil {
		return nil, err
	}
	c := &stdioConn{
		process: p,
		step:    t.opts.CloseTimeout / 4,
		max:     t.opts.MaxAnswer,
		lines:   bufio.NewReaderSize(p.out, 64<<10),
		turn:    make(chan struct{}, 1),
		pending: map[string]*exchange{},
	}
	l := &link{
		identity:  t.opts.Identity,
		transport: c,
		cut:       func() { p.cut(); p.closePipes() },
		watched:   func() bool { return true },
		explain:   c.explain,
		ended: func() bool {
			select {
			case <-p.exited:
				return true
			default:
				return false
			}
		},
	}
	if l.identity == "" {
		l.identity = t.opts.Command.String()
	}
	return l, nil
}

// stdioConn is the connection to one process: a message a line. It is the
// transport that the SDK connects through as well, good for once.
type stdioConn struct {
	process *process
	step    time.Duration
	max     int

	// Read runs in one goroutine.
	lines  *bufio.Reader
	batch  []jsonrpc.Message
	closed sync.Once

	// turn is held by whoever writes.
	turn chan struct{}

	mu      sync.Mutex
	pending map[string]*exchange // by request id
	broken  error                // why the connection had to be given up
}

// Connect implements [mcp.Transport].
func (c *stdioConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements [mcp.Connection]; there are none over stdio.
func (c *stdioConn) SessionID() string { return "" }

// Close implements [mcp.Connection]. It ends the process.
func (c *stdioConn) Close() error {
	c.closed.Do(func() { c.process.stop(c.step) })
	return nil
}

// Read implements [mcp.Connection]. What is no message, such as a banner or a
// line that somebody printed to find an error, is left out: one such line must
// not end the session.
func (c *stdioConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.batch) > 0 {
			next := c.batch[0]
			c.batch = c.batch[1:]
			return next, nil
		}
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0:
		case line[0] == '{':
			err = c.take(line)
		case line[0] == '[':
			// Servers of the revision 2025-03-26 may send several at once.
			if all, ok := elements(line); ok && json.Valid(line) {
				for _, one := range all {
					err = errors.Join(err, c.take(one))
				}
			}
		}
		if err != nil {
			return nil, c.give(err)
		}
	}
}

// line reads one line. What cannot become a message is skipped however long it
// is; what could, but is too long, is an error.
func (c *stdioConn) line() ([]byte, error) {
	var whole []byte
	for skip := false; ; {
		part, err := c.lines.ReadSlice('\n')
		if len(whole) == 0 && len(part) > 0 {
			first := bytes.TrimSpace(part)
			skip = len(first) > 0 && first[0] != '{' && first[0] != '['
		}
		switch {
		case skip:
			whole = append(whole[:0], 'x') // it goes on
		case len(whole)+len(part) > c.max:
			return nil, c.give(fmt.Errorf("the server sent more than %d bytes at once", c.max))
		default:
			whole = append(whole, part...)
		}
		switch {
		case err == nil && skip:
			return nil, nil
		case err == nil:
			return whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.EOF
		}
	}
}

// take takes one message. An object that does not say that it is a message is
// noise; one that says so and is none is the end, because it may have been an
// answer that somebody waits for.
func (c *stdioConn) take(text []byte) error {
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		if bytes.Contains(text, []byte(`"jsonrpc"`)) {
			return errors.New("the server sent a message that cannot be read")
		}
		return nil
	}
	if response, ok := message.(*jsonrpc.Response); ok {
		id, _ := json.Marshal(response.ID.Raw()) // an id is a number or a string
		c.mu.Lock()
		x := c.pending[string(id)]
		delete(c.pending, string(id))
		c.mu.Unlock()
		if x != nil {
			x.deliver(text, false)
		}
	}
	c.batch = append(c.batch, message)
	return nil
}

// give notes why the connection is given up.
func (c *stdioConn) give(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil && !errors.Is(err, io.EOF) {
		c.broken = err
	}
	return err
}

// Write implements [mcp.Connection]. It tells the exchange of a request that it
// leaves, and takes that back if not a byte of it left.
func (c *stdioConn) Write(ctx context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	x := exchangeOf(ctx)
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		x = nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	case <-c.process.exited:
		return mcp.ErrConnectionClosed
	}
	if x != nil {
		if !request.IsCall() && x.withdrawn() {
			return nil // nothing left, so there is nothing to take back
		}
		if request.IsCall() && !c.enter(request.ID, x) {
			return errGivenUp
		}
	}
	n, err := c.send(ctx, append(text, '\n'))
	if err != nil && n == 0 && x != nil && request.IsCall() {
		x.stayed()
	}
	if err != nil && n == 0 && ctx.Err() == nil {
		return mcp.ErrConnectionClosed
	}
	if err != nil && n > 0 {
		// Half a message is on its way; whatever followed would be taken for
		// its end.
		c.process.cut()
	}
	return err
}

// enter registers a request that is about to leave.
func (c *stdioConn) enter(id jsonrpc.ID, x *exchange) bool {
	raw, err := json.Marshal(id.Raw())
	if err != nil || !x.enter(raw) {
		return false
	}
	x.carried(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, old := range c.pending {
		if old.over() {
			delete(c.pending, key)
		}
	}
	c.pending[string(raw)] = x
	return true
}

// send writes within ctx; a server that does not read must not hold up more
// than that.
func (c *stdioConn) send(ctx context.Context, text []byte) (int, error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.process.in.SetWriteDeadline(time.Unix(1, 0))
		close(ended)
	})
	n, err := c.process.in.Write(text)
	if !stop() {
		<-ended
		_ = c.process.in.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// explain says why something failed: what broke the connection, else how the
// program ended.
func (c *stdioConn) explain(_ int, _, err error) error {
	c.mu.Lock()
	broken := c.broken
	c.mu.Unlock()
	if broken != nil {
		return broken
	}
	if text := c.process.epitaph(); text != "" {
		return &failure{text, err}
	}
	return &failure{"the server's program does not answer like an MCP server: " + plain(causeText(err)), err}
}
