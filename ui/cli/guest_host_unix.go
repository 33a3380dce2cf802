//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"deskhand/agent"
	"deskhand/ui/console"
)

// maxGuestRequest bounds what a further console says of itself.
const maxGuestRequest = 64 << 10

// guestHost runs the consoles of other processes.
type guestHost struct {
	desk *desk
	ctx  context.Context

	mu     sync.Mutex
	places [maxGuests + 1]bool // which are taken; 0 is the holder's own
}

// listenGuests takes further consoles in. Where there can be no socket they are
// turned away by the desk's lock. Stop it before the desk is closed.
func (d *desk) listenGuests() (stop func()) {
	if d.options.store == storeMemory {
		return func() {}
	}
	path := filepath.Join(d.options.home, guestSocket)
	_ = os.Remove(path) // of a process that was killed: the desk's lock is ours
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		err = os.Chmod(path, 0o600) // the home itself is closed to others
	}
	if err != nil {
		d.logger().Info("there can be no further console beside this one", "error", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	host := &guestHost{desk: d, ctx: ctx}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.AcceptUnix()
			if err != nil {
				return // closed
			}
			serving.Go(func() { host.serve(conn) })
		}
	})
	return func() {
		_ = listener.Close()
		cancel() // the consoles leave, and their processes take over
		serving.Wait()
	}
}

// serve runs one console from its request to its end.
func (h *guestHost) serve(conn *net.UnixConn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(besideTime))
	request, files, err := receiveTerminal(conn)
	for _, f := range files {
		defer func() { _ = f.Close() }()
	}
	if err != nil {
		return // whoever it is does not speak as we do
	}
	_ = conn.SetReadDeadline(time.Time{})
	answers := json.NewEncoder(conn)
	d, err := h.borrow(request)
	place := 0
	if err == nil {
		place, err = h.take()
	}
	if err != nil {
		_ = answers.Encode(guestAnswer{Refused: err.Error()})
		return
	}
	defer h.leave(place)
	if answers.Encode(guestAnswer{Place: place}) != nil {
		return
	}
	ctx, leave := context.WithCancel(h.ctx)
	defer leave()
	resized := make(chan struct{}, 1)
	go func() {
		defer leave() // the process is gone, or was told to end
		heard := make([]byte, 16)
		for {
			if n, err := conn.Read(heard); err != nil || n == 0 {
				return
			}
			select {
			case resized <- struct{}{}:
			default:
			}
		}
	}()
	err = console.Run(agent.As(ctx, d.company.current()), d.guestOptions(request, files, place, resized))
	if h.ctx.Err() != nil {
		return // the holder ends, not the console
	}
	last := guestAnswer{Left: true}
	if err != nil {
		last.Failed = err.Error()
	}
	_ = answers.Encode(last)
}

// borrow is the desk as the console of another process sees it.
func (h *guestHost) borrow(r guestRequest) (*desk, error) {
	if reason := h.desk.differs(besideRequest{Config: r.Config, Clock: r.Clock, Model: r.Model}); reason != "" {
		return nil, errors.New(reason)
	}
	o := h.desk.options
	o.user, o.mouse = r.User, r.Mouse
	return h.desk.borrowed(o)
}

func (d *desk) guestOptions(r guestRequest, files []*os.File, place int, resized <-chan struct{}) console.Options {
	o := d.consoleOptions()
	o.Start = nil
	o.Theme, o.Place = r.Theme, place
	o.Input, o.Output = files[0], files[1]
	o.Notices = []string{fmt.Sprintf("The desk is open in process %d too: both consoles show the same, and either may decide.", os.Getpid())}
	o.Guest = &console.Guest{Folder: r.Folder, Getenv: func(name string) string { return r.Env[name] }, Resized: resized}
	return o
}

// take gives the lowest place that is free.
func (h *guestHost) take() (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for place := 1; place <= maxGuests; place++ {
		if !h.places[place] && place != h.desk.place {
			h.places[place] = true
			return place, nil
		}
	}
	return 0, fmt.Errorf("it has %d consoles already", maxGuests)
}

func (h *guestHost) leave(place int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.places[place] = false
}

// receiveTerminal reads the request, and the two ends of the terminal that come
// with it. The files are the caller's to close, also after an error.
func receiveTerminal(conn *net.UnixConn) (request guestRequest, files []*os.File, err error) {
	var line []byte
	buffer, control := make([]byte, maxGuestRequest), make([]byte, syscall.CmsgSpace(2*4))
	for !bytes.HasSuffix(line, []byte("\n")) && len(line) <= maxGuestRequest {
		n, c, _, _, err := conn.ReadMsgUnix(buffer, control)
		if err != nil {
			return request, files, err
		}
		if n == 0 {
			return request, files, errors.New("it said nothing")
		}
		line = append(line, buffer[:n]...)
		files = append(files, receivedFiles(control[:c])...)
	}
	if len(files) != 2 {
		return request, files, fmt.Errorf("%d descriptors came instead of 2", len(files))
	}
	return request, files, json.Unmarshal(line, &request)
}

func receivedFiles(control []byte) []*os.File {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	var files []*os.File
	for _, m := range messages {
		descriptors, err := syscall.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range descriptors {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "terminal"))
		}
	}
	return files
}
