package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"deskhand/agent"
	"deskhand/mcp/client"
)

// serverRow is how one configured server is.
type serverRow struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
	// Protocol is the revision that was agreed upon, Software what the server
	// says that it is.
	Protocol string `json:"protocol,omitempty"`
	Software string `json:"software,omitempty"`
	// Prompts and Resources are what it offers besides tools, set by doctor.
	Prompts   []promptRow   `json:"prompts,omitempty"`
	Resources []resourceRow `json:"resources,omitempty"`
	// Unlisted is why one of these cannot be listed.
	Unlisted string `json:"unlisted,omitempty"`
}

// heading is the server's line for people.
func (r serverRow) heading() string {
	line := fmt.Sprintf("Server %s: %s  %s", visible(r.Name), r.State, visible(r.Detail))
	if r.Protocol != "" {
		line += fmt.Sprintf("  (%s, MCP %s)", visible(r.Software), r.Protocol)
	}
	return line + "\n"
}

// checkServers connects to every server and lists its tools, all at once. What
// came of it is in their states.
func (d *desk) checkServers(ctx context.Context) {
	var wait sync.WaitGroup
	for _, s := range d.servers {
		wait.Go(func() { _ = s.Check(ctx) })
	}
	wait.Wait()
}

// serverDisabled is the state of a server that the configuration switches off.
const serverDisabled = "disabled"

// serverRows says how every configured server is, without asking it.
func (d *desk) serverRows() []serverRow {
	rows := []serverRow{}
	for _, name := range slices.Sorted(maps.Keys(d.config.MCPServers)) {
		c := d.config.MCPServers[name]
		i := slices.IndexFunc(d.servers, func(s *client.Server) bool { return s.Name() == name })
		switch {
		case c.Disabled:
			rows = append(rows, serverRow{Name: name, State: serverDisabled})
		case i >= 0:
			state := d.servers[i].State()
			row := serverRow{Name: name, State: string(state.Phase), Detail: state.Identity, Protocol: state.Protocol, Software: strings.TrimSpace(state.ServerName + " " + state.ServerVersion)}
			if state.Err != nil {
				row.Detail = state.Err.Error()
			}
			rows = append(rows, row)
		case c.fault != nil:
			rows = append(rows, serverRow{Name: name, State: string(client.PhaseDown), Detail: c.fault.Error()})
		}
	}
	return rows
}

// saysReadOnly is the tool's own word, which is no more than that.
func saysReadOnly(t agent.Tool) bool {
	var said struct {
		ReadOnlyHint bool `json:"readOnlyHint"`
	}
	return json.Unmarshal(t.Annotations, &said) == nil && said.ReadOnlyHint
}
