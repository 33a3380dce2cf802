package client

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a running server with the three pipes to it.
type process struct {
	cmd *exec.Cmd
	in  *os.File // what it reads
	out *os.File // what it writes
	err *os.File // what it complains
	// exited is closed when it has ended and its group has been killed.
	exited chan struct{}
	// guard kills the group if this program dies; nil if there is none.
	guard *guard
	words stderrTail
	log   *slog.Logger

	kill sync.Once
}

// drainExit is how long what a program wrote before its end may still be read.
// A descendant that left the group can hold the pipes open for ever.
const drainExit = 500 * time.Millisecond

// startProcess starts a program in a process group of its own.
func startProcess(c Command, log *slog.Logger) (*process, error) {
	file, err := c.find()
	if err != nil {
		return nil, err
	}
	var pipes [3][2]*os.File // read end, write end
	closeAll := func() {
		for _, p := range pipes {
			p[0].Close() // closing nil is an error and no harm
			p[1].Close()
		}
	}
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("no pipe for the server's program: %w", err)
		}
	}
	p := &process{
		cmd: &exec.Cmd{
			Path: file, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: c.Env,
			Stdin: pipes[0][0], Stdout: pipes[1][1], Stderr: pipes[2][1],
		},
		in: pipes[0][1], out: pipes[1][0], err: pipes[2][0],
		exited: make(chan struct{}), log: log,
	}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would hand over everything
	}
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		closeAll()
		return nil, c.explainStart(err)
	}
	pipes[0][0].Close()
	pipes[1][1].Close()
	pipes[2][1].Close()
	p.guard = guardGroup(p.cmd.Process.Pid, log)
	go p.listen()
	go p.wait()
	return p, nil
}

// wait waits for the end of the program, and ends whatever it left behind.
func (p *process) wait() {
	_ = p.cmd.Wait() // how it ended is in the state
	killGroup(p.cmd.Process)
	p.guard.end()
	late := time.Now().Add(drainExit)
	_ = p.out.SetReadDeadline(late)
	_ = p.err.SetReadDeadline(late)
	close(p.exited)
}

// listen keeps the last of what the program writes to standard error.
func (p *process) listen() {
	lines := bufio.NewReader(p.err)
	for logged := 0; ; {
		line, err := lines.ReadSlice('\n')
		if text := plain(string(line)); text != "" {
			p.words.add(text)
			if logged++; logged <= maxLoggedLines {
				p.log.Info("the server's program says", "text", text)
			}
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// maxLoggedLines bounds what of one program's standard error goes to the log.
const maxLoggedLines = 200

// stop ends the program in order: no more input, then a request, then force.
// Each step has so much time.
func (p *process) stop(step time.Duration) {
	_ = p.in.Close()
	for _, next := range []func(){func() { endGroup(p.cmd.Process) }, p.cut} {
		if p.ended(step) {
			break
		}
		next()
	}
	p.ended(step)
	p.closePipes()
}

// cut ends the program and all of its group now.
func (p *process) cut() {
	p.kill.Do(func() {
		select {
		case <-p.exited: // the group's number may be another's by now
		default:
			killGroup(p.cmd.Process)
		}
		_ = p.in.Close()
	})
}

func (p *process) closePipes() {
	_ = p.out.Close()
	_ = p.err.Close()
}

// ended waits at most so long for the end of the program.
func (p *process) ended(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// epitaph says how the program ended and what it said last; empty if it runs.
func (p *process) epitaph() string {
	if !p.ended(drainExit) {
		return ""
	}
	text := "the server's program ended"
	if state := p.cmd.ProcessState; state != nil && !state.Success() {
		text += " (" + state.String() + ")"
	}
	if last := p.words.last(); last != "" {
		text += "; it said: " + last
	}
	return text
}

// stderrTail keeps the last lines of a program's standard error.
type stderrTail struct {
	mu    sync.Mutex
	lines []string
}

// maxTail is how many lines are kept.
const maxTail = 4

func (t *stderrTail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == maxTail {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

func (t *stderrTail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return plain(strings.Join(t.lines, " / "))
}

// guard is a shell that waits for the end of this program, however it comes,
// and then kills a group of processes.
type guard struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

// end dismisses the guard; its group has ended.
func (g *guard) end() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill() // before it sees the end of the pipe
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
}
