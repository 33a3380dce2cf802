package cli

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"

	"deskhand/agent"
)

// Config is the configuration file with everything that it may hold.
type Config struct {
	MCPServers map[string]ServerConfig `json:"mcpServers,omitempty"`
	// Policy replaces the default policy whole.
	Policy *agent.PolicyConfig `json:"policy,omitempty"`
	Model  ModelConfig         `json:"model,omitzero"`
	// User is the desk user in whose name the desk acts.
	User agent.UserID `json:"user,omitempty"`
}

// ServerConfig is one entry of mcpServers, in the form that other hosts use.
type ServerConfig struct {
	// Embedded runs the built-in work-orders server.
	Embedded bool              `json:"embedded,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Type     string            `json:"type,omitempty"`
}

// ModelConfig chooses the model.
type ModelConfig struct {
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name,omitempty"`
	BaseURL  string `json:"baseURL,omitempty"`
}

// workOrders is the name of the built-in server in the configuration.
const workOrders = "work-orders"

//go:embed default_policy.json
var defaultPolicy []byte

// configKeys are the keys that a configuration may have; nil means that what is
// below is not looked at, "*" stands for any name.
var configKeys = keyTree{
	"mcpServers": {"*": {
		"embedded": nil, "disabled": nil, "url": nil, "headers": nil, "command": nil, "args": nil, "env": nil, "type": nil,
	}},
	"policy": {
		"runWithoutApproval": nil, "readOnly": nil, "previews": nil,
		"rules": {"tool": nil, "when": nil, "then": nil, "because": nil},
	},
	"model": {"provider": nil, "name": nil, "baseURL": nil},
	"user":  nil,
}

// loadConfig reads the configuration file. A file that is not there is an empty
// one, unless it was named on the command line. Warnings are for standard error.
func loadConfig(path string, named bool, getenv func(string) string) (c Config, warnings []string, err error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		text = []byte("{}")
	case errors.Is(err, fs.ErrNotExist):
		return c, nil, &usageError{fmt.Errorf("there is no configuration file %s", path)}
	case err != nil:
		return c, nil, &usageError{fmt.Errorf("reading the configuration: %w", err)}
	}
	unknown, err := checkKeys(text, configKeys)
	if err != nil {
		return c, nil, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	for _, u := range unknown {
		if u.tolerated { // other hosts keep keys of their own there
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s is not understood here and was left out", path, u.line, u.path))
			continue
		}
		return c, nil, &usageError{fmt.Errorf("%s:%d: unknown key %q%s", path, u.line, u.path, u.suggestion())}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, nil, &usageError{fmt.Errorf("%s: %w", path, positioned(text, err))}
	}
	if err := c.complete(getenv); err != nil {
		return c, nil, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return c, warnings, nil
}

// complete fills in defaults and replaces ${VAR}.
func (c *Config) complete(getenv func(string) string) error {
	if c.MCPServers == nil {
		c.MCPServers = map[string]ServerConfig{}
	}
	if _, ok := c.MCPServers[workOrders]; !ok {
		c.MCPServers[workOrders] = ServerConfig{Embedded: true}
	}
	if c.Policy == nil {
		c.Policy = &agent.PolicyConfig{}
		if err := json.Unmarshal(defaultPolicy, c.Policy); err != nil {
			return fmt.Errorf("the built-in policy: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.MCPServers)) {
		s := c.MCPServers[name]
		if s.Disabled {
			continue
		}
		if err := s.check(name); err != nil {
			return err
		}
		var missing error
		expand := func(text string) string {
			return variable.ReplaceAllStringFunc(text, func(reference string) string {
				value := getenv(reference[2 : len(reference)-1])
				if value == "" {
					missing = fmt.Errorf("mcpServers.%s: the environment variable in %s is not set", name, reference)
				}
				return value
			})
		}
		s.URL = expand(s.URL)
		s.Headers = maps.Clone(s.Headers)
		for key, value := range s.Headers {
			s.Headers[key] = expand(value)
		}
		if missing != nil {
			return missing
		}
		c.MCPServers[name] = s
	}
	return nil
}

// variable is a reference to the environment in the configuration.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

func (s ServerConfig) check(name string) error {
	switch {
	case s.Embedded && name != workOrders:
		return fmt.Errorf("mcpServers.%s: only %s can be embedded", name, workOrders)
	case s.Embedded && (s.URL != "" || s.Command != ""):
		return fmt.Errorf("mcpServers.%s: \"embedded\" goes without url and command", name)
	case !s.Embedded && s.URL == "" && s.Command != "":
		return fmt.Errorf("mcpServers.%s: servers that are started by a command are not supported yet; start it yourself and give its url", name)
	case !s.Embedded && s.URL == "":
		return fmt.Errorf("mcpServers.%s: give it a url", name)
	}
	return nil
}

// positioned adds line and column to an error of the JSON decoder.
func positioned(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(text)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:offset], []byte("\n")), err)
}
