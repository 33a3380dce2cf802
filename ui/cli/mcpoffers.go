package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"deskhand/mcp/client"
)

// promptRow is a prompt of a server, in the server's own words.
type promptRow struct {
	Name        string              `json:"name"`
	Title       string              `json:"title,omitempty"`
	Description string              `json:"description,omitempty"`
	Arguments   []promptArgumentRow `json:"arguments,omitempty"`
}

type promptArgumentRow struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// resourceRow is a resource of a server, in the server's own words.
type resourceRow struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// listOffers asks the servers that are ready for their prompts and resources,
// all at once. That they cannot be listed makes no server unready: its tools
// work.
func (d *desk) listOffers(ctx context.Context, rows []serverRow) {
	var wait sync.WaitGroup
	for i := range rows {
		for _, s := range d.servers {
			if s.Name() == rows[i].Name && rows[i].State == string(client.PhaseReady) {
				wait.Go(func() { rows[i].ask(ctx, s) })
			}
		}
	}
	wait.Wait()
}

func (r *serverRow) ask(ctx context.Context, s *client.Server) {
	prompts, err := s.Prompts(ctx)
	if err != nil {
		r.Unlisted = "prompts: " + err.Error()
	}
	for _, p := range prompts {
		row := promptRow{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			row.Arguments = append(row.Arguments, promptArgumentRow(a))
		}
		r.Prompts = append(r.Prompts, row)
	}
	resources, err := s.Resources(ctx)
	if err != nil {
		r.Unlisted = strings.TrimPrefix(r.Unlisted+"; resources: "+err.Error(), "; ")
	}
	for _, found := range resources {
		r.Resources = append(r.Resources, resourceRow(found))
	}
}

// printOffers writes a line for each prompt and resource. An argument that may
// be left out stands in brackets.
func (r serverRow) printOffers(text *strings.Builder) {
	for _, p := range r.Prompts {
		line := p.Name
		for _, a := range p.Arguments {
			if a.Required {
				line += " " + strings.ToUpper(a.Name)
			} else {
				line += " [" + strings.ToUpper(a.Name) + "]"
			}
		}
		fmt.Fprintf(text, "  prompt %s  %s\n", visible(oneLine(line)), visible(oneLine(cmp.Or(p.Title, p.Description))))
	}
	for _, found := range r.Resources {
		fmt.Fprintf(text, "  resource %s  %s\n", visible(oneLine(found.URI)), visible(oneLine(cmp.Or(found.Title, found.Name))))
	}
	if r.Unlisted != "" {
		fmt.Fprintf(text, "  cannot be listed: %s\n", visible(oneLine(r.Unlisted)))
	}
}
