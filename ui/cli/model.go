package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"deskhand/agent"
	"deskhand/agent/anthropic"
	"deskhand/agent/offline"
	"deskhand/agent/openai"
	"deskhand/agent/provider"
)

// ModelConfig chooses the model. The built-in one needs nothing of it.
type ModelConfig struct {
	// Provider is offline, anthropic, or openai, which stands for every server
	// that speaks Chat Completions.
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name,omitempty"`
	// BaseURL is the server's address; empty: the provider's own.
	BaseURL string `json:"baseURL,omitempty"`
	// APIKeyEnv names the environment variable with the key; APIKeyCommand is a
	// program, with its arguments, that prints the key. Without both the key is
	// in OPENAI_API_KEY or ANTHROPIC_API_KEY, or, for a server of one's own,
	// none is sent.
	APIKeyEnv     string            `json:"apiKeyEnv,omitempty"`
	APIKeyCommand []string          `json:"apiKeyCommand,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	// Timeout bounds one answer, e.g. "2m".
	Timeout     string   `json:"timeout,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	// Fallback is the model that answers while this one cannot be reached:
	// offline, or empty for none.
	Fallback string `json:"fallback,omitempty"`
}

// modelKeys are the keys of "model" in the configuration.
var modelKeys = keyTree{
	"provider": nil, "name": nil, "baseURL": nil, "apiKeyEnv": nil, "apiKeyCommand": nil, "headers": nil, "timeout": nil, "maxTokens": nil, "temperature": nil,
	"fallback": nil,
}

// The providers.
const (
	providerOffline   = "offline"
	providerOpenAI    = "openai"
	providerAnthropic = "anthropic"
)

// usualKeys are the environment variables in which people keep the keys.
var usualKeys = map[string]string{providerOpenAI: "OPENAI_API_KEY", providerAnthropic: "ANTHROPIC_API_KEY"}

// chosen is what counts: the flag, where it says something, over the file.
func (c ModelConfig) chosen(flag string) (ModelConfig, error) {
	if flag != "" {
		named, name, _ := strings.Cut(flag, ":")
		if named != c.Provider {
			c = ModelConfig{Provider: named} // the rest of the file is about another one
		}
		c.Name = cmp.Or(name, c.Name)
	}
	c.Provider = cmp.Or(c.Provider, providerOffline)
	switch {
	case c.Provider != providerOffline && usualKeys[c.Provider] == "":
		return c, fmt.Errorf("the model %q is not available; this version has: offline, openai:NAME, anthropic:NAME", cmp.Or(flag, c.Provider))
	case c.Provider != providerOffline && c.Name == "":
		return c, fmt.Errorf("say which model: --model %s:NAME, or model.name in the configuration", c.Provider)
	case c.Fallback != "" && c.Fallback != providerOffline:
		return c, fmt.Errorf("model.fallback is %q; only offline, the built-in model, can stand in for another", c.Fallback)
	case c.MaxTokens < 0:
		return c, errors.New("model.maxTokens must not be negative")
	}
	if c.Timeout != "" {
		if d, err := time.ParseDuration(c.Timeout); err != nil || d <= 0 {
			return c, fmt.Errorf("model.timeout is %q; write a length of time, e.g. 2m", c.Timeout)
		}
	}
	return c, nil
}

// chooseModel makes the model that the command line or the configuration names.
func (d *desk) chooseModel() (agent.Model, error) {
	c, err := d.config.Model.chosen(d.options.model)
	if err != nil {
		return nil, &usageError{err}
	}
	if c.Provider == providerOffline {
		return offline.New(), nil
	}
	headers := maps.Clone(c.Headers)
	for name, value := range headers {
		for _, reference := range variable.FindAllStringSubmatch(value, -1) {
			value = strings.ReplaceAll(value, reference[0], cmp.Or(d.options.getenv(reference[1]), reference[3]))
		}
		headers[name] = value
	}
	timeout, _ := time.ParseDuration(cmp.Or(c.Timeout, "0s")) // it has been checked
	key := func(ctx context.Context) (string, error) { return c.key(ctx, d.options.getenv) }
	settings := provider.Settings{
		Name: c.Name, BaseURL: c.BaseURL, Headers: headers, Timeout: timeout, MaxTokens: c.MaxTokens, Temperature: c.Temperature, Key: key,
	}
	var model agent.Model
	if c.Provider == providerAnthropic {
		model, err = anthropic.New(settings)
	} else {
		model, err = openai.New(settings)
	}
	if err != nil {
		return nil, &usageError{err}
	}
	if c.Fallback == providerOffline {
		model = provider.NewFallback(model, offline.New())
	}
	return model, nil
}

// keyTime bounds the program that prints a key.
const keyTime = 20 * time.Second

// key gives the key for a request; it is kept nowhere.
func (c ModelConfig) key(ctx context.Context, getenv func(string) string) (string, error) {
	if len(c.APIKeyCommand) > 0 {
		ctx, cancel := context.WithTimeout(ctx, keyTime)
		defer cancel()
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, c.APIKeyCommand[0], c.APIKeyCommand[1:]...)
		cmd.Stdout = &out
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("model.apiKeyCommand (%s) failed: %w", c.APIKeyCommand[0], err)
		}
		key := strings.TrimSpace(out.String())
		if key == "" || strings.ContainsAny(key, "\n\r") {
			return "", fmt.Errorf("model.apiKeyCommand (%s) did not print one line", c.APIKeyCommand[0])
		}
		return key, nil
	}
	if c.APIKeyEnv != "" {
		key := getenv(c.APIKeyEnv)
		if key == "" {
			return "", fmt.Errorf("the environment variable %s (model.apiKeyEnv) is not set", c.APIKeyEnv)
		}
		return key, nil
	}
	if c.BaseURL == "" || c.BaseURL == openai.DefaultURL || c.BaseURL == anthropic.DefaultURL {
		usual := usualKeys[c.Provider]
		if key := getenv(usual); key != "" {
			return key, nil
		}
		return "", fmt.Errorf("%s is not set; set it, or name another variable in model.apiKeyEnv", usual)
	}
	return "", nil // a server of one's own often wants none
}

// modelName is the model's name for people.
func (d *desk) modelName() string { return d.model.Name() }

// checkModel makes one small request; it gives what is wrong, empty if nothing
// is.
func (d *desk) checkModel(ctx context.Context) string {
	if _, builtIn := d.model.(*offline.Model); builtIn {
		return ""
	}
	model := d.model
	if f, ok := model.(*provider.Fallback); ok {
		model = f.First()
	}
	_, err := model.Respond(ctx, agent.ModelRequest{
		System: "Answer with the word ready.", Now: d.company.now(),
		Messages: []agent.ModelMessage{{Role: agent.RoleUser, Text: "ready?"}},
	}, func(string) {})
	if err != nil {
		return err.Error()
	}
	return ""
}

// hideSecrets takes out of a configuration what must not be printed.
func (c *ModelConfig) hideSecrets() {
	headers := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		headers[name] = "(set)"
	}
	if len(headers) > 0 {
		c.Headers = headers
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		c.BaseURL = "(cannot be read)"
		return
	}
	if u.User == nil && u.RawQuery == "" {
		return
	}
	if u.User != nil {
		u.User = url.User("(set)")
	}
	values := u.Query()
	for name := range values {
		values.Set(name, "(set)")
	}
	u.RawQuery = values.Encode()
	c.BaseURL = u.String()
}
