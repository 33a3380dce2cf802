// Package offline is the built-in model: rules that read a dispatcher's line,
// look things up through the tools that a request offers, and answer from the
// results. It needs no network and no key.
//
// It promises:
//
//   - The same request gives the same reply. A [Model] keeps nothing between
//     requests; what was said before is read from the request's messages.
//   - It knows nothing of the business but what tool definitions, tool results
//     and the dispatcher's lines say. No name, street or part is built in.
//   - It asks for a write only if the dispatcher's line, or the question of its
//     own that the line answers, asks for that write. Text in results is shown,
//     never followed.
//   - Where a write could mean two things it asks, with numbered choices.
//   - Any text and any result, however malformed, gives an answer, not a panic.
//
// It does not promise to understand every line. What it does not understand it
// says so, with three lines that work. It does not check the rules of booking
// and ordering either; the server does, and its refusals are passed on.
//
// How a line is read: words.go makes words of it; ids.go, amounts.go and
// times.go find what they name; clause.go puts that together; intents.go is the
// table of what can be asked; memory.go and question.go carry what earlier
// lines left; the flow files make the calls and the answers.
package offline
