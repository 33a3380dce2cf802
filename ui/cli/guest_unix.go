//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/charmbracelet/x/term"
)

// beGuest runs this console in the process that holds the desk, if there is one
// that takes consoles. Without done, the caller has to open the desk itself:
// there is no holder, or there is none any more, and place is what the console
// was there.
func (o *options) beGuest(ctx context.Context) (place int, done bool, err error) {
	path := filepath.Join(o.home, guestSocket)
	if _, err := os.Stat(path); err != nil || !o.canBeGuest() {
		return 0, false, nil
	}
	request, err := o.asGuest()
	if err != nil {
		return 0, true, err
	}
	dialer := net.Dialer{Timeout: besideTime}
	dialled, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return 0, false, nil // nobody listens: the holder was killed
	}
	conn := dialled.(*net.UnixConn)
	defer func() { _ = conn.Close() }()
	terminal := o.out.(*os.File) // canBeGuest has looked
	before, err := term.GetState(o.in.Fd())
	if err != nil {
		return 0, true, fmt.Errorf("the terminal: %w", err)
	}
	if err := sendTerminal(conn, request, o.in, terminal); err != nil {
		return 0, false, nil
	}
	defer o.tellHolder(ctx, conn)()

	answers := json.NewDecoder(conn)
	for {
		var a guestAnswer
		if err := answers.Decode(&a); err != nil {
			// The holder ended without a word, or said that it ends: what it did
			// to the terminal may still stand.
			_ = term.Restore(o.in.Fd(), before)
			_, _ = io.WriteString(terminal, terminalReset)
			return place, ctx.Err() != nil, ctx.Err()
		}
		switch {
		case a.Refused != "":
			return 0, true, o.refusedGuest(a.Refused)
		case a.Failed != "":
			return place, true, errors.New(a.Failed)
		case a.Left:
			return place, true, nil
		}
		place = a.Place
	}
}

// terminalReset takes back what a console that was killed has set: synchronised
// output, focus reports, pastes, mouse, hidden cursor, the other screen, title.
const terminalReset = "\x1b[?2026l\x1b[?1004l\x1b[?2004l\x1b[?1002l\x1b[?1006l\x1b[?25h\x1b[?1049l\x1b[23;2t"

// sendTerminal hands over the request with both ends of the terminal.
func sendTerminal(conn *net.UnixConn, request guestRequest, in, out *os.File) error {
	var err error
	if request.Folder, err = os.Getwd(); err != nil {
		request.Folder = "/"
	}
	request.PID = os.Getpid()
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	_, _, err = conn.WriteMsgUnix(append(line, '\n'), syscall.UnixRights(int(in.Fd()), int(out.Fd())), nil)
	return err
}

// tellHolder tells the holder of new sizes, and that this process was told to
// end: then the console there leaves in order, and says so.
func (o *options) tellHolder(ctx context.Context, conn *net.UnixConn) (stop func()) {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-resized:
				_, _ = conn.Write([]byte("\n")) // a holder that is gone is noticed by the reader
			case <-ctx.Done():
				_ = conn.CloseWrite()
				return
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(resized)
		close(done)
	}
}
