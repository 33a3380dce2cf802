package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// startedServer is `workorders serve --stdio` as a client starts it.
type startedServer struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	errs  strings.Builder
	calls int
}

func (s *shell) startStdio() *startedServer {
	s.t.Helper()
	c := &startedServer{t: s.t, cmd: exec.Command("deskhand", append(append([]string{}, s.flags...), "workorders", "serve", "--stdio")...)}
	c.cmd.Env = s.env
	c.cmd.Stderr = &c.errs
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	c.lines = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	if _, err := fmt.Fprintln(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// ask sends one request; the next line that comes out must be its answer.
func (c *startedServer) ask(method, params string) string {
	c.t.Helper()
	c.calls++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.calls, method, params); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.lines.ReadString('\n')
	var answer struct {
		ID     int
		Result json.RawMessage
	}
	if err != nil || json.Unmarshal([]byte(line), &answer) != nil || answer.ID != c.calls {
		c.t.Fatalf("got %q, %v, %s", line, err, c.errs.String())
	}
	return string(answer.Result)
}

// stop goes away as a client does.
func (c *startedServer) stop() {
	c.t.Helper()
	if err := c.in.Close(); err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil || c.errs.Len() > 0 {
		c.t.Errorf("it ended with %v, %s", err, c.errs.String())
	}
}

// TestServerThatAClientStarts speaks MCP with `workorders serve --stdio` over
// pipes: only messages come out, the home's commands and another client that
// does the same use the same book meanwhile, and the server ends with its
// client.
func TestServerThatAClientStarts(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	first := s.startStdio()
	if ordered := first.ask("tools/call", `{"name":"order_part","arguments":{"work_order_id":"1007","sku":"HP-PCB-45","quantity":1}}`); !strings.Contains(ordered, "pending_approval") {
		t.Errorf("ordered %s", ordered)
	}
	s.expect(failed, "workorders", "approve", "PO-3021").says(t, "a senior dispatcher has to do it, with --user")
	s.expect(done, "--user", "U-02", "workorders", "approve", "PO-3021").prints(t, "PO-3021", "is approved by", "not sent to the supplier")
	second := s.startStdio()
	for _, c := range []*startedServer{first, second} {
		if listed := c.ask("tools/call", `{"name":"list_part_orders","arguments":{"part_order_id":"PO-3021"}}`); !strings.Contains(listed, `"status":"approved"`) {
			t.Errorf("listed %s", listed)
		}
	}
	second.stop()
	first.stop()
}
