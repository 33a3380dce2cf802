//go:build unix

package client

import (
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup starts a command in a process group of its own: what it starts
// belongs to it, and keys pressed in the terminal do not reach it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// endGroup asks the group to end.
func endGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// killGroup ends the group; one that has ended is no error.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// guardGroup starts the guard of a group. Nothing in this program can run when
// it is killed, so a process of its own has to wait for that: its standard input
// ends with this program.
func guardGroup(leader int, log *slog.Logger) *guard {
	r, w, err := os.Pipe()
	if err != nil {
		log.Warn("no guard for the server's program", "error", err)
		return nil
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", `read -r _; kill -s KILL -- "-$1"`, "deskhand-guard", strconv.Itoa(leader))
	cmd.Stdin, cmd.Env = r, []string{}
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		w.Close()
		log.Warn("no guard for the server's program", "error", err)
		return nil
	}
	return &guard{cmd: cmd, pipe: w}
}
