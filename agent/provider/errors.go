package provider

import "errors"

// How an answer can fail that had begun.
var (
	// ErrCut: the stream ended in the middle.
	ErrCut = errors.New("the answer broke off in the middle; nothing of it was used")
	// ErrTooLong: the answer reached the limit of its length.
	ErrTooLong = errors.New("the answer was cut because it became too long; raise model.maxTokens, or ask for less at once")
	// ErrFiltered: the provider did not want to answer.
	ErrFiltered = errors.New("the provider's filter refused the answer; say it in other words")
)

// MaxEvent bounds one event of a stream, in bytes.
const MaxEvent = 8 << 20
