// Package openai is an agent.Model over the Chat Completions API, which OpenAI
// and many other servers speak (https://platform.openai.com/docs/api-reference/chat).
//
// It promises that a reply is the whole one: what a stream says of text, calls,
// arguments and usage is given as it was sent, arguments byte for byte, and a
// stream that breaks off, is cut by a limit or is refused by a filter is an
// error and never a shorter answer. Nothing is asked twice once a byte of an
// answer has arrived. A key is in the Authorization header and nowhere else: no
// error holds it.
//
// It does not count tokens, and it trims no history: the engine does that.
package openai
