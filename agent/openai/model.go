package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskhand/agent"
)

// DefaultURL is OpenAI's own address.
const DefaultURL = "https://api.openai.com/v1"

// Options of a Model. Name is needed.
type Options struct {
	// Name is the model's, as the server knows it.
	Name string
	// BaseURL is the address up to "/chat/completions"; empty: DefaultURL.
	BaseURL string
	// Key gives the key for each request; nil, or an empty key: none is sent.
	Key func(context.Context) (string, error)
	// Headers go with every request.
	Headers map[string]string
	// Timeout bounds one request to its last byte; 3 min if zero.
	Timeout time.Duration
	// MaxTokens bounds an answer; 0: the server's own limit.
	MaxTokens int
	// Temperature, if set, is sent.
	Temperature *float64
	// Transport sends requests; nil: that of net/http.
	Transport http.RoundTripper
	// Sleep waits before another attempt; nil: the clock is used.
	Sleep func(context.Context, time.Duration) error
}

// Model is one model of one server. It keeps nothing between requests.
type Model struct {
	options Options
	url     string
	client  *http.Client
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
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("model.baseURL must look like https://HOST/v1")
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/chat/completions"
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Minute
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Model{options: o, url: u.String(), client: &http.Client{
		Transport: o.Transport,
		// A redirect would take the key to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Name implements [agent.Model].
func (m *Model) Name() string { return "openai:" + m.options.Name }

// attempts is how often a request is made that got nothing back.
const attempts = 4

// Respond implements [agent.Model]. A request that got no answer at all is made
// again, after a while that grows, or that the server asks for.
func (m *Model) Respond(ctx context.Context, r agent.ModelRequest, emit func(string)) (agent.ModelReply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.options.Timeout, fmt.Errorf("no whole answer within %v", m.options.Timeout))
	defer cancel()
	body := request{
		Model: m.options.Name, Messages: messagesOf(r), Tools: toolsOf(r), MaxTokens: m.options.MaxTokens, Temperature: m.options.Temperature,
		Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
	}
	for attempt := 1; ; attempt++ {
		got, err := m.ask(ctx, body, emit)
		var failed *failure
		if err == nil || !errors.As(err, &failed) {
			return got, m.worded(ctx, err)
		}
		if failed.optionless && body.StreamOptions != nil {
			body.StreamOptions = nil // a server that does not know them
			attempt--
			continue
		}
		if !failed.again || attempt == attempts {
			return got, m.worded(ctx, err)
		}
		if sleepErr := m.options.Sleep(ctx, failed.pause(attempt)); sleepErr != nil {
			return got, m.worded(ctx, err)
		}
	}
}

// worded prefers the reason for which the request was given up.
func (m *Model) worded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// ask makes one request.
func (m *Model) ask(ctx context.Context, body request, emit func(string)) (agent.ModelReply, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return agent.ModelReply{}, fmt.Errorf("writing the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(raw))
	if err != nil {
		return agent.ModelReply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	key := ""
	if m.options.Key != nil {
		if key, err = m.options.Key(ctx); err != nil {
			return agent.ModelReply{}, fmt.Errorf("no key for the model: %w", err)
		}
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for _, name := range slices.Sorted(maps.Keys(m.options.Headers)) {
		req.Header.Set(name, m.options.Headers[name])
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return agent.ModelReply{}, m.unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return agent.ModelReply{}, m.refused(resp, key)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return agent.ModelReply{}, fmt.Errorf("%s answers with %q instead of a stream, so it is no model's address; check model.baseURL", m.host(), kind)
	}
	var r reply
	if err := r.read(resp.Body, emit); err != nil {
		if !r.began && errors.Is(err, errCut) {
			return agent.ModelReply{}, &failure{err: errors.New("the server ended the connection before it answered"), again: true}
		}
		return agent.ModelReply{}, errors.New(hidden(err.Error(), key))
	}
	return r.reply(), nil
}

// failure is an answer that did not come.
type failure struct {
	err error
	// again says that the same request may work later; after, if set, is when.
	again bool
	after time.Duration
	// optionless says that the server does not know stream_options.
	optionless bool
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// maxPause bounds the wait that a server may ask for.
const maxPause = time.Minute

// pause is how long to wait before another attempt.
func (f *failure) pause(attempt int) time.Duration {
	if f.after > 0 {
		return min(f.after, maxPause)
	}
	base := 500 * time.Millisecond << (attempt - 1)
	return base + time.Duration(rand.Int64N(int64(base/2))) // apart from others who failed at the same moment
}

// host is the server's address without what may be secret.
func (m *Model) host() string {
	u, err := url.Parse(m.url)
	if err != nil {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// unreachable words an error of the network.
func (m *Model) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // it repeats the address
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return &failure{err: fmt.Errorf("%s cannot be found; check the network and model.baseURL", m.host()), again: dns.IsTemporary}
	}
	return &failure{err: fmt.Errorf("%s cannot be reached (%w); check the network, or use --model offline", m.host(), err), again: true}
}

// refused words an answer that is no answer.
func (m *Model) refused(resp *http.Response, key string) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what arrived of it is enough
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	said := ""
	if json.Unmarshal(raw, &body) == nil && len(body.Error) > 0 {
		said = faultOf(body.Error)
	}
	said = hidden(strings.Join(strings.Fields(said), " "), key)
	if runes := []rune(said); len(runes) > 300 {
		said = string(runes[:300]) + "…"
	}
	tail := ""
	if said != "" {
		tail = ": " + said
	}
	f := &failure{after: retryAfter(resp.Header.Get("Retry-After"))}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized:
		f.err = errors.New("the key was refused (401); check model.apiKeyEnv or model.apiKeyCommand" + tail)
	case code == http.StatusForbidden:
		f.err = errors.New("this key may not use the model (403)" + tail)
	case code == http.StatusNotFound:
		f.err = fmt.Errorf("%s does not know the model %q or the address (404); check model.name and model.baseURL%s", m.host(), m.options.Name, tail)
	case code == http.StatusTooManyRequests:
		// Without credit, another attempt gets the same.
		f.err, f.again = errors.New("too many requests, or no credit left (429)"+tail), !bytes.Contains(raw, []byte("insufficient_quota"))
	case code == http.StatusRequestTimeout, code >= 500:
		f.err, f.again = fmt.Errorf("the model's server has a problem (%d)%s; try again later", code, tail), true
	case code >= 300 && code < 400:
		f.err = fmt.Errorf("%s sends to another address (%d), which is not followed; correct model.baseURL", m.host(), code)
	default:
		f.err = fmt.Errorf("the model's server refused the request (%d)%s", code, tail)
		f.optionless = strings.Contains(said, "stream_options")
	}
	return f
}

// hidden takes a key out of a text.
func hidden(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "…")
}

func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	return 0
}
