package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ReadResource reads one resource, such as deskhand://company. It gives the
// bytes, decoded if the server sent them as a blob, and their MIME type. Like
// Tools it is tried once more if the session turns out to be dead.
func (s *Server) ReadResource(ctx context.Context, uri string) (data []byte, mimeType string, err error) {
	for again := false; ; again = true {
		se, fresh, err := s.acquire(ctx, false)
		if err != nil {
			return nil, "", err
		}
		found, drop, err := s.read(ctx, se, uri)
		s.release(se, drop)
		if err == nil {
			if found.Blob != nil {
				return found.Blob, found.MIMEType, nil
			}
			return []byte(found.Text), found.MIMEType, nil
		}
		if !drop || fresh || again || ctx.Err() != nil {
			return nil, "", err
		}
	}
}

// read reads a resource in this session; drop says that the session is in
// doubt.
func (s *Server) read(ctx context.Context, se *session, uri string) (found *mcp.ResourceContents, drop bool, err error) {
	ctx, done := s.operation(ctx, s.opts.ReadTimeout, fmt.Errorf("the server did not answer within %v", s.opts.ReadTimeout))
	defer done()
	x := &exchange{}
	result, err := bounded(ctx, s, func() (*mcp.ReadResourceResult, error) {
		return se.sdk.ReadResource(withExchange(ctx, x), &mcp.ReadResourceParams{URI: uri})
	})
	saw := x.finish()
	switch {
	case err == nil && len(result.Contents) > 0 && result.Contents[0] != nil:
		return result.Contents[0], false, nil
	case err == nil:
		return nil, false, errors.New("the server's answer holds no resource")
	case context.Cause(ctx) != nil:
		return nil, !errors.Is(context.Cause(ctx), context.Canceled), context.Cause(ctx)
	}
	return nil, saw.reply == nil || saw.status >= 300, se.explainRead(saw, err)
}
