package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskhand/agent"
)

// A server that lists more than this is broken or hostile.
const (
	maxPages = 100
	maxTools = 2000
)

// maxListAge bounds how long a list is trusted while the server could announce
// changes: a stream can be dead without either end knowing.
const maxListAge = time.Minute

// Tools lists the server's tools by name. The list is read once a session and
// kept for as long as the server would announce changes; otherwise it is read
// each time. A definition that cannot be understood is an error that names the
// tool: leaving it out could hide what it says about spending.
//
// Schemas and annotations are compact JSON with sorted keys and the server's
// own numbers, so that equal definitions are equal bytes.
func (s *Server) Tools(ctx context.Context) (agent.ToolList, error) {
	return s.lookAtTools(ctx, true)
}

// Check connects and lists the tools for somebody who wants to know how the
// server is: it waits for as long as that takes, and tries a server that is
// left in peace.
func (s *Server) Check(ctx context.Context) error {
	_, err := s.lookAtTools(ctx, false)
	return err
}

func (s *Server) lookAtTools(ctx context.Context, look bool) (agent.ToolList, error) {
	for again := false; ; again = true {
		se, fresh, err := s.acquire(ctx, look)
		if err != nil {
			return agent.ToolList{}, err
		}
		list, drop, err := s.list(ctx, se)
		if ctx.Err() == nil {
			s.mu.Lock()
			s.unlisted = err
			s.mu.Unlock()
		}
		s.release(se, drop)
		if err == nil || !drop || fresh || again || ctx.Err() != nil {
			return list, err
		}
		// Listing changes nothing, so it may be tried once on a new session.
	}
}

// list gives the kept list or reads a new one. drop says that the session is
// in doubt.
func (s *Server) list(ctx context.Context, se *session) (list agent.ToolList, drop bool, err error) {
	se.mu.Lock()
	generation := se.generation
	if se.tools != nil && time.Since(se.listedAt) < maxListAge && se.announces() {
		list = *se.tools
		se.mu.Unlock()
		list.Tools = slices.Clone(list.Tools)
		return list, false, nil
	}
	se.mu.Unlock()

	tools, drop, err := s.readTools(ctx, se)
	if err != nil {
		return agent.ToolList{}, drop, err
	}
	if s.opts.Offers != nil {
		tools = slices.DeleteFunc(tools, func(t agent.Tool) bool { return !s.opts.Offers(t.Name) })
	}
	list = agent.ToolList{Identity: se.link.identity, Tools: tools}
	se.mu.Lock()
	if se.generation == generation {
		se.tools = &agent.ToolList{Identity: list.Identity, Tools: slices.Clone(tools)}
		se.listedAt = time.Now()
	}
	se.mu.Unlock()
	mirrors := slices.ContainsFunc(tools, func(t agent.Tool) bool {
		return bytes.Contains(t.InputSchema, []byte(`"x-mcp-header"`))
	})
	s.mu.Lock()
	s.mirrors = mirrors
	s.mu.Unlock()
	return list, false, nil
}

// readTools reads all pages.
func (s *Server) readTools(ctx context.Context, se *session) (tools []agent.Tool, drop bool, err error) {
	ctx, done := s.operation(ctx, s.opts.ReadTimeout, fmt.Errorf("the server did not list its tools within %v", s.opts.ReadTimeout))
	defer done()
	names := map[string]bool{}
	cursors := map[string]bool{}
	for cursor, page := "", 0; ; page++ {
		if page == maxPages || cursors[cursor] {
			return nil, false, errors.New("the server's list of tools has no end; it must be mended there")
		}
		cursors[cursor] = true
		raw, valid, next, err := s.readPage(ctx, se, cursor)
		if err != nil {
			return nil, true, err
		}
		found, err := decodeTools(raw, valid)
		if err != nil {
			return nil, false, err
		}
		for _, t := range found {
			if names[t.Name] {
				return nil, false, fmt.Errorf("the server lists the tool %s twice; it must be mended there", plain(t.Name))
			}
			names[t.Name] = true
		}
		if tools = append(tools, found...); len(tools) > maxTools {
			return nil, false, fmt.Errorf("the server lists more than %d tools", maxTools)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	slices.SortFunc(tools, func(a, b agent.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools, false, nil
}

// readPage reads one page: its raw result, the names that the SDK lets pass
// (it drops tools whose header annotations are illegal), and the next cursor.
func (s *Server) readPage(ctx context.Context, se *session, cursor string) (raw json.RawMessage, valid map[string]bool, next string, err error) {
	x := &exchange{}
	page, err := bounded(ctx, s, func() (*mcp.ListToolsResult, error) {
		return se.sdk.ListTools(withExchange(ctx, x), &mcp.ListToolsParams{Cursor: cursor})
	})
	saw := x.finish()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, nil, "", cause
		}
		if saw.reply != nil && saw.reply.result != nil {
			// The SDK does not say which tool it failed at.
			if _, named := decodeTools(saw.reply.result, nil); named != nil {
				return nil, nil, "", named
			}
		}
		return nil, nil, "", se.explainRead(saw, err)
	}
	valid = make(map[string]bool, len(page.Tools))
	for _, t := range page.Tools {
		valid[t.Name] = true
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	switch {
	case saw.reply != nil && saw.reply.result != nil:
		raw = saw.reply.result
		se.pages[cursor] = raw
	case !saw.entered && se.pages[cursor] != nil:
		raw = se.pages[cursor]
	default:
		if raw, err = json.Marshal(page); err != nil {
			return nil, nil, "", err
		}
	}
	return raw, valid, page.NextCursor, nil
}

// explainRead says why a read failed.
func (se *session) explainRead(saw seen, err error) error {
	if saw.reply != nil && saw.reply.err != nil {
		return saw.reply.err
	}
	if saw.status >= 200 && saw.status < 300 {
		return &failure{"the server's answer cannot be read: " + plain(err.Error()), err}
	}
	if errors.Is(err, mcp.ErrConnectionClosed) {
		return &failure{errSessionDied.Error(), err}
	}
	return se.link.explain(saw.status, saw.network, err)
}

func (e *replyError) Error() string {
	return fmt.Sprintf("the server says: %s (%d)", plain(e.Message), e.Code)
}

// decodeTools decodes the tools of one page whose names are valid.
func decodeTools(page json.RawMessage, valid map[string]bool) ([]agent.Tool, error) {
	result, ok := members(page)
	raw, isArray := elements(result["tools"])
	if !ok || !isArray || !json.Valid(page) {
		return nil, errors.New("the server's list of tools cannot be read")
	}
	tools := make([]agent.Tool, 0, len(raw))
	for _, one := range raw {
		m, ok := members(one)
		if !ok {
			return nil, errors.New("the server lists a tool that is no object")
		}
		t, err := decodeTool(m)
		if err != nil {
			return nil, err
		}
		if valid[t.Name] {
			tools = append(tools, t)
		}
	}
	return tools, nil
}

// decodeTool decodes one tool.
func decodeTool(m map[string]json.RawMessage) (agent.Tool, error) {
	var t agent.Tool
	if json.Unmarshal(orNull(m["name"]), &t.Name) != nil || t.Name == "" {
		return t, errors.New("the server lists a tool without a name")
	}
	bad := func(what string, err error) (agent.Tool, error) {
		return t, fmt.Errorf("the tool %s: %s cannot be understood: %w", plain(t.Name), what, err)
	}
	for key, into := range map[string]*string{"title": &t.Title, "description": &t.Description} {
		if raw := m[key]; !isNull(raw) {
			if err := json.Unmarshal(raw, into); err != nil {
				return bad(key, err)
			}
		}
	}
	for key, into := range map[string]*json.RawMessage{
		"inputSchema": &t.InputSchema, "outputSchema": &t.OutputSchema, "annotations": &t.Annotations,
	} {
		var err error
		if *into, err = sorted(m[key]); err != nil {
			return bad(key, err)
		}
	}
	if len(t.InputSchema) == 0 || t.InputSchema[0] != '{' {
		return bad("inputSchema", errors.New("it must be an object"))
	}
	if meta := m["_meta"]; !isNull(meta) {
		if err := decodeDesk(meta, &t.Desk); err != nil {
			return bad("_meta", err)
		}
	}
	return t, nil
}

// sorted gives JSON without spaces and with sorted keys; numbers and the order
// of arrays stay. It gives nil for what is absent or null.
func sorted(raw json.RawMessage) (json.RawMessage, error) {
	if isNull(raw) {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
