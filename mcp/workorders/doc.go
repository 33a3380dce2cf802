// Package workorders is a work-orders MCP server over Streamable HTTP, with the
// book that it serves.
//
// A [Book] is one bbolt file: jobs, visits, technicians, parts and part orders.
// A new book is filled with the data of a fictional field-service company. A
// [Server] offers the book to MCP clients on a loopback address, behind a
// bearer token, an Origin check and a Host check.
//
// What the package promises:
//   - Every rule of booking and ordering is checked here, whatever the client
//     checked before. A refused call has changed nothing.
//   - One call is one synced transaction. A change under an idempotency key is
//     stored together with its full answer; the same key gives the same answer
//     and no second change.
//   - A damaged file is reported as [ErrDamaged] and left as it is.
//   - Money is an integer of minor units with its currency; times carry their
//     zone; lists have a fixed order.
//   - Free text that people wrote is returned unchanged in fields named *_text,
//     marked "untrusted". Whoever draws it must make it harmless.
//
// What it does not promise: nothing is sent to a supplier; annotations and
// approvals of a client are not believed, except that the desk user named in a
// request's metadata is taken as the person who decided (the token is the
// proof that the request comes from the desk).
package workorders
