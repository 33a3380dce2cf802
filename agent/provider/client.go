package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Options of a Client.
type Options struct {
	// Model is the model's name, for words.
	Model string
	// URL is the address that requests go to.
	URL string
	// Key gives the key for each request; nil, or an empty key: none is sent.
	Key func(context.Context) (string, error)
	// SetKey puts a key into the header where the provider wants it.
	SetKey func(http.Header, string)
	// Headers go with every request.
	Headers map[string]string
	// Timeout bounds one answer to its last byte; 3 min if zero.
	Timeout time.Duration
	// Transport sends requests; nil: that of net/http.
	Transport http.RoundTripper
	// Sleep waits before another attempt; nil: the clock is used.
	Sleep func(context.Context, time.Duration) error
}

// Client asks one server. It keeps nothing between requests.
type Client struct {
	options Options
	// secrets are what no error may hold, beside the key.
	secrets []string
	http    *http.Client
}

// Join gives the address of a path below a base address, whose query it keeps.
func Join(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("model.baseURL must look like https://HOST/v1")
	}
	return u.JoinPath(path).String(), nil
}

// New makes a Client. Nothing is sent before it is used.
func New(o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Minute
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Client{options: o, secrets: secretsOf(o), http: &http.Client{
		Transport: o.Transport,
		// A redirect would take the key to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
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

// Attempts is how often a request is made that got nothing back.
const Attempts = 4

// ErrNothing is what a reader of an answer gives if the answer ended before
// anything of it came: the same may be asked again.
var ErrNothing = errors.New("the server ended the connection before it answered")

// RefusedError: the server answered with a status that is no answer.
type RefusedError struct {
	Status int
	// Said is the server's own message, on one line and without the key; it may
	// be empty.
	Said string

	words string
	again bool
	after time.Duration
}

func (e *RefusedError) Error() string { return e.words }

// Ask sends body as JSON and lets read read the stream that comes back. A
// request that got no answer at all is made again, after a while that grows, or
// that the server asks for; waiting, if set, is told before.
func (c *Client) Ask(ctx context.Context, body any, waiting func(agent.ModelWait), read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, fmt.Errorf("no whole answer within %v", c.options.Timeout))
	defer cancel()
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, raw, read)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause, again := pauseAfter(err, attempt)
		if !again || attempt == Attempts {
			return err
		}
		if waiting != nil {
			waiting(agent.ModelWait{Reason: err.Error(), Pause: pause})
		}
		if c.options.Sleep(ctx, pause) != nil {
			return context.Cause(ctx)
		}
	}
}

// maxPause bounds the wait that a server may ask for.
const maxPause = time.Minute

// pauseAfter says whether another attempt may help, and when.
func pauseAfter(err error, attempt int) (pause time.Duration, again bool) {
	var refused *RefusedError
	var lost *unreachable
	switch {
	case errors.As(err, &refused) && refused.again && refused.after > 0:
		return min(refused.after, maxPause), true
	case errors.As(err, &refused) && refused.again, errors.As(err, &lost) && lost.again, errors.Is(err, ErrNothing):
		base := 500 * time.Millisecond << (attempt - 1)
		return base + time.Duration(rand.Int64N(int64(base/2))), true // apart from others who failed at the same moment
	}
	return 0, false
}

// once makes one request.
func (c *Client) once(ctx context.Context, raw []byte, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.URL, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	key := ""
	if c.options.Key != nil {
		if key, err = c.options.Key(ctx); err != nil {
			return fmt.Errorf("no key for the model: %w", err)
		}
	}
	if key != "" {
		c.options.SetKey(req.Header, key)
	}
	for name, value := range c.options.Headers {
		req.Header.Set(name, value)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp, key)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fmt.Errorf("%s answers with %q instead of a stream, so it is no model's address; check model.baseURL", c.host(), kind)
	}
	err = read(resp.Body)
	if err == nil || errors.Is(err, ErrNothing) {
		return err
	}
	return errors.New(c.hidden(err.Error(), key))
}

// host is the server's address without what may be secret.
func (c *Client) host() string {
	u, err := url.Parse(c.options.URL)
	if err != nil {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// unreachable: no answer came.
type unreachable struct {
	words string
	cause error
	again bool
}

func (e *unreachable) Error() string { return e.words }
func (e *unreachable) Unwrap() error { return e.cause }

// unreachable words an error of the network.
func (c *Client) unreachable(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // it repeats the address
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return &unreachable{words: c.host() + " cannot be found; check the network and model.baseURL", cause: err, again: dns.IsTemporary}
	}
	return &unreachable{words: fmt.Sprintf("%s cannot be reached (%v); check the network, or use --model offline", c.host(), err), cause: err, again: true}
}

// refused words an answer that is no answer.
func (c *Client) refused(resp *http.Response, key string) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what arrived of it is enough
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	e := &RefusedError{Status: resp.StatusCode, after: retryAfter(resp.Header)}
	if json.Unmarshal(raw, &body) == nil && len(body.Error) > 0 {
		e.Said = Fault(body.Error)
	}
	e.Said = c.hidden(strings.Join(strings.Fields(e.Said), " "), key)
	if runes := []rune(e.Said); len(runes) > 300 {
		e.Said = string(runes[:300]) + "…"
	}
	tail := ""
	if e.Said != "" {
		tail = ": " + e.Said
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized:
		e.words = "the key was refused (401); check model.apiKeyEnv or model.apiKeyCommand" + tail
	case code == http.StatusForbidden:
		e.words = "this key may not use the model (403)" + tail
	case code == http.StatusNotFound:
		e.words = fmt.Sprintf("%s does not know the model %q or the address (404); check model.name and model.baseURL%s", c.host(), c.options.Model, tail)
	case code == http.StatusTooManyRequests:
		// Without credit, another attempt gets the same.
		e.words, e.again = "too many requests, or no credit left (429)"+tail, !bytes.Contains(raw, []byte("insufficient_quota"))
	case code == http.StatusRequestTimeout, code >= 500:
		e.words, e.again = fmt.Sprintf("the model's server has a problem (%d)%s; try again later", code, tail), true
	case code >= 300 && code < 400:
		e.words = fmt.Sprintf("%s sends to another address (%d), which is not followed; correct model.baseURL", c.host(), code)
	default:
		e.words = fmt.Sprintf("the model's server refused the request (%d)%s", code, tail)
	}
	return e
}

// Fault is the message of an error object, which some servers send as text.
func Fault(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &object) // what cannot be read says nothing
	return object.Message
}

// shortestSecret keeps ordinary short words of headers readable in errors.
const shortestSecret = 8

// secretsOf are the parts of headers and address that may be keys: some servers
// want theirs there, and repeat it when they refuse it.
func secretsOf(o Options) []string {
	var out []string
	add := func(value string) {
		if len(value) >= shortestSecret {
			out = append(out, value)
		}
	}
	for _, value := range o.Headers {
		add(value)
		for _, word := range strings.Fields(value) {
			add(word) // of "Bearer KEY" a server may repeat the key alone
		}
	}
	if u, err := url.Parse(o.URL); err == nil {
		for _, values := range u.Query() {
			for _, value := range values {
				add(value)
			}
		}
		if password, set := u.User.Password(); set {
			add(password)
		}
	}
	// Longest first, so that a secret goes whole before a part of it does.
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// hidden takes the key, and what else is secret, out of a text.
func (c *Client) hidden(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "…")
	}
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

// retryAfter reads how long the server wants to be left alone: seconds, or a
// moment by the server's own clock (RFC 9110, section 10.2.3).
func retryAfter(h http.Header) time.Duration {
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(0, at.Sub(now))
	}
	if seconds, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	return 0
}
