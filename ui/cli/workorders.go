package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deskhand/mcp/workorders"
)

func newWorkOrders(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workorders",
		Short: "The work-orders server by itself, and its book",
		Example: `  deskhand workorders serve --addr 127.0.0.1:7420
  deskhand workorders import spreadsheets/
  deskhand workorders export > book.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServe(o), newToken(o), newImport(o), newExport(o), newBackup(o), newReset(o))
	cmd.AddCommand(newPeople(o)...)
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
	book, err := workorders.Open(filepath.Join(o.home, bookFile), o.bookOptions(wait))
	return book, bookError(o.home, err)
}

// bookError says what to do about a book that cannot be opened.
func bookError(home string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workorders.ErrHeld):
		holder := ""
		if addr, addrErr := workorders.ReadAddr(filepath.Join(home, addrFile)); addrErr == nil {
			holder = fmt.Sprintf(" (process %d, since %s)", addr.PID, addr.Since.Local().Format("2006-01-02 15:04"))
		}
		return fmt.Errorf("%w%s: close the console or server that has it", err, holder)
	case errors.Is(err, workorders.ErrDamaged):
		return fmt.Errorf("%w; nothing was changed: move the file away, or put a copy back", err)
	}
	return homeError(err)
}

// homeError adds what to do where the home cannot be written.
func homeError(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w; choose another folder with --home", err)
	}
	return err
}

// bookToken reads the token of the book's server, or makes one.
func (o *options) bookToken() (string, error) {
	token, err := workorders.EnsureToken(filepath.Join(o.home, tokenFile))
	return token, homeError(err)
}

// peopleToken reads the secret of people's own commands, or makes one.
func peopleToken(home string) (string, error) {
	token, err := workorders.EnsureToken(filepath.Join(home, peopleFile))
	return token, homeError(err)
}

func newServe(o *options) *cobra.Command {
	var addr string
	var stdio bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the book to any MCP client, with a token",
		Long: "Serve the book to any MCP client over Streamable HTTP until a signal ends it. It listens on loopback\n" +
			"unless --addr says otherwise, and every request needs the token (see deskhand workorders token). A console\n" +
			"of the same home that finds the book served uses this server.\n\n" +
			"With --stdio it speaks to the client that started it over standard input and output, and ends with it. If a\n" +
			"console or another server has the book, that one does the work.",
		Example: `  deskhand workorders serve
  deskhand --home /srv/book workorders serve --addr 127.0.0.1:7420
  deskhand workorders serve --stdio`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stdio {
				return serveBook(cmd.Context(), o, addr)
			}
			if cmd.Flags().Changed("addr") {
				return &usageError{errors.New("--stdio and --addr exclude each other")}
			}
			return serveStdio(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:7420", "listen on `HOST:PORT`; port 0 takes a free one")
	cmd.Flags().BoolVar(&stdio, "stdio", false, "serve the client that started this process, over standard input and output")
	return cmd
}

// startBook opens the book and serves it at addr.
func (o *options) startBook(addr string, other bool) (book *workorders.Book, server *workorders.Server, err error) {
	token, err := o.bookToken()
	if err != nil {
		return nil, nil, err
	}
	people, err := peopleToken(o.home)
	if err != nil {
		return nil, nil, err
	}
	if book, err = o.openBook(consoleWait); err != nil {
		return nil, nil, err
	}
	server = workorders.NewServer(book, workorders.ServerOptions{
		Token: token, PeopleToken: people, OtherMachines: other, AddrPath: filepath.Join(o.home, addrFile),
	})
	if err := server.Start(addr); err != nil {
		return nil, nil, errors.Join(err, book.Close())
	}
	return book, server, nil
}

// serveBook serves the book until ctx ends.
func serveBook(ctx context.Context, o *options, addr string) error {
	book, server, err := o.startBook(addr, true)
	if errors.Is(err, workorders.ErrWeakToken) {
		return fmt.Errorf("%w: remove %s to get a new one", err, filepath.Join(o.home, tokenFile))
	}
	if err != nil {
		return err
	}
	defer func() { _ = book.Close() }()
	if !loopback(addr) {
		_, _ = fmt.Fprintf(o.err, "Other machines can reach this server at %s: every request needs the token, and nothing is encrypted.\n", addr)
	}
	_, err = fmt.Fprintf(o.out, "The work-orders server listens at %s\nIts token: deskhand --home %s workorders token\n", server.URL(), o.home)
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, closeServer(server))
}

// loopback says whether only this machine can reach the address.
func loopback(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serveStdio serves the client that started this process until it goes away.
// Other processes of the home reach the same book over loopback.
func serveStdio(ctx context.Context, o *options) error {
	out, ok := o.out.(*os.File)
	if !ok {
		return errors.New("--stdio needs a real standard output")
	}
	book, server, err := o.startBook("127.0.0.1:0", false)
	if errors.Is(err, workorders.ErrHeld) {
		holder, addrErr := o.holder()
		if addrErr != nil {
			return errors.Join(err, addrErr)
		}
		return holder.ServeStdio(ctx, o.in, out)
	}
	if err != nil {
		return err
	}
	defer func() { _ = book.Close() }()
	err = server.ServeStdio(ctx, o.in, out)
	return errors.Join(err, closeServer(server))
}

func closeServer(server *workorders.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return server.Close(ctx)
}

func newToken(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "token",
		Short: "Print the token that clients of the work-orders server need",
		Long: "Print the token that clients of the work-orders server need, and make one if there is none. In a\n" +
			`configuration, write it as "Authorization": "Bearer ${ERP_TOKEN}" and set ERP_TOKEN.`,
		Example: "  export ERP_TOKEN=$(deskhand workorders token)",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			token, err := o.bookToken()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(o.out, token)
			return err
		},
	}
}

func newReset(o *options) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "reset",
		Short:   "Throw the book away and make a new demo book",
		Long:    "Throw away every job, visit and order of the book, and make a new demo book. Conversations stay.",
		Example: "  deskhand workorders reset --yes",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return resetBook(o, yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func resetBook(o *options, yes bool) error {
	if !yes {
		if !o.terminal() {
			return &usageError{errors.New("reset throws the book away: add --yes to say that you mean it")}
		}
		question := fmt.Sprintf("Throw away everything in %s and start a new demo book? Type yes: ", filepath.Join(o.home, bookFile))
		ok, err := confirm(o.in, o.out, question)
		if err != nil {
			return err
		}
		if !ok {
			return errors.New("nothing was changed")
		}
	}
	book, err := o.openBook(consoleWait)
	if err != nil {
		return err
	}
	if err := errors.Join(book.Reset(), book.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, "The book is a new demo book. Its clock starts on Tuesday 1 December 2026, 09:00.")
	return err
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
