package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxListed bounds the prompts, and the resources, of one server.
const maxListed = 2000

// Prompt is a text that a server offers for a person to send. All of it is the
// server's own words: for display after sanitising, never to decide on.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
}

// PromptArgument is a word that a prompt wants filled in.
type PromptArgument struct {
	Name, Description string
	Required          bool
}

// Resource is something that a server lets read, in the server's own words.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
}

// Prompts lists the server's prompts in the server's order; none if it does not
// declare any. Like Tools it waits for a connect only so long.
func (s *Server) Prompts(ctx context.Context) ([]Prompt, error) {
	return listAll(ctx, s, "prompts", func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil },
		func(ctx context.Context, se *session, cursor string) ([]Prompt, string, error) {
			page, err := se.sdk.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			var found []Prompt
			for _, p := range page.Prompts {
				if p == nil || p.Name == "" {
					return nil, "", errors.New("the server lists a prompt without a name")
				}
				one := Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
				for _, a := range p.Arguments {
					if a != nil {
						one.Arguments = append(one.Arguments, PromptArgument{a.Name, a.Description, a.Required})
					}
				}
				found = append(found, one)
			}
			return found, page.NextCursor, nil
		})
}

// Resources lists the server's resources like Prompts.
func (s *Server) Resources(ctx context.Context) ([]Resource, error) {
	return listAll(ctx, s, "resources", func(c *mcp.ServerCapabilities) bool { return c.Resources != nil },
		func(ctx context.Context, se *session, cursor string) ([]Resource, string, error) {
			page, err := se.sdk.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			var found []Resource
			for _, r := range page.Resources {
				if r == nil || r.URI == "" {
					return nil, "", errors.New("the server lists a resource without an address")
				}
				found = append(found, Resource{r.URI, r.Name, r.Title, r.Description, r.MIMEType})
			}
			return found, page.NextCursor, nil
		})
}

// readOne reads the page of a list at a cursor.
type readOne[T any] func(ctx context.Context, se *session, cursor string) (found []T, next string, err error)

// listAll reads a list to its end, once more if the session turns out to be
// dead.
func listAll[T any](ctx context.Context, s *Server, what string, declared func(*mcp.ServerCapabilities) bool, one readOne[T]) ([]T, error) {
	for again := false; ; again = true {
		se, fresh, err := s.acquire(ctx, true)
		if err != nil {
			return nil, err
		}
		var all []T
		drop := false
		if r := se.sdk.InitializeResult(); r != nil && r.Capabilities != nil && declared(r.Capabilities) {
			all, drop, err = readList(ctx, s, se, what, one)
		}
		s.release(se, drop)
		if err == nil || !drop || fresh || again || ctx.Err() != nil {
			return all, err
		}
	}
}

// readList reads all pages of a list in this session; drop says that the
// session is in doubt.
func readList[T any](ctx context.Context, s *Server, se *session, what string, one readOne[T]) (all []T, drop bool, err error) {
	ctx, done := s.operation(ctx, s.opts.ReadTimeout, fmt.Errorf("the server did not list its %s within %v", what, s.opts.ReadTimeout))
	defer done()
	type page struct {
		found []T
		next  string
	}
	cursors := map[string]bool{}
	for cursor, n := "", 0; ; n++ {
		if n == maxPages || cursors[cursor] {
			return nil, false, fmt.Errorf("the server's list of %s has no end; it must be mended there", what)
		}
		cursors[cursor] = true
		x := &exchange{}
		p, err := bounded(ctx, s, func() (page, error) {
			found, next, err := one(withExchange(ctx, x), se, cursor)
			return page{found, next}, err
		})
		saw := x.finish()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return nil, !errors.Is(cause, context.Canceled), cause
			}
			return nil, saw.reply == nil || saw.status >= 300, se.explainRead(saw, err)
		}
		if all = append(all, p.found...); len(all) > maxListed {
			return nil, false, fmt.Errorf("the server lists more than %d %s", maxListed, what)
		}
		if cursor = p.next; cursor == "" {
			return all, false, nil
		}
	}
}
