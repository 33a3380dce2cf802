package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"deskhand/mcp/client"
	"deskhand/mcp/workorders"
)

// The files of the work-orders server in the home.
const (
	bookFile  = "workorders.db"
	tokenFile = "workorders.token"
	addrFile  = "workorders.addr"
	// peopleFile holds the token of people's own commands, which no client gets.
	peopleFile = "workorders.people"
)

// embedded is the work-orders server that the desk runs itself, on loopback
// over HTTP like any other, started when it is first needed. Where another
// process holds the book, it stands for that process's server.
type embedded struct {
	home string
	// now is set by --clock.
	now func() time.Time
	// wait is how long another process may take to start serving the book.
	wait time.Duration

	mu     sync.Mutex
	book   *workorders.Book
	server *workorders.Server
}

// pollEvery is how often the address of another process's server is looked for.
const pollEvery = 50 * time.Millisecond

// dial gives the endpoint of the server, starting it where nobody else has.
func (e *embedded) dial(ctx context.Context) (client.Endpoint, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	token, err := workorders.EnsureToken(filepath.Join(e.home, tokenFile))
	if err != nil {
		return client.Endpoint{}, fmt.Errorf("the token of the work-orders server: %w", err)
	}
	headers := map[string]string{"Authorization": "Bearer " + token}
	deadline := time.Now().Add(e.wait)
	for {
		if e.server == nil {
			err = e.start(token)
		}
		if e.server != nil {
			return client.Endpoint{URL: e.server.URL(), Headers: headers, Identity: bookIdentity(e.book.ID())}, nil
		}
		if !errors.Is(err, workorders.ErrHeld) {
			return client.Endpoint{}, bookError(e.home, err)
		}
		addr, addrErr := workorders.ReadAddr(filepath.Join(e.home, addrFile))
		if addrErr == nil && addr.Book != "" && alive(addr.PID) {
			return client.Endpoint{URL: addr.URL, Headers: headers, Identity: bookIdentity(addr.Book)}, nil
		}
		if time.Now().After(deadline) {
			return client.Endpoint{}, bookError(e.home, err)
		}
		select {
		case <-ctx.Done():
			return client.Endpoint{}, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// bookIdentity names the server of a book: the book's own id, so that it is the
// same server whichever process serves it.
func bookIdentity(id string) string { return "book:" + id }

// start opens the book and serves it on a free port.
func (e *embedded) start(token string) error {
	people, err := peopleToken(e.home)
	if err != nil {
		return err
	}
	book, err := workorders.Open(filepath.Join(e.home, bookFile), workorders.Options{Now: e.now, LockTimeout: pollEvery})
	if err != nil {
		return err
	}
	server := workorders.NewServer(book, workorders.ServerOptions{Token: token, PeopleToken: people, AddrPath: filepath.Join(e.home, addrFile)})
	if err := server.Start("127.0.0.1:0"); err != nil {
		return errors.Join(fmt.Errorf("starting the work-orders server: %w", err), book.Close())
	}
	e.book, e.server = book, server
	return nil
}

// close stops the server, then lets go of the book.
func (e *embedded) close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server == nil {
		return nil
	}
	err := errors.Join(e.server.Close(ctx), e.book.Close())
	e.server, e.book = nil, nil
	return err
}
