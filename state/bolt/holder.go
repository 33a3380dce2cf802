package bolt

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Holder is a process that has a file open.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// HeldError says that another process has the file open. The lock is the
// kernel's and goes with the process, however that ends; the names in Holder
// are a note beside the file. They are empty if there is none, and those of
// the process before if this one has not written it yet.
type HeldError struct {
	Path   string
	Holder Holder
}

// Error says who has the file and what to do, in one line.
func (e *HeldError) Error() string {
	who := "another process"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("process %d on %s since %s", e.Holder.PID, e.Holder.Host, e.Holder.Since.Local().Format("2006-01-02 15:04"))
	}
	return fmt.Sprintf("%s is in use by %s; close that one, or wait longer with --wait", e.Path, who)
}

func holderPath(path string) string { return path + ".holder" }

// writeHolder leaves the note. It is a courtesy to those who wait: not being
// able to write it is no reason not to work.
func writeHolder(path string, now time.Time) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	note, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Since: now})
	if err == nil {
		_ = os.WriteFile(holderPath(path), note, fileMode)
	}
}

// readHolder returns what the note says, and nothing if there is no good one.
func readHolder(path string) Holder {
	var h Holder
	note, err := os.ReadFile(holderPath(path))
	if err != nil || json.Unmarshal(note, &h) != nil {
		return Holder{}
	}
	return h
}

func removeHolder(path string) { _ = os.Remove(holderPath(path)) }
