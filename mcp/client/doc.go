// Package client connects to MCP servers. Each configured server is a
// [Server], which is an agent.Source.
//
// It promises:
//
//   - Making a Server costs nothing. It connects on first use, and again after
//     a session has died; a session is disposable, and a new one is built from
//     a new transport. One connect runs at a time, and others wait for it.
//   - Every wait is bounded, also where the SDK is deaf to its context:
//     connecting, listing, calling and closing are given up after a time, and
//     what they hold is cut.
//   - Every failed call says whether it was sent. "Not sent" is only said with
//     proof: no byte of the request left this machine, or the server refused
//     it before a tool could run. Everything after the first byte is "unknown"
//     until the server has answered.
//   - A call is sent once. It is sent again in two cases only, and then once:
//     the session turned out to be dead before a byte had left, or the server
//     said of this very request that it does not know its session.
//   - Arguments go out, and results come back, with the bytes of whoever wrote
//     them: no number is rounded, no unknown kind of content is lost.
//
// It does not promise that a cancelled call did not run, nor that a server
// stops it. It does not validate arguments or results, trust annotations, offer
// roots, sampling or elicitation, follow redirects, or keep keys that would
// make a write safe to repeat: those are the server's.
package client
