package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// QualifiedName is "server/tool": for people, rules, the store and the audit.
// The server's part is the name in the configuration and holds no slash.
type QualifiedName string

// Qualify joins a server's configured name and a tool's own name.
func Qualify(server, tool string) QualifiedName { return QualifiedName(server + "/" + tool) }

// Server is the part before the first slash.
func (q QualifiedName) Server() string {
	server, _, _ := strings.Cut(string(q), "/")
	return server
}

// Tool is the server's own name for the tool.
func (q QualifiedName) Tool() string {
	_, tool, _ := strings.Cut(string(q), "/")
	return tool
}

// maxAlias is what every provider accepts as the length of a tool's name.
const maxAlias = 64

// Toolbox is what one model request offers: qualified names, aliases and
// definitions, resolved together. The first call and a resumed one go through
// the same lookup here; there is no other.
type Toolbox struct {
	entries []Entry // by qualified name
	byAlias map[string]int
	byName  map[QualifiedName]int
	servers map[string]ServerTools
}

// Entry is one tool of a toolbox.
type Entry struct {
	Name       QualifiedName
	Alias      string
	Identity   string
	Definition string // hash
	Tool       Tool
}

// ServerTools is what is known of one configured server.
type ServerTools struct {
	Name string   `json:"name"`
	List ToolList `json:"list"`
	// Down says why the server cannot be reached now; List is then what was
	// last known of it.
	Down error `json:"-"`
}

// NewToolbox resolves the tools of all configured servers. Known are the
// aliases that the conversation already uses; they stay with their tools.
func NewToolbox(servers []ServerTools, known map[QualifiedName]string) *Toolbox {
	t := &Toolbox{byAlias: map[string]int{}, byName: map[QualifiedName]int{}, servers: map[string]ServerTools{}}
	bare := map[string]int{}
	for _, s := range servers {
		t.servers[s.Name] = s
		for _, tool := range s.List.Tools {
			name := Qualify(s.Name, tool.Name)
			if tool.Name == "" || t.has(name) {
				continue // a nameless tool cannot be called; of two equal ones the first counts
			}
			t.byName[name] = -1
			t.entries = append(t.entries, Entry{Name: name, Identity: s.List.Identity, Definition: tool.Hash(), Tool: tool})
			bare[legalAlias(tool.Name)]++
		}
	}
	slices.SortFunc(t.entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	taken := map[string]bool{}
	for _, alias := range known {
		taken[alias] = true
	}
	for i := range t.entries {
		e := &t.entries[i]
		e.Alias = known[e.Name]
		if e.Alias == "" {
			e.Alias = newAlias(e.Name, bare, taken)
			taken[e.Alias] = true
		}
		t.byAlias[e.Alias] = i
		t.byName[e.Name] = i
	}
	return t
}

func (t *Toolbox) has(name QualifiedName) bool {
	_, ok := t.byName[name]
	return ok
}

// newAlias is the bare tool name where it is unique, else server__tool; what is
// too long, or equal to another, gets a hash of the qualified name.
func newAlias(name QualifiedName, bare map[string]int, taken map[string]bool) string {
	short := legalAlias(name.Tool())
	if bare[short] == 1 && len(short) <= maxAlias && !taken[short] {
		return short
	}
	long := legalAlias(name.Server() + "__" + name.Tool())
	if len(long) <= maxAlias && !taken[long] && bare[long] == 0 {
		return long
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "_" + hex.EncodeToString(sum[:4])
	return long[:min(len(long), maxAlias-len(suffix))] + suffix
}

// legalAlias replaces what providers do not take in a tool's name by "_" and
// makes sure that it starts with a letter.
func legalAlias(name string) string {
	alias := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if alias == "" || !(alias[0] >= 'a' && alias[0] <= 'z' || alias[0] >= 'A' && alias[0] <= 'Z') {
		alias = "t_" + alias
	}
	return alias
}

// Lookup finds the tool that the model means by an alias.
func (t *Toolbox) Lookup(alias string) (Entry, error) {
	if i, ok := t.byAlias[alias]; ok {
		return t.entries[i], nil
	}
	return Entry{}, &ToolError{Code: ToolUnmapped, Name: alias, Known: t.aliases()}
}

// Resolve finds the tool of a stored call by its qualified name, and fails with
// a [*ToolError] or, where the server cannot be reached, an
// [*UnreachableError].
func (t *Toolbox) Resolve(name QualifiedName) (Entry, error) {
	s, ok := t.servers[name.Server()]
	if !ok {
		return Entry{}, &ToolError{Code: ServerUnknown, Name: name.Server(), Known: slices.Sorted(maps.Keys(t.servers)), Resumed: true}
	}
	if s.Down != nil {
		return Entry{}, &UnreachableError{Server: s.Name, Err: s.Down}
	}
	if i, ok := t.byName[name]; ok {
		return t.entries[i], nil
	}
	return Entry{}, &ToolError{Code: ToolGone, Name: string(name), Known: t.names(), Resumed: true}
}

// Entries are the tools in the order of their qualified names.
func (t *Toolbox) Entries() []Entry { return slices.Clone(t.entries) }

// Aliases maps every tool's qualified name to its alias.
func (t *Toolbox) Aliases() map[QualifiedName]string {
	out := make(map[QualifiedName]string, len(t.entries))
	for _, e := range t.entries {
		out[e.Name] = e.Alias
	}
	return out
}

// ModelTools are the definitions as the model sees them, in order.
func (t *Toolbox) ModelTools() []ModelTool {
	out := make([]ModelTool, 0, len(t.entries))
	for _, e := range t.entries {
		out = append(out, ModelTool{Name: e.Alias, Description: e.Tool.Description, InputSchema: hideFilled(e.Tool)})
	}
	return out
}

func (t *Toolbox) aliases() []string { return slices.Sorted(maps.Keys(t.byAlias)) }

func (t *Toolbox) names() []string {
	out := make([]string, 0, len(t.entries))
	for _, e := range t.entries {
		out = append(out, string(e.Name))
	}
	return out
}

// Hash identifies a definition: everything that a decision is bound to.
func (t Tool) Hash() string {
	encoded, err := json.Marshal(t)
	if err != nil {
		// A schema that is not JSON cannot come from a source that decoded it;
		// such a tool still gets a hash of its own, so that nothing matches it.
		encoded = []byte("invalid definition of " + t.Name + ": " + err.Error())
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
