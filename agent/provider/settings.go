package provider

import (
	"context"
	"net/http"
	"time"
)

// Settings of a model on a provider's server, whichever the provider is. Name is
// needed.
type Settings struct {
	// Name is the model's, as the server knows it.
	Name string
	// BaseURL is the address below which the provider's own paths begin; empty:
	// the provider's own server.
	BaseURL string
	// Key gives the key for each request; nil, or an empty key: none is sent.
	Key func(context.Context) (string, error)
	// Headers go with every request.
	Headers map[string]string
	// Timeout bounds one answer to its last byte; 3 min if zero.
	Timeout time.Duration
	// MaxTokens bounds an answer; 0: the provider's usual limit.
	MaxTokens int
	// Temperature, if set, is sent.
	Temperature *float64
	// Transport sends requests; nil: that of net/http.
	Transport http.RoundTripper
	// Sleep waits before another attempt; nil: the clock is used.
	Sleep func(context.Context, time.Duration) error
}

// Client makes a client for an address. SetKey puts a key into the header where
// the provider wants it.
func (s Settings) Client(address string, setKey func(http.Header, string)) *Client {
	return New(Options{
		Model: s.Name, URL: address, Key: s.Key, SetKey: setKey, Headers: s.Headers,
		Timeout: s.Timeout, Transport: s.Transport, Sleep: s.Sleep,
	})
}
