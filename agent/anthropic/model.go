package anthropic

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

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
type Options = provider.Settings

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
	maps.Copy(headers, o.Headers)
	o.Headers = headers
	return &Model{options: o, client: o.Client(address, func(h http.Header, key string) { h.Set("X-Api-Key", key) })}, nil
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
	err := m.client.Ask(ctx, body, r.Waiting, func(answer io.Reader) error {
		got = &reply{}
		return got.read(answer, emit)
	})
	if err != nil {
		return agent.ModelReply{}, err
	}
	return got.reply(), nil
}
