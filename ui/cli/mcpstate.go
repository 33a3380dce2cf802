package cli

import (
	"maps"
	"slices"

	"deskhand/mcp/client"
)

// serverRow is how one configured server is.
type serverRow struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
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
			row := serverRow{Name: name, State: string(state.Phase), Detail: state.Identity}
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
