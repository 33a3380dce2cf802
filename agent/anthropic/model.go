package anthropic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"deskhand/agent"
	"deskhand/agent/provider"
)

// DefaultURL is Anthropic's own address.
const DefaultURL = "https://api.anthropic.com"

// version is that of the API that is spoken here.
const version = "2023-06-01"

// defaultMaxTokens bounds an answer where nobody says so; the API wants a limit.
const defaultMaxTokens = 8192

// Options of a Model. Name is needed.
type Options struct {
	// Name is the model's, as the server knows it.
	Name string
	// BaseURL is the address up to "/v1/messages"; empty: DefaultURL.
	BaseURL string
	// Key gives the key for each request; nil, or an empty key: none is sent.
	Key func(context.Context) (string, error)
	// Headers go with every request.
	Headers map[string]string
	// Timeout bounds one answer to its last byte; 3 min if zero.
	Timeout time.Duration
	// MaxTokens bounds an answer; 8192 if zero.
	MaxTokens int
	// Temperature, if set, is sent.
	Temperature *float64
	// Transport sends requests; nil: that of net/http.
	Transport http.RoundTripper
	// Sleep waits before another attempt; nil: the clock is used.
	Sleep func(context.Context, time.Duration) error
}

// Model is one model. It keeps nothing between requests.
type Model struct {
	options Options
	client  *provider.Client
}

var _ agent.Model = (*Model)(nil)

// New makes a Model. Nothing is sent before it is used.
func New(o Options) (*Model, error) {
	if strings.TrimSpace(o.Name) == "" {
		return nil, errors.New("a model has to be named, e.g. anthropic:claude-sonnet-4-5")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	path := "v1/messages"
	if base, err := url.Parse(o.BaseURL); err == nil && strings.HasSuffix(strings.TrimSuffix(base.Path, "/"), "/v1") {
		path = "messages" // people write the address either way
	}
	address, err := provider.Join(o.BaseURL, path)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Anthropic-Version": version}
	for name, value := range o.Headers {
		headers[name] = value
	}
	return &Model{options: o, client: provider.New(provider.Options{
		Model: o.Name, URL: address, Key: o.Key, Headers: headers,
		SetKey:  func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		Timeout: o.Timeout, Transport: o.Transport, Sleep: o.Sleep,
	})}, nil
}

// Name implements [agent.Model].
func (m *Model) Name() string { return "anthropic:" + m.options.Name }

// Respond implements [agent.Model].
func (m *Model) Respond(ctx context.Context, r agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	body := request{
		Model: m.options.Name, MaxTokens: m.options.MaxTokens, System: systemOf(r), Tools: toolsOf(r), Messages: messagesOf(r),
		Temperature: m.options.Temperature, Stream: true,
	}
	var got *reply
	err := m.client.Ask(ctx, body, func(answer io.Reader) error {
		got = &reply{}
		return got.read(answer, emit)
	})
	if err != nil {
		return agent.ModelReply{}, err
	}
	return got.reply(), nil
}
