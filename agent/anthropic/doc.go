// Package anthropic is an agent.Model over the Messages API
// (https://docs.anthropic.com/en/api/messages).
//
// It promises what agent/openai promises: a reply is the whole one, arguments
// byte for byte as they were streamed, and an answer that is not whole is an
// error. System text and tools are marked for the provider's cache; they are the
// same bytes in every request of a conversation.
package anthropic
