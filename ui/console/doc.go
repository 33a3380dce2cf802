// Package console is the terminal console that a dispatcher keeps open all day.
//
// It promises:
//
//   - Nothing that is typed decides anything by accident. The composer owns the
//     keyboard; a card is entered with one explicit key, takes decisions only
//     after a moment of quiet and only when all of it has been in view, and
//     never from a paste, from several keys at once, or from Enter alone.
//   - A decision carries the approval's id and digest as they were drawn.
//   - A card is drawn from the stored approval, never from a model's text, and
//     only a card that waits for a person has a frame.
//   - Text from models, tools and customers cannot move the cursor, hide
//     characters in a card, or pass for a part of its frame.
//   - What was typed is kept: as a draft in the store, or in the composer again
//     when a message could not be stored.
//
// It keeps no state of its own about turns: whatever it shows is read from the
// store, and it is read again whenever [agent.Engine.Watch] says so.
//
// [Run] needs a terminal on both ends. [RunPlain] is the same desk as
// append-only lines, for pipes and screen readers.
package console
