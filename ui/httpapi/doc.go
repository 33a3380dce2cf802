// Package httpapi is the desk over HTTP: the verbs of agent.Engine for apps,
// scripts and other programs.
//
// POST /dispatchAgent takes a message or a decision in the form of a Genkit
// flow, so that the clients of that kit work unchanged; GET /approvals lists
// what waits, with everything that a card shows. The id of an approval stands
// for what was drawn: an approval never changes.
//
// It promises that every request with a wrong token, a foreign origin or a
// malformed body is refused before anything happens; that a caller who goes
// away decides nothing and stops nothing; that a decision is taken once, with
// every loser told by whom; and that the same Idempotency-Key never sends the
// same message twice, also after a restart. It does not limit how often
// somebody may ask, it does not encrypt, and it keeps no state of its own beside
// the keys.
package httpapi
