package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskhand/mcp/workorders"
)

func newWorkOrders(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workorders",
		Short: "The work-orders server by itself, and its book",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := noArguments(cmd, args); err != nil {
				return err
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newServe(o), newToken(o), newExport(o), newReset(o))
	return cmd
}

// bookOptions are how commands open the book.
func (o *options) bookOptions(wait time.Duration) workorders.Options {
	b := workorders.Options{LockTimeout: wait}
	if o.wait > 0 {
		b.LockTimeout = o.wait
	}
	if !o.clock.IsZero() {
		fixed := o.clock
		b.Now = func() time.Time { return fixed }
	}
	return b
}

// openBook opens the book and words its errors.
func (o *options) openBook(wait time.Duration) (*workorders.Book, error) {
	path := filepath.Join(o.home, bookFile)
	book, err := workorders.Open(path, o.bookOptions(wait))
	switch {
	case errors.Is(err, workorders.ErrHeld):
		holder := ""
		if addr, addrErr := workorders.ReadAddr(filepath.Join(o.home, addrFile)); addrErr == nil {
			holder = fmt.Sprintf(" (process %d, since %s)", addr.PID, addr.Since.Local().Format("2006-01-02 15:04"))
		}
		return nil, fmt.Errorf("%w%s: close the console or server that has it", err, holder)
	case errors.Is(err, workorders.ErrDamaged):
		return nil, fmt.Errorf("%w; nothing was changed: move it away, or put a copy back", err)
	}
	return book, err
}

func newServe(o *options) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the book to any MCP client, on loopback with a token",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, err := workorders.EnsureToken(filepath.Join(o.home, tokenFile))
			if err != nil {
				return err
			}
			book, err := o.openBook(consoleWait)
			if err != nil {
				return err
			}
			defer func() { _ = book.Close() }()
			server := workorders.NewServer(book, workorders.ServerOptions{Token: token, AddrPath: filepath.Join(o.home, addrFile)})
			if err := server.Start(addr); err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.out, "The work-orders server listens at %s\nIts token: deskhand --home %s workorders token\n", server.URL(), o.home)
			if err == nil {
				<-cmd.Context().Done()
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			return errors.Join(err, server.Close(ctx))
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:7420", "address to listen on")
	return cmd
}

func newToken(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "token",
		Short: "Print the token that clients of the work-orders server need",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			token, err := workorders.EnsureToken(filepath.Join(o.home, tokenFile))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(o.out, token)
			return err
		},
	}
}

func newExport(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the whole book as one JSON object",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return exportBook(cmd.Context(), o) },
	}
}

// exportBook prints the book; if another process holds it, it asks that one.
func exportBook(ctx context.Context, o *options) error {
	book, err := workorders.Open(filepath.Join(o.home, bookFile), o.bookOptions(pollEvery))
	if err == nil {
		err = book.Export(o.out)
		return errors.Join(err, book.Close())
	}
	if !errors.Is(err, workorders.ErrHeld) {
		return err
	}
	addr, addrErr := workorders.ReadAddr(filepath.Join(o.home, addrFile))
	token, tokenErr := workorders.EnsureToken(filepath.Join(o.home, tokenFile))
	if addrErr != nil || tokenErr != nil {
		_, err := o.openBook(commandWait)
		return errors.Join(err, addrErr, tokenErr)
	}
	return workorders.FetchExport(ctx, addr.URL, token, o.out)
}

func newReset(o *options) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Throw the book away and make a new demo book",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			path := filepath.Join(o.home, bookFile)
			if !yes {
				if !o.terminal() {
					return &usageError{errors.New("reset throws the book away: add --yes to say that you mean it")}
				}
				if ok, err := confirm(o.in, o.out, fmt.Sprintf("Throw away everything in %s and start a new demo book? Type yes: ", path)); err != nil || !ok {
					return errors.Join(err, errors.New("nothing was changed"))
				}
			}
			book, err := o.openBook(consoleWait)
			if err != nil {
				return err
			}
			err = errors.Join(book.Reset(), book.Close())
			if err == nil {
				_, err = fmt.Fprintln(o.out, "The book is a new demo book. Its clock starts on Tuesday 1 December 2026, 09:00.")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func confirm(in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := io.WriteString(out, question); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return strings.EqualFold(strings.TrimSpace(line), "yes"), nil
}
