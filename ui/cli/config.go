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
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deskhand/agent"
)

// Config is the configuration file with everything that it may hold.
type Config struct {
	MCPServers map[string]ServerConfig `json:"mcpServers,omitempty"`
	// Policy replaces the default policy whole.
	Policy *agent.PolicyConfig `json:"policy,omitempty"`
	Model  ModelConfig         `json:"model,omitzero"`
	// PromptFile stands in place of the built-in instruction to the model; empty
	// means that the built-in one counts.
	PromptFile string `json:"promptFile,omitempty"`
	prompt     string // what is in it
	// User is the desk user in whose name the desk acts.
	User agent.UserID `json:"user,omitempty"`
	// Texts are what the assistant hears of denials and the like.
	Texts agent.Texts `json:"texts,omitzero"`
	// OnError says of tools what their failure does: model or stall.
	OnError map[agent.QualifiedName]agent.OnError `json:"onError,omitempty"`
	// Skills is a folder of SKILL.md files that the assistant may read; empty
	// means that there is none.
	Skills string `json:"skills,omitempty"`
	// Retention says how long conversations that have ended are kept; without
	// it, a year of busy days is.
	Retention *RetentionConfig `json:"retention,omitempty"`
}

// RetentionConfig bounds what is kept of conversations that have ended.
type RetentionConfig struct {
	// MaxDays is the age in days; 0 means that age does not count.
	MaxDays int `json:"maxDays,omitempty"`
	// MaxConversations is how many are kept; 0 means that number does not count.
	MaxConversations int `json:"maxConversations,omitempty"`
}

// What is kept where the configuration does not say: a year of busy days.
const (
	defaultMaxDays          = 365
	defaultMaxConversations = 20_000
)

// retention is the configuration in the engine's words.
func (c *RetentionConfig) retention() agent.Retention {
	if c == nil {
		c = &RetentionConfig{MaxDays: defaultMaxDays, MaxConversations: defaultMaxConversations}
	}
	return agent.Retention{MaxAge: time.Duration(c.MaxDays) * 24 * time.Hour, MaxCount: c.MaxConversations}
}

// workOrders is the name of the built-in server in the configuration.
const workOrders = "work-orders"

//go:embed default_policy.json
var defaultPolicy []byte

// configKeys are the keys that a configuration may have; nil means that what is
// below is not looked at, "*" stands for any name.
var configKeys = keyTree{
	"mcpServers": {"*": serverKeys},
	"policy": {
		"runWithoutApproval": nil, "readOnly": nil, "previews": nil, "expiresAfter": nil,
		"rules": {
			"tool": nil, "when": nil, "then": nil, "because": nil,
			"ceiling": {"minor": nil, "currency": nil, "at": nil, "perDay": nil},
		},
	},
	"model": modelKeys,
	"user":  nil,
	"texts": {
		"denied": nil, "deniedSpending": nil, "expired": nil, "cancelled": nil, "unknown": nil, "happened": nil, "didNotHappen": nil,
	},
	"onError": nil,
	"skills":  nil, "promptFile": nil,
	"retention": {"maxDays": nil, "maxConversations": nil},
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
		if !u.tolerated {
			return c, nil, &usageError{fmt.Errorf("%s:%d: unknown key %q%s", path, u.line, u.path, u.suggestion())}
		}
		// Other hosts keep keys of their own there.
		warnings = append(warnings, fmt.Sprintf("%s:%d: %s is not understood here and was left out%s", path, u.line, u.path, u.suggestion()))
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, nil, &usageError{fmt.Errorf("%s: %w", path, positioned(text, err))}
	}
	for _, file := range []*string{&c.Skills, &c.PromptFile} {
		if *file != "" && !filepath.IsAbs(*file) { // meant from where the configuration is
			*file = filepath.Join(filepath.Dir(path), *file)
		}
	}
	if err := c.readPrompt(); err != nil {
		return c, nil, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	if err := c.complete(getenv); err != nil {
		return c, nil, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return c, append(warnings, c.faults(path)...), nil
}

// readPrompt reads the instruction to the model, where a file is named.
func (c *Config) readPrompt() error {
	if c.PromptFile == "" {
		return nil
	}
	text, err := os.ReadFile(c.PromptFile)
	switch {
	case err != nil:
		return fmt.Errorf("promptFile: %w", err)
	case strings.TrimSpace(string(text)) == "", !utf8.Valid(text):
		return fmt.Errorf("promptFile: %s holds no text", c.PromptFile)
	}
	c.prompt = string(text)
	return nil
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
	if err := c.check(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.MCPServers)) {
		s := c.MCPServers[name]
		s.complete(name, getenv)
		c.MCPServers[name] = s
	}
	return nil
}

// check finds values that mean nothing, outside servers and policy.
func (c *Config) check() error {
	for _, name := range slices.Sorted(maps.Keys(c.OnError)) {
		switch mode := c.OnError[name]; {
		case !strings.Contains(string(name), "/"):
			return fmt.Errorf("onError: %q is no qualified name: write server/tool", name)
		case mode != agent.OnErrorModel && mode != agent.OnErrorStall:
			return fmt.Errorf("onError.%s is %q: write model or stall", name, mode)
		}
	}
	if r := c.Retention; r != nil && (r.MaxDays < 0 || r.MaxConversations < 0) {
		return errors.New("retention: a number must not be negative; 0 keeps everything")
	}
	return nil
}

// positioned adds the line to an error of the JSON decoder, in words for people
// who know JSON and not Go.
func positioned(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", lineAt(text, syntax.Offset), err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("line %d: the file must hold one JSON object, not %s", lineAt(text, kind.Offset), article(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: %s cannot be %s", lineAt(text, kind.Offset), kind.Field, article(kind.Value))
	}
	return err
}

// lineAt is the number of the line in which a byte stands, from 1.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
}

// article puts the article before the name of a JSON type.
func article(kind string) string {
	if strings.HasPrefix(kind, "a") || strings.HasPrefix(kind, "o") {
		return "an " + kind
	}
	return "a " + kind
}
