package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"deskhand/agent"
	"deskhand/agent/provider"
)

// DefaultURL is OpenAI's own address.
const DefaultURL = "https://api.openai.com/v1"

// Options of a Model. Name is needed.
type Options = provider.Settings

// Model is one model of one server. It keeps nothing between requests.
type Model struct {
	options Options
	client  *provider.Client
}

var _ agent.Model = (*Model)(nil)

// New makes a Model. Nothing is sent before it is used.
func New(o Options) (*Model, error) {
	if strings.TrimSpace(o.Name) == "" {
		return nil, errors.New("a model has to be named, e.g. openai:gpt-5-mini")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	address, err := provider.Join(o.BaseURL, "chat/completions")
	if err != nil {
		return nil, err
	}
	return &Model{options: o, client: o.Client(address, func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) })}, nil
}

// Name implements [agent.Model].
func (m *Model) Name() string { return "openai:" + m.options.Name }

// Respond implements [agent.Model].
func (m *Model) Respond(ctx context.Context, r agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	body := request{
		Model: m.options.Name, Messages: messagesOf(r), Tools: toolsOf(r), MaxTokens: m.options.MaxTokens, Temperature: m.options.Temperature,
		Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
	}
	for {
		got, err := m.ask(ctx, body, r.Waiting, emit)
		if !body.suit(err) {
			return got, err
		}
	}
}

// suit changes a request that the server refused for the way it is put, and says
// whether it did.
func (r *request) suit(err error) bool {
	var refused *provider.RefusedError
	switch {
	case !errors.As(err, &refused):
		return false
	case r.StreamOptions != nil && strings.Contains(refused.Said, "stream_options"):
		r.StreamOptions = nil // a server that does not know them
	case r.MaxTokens != 0 && strings.Contains(refused.Said, "max_completion_tokens"):
		r.MaxTokens, r.MaxCompletionTokens = 0, r.MaxTokens // a model that wants the newer name
	default:
		return false
	}
	return true
}

func (m *Model) ask(ctx context.Context, body request, waiting func(agent.ModelWait), emit func(string)) (agent.ModelReply, error) {
	var got *reply
	err := m.client.Ask(ctx, body, waiting, func(answer io.Reader) error {
		got = &reply{}
		return got.read(answer, emit)
	})
	if err != nil {
		return agent.ModelReply{}, err
	}
	return got.reply(), nil
}
