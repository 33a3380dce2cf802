package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The environment that makes this test binary a server.
const (
	programScript = "DESKHAND_TEST_PROGRAM"
	programLedger = "DESKHAND_TEST_LEDGER"
)

// program is a server program with what it noted.
type program struct {
	t      *testing.T
	ledger string
}

// startable makes a Server whose program plays that script.
func startable(t *testing.T, script string, change ...func(*Options)) (*Server, *program) {
	t.Helper()
	p := &program{t: t, ledger: filepath.Join(t.TempDir(), "ledger")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := connectTo(t, "", append([]func(*Options){func(o *Options) {
		o.Command = &Command{Path: self, Env: Environment(os.Getenv, map[string]string{
			programScript: script, programLedger: p.ledger, "GORACE": "atexit_sleep_ms=0", "GOCOVERDIR": t.TempDir(),
		})}
		o.ConnectTimeout = patient
	}}, change...)...)
	return s, p
}

// patient is how long the start of a program may take on a busy machine.
const patient = 30 * time.Second

// noted is how often the program noted something, over all its lives.
func (p *program) noted(what string) int { return len(p.notes(what)) }

// notes are the notes that begin with that word, without it.
func (p *program) notes(what string) []string {
	text, _ := os.ReadFile(p.ledger) // before the first note there is none
	var out []string
	for line := range strings.Lines(string(text)) {
		if first, rest, _ := strings.Cut(strings.TrimSpace(line), " "); first == what {
			out = append(out, rest)
		}
	}
	return out
}

// pids are the processes that noted themselves under that word.
func (p *program) pids(what string) []int {
	var out []int
	for _, text := range p.notes(what) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, pid)
	}
	return out
}

// allGone waits until none of those processes runs.
func (p *program) allGone(what string) {
	p.t.Helper()
	for _, pid := range p.pids(what) {
		eventually(p.t, fmt.Sprintf("%s %d is gone", what, pid), func() bool { return !running(pid) })
	}
}

// runProgram is the child: a server that misbehaves as its script says.
func runProgram(script, ledger string) {
	note := func(format string, args ...any) {
		file, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(file, format+"\n", args...)
		}
		if err != nil {
			panic(err)
		}
		file.Close()
	}
	note("start %d", os.Getpid())
	if strings.Contains(script, "deaf") {
		signal.Ignore(syscall.SIGTERM)
	}
	if strings.Contains(script, "forks") {
		child := exec.Command("sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		note("child %d", child.Process.Pid)
	}
	switch {
	case strings.Contains(script, "crashes"):
		fmt.Fprintln(os.Stderr, "cannot read \x1b[31mshop.db\nno such file")
		os.Exit(3)
	case strings.Contains(script, "blind"):
		select {}
	case script == "modern":
		server := mcp.NewServer(&mcp.Implementation{Name: "program", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "order", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			note("call %s", r.Params.Arguments)
			if strings.Contains(string(r.Params.Arguments), "wait") {
				<-ctx.Done()
				note("cancelled")
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
		_ = server.Run(context.Background(), &mcp.StdioTransport{})
		return
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && strings.Contains(script, "deaf") {
			select {}
		}
		if err != nil {
			return
		}
		var m message
		_ = json.Unmarshal(line, &m)
		say(script, note, string(m.ID), m.Method)
	}
}

// say answers one message.
func say(script string, note func(string, ...any), id, method string) {
	reply := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result) }
	if strings.Contains(script, "noisy") {
		fmt.Print("Listening...\n\n{}\n[1]\n{\"level\":\"info\"}\n", `{"jsonrpc":"2.0","method":"notifications/made/up"}`, "\n",
			`{"jsonrpc":"2.0","id":4711,"result":{}}`, "\n", strings.Repeat("x", 2<<20), "\n")
	}
	switch method {
	case "server/discover":
		switch {
		case strings.Contains(script, "dies of the probe"):
			os.Exit(1)
		case strings.Contains(script, "silent"):
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"what?"}}`+"\n", id)
		}
	case "initialize":
		if !strings.Contains(script, "silent at all") {
			reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"program","version":"1"}}`)
		}
	case "notifications/cancelled":
		note("cancelled")
		if strings.Contains(script, "late") {
			// The late answer: the newest request but one.
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", lateID, goodResult)
		}
	case "tools/list":
		reply(`{"tools":[{"name":"order","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		note("call %s", id)
		lateID = id
		answerCall(script, id, reply)
	}
}

// lateID is the request that a late answer belongs to.
var lateID string

// answerCall answers a tools/call.
func answerCall(script, id string, reply func(string)) {
	switch {
	case strings.Contains(script, "dies in a call"):
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
	case strings.Contains(script, "half an answer"):
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":`, id)
		os.Exit(0)
	case strings.Contains(script, "unreadable"):
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":`+"\n", id)
	case strings.Contains(script, "huge"):
		reply(`{"content":[{"type":"text","text":"` + strings.Repeat("y", 2<<20) + `"}]}`)
	case strings.Contains(script, "wrong id"):
		fmt.Printf(`{"jsonrpc":"2.0","id":"%s","result":%s}`+"\n", id, goodResult)
		fmt.Printf(`{"jsonrpc":"2.0","id":99999,"result":%s}`+"\n", goodResult)
	case strings.Contains(script, "never"), strings.Contains(script, "late"):
	case strings.Contains(script, "tells its environment"):
		text, err := json.Marshal(os.Environ())
		if err != nil {
			panic(err)
		}
		reply(`{"content":[],"structuredContent":{"env":` + string(text) + `}}`)
	case strings.Contains(script, "batch"):
		fmt.Printf(`[{"jsonrpc":"2.0","id":%s,"result":%s},{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}]`+"\n", id, goodResult)
	default:
		reply(goodResult)
	}
}
