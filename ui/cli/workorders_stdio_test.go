package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestServerThatAClientStarts speaks MCP with `workorders serve --stdio` over
// pipes: only messages come out, the home's commands use the same book
// meanwhile, and the server ends with its client.
func TestServerThatAClientStarts(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	cmd := exec.Command("deskhand", append(append([]string{}, s.flags...), "workorders", "serve", "--stdio")...)
	cmd.Env = s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	ask := func(id int, method, params string) json.RawMessage {
		t.Helper()
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if err != nil || json.Unmarshal([]byte(line), &answer) != nil || answer.ID != id {
			t.Fatalf("got %q, %v, %s", line, err, errs.String())
		}
		return answer.Result
	}
	ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	if _, err := fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		t.Fatal(err)
	}
	ordered := ask(2, "tools/call", `{"name":"order_part","arguments":{"work_order_id":"1007","sku":"HP-PCB-45","quantity":1}}`)
	if !strings.Contains(string(ordered), "pending_approval") {
		t.Errorf("ordered %s", ordered)
	}
	s.expect(failed, "workorders", "approve", "PO-3021").says(t, "a senior dispatcher has to do it, with --user")
	s.expect(done, "--user", "U-02", "workorders", "approve", "PO-3021").prints(t, "PO-3021", "is approved by", "not sent to the supplier")
	listed := ask(3, "tools/call", `{"name":"list_part_orders","arguments":{"part_order_id":"PO-3021"}}`)
	if !strings.Contains(string(listed), `"status":"approved"`) {
		t.Errorf("listed %s", listed)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("it ended with %v, %s", err, errs.String())
	}
}
