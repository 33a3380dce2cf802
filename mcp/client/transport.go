package client

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport opens connections to one server. It is the seam between sessions
// and the way in which a server is reached.
type transport interface {
	// open prepares one connection within ctx. What it opens lives on after
	// ctx, until it is cut.
	open(ctx context.Context) (*link, error)
}

// link is one connection, good for one session.
//
// A transport must look for the [exchange] in the context of the SDK's writes
// and tell it what becomes of the request.
type link struct {
	// transport is what the SDK connects through, once.
	transport mcp.Transport
	identity  string
	// cut ends everything that the link holds, at once, without a word to the
	// server. It may be called several times.
	cut func()
	// watched says whether the server could tell now that its tools changed.
	watched func() bool
	// onUnwatched is called, if the session sets it before connecting, when
	// the server can no longer tell.
	onUnwatched func()
	// ended, if set, says that the server has ended.
	ended func() bool
	// explain turns an error of the SDK into words, with the help of the status
	// and the error of the network that belong to it; without both, those of
	// the link's newest request count.
	explain func(status int, network, err error) error
}
