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
		addr, addrErr := workorders.ReadAddr(filepath.Join(o.home, addrFile))
		if addrErr == nil {
			token, err := o.bookToken()
			if err != nil {
				return err
			}
			people, err := peopleToken(o.home)
			if err != nil {
				return err
			}
			return ask(ctx, workorders.Holder{Endpoint: addr.URL, Token: token, PeopleToken: people})
		}
		book, err = workorders.Open(filepath.Join(o.home, bookFile), o.bookOptions(commandWait))
	}
	if err != nil {
		return bookError(o.home, err)
	}
	return errors.Join(own(book), book.Close())
}
