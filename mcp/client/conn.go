package client

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
)

var errSealed = errors.New("the request was given up before it was written")

// countedConn counts writes, so that it can be proved that a request was not
// written, and can be sealed, so that this stays true: net/http gives a
// cancelled request back while its writer may still be about to start.
type countedConn struct {
	net.Conn
	onClose func()

	mu     sync.Mutex
	writes int
	sealed bool
}

// Write counts before it writes: a write that has begun may have left.
func (c *countedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, errSealed
	}
	c.writes++
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *countedConn) Close() error {
	c.onClose()
	return c.Conn.Close()
}

func (c *countedConn) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

// seal forbids further writes and says how many there were.
func (c *countedConn) seal() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return c.writes
}

// countedOf finds the counted connection below TLS; nil if there is none.
func countedOf(c net.Conn) *countedConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	counted, _ := c.(*countedConn)
	return counted
}
