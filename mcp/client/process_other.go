//go:build !unix

package client

import (
	"log/slog"
	"os"
	"os/exec"
)

// Where there are no process groups, only the program itself is ended.

func ownGroup(*exec.Cmd) {}

func endGroup(leader *os.Process) { _ = leader.Kill() }

func killGroup(leader *os.Process) { _ = leader.Kill() }

func guardGroup(int, *slog.Logger) *guard { return nil }
