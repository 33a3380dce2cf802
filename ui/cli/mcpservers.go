package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ServerConfig is one entry of mcpServers, in the form that other hosts use.
//
// An entry that is wrong stops nothing but itself: its server is down, and says
// why.
type ServerConfig struct {
	// Embedded runs the built-in work-orders server.
	Embedded bool `json:"embedded,omitempty"`
	Disabled bool `json:"disabled,omitempty"`
	// URL and Headers reach a server over HTTP.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Command is a program that is a server on its standard input and output.
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	// Type and Transport are two hosts' words for the same thing: stdio, http or sse. What the entry holds decides between the first two, and they may not contradict it; sse is the older HTTP transport.
	Type      string `json:"type,omitempty"`
	Transport string `json:"transport,omitempty"`
	// Timeout bounds one call.
	Timeout timeout `json:"timeout,omitempty"`
	// MaxResultBytes is how much of a result the model gets to see.
	MaxResultBytes int `json:"maxResultBytes,omitempty"`
	// Tools says which of the server's tools there are for this desk.
	Tools ToolPatterns `json:"tools,omitzero"`
	// Trust lets doctor name the tools that the server says only read, for the
	// policy. No annotation changes by itself what runs.
	Trust bool `json:"trust,omitempty"`

	// written is the entry before variables were replaced: what people see.
	written *ServerConfig
	// fault is what is wrong with the entry.
	fault error
}

// ToolPatterns choose tools by their own names. A star stands for any letters.
type ToolPatterns struct {
	// Allow, if not empty, are the only tools; Deny are left out in any case.
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// serverKeys are the keys of an entry.
var serverKeys = keyTree{
	"embedded": nil, "disabled": nil, "url": nil, "headers": nil, "command": nil, "args": nil, "env": nil, "cwd": nil,
	"type": nil, "transport": nil, "timeout": nil, "maxResultBytes": nil, "tools": {"allow": nil, "deny": nil}, "trust": nil,
}

// UnmarshalJSON keeps what cannot be understood as the entry's fault.
func (s *ServerConfig) UnmarshalJSON(text []byte) error {
	type plain ServerConfig
	err := json.Unmarshal(text, (*plain)(s))
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		s.fault = fmt.Errorf("it must be an object, not %s", article(kind.Value))
	case errors.As(err, &kind):
		s.fault = fmt.Errorf("%s cannot be %s", kind.Field, article(kind.Value))
	default:
		s.fault = err
	}
	return nil
}

// timeout is written as a number of milliseconds, as other hosts do, or like
// "30s".
type timeout time.Duration

// UnmarshalJSON reads both forms.
func (d *timeout) UnmarshalJSON(text []byte) error {
	parsed, err := time.ParseDuration(strings.Trim(string(text), `"`))
	if ms, numeric := strconv.ParseFloat(string(text), 64); numeric == nil {
		parsed, err = time.Duration(ms*float64(time.Millisecond)), nil
	}
	if err != nil || parsed <= 0 {
		return errors.New(`timeout: write a time like "30s", or milliseconds`)
	}
	*d = timeout(parsed)
	return nil
}

// MarshalJSON writes it like "30s".
func (d timeout) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// faults says which entries are wrong.
func (c *Config) faults(file string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.MCPServers)) {
		if err := c.MCPServers[name].fault; err != nil {
			out = append(out, fmt.Sprintf("%s: mcpServers.%s: %v; this server is left out until the file is corrected", file, name, err))
		}
	}
	return out
}

// complete checks an entry and replaces ${VAR} in it. A disabled one may be
// unfinished.
func (s *ServerConfig) complete(name string, getenv func(string) string) {
	if s.Disabled {
		s.fault = nil
		return
	}
	written := *s
	written.Headers, written.Env, written.Args = maps.Clone(s.Headers), maps.Clone(s.Env), slices.Clone(s.Args)
	s.written = &written
	if s.fault == nil {
		s.fault = s.check(name)
	}
	if s.fault == nil {
		s.fault = s.expand(getenv)
	}
	if s.fault == nil && s.URL != "" {
		s.fault = checkURL(s.URL)
	}
}

// check makes sure that the entry says how to reach its server, in one way.
func (s *ServerConfig) check(name string) error {
	switch {
	case name == "" || strings.Contains(name, "/"):
		return errors.New("a server's name must not be empty or hold a slash")
	case s.Embedded && name != workOrders:
		return fmt.Errorf("only %s can be embedded", workOrders)
	case s.Embedded && (s.URL != "" || s.Command != ""):
		return errors.New(`"embedded" goes without url and command`)
	case s.Embedded:
	case s.URL != "" && s.Command != "":
		return errors.New("it has a url and a command; a server is reached in one way")
	case s.URL == "" && s.Command == "":
		return errors.New("give it a url or a command")
	case s.URL == "" && len(s.Headers) > 0:
		return errors.New("headers go with a url; give a command its secrets in env")
	case s.Command == "" && (len(s.Args) > 0 || len(s.Env) > 0 || s.Cwd != ""):
		return errors.New("args, env and cwd go with a command")
	}
	if s.MaxResultBytes < 0 {
		return errors.New("maxResultBytes must not be negative")
	}
	for _, pattern := range slices.Concat(s.Tools.Allow, s.Tools.Deny) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("tools: the pattern %q cannot be read; a star stands for any letters", pattern)
		}
	}
	return s.checkKind()
}

// checkKind compares type and transport with what the entry holds.
func (s *ServerConfig) checkKind() error {
	for _, kind := range []string{s.Type, s.Transport} {
		switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(kind)) {
		case "":
		case "stdio":
			if s.Command == "" {
				return fmt.Errorf("%q needs a command", kind)
			}
		case "http", "streamablehttp", "sse":
			if s.URL == "" {
				return fmt.Errorf("%q needs a url", kind)
			}
		default:
			return fmt.Errorf("%q is no way to reach a server: write stdio, http or sse", kind)
		}
	}
	if s.Type != "" && s.Transport != "" && strings.EqualFold(s.Type, "sse") != strings.EqualFold(s.Transport, "sse") {
		return fmt.Errorf("type says %q and transport %q; write one of them", s.Type, s.Transport)
	}
	return nil
}

// sse says that the server speaks the older HTTP transport.
func (s *ServerConfig) sse() bool {
	return strings.EqualFold(s.Type, "sse") || strings.EqualFold(s.Transport, "sse")
}

// checkURL looks at an address whose variables have been replaced. The address
// itself may be secret and is not repeated.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("its url must look like http://HOST:PORT/PATH")
	}
	return nil
}

// variable is a reference to the environment, with what stands in for it if it
// is not set.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// expand replaces ${VAR} and ${VAR:-otherwise} wherever a person can write text.
func (s *ServerConfig) expand(getenv func(string) string) error {
	var missing error
	replace := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(reference string) string {
			parts := variable.FindStringSubmatch(reference)
			value := getenv(parts[1])
			if value == "" && parts[2] != "" {
				value = parts[3]
			} else if value == "" {
				missing = fmt.Errorf("the environment variable %s is not set", parts[1])
			}
			return value
		})
	}
	for _, text := range []*string{&s.URL, &s.Command, &s.Cwd} {
		*text = replace(*text)
	}
	for i, text := range s.Args {
		s.Args[i] = replace(text)
	}
	for _, texts := range []map[string]string{s.Headers, s.Env} {
		for key, value := range texts {
			texts[key] = replace(value)
		}
	}
	return missing
}

// offers says whether the desk has that tool of the server.
func (p ToolPatterns) offers(tool string) bool {
	matches := func(pattern string) bool {
		ok, _ := path.Match(pattern, tool) // patterns have been checked
		return ok
	}
	return !slices.ContainsFunc(p.Deny, matches) && (len(p.Allow) == 0 || slices.ContainsFunc(p.Allow, matches))
}
