package cli

import (
	"context"
	"errors"
	"path/filepath"

	"deskhand/mcp/workorders"
)

// withBook lets one of two functions do something with the book: own if nobody
// has it, else the one that asks whoever holds it. A holder that serves nobody
// is waited for.
func (o *options) withBook(ctx context.Context, own func(*workorders.Book) error, ask func(context.Context, workorders.Holder) error) error {
	book, err := workorders.Open(filepath.Join(o.home, bookFile), o.bookOptions(pollEvery))
	if errors.Is(err, workorders.ErrHeld) {
		holder, holderErr := o.holder()
		if holderErr == nil {
			return ask(ctx, holder)
		}
		if !errors.Is(holderErr, workorders.ErrNoServer) {
			return holderErr
		}
		book, err = workorders.Open(filepath.Join(o.home, bookFile), o.bookOptions(commandWait))
	}
	if err != nil {
		return bookError(o.home, err)
	}
	return errors.Join(own(book), book.Close())
}

// holder is whoever has the book, if it serves it: else the error is
// [workorders.ErrNoServer].
func (o *options) holder() (workorders.Holder, error) {
	addr, err := workorders.ReadAddr(filepath.Join(o.home, addrFile))
	if err != nil {
		return workorders.Holder{}, err
	}
	token, err := o.bookToken()
	if err != nil {
		return workorders.Holder{}, err
	}
	people, err := peopleToken(o.home)
	return workorders.Holder{Endpoint: addr.URL, Token: token, PeopleToken: people}, err
}
