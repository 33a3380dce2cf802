// Package agent is the turn engine: it decides who may run what, and it keeps
// what must survive a crash.
//
// It promises:
//
//   - A gated call is sent only after a person approved exactly what is sent
//     (the digest of [Approval]), and it is sent once.
//   - A paused turn lies in the [Store] before anybody is shown a card. Pausing
//     is returning: nothing about a pause lives in memory, so continuing a
//     minute later and continuing after a crash are one piece of code.
//   - Denied, expired and cancelled calls are never sent.
//   - Where a crash makes the outcome of a call unknowable, the call is
//     [CallUnknown] and says so.
//
// It does not promise that a server does what its answer says, nor that a
// model's prose is true; the ledger line ([Ledger]) is made from records only.
//
// The package knows no user interface, no MCP library, no database and no
// provider. What it needs from outside stands in ports.go as interfaces.
package agent
